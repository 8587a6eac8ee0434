/**
 * Reading: rows that say under which key a person was known before. Each old key must be one contact's, and no
 * key of another row, nor a further one: in which order such moves happened, a file does not say.
 */
import type { TextIndex } from "../../text-index.ts";
import type { ReadRow, Reason, Row } from "./rows.ts";

/** Why the rows of a contact are rejected, by the identity of its key. */
export type OldKeyConflicts = ReadonlyMap<string, Reason>;

interface Naming {
  identity: string;
  line: number;
}

/**
 * Reads all rows once more, and keeps those alone that name a key which the file names twice.
 * @param identities undefined where no row names an old key
 */
export async function findOldKeyConflicts(
  batches: AsyncIterable<readonly ReadRow[]>,
  identities: TextIndex | undefined,
): Promise<OldKeyConflicts> {
  if (!identities?.hasRepeated) return new Map();
  const names = new RepeatedNames(identities);
  for await (const rows of batches) {
    for (const row of rows) if (row.kind === "row") names.add(row);
  }
  return names.conflicts();
}

/** The keys and old keys that several rows name. */
class RepeatedNames {
  /** Keys, further keys and old keys of all rows. */
  readonly #identities: TextIndex;
  /** Key → the rows that have it, the first of each contact. */
  readonly #owners = new Map<string, Naming[]>();
  /** Old key → the rows that name it. */
  readonly #namings = new Map<string, Naming[]>();
  /** Key → the old key that its first row names. */
  readonly #oldKeys = new Map<string, { old: string; line: number }>();
  readonly #found = new Map<string, Reason>();

  constructor(identities: TextIndex) {
    this.#identities = identities;
  }

  add({ key: { identity }, oldKey, otherKeys = [], line }: Row): void {
    const isRepeated = this.#identities.isRepeated(identity);
    for (const each of [identity, ...otherKeys.map((other) => other.identity)]) {
      if (this.#identities.isRepeated(each)) this.#addOwner(each, { identity, line });
    }
    if (!oldKey) return;
    const old = oldKey.identity;
    if (isRepeated) this.#addOldKey(identity, old, line);
    if (!this.#identities.isRepeated(old)) return;
    this.#namings.set(old, [...(this.#namings.get(old) ?? []), { identity, line }]);
  }

  conflicts(): OldKeyConflicts {
    for (const [old, namings] of this.#namings) {
      const owners = this.#owners.get(old) ?? [];
      for (const owner of owners) {
        const naming = findOther(namings, owner);
        if (naming) this.#conflict(owner.identity, `its key is the old key of line ${naming.line}`);
      }
      for (const naming of namings) {
        const owner = findOther(owners, naming);
        const other = findOther(namings, naming);
        if (owner) this.#conflict(naming.identity, `its old key is the key of line ${owner.line}`);
        if (other) this.#conflict(naming.identity, `line ${other.line} names the same old key`);
      }
    }
    return this.#found;
  }

  #addOwner(key: string, owner: Naming): void {
    const owners = this.#owners.get(key) ?? [];
    if (!owners.some(({ identity }) => identity === owner.identity))
      this.#owners.set(key, [...owners, owner]);
  }

  #addOldKey(identity: string, old: string, line: number): void {
    const before = this.#oldKeys.get(identity);
    if (!before) this.#oldKeys.set(identity, { old, line });
    else if (before.old !== old)
      this.#conflict(identity, `line ${before.line} names another old key of the contact`);
  }

  /** The first reason stays. */
  #conflict(identity: string, message: string): void {
    if (!this.#found.has(identity)) this.#found.set(identity, { code: "old_key_conflict", message });
  }
}

/** Of another contact. */
function findOther(namings: readonly Naming[], { identity }: Naming): Naming | undefined {
  return namings.find((each) => each.identity !== identity);
}
