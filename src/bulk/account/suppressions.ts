/**
 * The suppression list of an account: people who must never be created again. It holds keyed hashes and no address: a random key
 * per file, and the HMAC of each normalised contact key. The file only ever grows by whole lines, so that two processes,
 * on one machine or on several that share it, cannot lose each other's entries.
 */
import { createHash, createHmac, randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { EcmError, exitCodes } from "../../errors.ts";
import { identityReader } from "../input/keys.ts";

/** One suppressed key. */
export interface Suppressed {
  /** HMAC-SHA-256 of the normalised key, hexadecimal. */
  hash: string;
  /** RFC 3339, UTC. */
  addedAt: string;
}

export interface Suppressions {
  readonly file: string;
  /** Whether this key must not be created. Sees what other processes add meanwhile. @throws SuppressionsError */
  has(key: string): boolean;
  /** On disk when it returns. @returns an entry for each key, and how many are new. @throws SuppressionsError */
  add(keys: readonly string[], now: number): { entries: Suppressed[]; added: number };
  /** @returns how many were on the list. @throws SuppressionsError */
  remove(keys: readonly string[], now: number): number;
  /** In the order in which they were added. @throws SuppressionsError */
  list(): Suppressed[];
}

/** The list cannot be read or written: nobody may be created until it can. */
export class SuppressionsError extends EcmError {
  constructor(message: string, hint: string, cause?: unknown) {
    super(exitCodes.failed, message, { type: "SuppressionsError", hint, cause });
  }
}

interface Contents {
  /** Hexadecimal; undefined while there is no file. */
  secret?: string;
  /** Hash → when it was added. */
  entries: Map<string, string>;
}

const header = /^ecm-suppressions (\d+) ([0-9a-f]{64})?$/;
const record = /^([+-])([0-9a-f]{64}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;
/** What a power cut leaves of a record: the command that wrote it has not said that it is on the list. */
const tornRecord = /^[+-][0-9a-f]{0,64}(?: [\dTZ:.-]{0,23})?$/;

/** Where the list of an account is kept. The base address identifies the account. */
export function suppressionsFile(stateFolder: string, baseUrl: string): string {
  const name = createHash("sha256").update(baseUrl).digest("hex").slice(0, 16);
  return join(stateFolder, "suppressions", `${name}.txt`);
}

/** What makes two keys one person: as an import normalises them, whatever the structure's type of key. */
const identityOf = identityReader("email");

/**
 * Opens the list, and reads it.
 * @param mustExist a list that was named and is not there cannot be read; otherwise it is empty
 * @throws SuppressionsError for a list that cannot be read
 */
export function openSuppressions(file: string, { mustExist = false } = {}): Suppressions {
  let contents: Contents = { entries: new Map() };
  let seen: Stats | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function load(): void {
    lookedAt = performance.now();
    const now = statOf(file);
    if (!now && (mustExist || seen)) throw missing(file);
    if (!now) return;
    if (seen && now.ino === seen.ino && now.size === seen.size && now.mtimeMs === seen.mtimeMs) return;
    contents = parse(file, readText(file));
    seen = now;
  }

  function append(lines: string[]): void {
    if (lines.length === 0) return;
    writeLines(file, lines);
    load();
  }

  function digestOf(key: string): string | undefined {
    return contents.secret && hmac(contents.secret, identityOf(key));
  }

  load();
  return {
    file,
    has(key) {
      if (performance.now() - lookedAt > staleMilliseconds) load();
      return contents.entries.size > 0 && contents.entries.has(digestOf(key)!);
    },
    add(keys, now) {
      if (!seen) create(file);
      load();
      const addedAt = new Date(now).toISOString();
      const hashes = [...new Set(keys.map((key) => digestOf(key)!))];
      const fresh = hashes.filter((hash) => !contents.entries.has(hash));
      append(fresh.map((hash) => `+${hash} ${addedAt}`));
      const entries = hashes.map((hash) => ({ hash, addedAt: contents.entries.get(hash) ?? addedAt }));
      return { entries, added: fresh.length };
    },
    remove(keys, now) {
      load();
      const hashes = [...new Set(keys.map(digestOf))].filter((hash) => hash && contents.entries.has(hash));
      append(hashes.map((hash) => `-${hash} ${new Date(now).toISOString()}`));
      return hashes.length;
    },
    list() {
      load();
      return [...contents.entries].map(([hash, addedAt]) => ({ hash, addedAt }));
    },
  };
}

/** How long the list is believed before the file is looked at again. */
const staleMilliseconds = 100;

function hmac(secret: string, text: string): string {
  return createHmac("sha256", Buffer.from(secret, "hex")).update(text, "utf8").digest("hex");
}

function parse(file: string, text: string): Contents {
  const [first = "", ...lines] = text.split("\n");
  const [, version, secret] = header.exec(first) ?? [];
  if (version === undefined || (version === "1" && secret === undefined)) {
    throw damaged(file, 1, "it does not start as a suppression list does");
  }
  if (version !== "1") throw damaged(file, 1, "a newer version of ecm wrote it");
  const entries = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    const [, sign, hash = "", at = ""] = record.exec(line) ?? [];
    if (sign === "+") entries.set(hash, entries.get(hash) ?? at);
    else if (sign === "-") entries.delete(hash);
    else if (line !== "" && !tornRecord.test(line)) throw damaged(file, index + 2, "the line is damaged");
  }
  return { secret, entries };
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unreadable(file, error);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Makes an empty list with a key of its own; one that another process has just made is left as it is. */
function create(file: string): void {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  const text = `ecm-suppressions 1 ${randomBytes(32).toString("hex")}\n`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeWhole(temporary, "wx", text);
    try {
      linkSync(temporary, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
      // Some file systems have no links.
      writeWhole(file, "wx", text);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unwritable(file, error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** In one write: the system keeps the appended lines of two processes apart. A line break first, in case a power cut left half a line. */
function writeLines(file: string, lines: string[]): void {
  try {
    writeWhole(file, "a", `\n${lines.join("\n")}\n`);
  } catch (error) {
    throw unwritable(file, error);
  }
}

function writeWhole(file: string, flags: "a" | "wx", text: string): void {
  const descriptor = openSync(file, flags, 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const withoutIt = "No contact is created without it";

function missing(file: string): SuppressionsError {
  return new SuppressionsError(
    `The suppression list ${file} does not exist`,
    `Check ECM_SUPPRESSIONS and the file it names; where there never was one, make it with: ecm suppressions add KEY. ${withoutIt}`,
  );
}

function damaged(file: string, line: number, why: string): SuppressionsError {
  return new SuppressionsError(
    `Cannot read the suppression list ${file}:${line}: ${why}`,
    `Restore the file from a backup. ${withoutIt}`,
  );
}

function unreadable(file: string, error: unknown): SuppressionsError {
  return new SuppressionsError(
    `Cannot read the suppression list ${file}: ${(error as Error).message}`,
    `Make it readable, or restore it from a backup. ${withoutIt}`,
    error,
  );
}

function unwritable(file: string, error: unknown): SuppressionsError {
  return new SuppressionsError(
    `Cannot write the suppression list ${file}: ${(error as Error).message}`,
    "Free disk space or make the file writable, then run the same command again",
    error,
  );
}
