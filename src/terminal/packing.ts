/** A workbook out of lines of tsv: each line is a row, and the line breaks within a cell are escaped. */
import { parseTsvCell } from "../delimited-lines.ts";
import type { AtomicFile } from "../disk/atomic-file.ts";
import { LineSplitter } from "../disk/log.ts";
import { openWorkbook } from "../disk/workbook.ts";

/** An atomic file that takes lines of tsv, as text, and holds a workbook of them. */
export async function packWorkbook(file: AtomicFile): Promise<AtomicFile> {
  const rows = await openRows((piece) => file.append(piece));
  const refuse = () => {
    throw new Error("a workbook is written in order");
  };
  return {
    append: rows.append,
    appendNow: refuse,
    clear: refuse,
    async commit() {
      try {
        await rows.end();
      } catch (error) {
        await file.discard();
        throw error;
      }
      await file.commit();
    },
    async discard() {
      rows.abandon();
      await file.discard();
    },
  };
}

/** The bytes of a whole workbook. */
export async function packWorkbookText(lines: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const rows = await openRows(async (piece) => {
    pieces.push(piece);
  });
  await rows.append(lines);
  await rows.end();
  return Buffer.concat(pieces);
}

async function openRows(write: (piece: Buffer) => Promise<void>) {
  const workbook = await openWorkbook(write, { sheetName: "Sheet1" });
  const splitter = new LineSplitter();
  const append = async (text: string | Uint8Array) => {
    for (const line of splitter.take(text.toString()))
      await workbook.append(line.split("\t").map(parseTsvCell));
  };
  return {
    append,
    async end() {
      if (splitter.rest !== "") await append("\n");
      await workbook.end();
    },
    abandon: workbook.abandon,
  };
}
