/** What one file holds of a person: the reading counterpart of `erase-file.ts`. */
import { readFile, stat } from "node:fs/promises";
import { holdsKey } from "./erase-file.ts";
import type { TableErasure } from "./erase-table.ts";
import { isJsonStart, maxParsedBytes, readChunksAsText, readTextForm, toNarrow } from "./file-text.ts";
import { createTableReader, type OwnRecords, readOwnObjects } from "./read-table.ts";

/** What a file holds of the persons, as `eraseTable` and `eraseLines` would find it; nothing is written. */
export async function readOwnRecords(file: string, erasure: TableErasure): Promise<OwnRecords> {
  if (!(await holdsKey(file, erasure.redactor))) return { records: [], mentions: 0 };
  const own = await readHolding(file, erasure);
  // The key is somewhere in it, but in no record that can be told.
  return own.records.length + own.mentions === 0 ? { ...own, mentions: 1 } : own;
}

async function readHolding(file: string, erasure: TableErasure): Promise<OwnRecords> {
  const { wide, isJson } = await readTextForm(file);
  if ((wide || isJson) && (await stat(file)).size > maxParsedBytes) return { records: [], mentions: 1 };
  if (wide) return readText(toNarrow(await readFile(file), wide), erasure);
  if (isJson) return readText(await readFile(file, "latin1"), erasure);
  const isTable = /\.(?:csv|tsv|txt)$/.test(file) || erasure.keyNames.length > 0;
  return isTable ? readTable(file, erasure) : { records: [], mentions: 1 };
}

function readText(text: string, erasure: TableErasure): OwnRecords {
  return isJsonStart(text) ? readOwnObjects(text, erasure) : createTableReader(erasure)(text, true);
}

async function readTable(file: string, erasure: TableErasure): Promise<OwnRecords> {
  const read = createTableReader(erasure);
  const parts: OwnRecords[] = [];
  for await (const piece of readChunksAsText(file)) parts.push(read(piece, false));
  parts.push(read("", true));
  return {
    records: parts.flatMap(({ records }) => records),
    mentions: parts.reduce((sum, { mentions }) => sum + mentions, 0),
  };
}
