/**
 * Rows as a workbook (xlsx), written as they come. Every cell is text, and stays text when it is typed over:
 * no zero in front is lost, and nothing is run as a formula.
 */
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { ZipFile } from "yazl";
import { parseTsvCell } from "../delimited-lines.ts";
import type { AtomicFile } from "./atomic-file.ts";
import { LineSplitter } from "./log.ts";

export interface Workbook {
  /** The first row is the heading of each sheet. */
  append(cells: readonly string[]): Promise<void>;
  /** Everything was appended. */
  end(): Promise<void>;
  /** Nothing more is written. */
  abandon(): void;
}

/** What the sheets of spreadsheet programs hold. */
const maxSheetRows = 1_048_576;
const maxCellCharacters = 32_767;
const lastColumn = 16_384;

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const packages = "http://schemas.openxmlformats.org/package/2006";
const documents = "http://schemas.openxmlformats.org/officeDocument/2006";
const spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const properties = "application/vnd.openxmlformats-officedocument.extended-properties+xml";
/** The number that workbooks have for the format of text. */
const textFormat = 49;

/** Rows are gathered to pieces of this many characters. */
const pieceCharacters = 64 * 1024;

/** The default type is a sheet: how many there will be is not known yet. */
const contentTypes =
  `<Types xmlns="${packages}/content-types">` +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  `<Default Extension="xml" ContentType="${spreadsheet}.worksheet+xml"/>` +
  `<Override PartName="/docProps/app.xml" ContentType="${properties}"/>` +
  `<Override PartName="/xl/workbook.xml" ContentType="${spreadsheet}.sheet.main+xml"/>` +
  `<Override PartName="/xl/styles.xml" ContentType="${spreadsheet}.styles+xml"/></Types>`;

const styles =
  `<styleSheet xmlns="${main}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>` +
  '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill>' +
  '<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders>' +
  '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/>' +
  `<xf numFmtId="${textFormat}" applyNumberFormat="1"/>` +
  `<xf numFmtId="${textFormat}" fontId="1" applyNumberFormat="1" applyFont="1"/></cellXfs>` +
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

const sheetStart =
  `${head}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">` +
  '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
  `<cols><col min="1" max="${lastColumn}" width="20" style="1"/></cols><sheetData>`;
/** Digits that are text are as they should be: no mark beside each of them. */
const sheetEnd = `</sheetData><ignoredErrors><ignoredError sqref="A1:XFD${maxSheetRows}" numberStoredAsText="1"/></ignoredErrors></worksheet>`;

/**
 * @param write takes the bytes of the file in order
 * @param maxRows of a sheet; what does not fit goes on the next one
 */
export async function openWorkbook(
  write: (piece: Buffer) => Promise<void>,
  sheetName: string,
  maxRows = maxSheetRows,
): Promise<Workbook> {
  const zip = new ZipFile();
  const add = (name: string, xml: string) => zip.addBuffer(Buffer.from(head + xml), name);
  add("[Content_Types].xml", contentTypes);
  add(
    "docProps/app.xml",
    `<Properties xmlns="${documents}/extended-properties"><Application>ecm</Application></Properties>`,
  );
  add(
    "_rels/.rels",
    relationships([
      `officeDocument" Target="xl/workbook.xml`,
      `extended-properties" Target="docProps/app.xml`,
    ]),
  );
  add("xl/styles.xml", styles);
  const packed = (async () => {
    for await (const piece of zip.outputStream) await write(piece as Buffer);
  })();
  // The next write throws the failure.
  packed.catch(() => undefined);
  let pending = "";
  const flush = async (sheet: PassThrough) => {
    const xml = pending;
    pending = "";
    if (!sheet.write(xml)) await Promise.race([once(sheet, "drain"), packed]);
  };
  const writeTo = async (sheet: PassThrough, xml: string) => {
    pending += xml;
    if (pending.length >= pieceCharacters) await flush(sheet);
  };
  const sheets: PassThrough[] = [];
  const startSheet = async () => {
    const sheet = new PassThrough();
    sheets.push(sheet);
    zip.addReadStream(sheet, `xl/worksheets/sheet${sheets.length}.xml`);
    await writeTo(sheet, sheetStart);
    return sheet;
  };
  let sheet = await startSheet();
  let heading: string | undefined;
  let rows = 0;
  return {
    async append(cells) {
      heading ??= toRow(cells, headingStyle, 1);
      if (rows === maxRows) {
        await flush(sheet);
        sheet.end(sheetEnd);
        sheet = await startSheet();
        await writeTo(sheet, heading);
        rows = 1;
      }
      await writeTo(sheet, sheets.length === 1 && rows === 0 ? heading : toRow(cells, textStyle, rows + 1));
      rows += 1;
    },
    async end() {
      await flush(sheet);
      sheet.end(sheetEnd);
      const names = sheets.map((_, place) => (place === 0 ? sheetName : `${sheetName} ${place + 1}`));
      for (const [name, xml] of Object.entries(describeSheets(names))) add(name, xml);
      zip.end();
      await packed;
    },
    abandon() {
      for (const each of sheets) each.destroy();
    },
  };
}

/** The parts that name the sheets: written last, when their number is known. */
function describeSheets(names: readonly string[]): Record<string, string> {
  const files = names.map((_, place) => `worksheets/sheet${place + 1}.xml`);
  return {
    "xl/workbook.xml":
      `<workbook xmlns="${main}" xmlns:r="${documents}/relationships"><sheets>` +
      names
        .map((name, place) => `<sheet name="${name}" sheetId="${place + 1}" r:id="rId${place + 1}"/>`)
        .join("") +
      "</sheets></workbook>",
    "xl/_rels/workbook.xml.rels": relationships([
      ...files.map((file) => `worksheet" Target="${file}`),
      `styles" Target="styles.xml`,
    ]),
  };
}

/** @param targets the end of each one's type, and where it leads */
function relationships(targets: readonly string[]): string {
  const all = targets.map(
    (target, place) => `<Relationship Id="rId${place + 1}" Type="${documents}/relationships/${target}"/>`,
  );
  return `<Relationships xmlns="${packages}/relationships">${all.join("")}</Relationships>`;
}

const textStyle = 1;
const headingStyle = 2;

/** @param row counted from 1. Places may be left out, but some programs put every cell without one into the same place */
function toRow(cells: readonly string[], style: number, row: number): string {
  const written = cells.map((cell, at) => toCell(cell, style, toColumnLetters(at) + row));
  return `<row r="${row}">${written.join("")}</row>`;
}

/** A, B, … Z, AA, … of a column counted from 0. */
function toColumnLetters(at: number): string {
  const last = String.fromCharCode(65 + (at % 26));
  return at < 26 ? last : toColumnLetters(Math.floor(at / 26) - 1) + last;
}

/** @throws Error for a value that no cell holds */
function toCell(text: string, style: number, place: string): string {
  if (text.length > maxCellCharacters) {
    const [length, most] = [text.length, maxCellCharacters].map((each) => each.toLocaleString("en-US"));
    throw new Error(
      `a value has ${length} characters, and a cell of a workbook holds ${most}; write CSV instead`,
    );
  }
  return `<c r="${place}" t="inlineStr" s="${style}"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`;
}

/**
 * What XML cannot hold, or would change, is written as spreadsheet programs do: `_x000D_`. Halves of
 * characters become U+FFFD.
 */
function escapeXml(text: string): string {
  return text
    .replace(/\p{Surrogate}/gu, "\uFFFD")
    .replace(/_(?=x[0-9A-Fa-f]{4}_)|[^\t\n\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, toNumber)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

function toNumber(character: string): string {
  return `_x${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}_`;
}

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

async function openRows(write: (piece: Buffer) => Promise<void>) {
  const workbook = await openWorkbook(write, "Sheet1");
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
