/** Workbooks of a test's own, written part by part: what a spreadsheet program would not write can be, too. */
import { crc32, deflateRawSync } from "node:zlib";

/** A ZIP archive of these entries. */
export function zip(entries: Record<string, string | Buffer>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(name.length, 22);
    parts.push(Buffer.from("PK\x03\x04", "latin1"), fields, Buffer.from(name), packed);
    const entry = Buffer.alloc(42);
    entry.writeUInt16LE(20, 0);
    fields.copy(entry, 2);
    entry.writeUInt32LE(offset, 38);
    directory.push(Buffer.from("PK\x01\x02", "latin1"), entry, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(entries).length, 4);
  end.writeUInt16LE(Object.keys(entries).length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, Buffer.from("PK\x05\x06", "latin1"), end]);
}

interface TestWorkbook {
  /** Their rows as XML; merged ranges such as `C2:C4`. */
  sheets: { name: string; state?: string; rows: string; merged?: string[] }[];
  sharedTexts?: string[];
  /** Own number formats; a cell's style `s` is the place in this list, from 1. */
  formats?: string[];
  is1904?: boolean;
  /** The program has computed no formula. */
  isComputedOnOpening?: boolean;
}

const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

/** The entries of the archive, by their names. */
export function createParts(content: TestWorkbook): Record<string, string> {
  const { sheets, sharedTexts = [], formats = [], is1904, isComputedOnOpening } = content;
  const list = <T>(items: readonly T[], toText: (item: T, number: number) => string) =>
    items.map((item, index) => toText(item, index + 1)).join("");
  const parts: Record<string, string> = {
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": `<Relationships><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `<workbook xmlns="${main}" xmlns:r="${office}"><workbookPr${is1904 ? ' date1904="1"' : ""}/><sheets>${list(
      sheets,
      ({ name, state }, number) =>
        `<sheet name="${name}" sheetId="${number}"${state ? ` state="${state}"` : ""} r:id="rId${number}"/>`,
    )}</sheets>${isComputedOnOpening ? '<calcPr fullCalcOnLoad="1"/>' : ""}</workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${list(
      sheets,
      (_, number) =>
        `<Relationship Id="rId${number}" Type="${office}/worksheet" Target="worksheets/sheet${number}.xml"/>`,
    )}</Relationships>`,
    "xl/sharedStrings.xml": `<sst xmlns="${main}">${sharedTexts.join("")}</sst>`,
    "xl/styles.xml": `<styleSheet xmlns="${main}"><numFmts>${list(
      formats,
      (format, number) => `<numFmt numFmtId="${163 + number}" formatCode="${format}"/>`,
    )}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${list(
      formats,
      (_, number) => `<xf numFmtId="${163 + number}"/>`,
    )}</cellXfs></styleSheet>`,
  };
  for (const [index, { rows, merged = [] }] of sheets.entries()) {
    const ranges = list(merged, (range) => `<mergeCell ref="${range}"/>`);
    const mergeCells = ranges === "" ? "" : `<mergeCells count="${merged.length}">${ranges}</mergeCells>`;
    parts[`xl/worksheets/sheet${index + 1}.xml`] =
      `<worksheet xmlns="${main}"><sheetData>${rows}</sheetData>${mergeCells}</worksheet>`;
  }
  return parts;
}

export function workbook(content: TestWorkbook): Buffer {
  return zip(createParts(content));
}

/** A workbook of one sheet with these rows. */
export function sheet(rows: string, more: Omit<TestWorkbook, "sheets"> & { merged?: string[] } = {}): Buffer {
  return workbook({ sheets: [{ name: "People", rows, merged: more.merged }], ...more });
}

/** @param place such as `B2`; the cell stands behind the one before it without */
export function textCell(text: string, place = ""): string {
  return `<c${place && ` r="${place}"`} t="inlineStr"><is><t>${text}</t></is></c>`;
}

/** A row of texts. */
export function textRow(number: number, cells: string[], attributes = ""): string {
  const written = cells.map((text, index) =>
    text === "" ? "" : textCell(text, `${String.fromCharCode(65 + index)}${number}`),
  );
  return `<row r="${number}"${attributes}>${written.join("")}</row>`;
}
