/** The rows of a rejects file as they are written down: text in the form of the input, or a workbook. */

import { formatCsvLine, formatTsvLine } from "../../delimited-lines.ts";
import { openAtomicFile } from "../../disk/atomic-file.ts";
import { type InputFacts, loadIconv, type SourceForm } from "../../tables/index.ts";

export interface RowsFile {
  append(cells: readonly string[]): Promise<void>;
  /** Puts the file in its place. */
  commit(): Promise<void>;
  /** Leaves what stood in its place. Never throws. */
  discard(): Promise<void>;
}

/** How cells become lines. */
export type TableDialect = Pick<InputFacts, "delimiter" | "hasEscapes">;

/** Lines are gathered to pieces of this many characters before they are written. */
const pieceCharacters = 64 * 1024;

/** @param form of the input; UTF-8 without one */
export async function openRowsFile(
  path: string,
  dialect: TableDialect,
  form?: SourceForm,
): Promise<RowsFile> {
  return form?.kind === "workbook" ? openWorkbookFile(path) : openTextFile(path, dialect, form);
}

/** @throws the system's error when the folder cannot be written */
async function openWorkbookFile(path: string): Promise<RowsFile> {
  const { openWorkbook } = await import("../../disk/workbook.ts");
  const file = await openAtomicFile(path);
  const workbook = await openWorkbook((piece) => file.append(piece), { sheetName: "Rejected" });
  return {
    append: workbook.append,
    async commit() {
      await workbook.end();
      await file.commit();
    },
    async discard() {
      workbook.abandon();
      await file.discard();
    },
  };
}

async function openTextFile(
  path: string,
  dialect: TableDialect,
  form: SourceForm | undefined,
): Promise<RowsFile> {
  const { encode, hasMark } = await encoderFor(form);
  const file = await openAtomicFile(path);
  let piece = hasMark ? "\uFEFF" : "";
  return {
    async append(cells) {
      piece += toLine(cells, dialect);
      if (piece.length < pieceCharacters) return;
      await file.append(encode(piece));
      piece = "";
    },
    async commit() {
      await file.append(encode(piece));
      await file.commit();
    },
    discard: () => file.discard(),
  };
}

interface Encoder {
  encode(text: string): string | Buffer;
  hasMark: boolean;
}

/** What cannot be written in the encoding of the input is UTF-8, with a mark that says so. */
async function encoderFor(form: SourceForm | undefined): Promise<Encoder> {
  const { encoding, hasMark } = form ?? { encoding: "utf-8", hasMark: false };
  if (encoding === "utf-8") return { encode: (text) => text, hasMark };
  const { encode, encodingExists } = await loadIconv();
  if (!encodingExists(encoding)) return { encode: (text) => text, hasMark: true };
  return { encode: (text) => encode(text, encoding, { addBOM: false }), hasMark };
}

function toLine(cells: readonly string[], { delimiter, hasEscapes }: TableDialect): string {
  return `${hasEscapes ? formatTsvLine(cells) : formatCsvLine(cells, delimiter)}\n`;
}
