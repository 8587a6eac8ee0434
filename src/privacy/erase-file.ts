/**
 * Taking persons out of one file: their own records go, or keep nothing but ids; anywhere else their keys are
 * masked. A file is replaced whole, so that a kill leaves it as it was or as it should be.
 */
import { readFile, stat } from "node:fs/promises";
import { createPlanSealer } from "../bulk/runs/plan-seal.ts";
import { openAtomicFile } from "../disk/atomic-file.ts";
import { computeChecksum, LineSplitter } from "../disk/log.ts";
import { createTableEraser, eraseObjects, parseObject, type TableErasure } from "./erase-table.ts";
import {
  isJsonStart,
  maxParsedBytes,
  readChunksAsText,
  readTextForm,
  toLatin1,
  toNarrow,
  toUtf8,
  toWide,
} from "./file-text.ts";
import type { Redactor } from "./redaction.ts";

/**
 * Pieces of a file without line breaks are read with this overlap,
 * in bytes: longer than any key with its escapes.
 */
const overlapBytes = 16 * 1024;

/** Whether the key is anywhere in the file. False for one that does not exist. */
export async function holdsKey(file: string, redactor: Redactor): Promise<boolean> {
  let text = "";
  /** Where in `text` begins what was not looked at yet. */
  let from = 0;
  try {
    for await (const piece of readChunksAsText(file)) {
      const dropped = Math.max(0, from - overlapBytes);
      text = text.slice(dropped) + piece;
      from -= dropped;
      // What precedes and follows decides whether an address is a whole one.
      const to = Math.max(from, text.length - overlapBytes);
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
export function createJournalEraser(redactor: Redactor): LineEraser {
  /** What the service said of a contact comes without its key. */
  const refs = new Set<unknown>();
  return (line) => {
    const [sum, json] = [line.slice(0, 8), line.slice(9)];
    const isValid = line[8] === " " && sum === computeChecksum(Buffer.from(json, "latin1"));
    if (!isValid) return redactor.redact(line);
    const hasMessage = refs.size > 0 && json.includes('"message"');
    if (!hasMessage && !redactor.isIn(json)) return line;
    const record = JSON.parse(toUtf8(json)) as { key?: unknown; ref?: unknown; message?: string };
    const isTheirs = hasTheirKey(record, redactor);
    if (isTheirs) refs.add(record.ref);
    if (record.message !== undefined && refs.has(record.ref)) record.message = "";
    const erased = redactor.redact(toLatin1(JSON.stringify(isTheirs ? blankValues(record) : record)));
    return `${computeChecksum(Buffer.from(erased, "latin1"))} ${erased}`;
  };
}

/**
 * A run's plan: of a line that is theirs its place stays, so that the counts of the run do, and applying it
 * passes over it. The digest is that of what is left. @returns whether anything was changed
 */
export async function erasePlan(file: string, redactor: Redactor): Promise<boolean> {
  const seal = createPlanSealer();
  return eraseLines(file, redactor, (line) => {
    if (line === "") return line;
    return seal(redactor.isIn(line) ? erasePlanLine(line, redactor) : line);
  });
}

function erasePlanLine(text: string, redactor: Redactor): string {
  const line = JSON.parse(toUtf8(text)) as {
    key?: unknown;
    line?: unknown;
    action?: unknown;
    of?: unknown;
    apply?: { ref: number };
  };
  if (!hasTheirKey(line, redactor)) return redactor.redact(text);
  const { key, line: place, of, apply } = line;
  const left = { line: place, key, contactId: null, action: apply ? line.action : "skip" };
  const none = { code: "suppressed", message: null, changes: [] };
  const ref = apply && { apply: { ref: apply.ref, isErased: true } };
  return redactor.redact(toLatin1(JSON.stringify({ ...left, ...none, of, ...ref })));
}

/** Any other text: what a line's JSON holds of a person goes; elsewhere the key is masked. */
export function createTextEraser(redactor: Redactor): LineEraser {
  const erasure = { redactor, keyNames: [], keepsRows: false };
  return (line) => {
    if (!redactor.isIn(line)) return line;
    return /^\s*[[{]/.test(line) ? eraseObjects(line, erasure) : redactor.redact(line);
  };
}

/** Writes the file again, line by line. @returns whether anything was changed */
export async function eraseLines(file: string, redactor: Redactor, eraser: LineEraser): Promise<boolean> {
  if (!(await holdsKey(file, redactor))) return false;
  return replaceFile(file, async (write) => {
    const splitter = new LineSplitter();
    for await (const piece of readChunksAsText(file)) {
      const lines = splitter.take(piece).map(eraser);
      const remainingLines = lines.filter((line) => line !== undefined);
      if (remainingLines.length > 0) await write(`${remainingLines.join("\n")}\n`);
    }
    await write(eraser(splitter.rest) ?? "");
  });
}

/**
 * A table: delimited text, or JSON objects. Of an array that keeps no rows, the elements of the persons go.
 * @returns whether anything was changed
 */
export async function eraseTable(file: string, erasure: TableErasure): Promise<boolean> {
  const { redactor, keepsRows } = erasure;
  if (!(await holdsKey(file, redactor))) return false;
  const { size } = await stat(file);
  const { wide, isJson } = await readTextForm(file);
  if (size > maxParsedBytes && (wide || isJson))
    return eraseLines(file, redactor, createTextEraser(redactor));
  if (wide) {
    const narrow = toNarrow(await readFile(file), wide);
    const erased = isJsonStart(narrow)
      ? eraseObjects(narrow, erasure)
      : createTableEraser(erasure)(narrow, true);
    return replaceFile(file, (write) => write(toWide(erased, wide)));
  }
  if (!isJson) {
    const erase = createTableEraser(erasure);
    return replaceFile(file, async (write) => {
      for await (const piece of readChunksAsText(file)) await write(erase(piece, false));
      await write(erase("", true));
    });
  }
  const text = await readFile(file, "latin1");
  const whole = keepsRows ? undefined : parseObject(text);
  return replaceFile(file, async (write) => {
    if (!Array.isArray(whole)) return write(eraseObjects(text, erasure));
    const left = whole.filter((each) => !hasTheirKey(each as { key?: unknown }, redactor));
    return write(redactor.redact(toLatin1(`${JSON.stringify(left, null, 2)}\n`)));
  });
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

function hasTheirKey({ key }: { key?: unknown }, redactor: Redactor): boolean {
  return typeof key === "string" && redactor.isKey(key);
}

/** Everything that is known of the person goes; ids stay, so that the counts of a run do. */
function blankValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(blankValues);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === "value" ? "" : blankValues(member)]),
  );
}
