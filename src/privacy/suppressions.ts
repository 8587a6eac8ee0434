/**
 * The suppression list of an account: people who must never be created again. It holds keyed hashes and no
 * address: a random key per list, and the HMAC of what identifies each person. Several processes, on one
 * machine or on several, may share a list.
 */
import { createHash, createHmac } from "node:crypto";
import { realpathSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { listFormerIdentities, toPersonIdentity } from "../api/key-spelling.ts";
import { diskFullHint } from "../disk/disk-room.ts";
import { LockedError, takeLease } from "../disk/lease.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { EcmError, exitCodes } from "../errors.ts";
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

export type { Suppressed } from "./suppressions-file.ts";

export interface Suppressions {
  readonly file: string;
  /**
   * Whether this key must not be created. Sees what other processes add meanwhile.
   * @throws SuppressionsError
   */
  has(key: string): boolean;
  /** The same at this very moment: asked when somebody is about to be created. @throws SuppressionsError */
  hasNow(key: string): boolean;
  /**
   * On disk when it resolves.
   * @returns an entry for each person, and how many are new.
   * @throws SuppressionsError
   */
  add(keys: readonly string[], now: number): Promise<{ entries: Suppressed[]; added: number }>;
  /** @returns how many were on the list. @throws SuppressionsError */
  remove(keys: readonly string[], now: number): Promise<number>;
  /** In the order in which they were added. @throws SuppressionsError */
  list(): Suppressed[];
}

/** The list cannot be read or written: nobody may be created until it can. */
export class SuppressionsError extends EcmError {
  constructor(message: string, hint: string, cause?: unknown) {
    super(exitCodes.failed, message, { type: "SuppressionsError", hint, cause });
  }
}

/** Where the list of an account is kept. The base address identifies the account. */
export function toSuppressionsPath(stateFolder: string, baseUrl: string): string {
  const name = createHash("sha256").update(baseUrl).digest("hex").slice(0, 16);
  return join(stateFolder, "suppressions", `${name}.txt`);
}

/** How long the list is believed before the file is looked at again, in milliseconds. */
const staleMilliseconds = 100;

/**
 * Opens the list, and reads it.
 * @param mustExist a list that was named and is not there cannot be read; otherwise it is empty
 * @throws SuppressionsError for a list that cannot be read
 */
export function openSuppressions(file: string, { mustExist = false } = {}): Suppressions {
  return new SuppressionList(file, mustExist);
}

class SuppressionList implements Suppressions {
  readonly file: string;
  private readonly mustExist: boolean;
  private contents: Contents | undefined;
  /** Whether any hash is of format 1. */
  private hasOld = false;
  private seen: Stats | undefined;
  private lookedAt = Number.NEGATIVE_INFINITY;

  constructor(file: string, mustExist: boolean) {
    this.file = file;
    this.mustExist = mustExist;
    this.load();
  }

  has(key: string): boolean {
    if (performance.now() - this.lookedAt > staleMilliseconds) this.load();
    return this.find(key) !== undefined;
  }

  hasNow(key: string): boolean {
    this.load();
    return this.find(key) !== undefined;
  }

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

  list(): Suppressed[] {
    this.load();
    return [...(this.contents?.entries.values() ?? [])].map(({ hash, addedAt }) => ({ hash, addedAt }));
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
  private async change(recordsOf: (contents: Contents) => string): Promise<void> {
    await withLock(this.file, async () => {
      this.load();
      const { contents } = this;
      const now = contents ?? createContents();
      const added = recordsOf(now);
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

const maxWaitMilliseconds = 60_000;

/**
 * Changes come one after another: each is done in milliseconds.
 * @throws SuppressionsError when another one never ends
 */
async function withLock(file: string, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  for (;;) {
    try {
      const path = resolveFile(file);
      await makeFolder(dirname(path));
      const locks = join(dirname(path), `.${basename(path)}.locks`);
      const lease = await takeLease(locks, "change", `the suppression list ${file}`);
      return await work().finally(lease.release);
    } catch (error) {
      if (error instanceof SuppressionsError) throw error;
      const mayEnd = error instanceof LockedError && performance.now() - began < maxWaitMilliseconds;
      if (!mayEnd) throw unwritableError(file, error);
      await sleep(20);
    }
  }
}

/** Of a link, what it leads to: a file that is put in place would replace the link. */
function resolveFile(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function withReadErrors<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof DamagedList ? error : unreadableError(file, error);
  }
}

const withoutListNote = "Nobody is created until the list can be read";
const restoreHint =
  "Restore the file from a backup. If there is none, move it away and add everybody again: ecm suppressions add --keys FILE";

function missingError(file: string): SuppressionsError {
  return new SuppressionsError(
    `The suppression list ${file} does not exist`,
    `Check ECM_SUPPRESSIONS and the file it names; where there never was one, make it with: ecm suppressions add KEY. ${withoutListNote}`,
  );
}

function damagedError(file: string, { line, message }: DamagedList): SuppressionsError {
  return new SuppressionsError(
    `Cannot trust the suppression list ${file}:${line}: ${message}`,
    `${restoreHint}. ${withoutListNote}`,
  );
}

function unreadableError(file: string, error: unknown): SuppressionsError {
  return new SuppressionsError(
    `Cannot read the suppression list ${file}: ${(error as Error).message}`,
    `Make it readable, or restore it from a backup. ${withoutListNote}`,
    error,
  );
}

function unwritableError(file: string, error: unknown): SuppressionsError {
  return new SuppressionsError(
    `Cannot write the suppression list ${file}: ${(error as Error).message}`,
    diskFullHint(error, file) ?? "Make the file and its folder writable, then run the same command again",
    error,
  );
}
