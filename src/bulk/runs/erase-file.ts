/**
 * Taking persons out of one file: their own records go, or keep nothing but ids; anywhere else their keys are masked. A file
 * is replaced whole, so that a kill leaves it as it was or as it should be.
 */
import { createReadStream } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { openAtomicFile } from "../../disk/atomic-file.ts";
import type { Redactor } from "./redaction.ts";

/** Pieces of a file without line breaks are read with this overlap, in bytes: longer than any key with its escapes. */
const overlap = 16 * 1024;
const pieceBytes = 1024 * 1024;
/** Larger files are masked, and not parsed as one JSON value. */
const mostParsedBytes = 64 * 1024 * 1024;

/** Whether the key is anywhere in the file. False for one that does not exist. */
export async function holdsKey(file: string, redactor: Redactor): Promise<boolean> {
  let text = "";
  /** Where in `text` begins what was not looked at yet. */
  let from = 0;
  try {
    for await (const piece of createReadStream(file, { encoding: "latin1", highWaterMark: pieceBytes })) {
      const dropped = Math.max(0, from - overlap);
      text = text.slice(dropped) + (piece as string);
      from -= dropped;
      // What precedes and follows decides whether an address is a whole one.
      const to = Math.max(from, text.length - overlap);
      if (redactor.isIn(text, from, to)) return true;
      from = to;
    }
    return redactor.isIn(text, from);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return false;
}

/** How one line, without its break, is written again; undefined leaves it out. Bytes as latin1. */
type LineEraser = (line: string) => string | undefined;

/** The lines of a journal: valid ones get a new checksum. */
export function journalEraser(redactor: Redactor): LineEraser {
  return (line) => {
    const [sum, json] = [line.slice(0, 8), line.slice(9)];
    const isValid = line[8] === " " && sum === checksum(json);
    if (!isValid) return redactor.redact(line);
    if (!redactor.isIn(json)) return line;
    const record = JSON.parse(utf8(json)) as { key?: unknown };
    const erased = redactor.redact(
      latin1(JSON.stringify(isOwn(record, redactor) ? withoutValues(record) : record)),
    );
    return `${checksum(erased)} ${erased}`;
  };
}

/** Any other text: a line that is a contact's JSON keeps its id and place alone; elsewhere the key is masked. */
export function textEraser(redactor: Redactor): LineEraser {
  return (line) => {
    if (!redactor.isIn(line)) return line;
    const contact = parsed(line);
    if (!contact || !isOwn(contact, redactor)) return redactor.redact(line);
    const { _id, contactStructureId, key } = contact;
    return redactor.redact(latin1(JSON.stringify({ _id, contactStructureId, key })));
  };
}

/** Writes the file again, line by line. @returns whether anything was changed */
export async function eraseLines(file: string, redactor: Redactor, eraser: LineEraser): Promise<boolean> {
  if (!(await holdsKey(file, redactor))) return false;
  return replaceFile(file, async (write) => {
    let rest = "";
    for await (const piece of createReadStream(file, { encoding: "latin1", highWaterMark: pieceBytes })) {
      const lines = (rest + (piece as string)).split("\n");
      rest = lines.pop()!;
      const kept = lines.map(eraser).filter((line) => line !== undefined);
      if (kept.length > 0) await write(`${kept.join("\n")}\n`);
    }
    await write(eraser(rest) ?? "");
  });
}

/**
 * A table of ours, such as the rejects or a backup: the rows whose key this is go, and other rows keep it masked.
 * @returns whether anything was changed
 */
export async function eraseRows(file: string, redactor: Redactor): Promise<boolean> {
  if (!(await holdsKey(file, redactor))) return false;
  const { size } = await stat(file);
  if (size > mostParsedBytes) return eraseLines(file, redactor, textEraser(redactor));
  const text = await readFile(file, "latin1");
  const whole = parsed(text);
  return replaceFile(file, async (write) => {
    if (Array.isArray(whole)) {
      const left = whole.filter((each) => !isOwn(each as { key?: unknown }, redactor));
      return write(redactor.redact(latin1(`${JSON.stringify(left, null, 2)}\n`)));
    }
    const [header = "", ...rows] = recordsOf(text);
    const delimiter = delimiterOf(header);
    const keyColumns = cellsOf(header, delimiter).map((name) => keyColumn.test(name.trim()));
    const isTheirs = (row: string) => {
      const json = parsed(row);
      if (json) return isOwn(json, redactor);
      return cellsOf(row, delimiter).some((cell, column) => keyColumns[column] && isWhole(cell, redactor));
    };
    const first = parsed(header) && isTheirs(header) ? "" : header;
    const left = [first, ...rows.filter((row) => !redactor.isIn(row) || !isTheirs(row))];
    return write(redactor.redact(left.join("")));
  });
}

/** Masks without moving a byte, for a file that another process may be appending to. @returns whether anything was changed */
export async function maskInPlace(file: string, redactor: Redactor): Promise<boolean> {
  if (!(await holdsKey(file, redactor))) return false;
  const handle = await open(file, "r+");
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(pieceBytes + 2 * overlap);
    for (let position = 0; position < size; position += pieceBytes) {
      // What precedes and follows decides whether an address is a whole one.
      const start = Math.max(0, position - overlap / 2);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
      const before = buffer.toString("latin1", 0, bytesRead);
      const [from, to] = [position - start, Math.min(bytesRead, position - start + pieceBytes + overlap / 2)];
      const after = redactor.redact(before).slice(from, to);
      if (after === before.slice(from, to)) continue;
      await handle.write(Buffer.from(after, "latin1"), 0, to - from, position);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return true;
}

async function replaceFile(
  file: string,
  write: (append: (bytes: string) => Promise<void>) => Promise<void>,
): Promise<true> {
  const { mode } = await stat(file);
  const copy = await openAtomicFile(file, mode & 0o777);
  try {
    await write((bytes) => copy.append(Buffer.from(bytes, "latin1")));
  } catch (error) {
    await copy.discard();
    throw error;
  }
  await copy.commit();
  return true;
}

const keyColumn =
  /^(?:ecm:)?key$|^e-?mail(?:[ _-]?address)?$|^(?:primary |subscriber |contact )?e-?mail(?: address)?$/i;

/** The records of a delimited text, each with its line break: quotes may hold breaks. */
function recordsOf(text: string): string[] {
  return text.match(/(?:"(?:[^"]|"")*"?|[^"\n])*(?:\n|$)/g)?.filter((record) => record !== "") ?? [];
}

function delimiterOf(header: string): string {
  const before = /(.)"?ecm_error/.exec(header)?.[1];
  return before ?? (header.includes("\t") ? "\t" : header.includes(",") || !header.includes(";") ? "," : ";");
}

function cellsOf(record: string, delimiter: string): string[] {
  const cells: string[] = [""];
  for (const [piece] of record.replace(/\r?\n$/, "").matchAll(/"(?:[^"]|"")*"?|[^"]/g)) {
    if (piece === delimiter) cells.push("");
    else cells[cells.length - 1] += piece.startsWith('"') ? piece.slice(1, -1).replaceAll('""', '"') : piece;
  }
  return cells;
}

function isOwn({ key }: { key?: unknown }, redactor: Redactor): boolean {
  return typeof key === "string" && isWhole(latin1(key), redactor);
}

/** Whether a text is the key and nothing else. */
function isWhole(bytes: string, redactor: Redactor): boolean {
  const text = bytes.trim().replace(/^'/, "");
  return redactor.isIn(text) && /^erase[d-]*$|^e?r?a?s?$/.test(redactor.redact(text));
}

/** Everything that is known of the person goes; ids stay, so that the counts of a run do. */
function withoutValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutValues);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === "value" ? "" : withoutValues(member)]),
  );
}

function parsed(bytes: string): { _id?: unknown; contactStructureId?: unknown; key?: unknown } | undefined {
  if (!/^\s*[[{]/.test(bytes)) return undefined;
  try {
    return JSON.parse(utf8(bytes)) as object;
  } catch {
    return undefined;
  }
}

function checksum(json: string): string {
  return crc32(Buffer.from(json, "latin1")).toString(16).padStart(8, "0");
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}
