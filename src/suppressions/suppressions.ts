/**
 * The suppression list of an account: people who must never be created again. It holds keyed hashes and no
 * address: a random key per list, and the HMAC of what identifies each person. Several processes, on one
 * machine or on several, may share a list.
 *
 * The first line of its file holds the key of the hashes, how many records follow, and a keyed checksum over
 * them: a list that lost its end, or in which anything was changed, is never believed. A change appends its
 * records, has them on the disk, and only then writes the first line again, which has a fixed length. A
 * process that is killed in between leaves records that are not counted: no command has reported them.
 * Additions among them count all the same, removals do not. One process changes the file at a time; readers
 * need no lock.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { toPersonIdentity } from "../api/key-spelling.ts";
import { writeAtomically, writeWhole } from "../disk/atomic-file.ts";
import { describeDiskError, diskFullHint } from "../disk/disk-errors.ts";
import { awaitLease } from "../disk/lease.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { EcmError, isAbout, isKind } from "../errors.ts";
import { advise, ecm } from "../hint.ts";

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
const restoreHint = advise`Restore the file from a backup. If there is none, move it away and add everybody again: ${ecm`suppressions add --keys FILE`}`;

function missingError(file: string): EcmError {
  return new EcmError(
    "suppressions",
    `The suppression list ${file} does not exist`,
    advise`Check ECM_SUPPRESSIONS and the file it names; where there never was one, make it with: ${ecm`suppressions add KEY`}. ${withoutListNote}`,
  );
}

/** What is wrong with the file, and on which line. */
type Damaged = (line: number, why: string) => EcmError;

function damagedError(file: string, line: number, why: string): EcmError {
  return new EcmError(
    "suppressions",
    `Cannot trust the suppression list ${file}:${line}: ${why}`,
    advise`${restoreHint}. ${withoutListNote}`,
    { about: "damaged" },
  );
}

function unreadableError(file: string, error: unknown): EcmError {
  return new EcmError(
    "suppressions",
    `Cannot read the suppression list ${file}: ${describeDiskError(error)}`,
    `Make it readable, or restore it from a backup. ${withoutListNote}`,
    { cause: error },
  );
}

function unwritableError(file: string, error: unknown): EcmError {
  return new EcmError(
    "suppressions",
    `Cannot write the suppression list ${file}: ${describeDiskError(error)}`,
    diskFullHint(error, file) ?? "Make the file and its folder writable, then run the same command again",
    { cause: error },
  );
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
    const entries = new Map<string, Suppressed>();
    let added = 0;
    await this.change(({ secret }) => {
      const fresh = new Map<string, Suppressed>();
      for (const key of keys) {
        const hash = hashKey(secret, key);
        const known = this.find(key);
        if (!known) fresh.set(hash, { hash, addedAt });
        entries.set(hash, known ?? { hash, addedAt });
      }
      added = fresh.size;
      return [...fresh.values()].map((each) => formatRecord("+", each)).join("");
    });
    return { entries: [...entries.values()], added };
  }

  /** @returns how many were on the list. @throws SuppressionsError */
  async remove(keys: readonly string[], now: number): Promise<number> {
    const addedAt = new Date(now).toISOString();
    this.load();
    if (!this.contents) return 0;
    let removed = 0;
    await this.change(() => {
      const known = new Set(keys.flatMap((key) => this.find(key) ?? []));
      removed = known.size;
      return [...known].map(({ hash }) => formatRecord("-", { hash, addedAt })).join("");
    });
    return removed;
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
    const now = withReadErrors(file, () => readStats(file));
    if (!now && (this.mustExist || seen)) throw missingError(file);
    if (!now || (seen && isSameState(seen, now))) return;
    this.contents = readSettled(file);
    this.seen = now;
  }

  private find(key: string): Suppressed | undefined {
    return this.contents?.entries.get(hashKey(this.contents.secret, key));
  }

  /** Reads the list under its lock, and writes the records that are to be added. */
  private async change(makeRecords: (contents: Contents) => string): Promise<void> {
    await withLock(this.file, async () => {
      this.load();
      const { contents } = this;
      const now = contents ?? createContents();
      const added = makeRecords(now);
      if (contents && added === "") return;
      await this.write(contents ? undefined : now, added);
      this.load();
    });
  }

  /** @param created where the file is not there yet */
  private async write(created: Contents | undefined, added: string): Promise<void> {
    const { file } = this;
    try {
      if (created) await writeAtomically(resolveFile(file), formatHead(created.secret, ""));
      if (added !== "") appendRecords(file, readSettled(file), added);
    } catch (error) {
      throw error instanceof EcmError ? error : unwritableError(file, error);
    }
  }
}

function isSameState(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs;
}

function hashKey(secret: string, key: string): string {
  return createHmac("sha256", Buffer.from(secret, "hex")).update(toPersonIdentity(key), "utf8").digest("hex");
}

const maxReadings = 4;
const readingPauseMilliseconds = 25;

/** A file server may show a change in part: what is damaged is read again before that is said. */
function readSettled(file: string): Contents {
  for (let reading = 1; ; reading++) {
    try {
      return withReadErrors(file, () => readSuppressionList(file));
    } catch (error) {
      if (!isAbout(error, "damaged") || reading === maxReadings) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, readingPauseMilliseconds);
    }
  }
}

function withReadErrors<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw isAbout(error, "damaged") ? error : unreadableError(file, error);
  }
}

const maxWaitMilliseconds = 60_000;

/**
 * Changes come one after another: each is done in milliseconds.
 * @throws SuppressionsError when another one never ends
 */
async function withLock(file: string, work: () => Promise<void>): Promise<void> {
  try {
    const path = resolveFile(file);
    makeFolder(dirname(path));
    const locks = join(dirname(path), `.${basename(path)}.locks`);
    const lease = await awaitLease(locks, "change", `the suppression list ${file}`, {
      maxMilliseconds: maxWaitMilliseconds,
    });
    await work().finally(lease.release);
  } catch (error) {
    throw isKind(error, "suppressions") ? error : unwritableError(file, error);
  }
}

/** The target of a link: a file that is put in place would replace the link itself. */
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
  /** Records that the first line counts, as they are written. */
  records: string;
  /** Whole additions behind them. */
  uncounted: string[];
}

const firstLine = /^ecm-suppressions 1 ([0-9a-f]{64}) (\d{12}) ([0-9a-f]{64})$/;
const record = /^([+-])([0-9a-f]{64}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;
const recordLength = 91;

/** Undefined where there is no such file. @throws the system's error */
function readStats(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false });
}

/** @throws SuppressionsError for one that is damaged; the system's error */
export function readSuppressionList(file: string): Contents {
  const text = readText(file);
  const damaged: Damaged = (line, why) => damagedError(file, line, why);
  const end = text.indexOf("\n");
  const first = end === -1 ? text : text.slice(0, end);
  const [, secret, count, checksum] = firstLine.exec(first) ?? [];
  if (secret === undefined || end === -1) throw damaged(1, explainNotAList(text, first));
  return parseRecords({ secret, count: Number(count), checksum: checksum! }, text.slice(end + 1), damaged);
}

function explainNotAList(text: string, first: string): string {
  if (text === "") return "the file is empty";
  const [, version] = /^ecm-suppressions (\d+) /.exec(first) ?? [];
  return version === undefined || version === "1"
    ? "it does not begin as a suppression list does"
    : `another version of ecm wrote it (version ${version}; this one reads version 1)`;
}

function parseRecords(
  head: { secret: string; count: number; checksum: string },
  body: string,
  damaged: Damaged,
): Contents {
  const { secret, count } = head;
  const length = count * recordLength;
  if (body.length < length) {
    const left = Math.floor(body.length / recordLength);
    throw damaged(left + 2, `the file is cut off: ${left} of ${count} records are left`);
  }
  const records = body.slice(0, length);
  if (!isSame(computeChecksum(secret, records), head.checksum)) {
    throw damaged(1, "its checksum is wrong: the file was changed, or it has the key of another list");
  }
  const entries = new Map<string, Suppressed>();
  for (let at = 0; at < length; at += recordLength)
    applyRecord(entries, records.slice(at, at + recordLength - 1));
  const uncounted: string[] = [];
  const lines = body.slice(length).split("\n");
  // The last one has no line break: a process was killed while it wrote it.
  const torn = lines.pop()!;
  if (!/^[+-]?[0-9a-fTZ:. -]{0,90}$/.test(torn))
    throw damaged(count + lines.length + 2, "the line is damaged");
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    const [, sign] = record.exec(line) ?? [];
    if (sign === undefined) throw damaged(count + index + 2, "the line is damaged");
    if (sign === "-" || !applyRecord(entries, line)) continue;
    uncounted.push(`${line}\n`);
  }
  return { secret, entries, records, uncounted };
}

/** @returns whether it changed anything */
function applyRecord(entries: Map<string, Suppressed>, line: string): boolean {
  const [, sign, hash = "", addedAt = ""] = record.exec(line)!;
  if (sign === "-") return entries.delete(hash);
  if (entries.has(hash)) return false;
  entries.set(hash, { hash, addedAt });
  return true;
}

/** A line of the file. */
function formatRecord(sign: "+" | "-", { hash, addedAt }: Suppressed): string {
  return `${sign}${hash} ${addedAt}\n`;
}

function createContents(): Contents {
  return { secret: randomBytes(32).toString("hex"), entries: new Map(), records: "", uncounted: [] };
}

/**
 * Adds records to the file; they are on the disk when it returns. The caller holds the lock, and
 * has read the file under it. @throws the system's error
 */
function appendRecords(file: string, contents: Contents, added: string): void {
  const { secret, records, uncounted } = contents;
  const all = records + uncounted.join("") + added;
  const head = formatHead(secret, all);
  const descriptor = openSync(file, "r+");
  try {
    writeWhole(descriptor, Buffer.from(all.slice(records.length), "latin1"), head.length + records.length);
    ftruncateSync(descriptor, head.length + all.length);
    fsyncSync(descriptor);
    writeWhole(descriptor, Buffer.from(head, "latin1"), 0);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function formatHead(secret: string, records: string): string {
  const count = String(records.length / recordLength).padStart(12, "0");
  return `ecm-suppressions 1 ${secret} ${count} ${computeChecksum(secret, records)}\n`;
}

function computeChecksum(secret: string, records: string): string {
  const count = records.length / recordLength;
  return createHmac("sha256", Buffer.from(secret, "hex"))
    .update(`${count}\n${records}`, "latin1")
    .digest("hex");
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** The first line before the rest: a change that is under way writes them in the other order. */
function readText(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const pieces: Buffer[] = [];
    let size = Math.max(fstatSync(descriptor).size, 1) + recordLength;
    for (let place = 0; ; size = 64 * 1024) {
      const piece = Buffer.alloc(size);
      const length = readSync(descriptor, piece, 0, size, place);
      if (length === 0) return Buffer.concat(pieces).toString("latin1");
      pieces.push(piece.subarray(0, length));
      place += length;
    }
  } finally {
    closeSync(descriptor);
  }
}
