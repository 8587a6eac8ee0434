/**
 * Reading: rows that say under which key a person was known before. Each old key must be one contact's, and no
 * other row's key: in which order such moves happened, a file does not say.
 */
import type { TextIndex } from "../../text-index.ts";
import type { ReadRow, Row } from "./rows.ts";

/** Why the rows of a contact are rejected. */
export interface OldKeyConflict {
  code: "old_key_conflict";
  message: string;
}

/** By the identity of a row's key. */
export type OldKeyConflicts = ReadonlyMap<string, OldKeyConflict>;

interface Naming {
  identity: string;
  line: number;
}

/** Reads all rows once more, and keeps those alone that name a key which the file names twice. */
export async function findOldKeyConflicts(
  batches: AsyncIterable<readonly ReadRow[]>,
  identities: TextIndex,
): Promise<OldKeyConflicts> {
  if (!identities.hasRepeated) return new Map();
  const names = new RepeatedNames(identities);
  for await (const rows of batches) {
    for (const row of rows) if (row.kind === "row") names.add(row);
  }
  return names.conflicts();
}

/** The keys and old keys that several rows name. */
class RepeatedNames {
  /** Keys and old keys of all rows. */
  private readonly identities: TextIndex;
  /** Key → the first line that has it. */
  private readonly lines = new Map<string, number>();
  /** Old key → the rows that name it. */
  private readonly namings = new Map<string, Naming[]>();
  /** Key → the old key that its first row names. */
  private readonly oldKeys = new Map<string, { old: string; line: number }>();
  private readonly found = new Map<string, OldKeyConflict>();

  constructor(identities: TextIndex) {
    this.identities = identities;
  }

  add({ key: { identity }, oldKey, line }: Row): void {
    const isRepeated = this.identities.isRepeated(identity);
    if (isRepeated && !this.lines.has(identity)) this.lines.set(identity, line);
    if (!oldKey) return;
    const old = oldKey.identity;
    if (isRepeated) this.addOldKey(identity, old, line);
    if (!this.identities.isRepeated(old)) return;
    this.namings.set(old, [...(this.namings.get(old) ?? []), { identity, line }]);
  }

  conflicts(): OldKeyConflicts {
    for (const [old, namings] of this.namings) {
      const line = this.lines.get(old);
      if (line !== undefined) this.conflict(old, `its key is the old key of line ${namings[0]!.line}`);
      for (const { identity } of namings) {
        const other = namings.find((each) => each.identity !== identity);
        if (line !== undefined) this.conflict(identity, `its old key is the key of line ${line}`);
        if (other) this.conflict(identity, `line ${other.line} names the same old key`);
      }
    }
    return this.found;
  }

  private addOldKey(identity: string, old: string, line: number): void {
    const before = this.oldKeys.get(identity);
    if (!before) this.oldKeys.set(identity, { old, line });
    else if (before.old !== old)
      this.conflict(identity, `line ${before.line} names another old key of the contact`);
  }

  /** The first reason stays. */
  private conflict(identity: string, message: string): void {
    if (!this.found.has(identity)) this.found.set(identity, { code: "old_key_conflict", message });
  }
}
