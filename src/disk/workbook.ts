/**
 * Rows as a workbook (xlsx), written as they come. Every cell is text, and stays text when it is typed over:
 * no zero in front is lost, and nothing is run as a formula.
 */
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { ZipFile } from "yazl";
import { formatCount } from "../counts.ts";
import type { AtomicFile } from "./atomic-file.ts";

export interface Workbook {
  /** The first row is the heading. @throws Error for what no sheet or cell holds */
  append(cells: readonly string[]): Promise<void>;
  /** The file is whole then, and can be committed. */
  end(): Promise<void>;
}

/** What the sheets of spreadsheet programs hold. */
const maxRows = 1_048_576;
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

const contentTypes =
  `<Types xmlns="${packages}/content-types">` +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  `<Override PartName="/docProps/app.xml" ContentType="${properties}"/>` +
  `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${spreadsheet}.worksheet+xml"/>` +
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
const sheetEnd = `</sheetData><ignoredErrors><ignoredError sqref="A1:XFD${maxRows}" numberStoredAsText="1"/></ignoredErrors></worksheet>`;

/** Writes a workbook of one sheet into the file. */
export function openWorkbook(file: AtomicFile, sheetName: string): Workbook {
  const zip = new ZipFile();
  for (const [name, xml] of Object.entries(describeBook(sheetName)))
    zip.addBuffer(Buffer.from(head + xml), name);
  const sheet = new PassThrough();
  zip.addReadStream(sheet, "xl/worksheets/sheet1.xml");
  zip.end();
  const packed = (async () => {
    for await (const piece of zip.outputStream) file.append(piece as Buffer);
  })();
  // The next write throws the failure.
  packed.catch(() => undefined);
  let pending = sheetStart;
  let rows = 0;
  return {
    async append(cells) {
      if (rows === maxRows) throw new Error(`a sheet holds ${formatCount(maxRows)} rows; write CSV instead`);
      rows += 1;
      pending += toRow(cells, rows === 1 ? headingStyle : textStyle, rows);
      if (pending.length < pieceCharacters) return;
      const xml = pending;
      pending = "";
      if (!sheet.write(xml)) await Promise.race([once(sheet, "drain"), packed]);
    },
    async end() {
      sheet.end(pending + sheetEnd);
      await packed;
    },
  };
}

/** The parts beside the sheet. */
function describeBook(sheetName: string): Record<string, string> {
  return {
    "[Content_Types].xml": contentTypes,
    "docProps/app.xml": `<Properties xmlns="${documents}/extended-properties"><Application>ecm</Application></Properties>`,
    "_rels/.rels": relationships([
      `officeDocument" Target="xl/workbook.xml`,
      `extended-properties" Target="docProps/app.xml`,
    ]),
    "xl/styles.xml": styles,
    "xl/workbook.xml":
      `<workbook xmlns="${main}" xmlns:r="${documents}/relationships"><sheets>` +
      `<sheet name="${sheetName}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships([
      `worksheet" Target="worksheets/sheet1.xml`,
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

/** @param row from 1. Cells may lack their places, but some programs then put all of them into one place. */
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
    throw new Error(
      `a value has ${formatCount(text.length)} characters, and a cell of a workbook holds ${formatCount(maxCellCharacters)}; write CSV instead`,
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
