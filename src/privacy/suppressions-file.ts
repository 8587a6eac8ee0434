/**
 * The file of a suppression list. Its first line holds the key of the hashes, how many records follow, and a
 * keyed checksum over them: a list that lost its end, or in which anything was changed, is never believed.
 *
 * A change appends its records, has them on the disk, and only then writes the first line again, which has a
 * fixed length. A process that is killed in between leaves records that are not counted: nobody was told that
 * they are there. Of these, additions are taken all the same, and removals are not. One process changes the
 * file at a time; readers need no lock.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { writeAtomically } from "../disk/atomic-file.ts";
import { writeWhole } from "../disk/write-whole.ts";

/** What is on record of one hash. */
export interface Suppressed {
  /** HMAC-SHA-256 of what identifies the person, hexadecimal. */
  hash: string;
  /** RFC 3339, UTC. */
  addedAt: string;
  /** From a file of format 1, whose hashes are of keys that were normalised in another way. */
  isOld?: boolean;
}

export interface Contents {
  format: 1 | 2;
  /** Hexadecimal. */
  secret: string;
  entries: Map<string, Suppressed>;
  /** Records that the first line counts, as they are written. */
  records: string;
  /** Whole additions behind them. */
  uncounted: string[];
}

/** What is wrong with the file, and on which line. */
export class DamagedList extends Error {
  readonly line: number;

  constructor(line: number, why: string) {
    super(why);
    this.line = line;
  }
}

const formatOne = /^ecm-suppressions 1 ([0-9a-f]{64})$/;
const formatTwo = /^ecm-suppressions 2 ([0-9a-f]{64}) (\d{12}) ([0-9a-f]{64})$/;
const record = /^([+*-])([0-9a-f]{64}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;
const recordLength = 91;

/** The system's entry of the file; undefined where there is none. @throws the system's error */
export function readStats(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false });
}

/** @throws DamagedList; the system's error */
export function readSuppressionList(file: string): Contents {
  const text = readText(file);
  const end = text.indexOf("\n");
  const first = end === -1 ? text : text.slice(0, end);
  const [, oldSecret] = formatOne.exec(first) ?? [];
  if (oldSecret !== undefined && end !== -1) return parseFormatOne(oldSecret, text.slice(end + 1));
  const [, secret, count, checksum] = formatTwo.exec(first) ?? [];
  if (secret === undefined || end === -1) throw new DamagedList(1, explainNotAList(text, first));
  return parseFormatTwo({ secret, count: Number(count), checksum: checksum! }, text.slice(end + 1));
}

function explainNotAList(text: string, first: string): string {
  if (text === "") return "the file is empty";
  const [, format] = /^ecm-suppressions (\d+) /.exec(first) ?? [];
  const isNewer = format !== undefined && Number(format) > 2;
  return isNewer ? "a newer version of ecm wrote it" : "it does not begin as a suppression list does";
}

function parseFormatTwo(head: { secret: string; count: number; checksum: string }, body: string): Contents {
  const { secret, count } = head;
  const length = count * recordLength;
  if (body.length < length) {
    const left = Math.floor(body.length / recordLength);
    throw new DamagedList(left + 2, `the file is cut off: ${left} of ${count} records are left`);
  }
  const records = body.slice(0, length);
  if (!isSame(computeChecksum(secret, records), head.checksum)) {
    throw new DamagedList(
      1,
      "its checksum is wrong: the file was changed, or it has the key of another list",
    );
  }
  const entries = new Map<string, Suppressed>();
  for (let at = 0; at < length; at += recordLength)
    applyRecord(entries, records.slice(at, at + recordLength - 1));
  const uncounted: string[] = [];
  const lines = body.slice(length).split("\n");
  // The last one has no line break: a process was killed while it wrote it.
  const torn = lines.pop()!;
  if (!/^[+*-]?[0-9a-fTZ:. -]{0,90}$/.test(torn)) throw notARecordError(count + lines.length + 2);
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    const [, sign] = record.exec(line) ?? [];
    if (sign === undefined) throw notARecordError(count + index + 2);
    if (sign === "-" || !applyRecord(entries, line)) continue;
    uncounted.push(`${line}\n`);
  }
  return { format: 2, secret, entries, records, uncounted };
}

/** Format 1 says of itself neither how long it is nor what it holds. A half line is not believed. */
function parseFormatOne(secret: string, body: string): Contents {
  const entries = new Map<string, Suppressed>();
  for (const [index, line] of body.split("\n").entries()) {
    const [, sign, hash = "", addedAt = ""] = record.exec(line) ?? [];
    if (sign === "+" && !entries.has(hash)) entries.set(hash, { hash, addedAt, isOld: true });
    else if (sign === "-") entries.delete(hash);
    else if (sign !== "+" && line !== "") throw notARecordError(index + 2);
  }
  return { format: 1, secret, entries, records: "", uncounted: [] };
}

/** @returns whether it changed anything */
function applyRecord(entries: Map<string, Suppressed>, line: string): boolean {
  const [, sign, hash = "", addedAt = ""] = record.exec(line)!;
  if (sign === "-") return entries.delete(hash);
  if (entries.has(hash)) return false;
  entries.set(hash, { hash, addedAt, ...(sign === "*" && { isOld: true }) });
  return true;
}

function notARecordError(line: number): DamagedList {
  return new DamagedList(line, "the line is damaged");
}

/** A line of the file. */
export function formatRecord(sign: "+" | "-", { hash, addedAt, isOld }: Suppressed): string {
  return `${sign === "+" && isOld ? "*" : sign}${hash} ${addedAt}\n`;
}

export function createContents(): Contents {
  const secret = randomBytes(32).toString("hex");
  return { format: 2, secret, entries: new Map(), records: "", uncounted: [] };
}

/** Makes the file, or writes one of format 1 in format 2: whole or not at all. @throws the system's error */
export async function writeSuppressionList(
  file: string,
  { secret, entries }: Contents,
  mode?: number,
): Promise<void> {
  const records = [...entries.values()].map((each) => formatRecord("+", each)).join("");
  await writeAtomically(file, formatHead(secret, records) + records, mode);
}

/**
 * Adds records to a file of format 2; they are on the disk when it returns. The caller holds the lock, and
 * has read the file under it. @throws the system's error
 */
export function appendRecords(file: string, contents: Contents, added: string): void {
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
  return `ecm-suppressions 2 ${secret} ${count} ${computeChecksum(secret, records)}\n`;
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
