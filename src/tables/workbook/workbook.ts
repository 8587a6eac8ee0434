/**
 * Reading: an Excel workbook (.xlsx): its parts, and which of its sheets is meant. Streams the sheet; the
 * texts that its cells share are in memory.
 */

import { posix } from "node:path";
import { usageError } from "../../errors.ts";
import { quoteShellWord } from "../../hint.ts";
import type { TableRecord } from "../csv.ts";
import type { InputFile, Inspection } from "../source.ts";
import { type ChooseSheet, type Format, plainDialect, type ReadRecords, requireNoFlags } from "../table.ts";
import { builtInFormats, createCellReader, loadNumberFormats } from "./cell-text.ts";
import { Archive, toCellText, type XmlElement } from "./parts.ts";
import { type SheetRows, unpackSheet } from "./sheet.ts";

interface Sheet {
  name: string;
  isVisible: boolean;
  path: string;
}

export const workbookFormat: Format = {
  opens: (start) => start.toString("latin1", 0, 4) === "PK\x03\x04",
  async open(inspection, { encoding, delimiter, sheet, skipLines = 0 }, chooseSheet) {
    requireNoFlags(inspection.file, "a workbook", { "--encoding": encoding, "--delimiter": delimiter });
    const { name, rows } = await readWorkbook(inspection, sheet, chooseSheet);
    const { records, hiddenRows, mergedRanges } = rows;
    return {
      form: { kind: "workbook", encoding: "utf-8", hasMark: true },
      notes: [
        { code: "sheet", sheet: name },
        ...(hiddenRows > 0 ? [{ code: "hidden_rows", count: hiddenRows } as const] : []),
        ...(mergedRanges > 0 ? [{ code: "merged_ranges", count: mergedRanges } as const] : []),
      ],
      readings: [
        { dialect: plainDialect, first: () => readStart(records, skipLines), readAll: async () => records },
      ],
    };
  },
};

/** Enough for the lines above a header, of which many may be blank. */
const startRecords = 1000;

async function readStart(readRecords: ReadRecords, skipLines: number): Promise<TableRecord[]> {
  const start: TableRecord[] = [];
  for await (const batch of readRecords()) {
    start.push(...batch.filter(({ line }) => line > skipLines));
    if (start.length > startRecords) break;
  }
  return start;
}

/**
 * Unpacks one sheet.
 * @param wanted a sheet's name, or its number from 1; needed when several are visible
 * @throws UsageError for a workbook that is damaged, and when it is not plain which sheet is meant
 */
async function readWorkbook(
  inspection: Inspection,
  wanted: string | undefined,
  chooseSheet: ChooseSheet | undefined,
): Promise<{ name: string; rows: SheetRows }> {
  const { file } = inspection;
  const archive = await Archive.open(file);
  try {
    const main = await findMainPart(archive, file);
    const targets = await readRelations(archive, main);
    /** The place of a part that all sheets share, if any: as the workbook says, else where it usually is. */
    const findPart = (type: string) => {
      const path = posix.join(posix.dirname(main), `${type}.xml`);
      const named = [...targets.values()].find((each) => each.type.endsWith(type))?.target;
      return named ?? (archive.has(path) ? path : undefined);
    };
    const elements = await archive.read(main, "workbookPr", "calcPr", "sheet");
    const isSet = (element: string, attribute: string) =>
      elements.some(
        ({ name, attributes }) => name === element && /^(?:1|true)$/.test(attributes[attribute] ?? ""),
      );
    const sheet = await findSheet(listSheets(elements, targets), wanted, file.name, chooseSheet);
    const rows = await unpackSheet(archive, sheet.path, inspection, {
      formatCell: createCellReader(
        await loadNumberFormats(),
        isSet("workbookPr", "date1904") ? 1904 : 1900,
        await readStyles(archive, findPart("/styles")),
        await readSharedTexts(archive, findPart("/sharedStrings")),
      ),
      // Where a spreadsheet computes formulas when it opens the file, the program that wrote it has computed
      // none.
      isZeroResult: !isSet("calcPr", "fullCalcOnLoad"),
    });
    return { name: sheet.name, rows };
  } finally {
    archive.close();
  }
}

function listSheets(elements: readonly XmlElement[], targets: ReadonlyMap<string, Relation>): Sheet[] {
  return elements.flatMap(({ name: element, attributes }) => {
    // Usually `r:id`, but a program can name the prefix as it likes.
    const id = Object.keys(attributes).find((each) => each.endsWith(":id"));
    const part = element === "sheet" && id !== undefined ? targets.get(attributes[id]!) : undefined;
    // A chart has a sheet of its own, without cells.
    if (!part?.type.endsWith("/worksheet")) return [];
    const { name = "", state = "" } = attributes;
    return [{ name, isVisible: !/hidden/i.test(state), path: part.target }];
  });
}

async function findMainPart(archive: Archive, file: InputFile): Promise<string> {
  const relations = archive.has("_rels/.rels")
    ? await readRelations(archive, "")
    : new Map<string, Relation>();
  const main = [...relations.values()].find(({ type }) => type.endsWith("/officeDocument"))?.target;
  if (main?.endsWith(".xml") && archive.has(main) && /^xl\//i.test(main)) return main;
  throw usageError(
    `${file.name} is a ZIP archive, not an .xlsx workbook`,
    "Unpack it and name the file inside; save a workbook of another kind (.ods, .xlsb) as .xlsx or as CSV UTF-8",
  );
}

interface Relation {
  type: string;
  target: string;
}

/** What a part refers to, by id; of the package itself for "". */
async function readRelations(archive: Archive, part: string): Promise<Map<string, Relation>> {
  const base = posix.dirname(part);
  const path = part === "" ? "_rels/.rels" : posix.join(base, "_rels", `${posix.basename(part)}.rels`);
  const relations = new Map<string, Relation>();
  for (const { attributes } of await archive.read(path, "Relationship")) {
    const { Id, Type = "", Target, TargetMode } = attributes;
    if (!Id || !Target || TargetMode === "External") continue;
    const target = Target.startsWith("/") ? Target.slice(1) : posix.join(part === "" ? "" : base, Target);
    relations.set(Id, { type: Type, target });
  }
  return relations;
}

/**
 * By name, without regard to case where that is plain, then by number; the only visible one where none is
 * named.
 * @param choose where a person is asked which of several visible ones is meant
 * @throws UsageError
 */
async function findSheet(
  sheets: readonly Sheet[],
  wanted: string | undefined,
  file: string,
  choose: ChooseSheet | undefined,
): Promise<Sheet> {
  const visible = sheets.filter(({ isVisible }) => isVisible).map(({ name }) => name);
  const quoteAll = (names: readonly string[]) => names.map((name) => JSON.stringify(name)).join(", ");
  const all = quoteAll(sheets.map(({ name }) => name));
  const [only] = visible;
  if (wanted === undefined && only === undefined)
    throw usageError(`${file} has no visible sheet`, `Name one with --sheet: ${all}`);
  const name = wanted ?? (visible.length === 1 ? only : await choose?.({ file, sheets: visible }));
  if (name === undefined)
    throw usageError(
      `${file} has ${visible.length} sheets: ${quoteAll(visible)}`,
      `Say which one: --sheet ${quoteShellWord(only!)}, or its number`,
    );
  const alike = sheets.filter((sheet) => sheet.name.toLowerCase() === name.trim().toLowerCase());
  const found =
    sheets.find((sheet) => sheet.name === name) ??
    (alike.length === 1 ? alike[0] : undefined) ??
    (/^\d+$/.test(name) ? sheets[Number(name) - 1] : undefined);
  if (found) return found;
  throw usageError(`${file} has no sheet ${JSON.stringify(name)}`, `Sheets: ${all}`);
}

/** The number format of each cell style. */
async function readStyles(archive: Archive, path: string | undefined): Promise<string[]> {
  if (path === undefined) return [];
  const elements = await archive.read(path, "numFmt", "cellXfs");
  const own = new Map(
    elements.map(({ attributes: { numFmtId = "", formatCode = "General" } }) => [numFmtId, formatCode]),
  );
  const styles = elements.filter(({ name }) => name === "cellXfs").flatMap(({ children }) => children);
  return styles.map(
    ({ attributes: { numFmtId = "0" } }) =>
      own.get(numFmtId) ?? builtInFormats[Number(numFmtId)] ?? "General",
  );
}

/** @param path of the part that holds the texts which cells share, if there is one */
async function readSharedTexts(archive: Archive, path: string | undefined): Promise<string[]> {
  const texts: string[] = [];
  if (path === undefined) return texts;
  for await (const elements of archive.stream(path, "si")) texts.push(...elements.map(toCellText));
  return texts;
}
