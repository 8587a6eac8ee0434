/**
 * The suppression list of an account: people who must never be created again. It holds keyed hashes and no
 * address: a random key per list, and the HMAC of what identifies each person. Several processes, on one
 * machine or on several, may share a list.
 *
 * The first line of its file holds the key of the hashes, how many records follow, and a keyed checksum over
 * them: a list that lost its end, or in which anything was changed, is never believed. One process changes
 * the file at a time, and replaces it whole; readers need no lock.
 */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { toPersonIdentity } from "../api/key-spelling.ts";
import { writeAtomically } from "../disk/atomic-file.ts";
import { describeDiskError, diskFullHint } from "../disk/disk-errors.ts";
import { awaitLease } from "../disk/lease.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { EcmError, isKind } from "../errors.ts";
import { advise, ecm, type Hint } from "../hint.ts";

/** An entry of the list. */
export interface Suppressed {
  /** HMAC-SHA-256 of what identifies the person, hexadecimal. */
  hash: string;
  /** RFC 3339, UTC. */
  addedAt: string;
}

/** What the list says of one key. */
export type SuppressionState = { suppressed: boolean } & Partial<Suppressed>;

const withoutListNote = "Nobody is created until the list can be read";

function listError(message: string, hint: Hint, cause?: unknown): EcmError {
  return new EcmError("suppressions", message, hint, { cause });
}

function missingError(file: string): EcmError {
  const hint = advise`Check ECM_SUPPRESSIONS and the file it names; where there never was one, make it with: ${ecm`suppressions add KEY`}. ${withoutListNote}`;
  return listError(`The suppression list ${file} does not exist`, hint);
}

function damagedError(file: string, line: number, why: string): EcmError {
  const hint = advise`Restore the file from a backup. If there is none, move it away and add everybody again: ${ecm`suppressions add --keys FILE`}. ${withoutListNote}`;
  return listError(`Cannot trust the suppression list ${file}:${line}: ${why}`, hint);
}

function unreadableError(file: string, error: unknown): EcmError {
  const hint = `Make it readable, or restore it from a backup. ${withoutListNote}`;
  return listError(`Cannot read the suppression list ${file}: ${describeDiskError(error)}`, hint, error);
}

function unwritableError(file: string, error: unknown): EcmError {
  const hint = "Make the file and its folder writable, then run the same command again";
  const message = `Cannot write the suppression list ${file}: ${describeDiskError(error)}`;
  return listError(message, diskFullHint(error, file) ?? hint, error);
}

/** Where the list of an account is kept. @param accountAddress from `ResolvedProfile` */
export function toSuppressionsPath(stateFolder: string, accountAddress: string): string {
  const name = createHash("sha256").update(accountAddress).digest("hex").slice(0, 16);
  return join(stateFolder, "suppressions", `${name}.txt`);
}

/** How long the list is believed before the file is looked at again, in milliseconds. */
const staleMilliseconds = 100;

export class Suppressions {
  readonly file: string;
  private readonly mustExist: boolean;
  private contents: Contents | undefined;
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

  /** Looks at the file anew: asked right before a contact is created. @throws SuppressionsError */
  hasNow(key: string): boolean {
    this.load();
    return this.find(key) !== undefined;
  }

  /**
   * On disk when it resolves.
   * @returns an entry for each person, and how many are new.
   * @throws SuppressionsError
   */
  async add(keys: readonly string[], now: number): Promise<{ entries: Suppressed[]; added: number }> {
    const addedAt = new Date(now).toISOString();
    const named = new Map<string, Suppressed>();
    const added = await this.change(({ secret, entries }) => {
      const before = entries.size;
      for (const key of keys) {
        const hash = hashKey(secret, key);
        if (!entries.has(hash)) entries.set(hash, { hash, addedAt });
        named.set(hash, entries.get(hash)!);
      }
      return entries.size - before;
    });
    return { entries: [...named.values()], added };
  }

  /** @returns how many were on the list. @throws SuppressionsError */
  remove(keys: readonly string[]): Promise<number> {
    return this.change(
      ({ secret, entries }) => keys.filter((key) => entries.delete(hashKey(secret, key))).length,
    );
  }

  /** In the order in which they were added. @throws SuppressionsError */
  list(): Suppressed[] {
    this.load();
    return [...(this.contents?.entries.values() ?? [])];
  }

  /** What is known of a key. Writes nothing. @throws SuppressionsError */
  describe(key: string): SuppressionState {
    this.load();
    const entry = this.find(key);
    if (entry) return { suppressed: true, ...entry };
    return { suppressed: false, ...(this.contents && { hash: hashKey(this.contents.secret, key) }) };
  }

  private load(): void {
    const { file, seen } = this;
    this.lookedAt = performance.now();
    try {
      const now = statSync(file, { throwIfNoEntry: false });
      if (!now && (this.mustExist || seen)) throw missingError(file);
      if (!now || (seen && isSameState(seen, now))) return;
      this.contents = readSuppressionList(file);
      this.seen = now;
    } catch (error) {
      throw error instanceof EcmError ? error : unreadableError(file, error);
    }
  }

  private find(key: string): Suppressed | undefined {
    return this.contents?.entries.get(hashKey(this.contents.secret, key));
  }

  /**
   * Changes the list under its lock, and writes it where it was changed.
   * @param edit returns how many entries it has changed
   */
  private async change(edit: (contents: Contents) => number): Promise<number> {
    let changed = 0;
    await withLock(this.file, (path) => {
      this.load();
      const { contents, seen } = this;
      const edited = contents ?? { secret: randomBytes(32).toString("hex"), entries: new Map() };
      changed = edit(edited);
      if (contents && changed === 0) return;
      // What could not be written is not believed either.
      this.seen = undefined;
      writeAtomically(path, formatList(edited), seen && seen.mode & 0o777);
      this.load();
    });
    return changed;
  }
}

function isSameState(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs;
}

function hashKey(secret: string, key: string): string {
  return createHmac("sha256", Buffer.from(secret, "hex")).update(toPersonIdentity(key), "utf8").digest("hex");
}

const maxWaitMilliseconds = 60_000;

/**
 * Changes come one after another: each is done in milliseconds.
 * @param work is given the file, or what a link leads to: a file that is put in place would replace the link
 * @throws SuppressionsError when another one never ends
 */
async function withLock(file: string, work: (path: string) => void): Promise<void> {
  try {
    const path = resolveFile(file);
    makeFolder(dirname(path));
    const locks = join(dirname(path), `.${basename(path)}.locks`);
    const lease = await awaitLease(locks, "change", `the suppression list ${file}`, {
      maxMilliseconds: maxWaitMilliseconds,
    });
    try {
      work(path);
    } finally {
      await lease.release();
    }
  } catch (error) {
    throw isKind(error, "suppressions") ? error : unwritableError(file, error);
  }
}

function resolveFile(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

interface Contents {
  /** Hexadecimal. */
  secret: string;
  entries: Map<string, Suppressed>;
}

const firstLine = /^ecm-suppressions 1 ([0-9a-f]{64}) (\d{12}) ([0-9a-f]{64})$/;
const record = /^\+([0-9a-f]{64}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;

/** @throws SuppressionsError for one that is damaged; the system's error */
export function readSuppressionList(file: string): Contents {
  const text = readFileSync(file, "latin1");
  const end = text.indexOf("\n");
  const first = end === -1 ? text : text.slice(0, end);
  const [, secret, count, checksum] = firstLine.exec(first) ?? [];
  if (secret === undefined || end === -1) throw damagedError(file, 1, explainNotAList(text, first));
  const records = text.slice(end + 1);
  const lines = records.split("\n");
  const left = lines.length - 1;
  if (left < Number(count)) {
    throw damagedError(file, left + 2, `the file is cut off: ${left} of ${Number(count)} records are left`);
  }
  const damaged = lines.findIndex((line, index) => (index < left ? !record.test(line) : line !== ""));
  if (damaged !== -1) throw damagedError(file, damaged + 2, "the line is damaged");
  if (left > Number(count) || computeChecksum(secret, records, left) !== checksum) {
    const why = "its checksum is wrong: the file was changed, or it has the key of another list";
    throw damagedError(file, 1, why);
  }
  return { secret, entries: readEntries(lines.slice(0, left)) };
}

function readEntries(lines: readonly string[]): Map<string, Suppressed> {
  return new Map(
    lines.map((line) => {
      const [, hash = "", addedAt = ""] = record.exec(line)!;
      return [hash, { hash, addedAt }];
    }),
  );
}

function explainNotAList(text: string, first: string): string {
  if (text === "") return "the file is empty";
  const [, version] = /^ecm-suppressions (\d+) /.exec(first) ?? [];
  return version === undefined || version === "1"
    ? "it does not begin as a suppression list does"
    : `another version of ecm wrote it (version ${version}; this one reads version 1)`;
}

function formatList({ secret, entries }: Contents): string {
  const records = [...entries.values()].map(({ hash, addedAt }) => `+${hash} ${addedAt}\n`).join("");
  const count = String(entries.size).padStart(12, "0");
  const checksum = computeChecksum(secret, records, entries.size);
  return `ecm-suppressions 1 ${secret} ${count} ${checksum}\n${records}`;
}

function computeChecksum(secret: string, records: string, count: number): string {
  return createHmac("sha256", Buffer.from(secret, "hex"))
    .update(`${count}\n${records}`, "latin1")
    .digest("hex");
}
