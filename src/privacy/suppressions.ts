/**
 * The suppression list of an account: people who must never be created again. It holds keyed hashes and no
 * address: a random key per list, and the HMAC of what identifies each person. Several processes, on one
 * machine or on several, may share a list.
 */
import { createHash, createHmac } from "node:crypto";
import type { Stats } from "node:fs";
import { join } from "node:path";
import { listFormerIdentities, toPersonIdentity } from "../api/key-spelling.ts";
import { EcmError } from "../errors.ts";
import { readReasons, type SuppressionReason, writeReasons } from "./suppression-reasons.ts";
import { damagedError, missingError, unreadableError, unwritableError } from "./suppressions-errors.ts";
import {
  appendRecords,
  type Contents,
  createContents,
  DamagedList,
  formatRecord,
  readStats,
  readSuppressionList,
  type Suppressed,
  writeSuppressionList,
} from "./suppressions-file.ts";
import { resolveFile, withLock } from "./suppressions-lock.ts";

export type { SuppressionReason } from "./suppression-reasons.ts";
export { SuppressionsError } from "./suppressions-errors.ts";

/** An entry of the list, with why it is there, where that is known. */
export type SuppressedPerson = Suppressed & SuppressionReason;

/** What the list says of one key. */
export interface SuppressionState extends SuppressionReason {
  suppressed: boolean;
  /** The keyed hash; absent where there is no list. */
  hash?: string;
  addedAt?: string;
}

/** Where the list of an account is kept. The base address identifies the account. */
export function toSuppressionsPath(stateFolder: string, baseUrl: string): string {
  const name = createHash("sha256").update(baseUrl).digest("hex").slice(0, 16);
  return join(stateFolder, "suppressions", `${name}.txt`);
}

/** How long the list is believed before the file is looked at again, in milliseconds. */
const staleMilliseconds = 100;

export class Suppressions {
  readonly file: string;
  private readonly mustExist: boolean;
  private contents: Contents | undefined;
  /** Whether any hash is of format 1. */
  private hasOld = false;
  private seen: Stats | undefined;
  private lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * Reads the list.
   * @param mustExist a list that was named and is not there cannot be read; otherwise it is empty
   * @throws SuppressionsError for a list that cannot be read
   */
  constructor(file: string, mustExist = false) {
    this.file = file;
    this.mustExist = mustExist;
    this.load();
  }

  /**
   * Whether this key must not be created. Sees what other processes add meanwhile.
   * @throws SuppressionsError
   */
  has(key: string): boolean {
    if (performance.now() - this.lookedAt > staleMilliseconds) this.load();
    return this.find(key) !== undefined;
  }

  /** The same at this very moment: asked when somebody is about to be created. @throws SuppressionsError */
  hasNow(key: string): boolean {
    this.load();
    return this.find(key) !== undefined;
  }

  /**
   * On disk when it resolves.
   * @param why of each key, or of all; what is known already stays
   * @returns an entry for each person, and how many are new.
   * @throws SuppressionsError
   */
  async add(
    keys: readonly string[],
    now: number,
    why: (key: string) => SuppressionReason | undefined = () => undefined,
  ): Promise<{ entries: SuppressedPerson[]; added: number }> {
    const addedAt = new Date(now).toISOString();
    const entries = new Map<string, Suppressed>();
    const reasons = new Map<string, SuppressionReason>();
    let added = 0;
    await this.change(({ secret }) => {
      const fresh = new Map<string, Suppressed>();
      for (const key of keys) {
        const hash = hashKey(secret, key);
        const known = this.find(key);
        if (!known) fresh.set(hash, { hash, addedAt });
        entries.set(hash, known ?? { hash, addedAt });
        const reason = why(key);
        if (reason) reasons.set((known ?? { hash }).hash, reason);
      }
      added = fresh.size;
      return [...fresh.values()].map((each) => formatRecord("+", each)).join("");
    });
    if (reasons.size > 0) {
      // The first reason stays.
      await this.changeReasons((known) => new Map([...reasons, ...known]));
    }
    return { entries: this.withReasons([...entries.values()]), added };
  }

  /** @returns how many were on the list. @throws SuppressionsError */
  async remove(keys: readonly string[], now: number): Promise<number> {
    const addedAt = new Date(now).toISOString();
    this.load();
    if (!this.contents) return 0;
    let removed = 0;
    const hashes = new Set<string>();
    await this.change(() => {
      const known = new Set(keys.flatMap((key) => this.find(key) ?? []));
      removed = known.size;
      for (const { hash } of known) hashes.add(hash);
      return [...known].map(({ hash }) => formatRecord("-", { hash, addedAt })).join("");
    });
    await this.changeReasons((known) => new Map([...known].filter(([hash]) => !hashes.has(hash))));
    return removed;
  }

  /** In the order in which they were added. @throws SuppressionsError */
  list(): SuppressedPerson[] {
    this.load();
    return this.withReasons([...(this.contents?.entries.values() ?? [])]);
  }

  /** What is known of a key. Writes nothing. @throws SuppressionsError */
  describe(key: string): SuppressionState {
    this.load();
    const entry = this.find(key);
    if (entry) return { suppressed: true, ...this.withReasons([entry])[0]! };
    return { suppressed: false, ...(this.contents && { hash: hashKey(this.contents.secret, key) }) };
  }

  private withReasons(entries: readonly Suppressed[]): SuppressedPerson[] {
    const reasons = readReasons(resolveFile(this.file));
    return entries.map(({ hash, addedAt }) => ({ hash, addedAt, ...reasons.get(hash) }));
  }

  private async changeReasons(
    change: (known: Map<string, SuppressionReason>) => Map<string, SuppressionReason>,
  ): Promise<void> {
    await withLock(this.file, async () => {
      const file = resolveFile(this.file);
      const known = readReasons(file);
      const changed = change(known);
      try {
        if (known.size + changed.size > 0) writeReasons(file, changed);
      } catch (error) {
        throw unwritableError(file, error);
      }
    });
  }

  private load(): void {
    const { file, seen } = this;
    this.lookedAt = performance.now();
    const now = withReadErrors(file, () => readStats(file));
    if (!now && (this.mustExist || seen)) throw missingError(file);
    if (!now || (seen && isSameState(seen, now))) return;
    this.contents = readSettled(file);
    this.hasOld = [...this.contents.entries.values()].some(({ isOld }) => isOld);
    this.seen = now;
  }

  private find(key: string): Suppressed | undefined {
    if (!this.contents || this.contents.entries.size === 0) return undefined;
    const { secret, entries } = this.contents;
    const current = entries.get(hashKey(secret, key));
    if (current || !this.hasOld) return current;
    for (const identity of listFormerIdentities(key)) {
      const former = entries.get(hmac(secret, identity));
      if (former?.isOld) return former;
    }
    return undefined;
  }

  /** Reads the list under its lock, and writes the records that are to be added. */
  private async change(makeRecords: (contents: Contents) => string): Promise<void> {
    await withLock(this.file, async () => {
      this.load();
      const { contents } = this;
      const now = contents ?? createContents();
      const added = makeRecords(now);
      if (contents && added === "") return;
      await this.write(now, contents?.format !== 2, added);
      this.load();
    });
  }

  /** @param isNew the file is not there yet, or of an older format */
  private async write(contents: Contents, isNew: boolean, added: string): Promise<void> {
    const { file, seen } = this;
    try {
      if (isNew) await writeSuppressionList(resolveFile(file), contents, seen && seen.mode & 0o777);
      if (added !== "") appendRecords(file, readSettled(file), added);
    } catch (error) {
      throw error instanceof EcmError ? error : unwritableError(file, error);
    }
  }
}

function isSameState(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs;
}

/**
 * The prefix tells these hashes from those of format 1, which
 * are of keys that were normalised in another way.
 */
function hashKey(secret: string, key: string): string {
  return hmac(secret, `2:${toPersonIdentity(key)}`);
}

function hmac(secret: string, text: string): string {
  return createHmac("sha256", Buffer.from(secret, "hex")).update(text, "utf8").digest("hex");
}

const maxReadings = 4;
const readingPauseMilliseconds = 25;

/** A file server may show a change in part: what is damaged is read again before that is said. */
function readSettled(file: string): Contents {
  for (let reading = 1; ; reading++) {
    try {
      return withReadErrors(file, () => readSuppressionList(file));
    } catch (error) {
      if (!(error instanceof DamagedList)) throw error;
      if (reading === maxReadings) throw damagedError(file, error);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, readingPauseMilliseconds);
    }
  }
}

function withReadErrors<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof DamagedList ? error : unreadableError(file, error);
  }
}
