/** Reading of tables and JSON objects what an erasure would take out of them. Bytes are latin1. Pure. */
import {
  findDelimiter,
  findObjects,
  findTheirRows,
  isOwn,
  parseObject,
  readRecords,
  type TableErasure,
} from "./erase-table.ts";
import { toUtf8 } from "./file-text.ts";

/** What a file holds of one person. */
export interface OwnRecords {
  /** Rows and objects that are theirs, as they are. */
  records: Record<string, unknown>[];
  /** Rows and objects of others, and texts, in which a key is found. */
  mentions: number;
}

/**
 * Reads what `createTableEraser` would erase of a table that comes in pieces.
 * @returns a function from a piece to what it holds; the last one says so
 */
export function createTableReader(erasure: TableErasure): (piece: string, isLast: boolean) => OwnRecords {
  const { redactor } = erasure;
  let rest = "";
  let delimiter: string | undefined;
  let names: string[] | undefined;
  let isTheirs: ((cells: string[]) => boolean) | undefined;
  return (piece, isLast) => {
    const text = rest + piece;
    delimiter ??= findDelimiter(text);
    const read = readRecords(text, delimiter, isLast);
    rest = read.rest;
    isTheirs ??= findTheirRows(read.records, erasure);
    const own: OwnRecords = { records: [], mentions: 0 };
    names ??= read.records[0]?.cells.map((name) => toUtf8(name).replace(/^\ufeff/, ""));
    for (const { written, cells } of read.records) {
      if (!redactor.isIn(written)) continue;
      if (isTheirs(cells)) own.records.push(toRecord(cells, names ?? []));
      else own.mentions++;
    }
    return own;
  };
}

/** Cells without a name are named by their place. */
function toRecord(cells: readonly string[], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(cells.map((cell, index) => [names[index] || String(index + 1), toUtf8(cell)]));
}

/** The same of the objects of a JSON text. */
export function readOwnObjects(json: string, erasure: TableErasure): OwnRecords {
  const own: OwnRecords = { records: [], mentions: 0 };
  for (const [start, end] of findObjects(json)) {
    const object = json.slice(start, end);
    if (!erasure.redactor.isIn(object)) continue;
    const records = listOwn(parseObject(object), erasure);
    if (records.length === 0) own.mentions++;
    own.records.push(...records);
  }
  return own;
}

function listOwn(value: unknown, erasure: TableErasure): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return [];
  if (!Array.isArray(value) && isOwn(value, erasure)) return [value as Record<string, unknown>];
  return Object.values(value).flatMap((member) => listOwn(member, erasure));
}
