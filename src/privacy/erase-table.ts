/**
 * Taking persons out of tables: delimited text, and JSON objects. Their rows go, or stay without a value
 * where a run names its rows by their place; in the rows of others their keys are masked. Bytes are latin1,
 * where a character is a byte. Pure.
 */

import { createErasedKey } from "../api/key-spelling.ts";
import { splitRecords, type WrittenRecord } from "../tables/index.ts";
import { toLatin1, toUtf8 } from "./file-text.ts";
import type { Redactor } from "./redaction.ts";

export interface TableErasure {
  redactor: Redactor;
  /**
   * Columns that hold keys, as they are named; where none is
   * known, they are found by their names and contents.
   */
  keyNames: readonly string[];
  /** A row stays where it is, empty but for the masked key. */
  keepsRows: boolean;
}

const keyName =
  /^(?:ecm:)?key$|^_?id$|^e-?mail(?:[ _-]?address)?$|^(?:primary |subscriber |contact )?e-?mail(?: address)?$/i;
/** No row is longer: what looks so is a quote that is text. */
const maxRecordCharacters = 1024 * 1024;
const sampleRecords = 200;

/**
 * Erases a table that comes in pieces.
 * @returns a function from a piece to what is written for it; the last one says so
 */
export function createTableEraser(erasure: TableErasure): (piece: string, isLast: boolean) => string {
  const { redactor } = erasure;
  let rest = "";
  let delimiter: string | undefined;
  let isTheirs: ((cells: string[]) => boolean) | undefined;
  return (piece, isLast) => {
    const text = rest + piece;
    delimiter ??= findDelimiter(text);
    const read = readRecords(text, delimiter, isLast);
    rest = read.rest;
    isTheirs ??= findTheirRows(read.records, erasure);
    let written = "";
    for (const record of read.records) {
      if (!redactor.isIn(record.written)) written += record.written;
      else if (!isTheirs(record.cells)) written += redactor.redact(record.written);
      else if (erasure.keepsRows) written += emptyCells(record, delimiter, redactor);
    }
    return written;
  };
}

/** Whether a row is of one of the persons: decided by the columns that hold keys. */
function findTheirRows(
  records: readonly WrittenRecord[],
  { redactor, keyNames }: TableErasure,
): (cells: string[]) => boolean {
  const rows = records.slice(0, sampleRecords).map(({ cells }) => cells);
  const names = (rows[0] ?? []).map((name) => name.replace(/^\u00ef\u00bb\u00bf/, "").trim());
  const isNamed = (name: string) =>
    keyNames.includes(toUtf8(name)) || (keyNames.length === 0 && keyName.test(name));
  let columns = names.flatMap((name, index) => (isNamed(name) ? [index] : []));
  if (columns.length === 0) {
    const countAddresses = (index: number) =>
      rows.filter((row) => row[index]?.includes("@")).length / rows.length;
    columns = names.flatMap((_, index) => (countAddresses(index) >= 0.5 ? [index] : []));
  }
  const isKey = (cell: string) => redactor.isKey(toUtf8(cell)) || redactor.isKey(cell);
  return (cells) =>
    columns.length === 0 ? cells.some(isKey) : columns.some((index) => isKey(cells[index] ?? ""));
}

/** The cells without their values; line breaks inside them stay, since rows are named by their lines. */
function emptyCells({ written, cells }: WrittenRecord, delimiter: string, redactor: Redactor): string {
  const [lineBreak = ""] = /\r?\n?$/.exec(written) ?? [];
  const empty = cells.map((cell) => {
    if (redactor.isKey(toUtf8(cell)) || redactor.isKey(cell)) return createErasedKey(6);
    const breaks = cell.replaceAll(/[^\r\n]/g, "");
    return breaks === "" ? "" : `"${breaks}"`;
  });
  return empty.join(delimiter) + lineBreak;
}

function findDelimiter(sample: string): string {
  const own = /(.)"?ecm_error/.exec(sample)?.[1];
  if (own !== undefined) return own;
  const [first = ""] = sample.split("\n", 1);
  const often = [",", ";", "\t", "|"].map((each) => ({ each, count: first.split(each).length }));
  return often.sort((one, other) => other.count - one.count)[0]!.each;
}

/** Whole records, and what is left of the last one. */
function readRecords(
  text: string,
  delimiter: string,
  isLast: boolean,
): { records: WrittenRecord[]; rest: string } {
  const { records, rest, restCells } = splitRecords(text, delimiter);
  if (rest === "" || (!isLast && rest.length <= maxRecordCharacters)) return { records, rest };
  if (restCells) return { records: [...records, { written: rest, cells: restCells }], rest: "" };
  // A quote that nothing closes is text: the record is its line.
  const [line] = /^.*\n?/.exec(rest)!;
  const behind = readRecords(rest.slice(line.length), delimiter, isLast);
  const cells = line.trimEnd().split(delimiter);
  return { records: [...records, { written: line, cells }, ...behind.records], rest: behind.rest };
}

/** Members that say where a record belongs, and nothing of a person. */
const referenceMembers = [
  "_id",
  "contactStructureId",
  "contactId",
  "line",
  "ref",
  "kind",
  "action",
  "outcome",
  "code",
];

/**
 * The objects of a JSON text, one after another or in an array. What is of a person keeps its place alone, or
 * with `keepsRows` its members without a value; everything else stays as it is written.
 */
export function eraseObjects(json: string, erasure: TableErasure): string {
  const { redactor } = erasure;
  let written = "";
  let from = 0;
  for (const [start, end] of findObjects(json)) {
    const object = json.slice(start, end);
    if (!redactor.isIn(object)) continue;
    const erased = eraseValue(parseObject(object), erasure);
    if (erased === undefined) continue;
    const breaks = object.replaceAll(/[^\n]/g, "");
    written +=
      redactor.redact(json.slice(from, start)) +
      redactor.redact(`{${breaks}${toLatin1(JSON.stringify(erased)).slice(1)}`);
    from = end;
  }
  return written + redactor.redact(json.slice(from));
}

/** Undefined where nothing of it is of a person. */
function eraseValue(value: unknown, erasure: TableErasure): unknown {
  if (Array.isArray(value)) {
    const members = value.map((member) => eraseValue(member, erasure));
    return members.some((member) => member !== undefined)
      ? members.map((member, index) => member ?? value[index])
      : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (isOwn(value, erasure)) return removeValues(value, erasure);
  const erased = Object.entries(value).map(([name, member]) => [name, eraseValue(member, erasure)] as const);
  if (erased.every(([, member]) => member === undefined)) return undefined;
  return { ...value, ...Object.fromEntries(erased.filter(([, member]) => member !== undefined)) };
}

function isOwn(value: object, { redactor, keyNames }: TableErasure): boolean {
  const texts = Object.entries(value).filter(([, member]) => typeof member === "string") as [
    string,
    string,
  ][];
  const isNamed = ([name]: [string, string]) =>
    keyNames.includes(name) || (keyNames.length === 0 && keyName.test(name));
  const namedTexts = texts.filter(isNamed);
  const keys = namedTexts.some(([name]) => name !== "_id" && name !== "id") ? namedTexts : texts;
  return keys.some(([, member]) => redactor.isKey(member));
}

function removeValues(value: object, { redactor, keepsRows }: TableErasure): object {
  const remainingMembers = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (typeof member === "string" && redactor.isKey(member)) return [[name, createErasedKey(6)]];
    if (keepsRows) return [[name, ""]];
    return referenceMembers.includes(name) ? [[name, member]] : [];
  });
  return Object.fromEntries(remainingMembers);
}

/** Where the outermost objects begin and end. */
function* findObjects(json: string): Generator<[start: number, end: number]> {
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (token === "{" && depth++ === 0) start = index;
    else if (token === "}" && depth > 0 && --depth === 0) yield [start, index + 1];
  }
}

export function parseObject(object: string): unknown {
  try {
    return JSON.parse(toUtf8(object));
  } catch {
    return undefined;
  }
}
