/**
 * Rows as a workbook of one sheet. Every cell is text, and stays text
 * when it is typed over: no zero in front is lost.
 */
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { ZipFile } from "yazl";
import { openAtomicFile } from "../../disk/atomic-file.ts";

export interface RowsFile {
  append(cells: readonly string[]): Promise<void>;
  /** Puts the file in its place. */
  commit(): Promise<void>;
  /** Leaves what stood in its place. Never throws. */
  discard(): Promise<void>;
}

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const packages = "http://schemas.openxmlformats.org/package/2006";
const documents = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml";
/** The number that workbooks have for the format of text. */
const textFormat = 49;
const lastColumn = 16_384;

const parts: Record<string, string> = {
  "[Content_Types].xml":
    `<Types xmlns="${packages}/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    `<Override PartName="/xl/workbook.xml" ContentType="${spreadsheet}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${spreadsheet}.styles+xml"/>` +
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${spreadsheet}.worksheet+xml"/></Types>`,
  "_rels/.rels":
    `<Relationships xmlns="${packages}/relationships">` +
    `<Relationship Id="rId1" Type="${documents}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  "xl/workbook.xml":
    `<workbook xmlns="${main}" xmlns:r="${documents}">` +
    '<sheets><sheet name="Rejected" sheetId="1" r:id="rId1"/></sheets></workbook>',
  "xl/_rels/workbook.xml.rels":
    `<Relationships xmlns="${packages}/relationships">` +
    `<Relationship Id="rId1" Type="${documents}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="rId2" Type="${documents}/styles" Target="styles.xml"/></Relationships>`,
  "xl/styles.xml":
    `<styleSheet xmlns="${main}"><fonts count="1"><font/></fonts>` +
    '<fills count="2"><fill><patternFill patternType="none"/></fill>' +
    '<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders>' +
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/>' +
    `<xf numFmtId="${textFormat}" applyNumberFormat="1"/></cellXfs></styleSheet>`,
};

/** @throws the system's error when the folder cannot be written */
export async function openWorkbookFile(path: string): Promise<RowsFile> {
  const file = await openAtomicFile(path);
  const zip = new ZipFile();
  const sheet = new PassThrough();
  for (const [name, xml] of Object.entries(parts)) zip.addBuffer(Buffer.from(head + xml), name);
  zip.addReadStream(sheet, "xl/worksheets/sheet1.xml");
  zip.end();
  const packed = (async () => {
    for await (const piece of zip.outputStream) await file.append(piece as Buffer);
  })();
  // Whoever writes next meets the failure.
  packed.catch(() => undefined);
  const write = async (xml: string) => {
    if (!sheet.write(xml)) await Promise.race([once(sheet, "drain"), packed]);
  };
  await write(
    `${head}<worksheet xmlns="${main}"><cols><col min="1" max="${lastColumn}" width="20" style="1"/></cols><sheetData>`,
  );
  return {
    append: (cells) => write(`<row>${cells.map(cellOf).join("")}</row>`),
    async commit() {
      sheet.end("</sheetData></worksheet>");
      await packed;
      await file.commit();
    },
    async discard() {
      sheet.destroy();
      await file.discard();
    },
  };
}

function cellOf(text: string): string {
  return `<c t="inlineStr" s="1"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`;
}

/** What XML cannot hold becomes U+FFFD. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
