/**
 * Reading: a sheet of an Excel workbook (.xlsx) → a table. Streams the sheet; the texts that its cells share
 * are in memory.
 */
import { posix } from "node:path";
import { UsageError } from "../../../errors.ts";
import { quoteShellWord } from "../../../shell-word.ts";
import type { InputFile } from "../source.ts";
import { type Archive, openArchive } from "./archive.ts";
import { builtInFormats, formatNumericCell, loadNumberFormats, type NumberFormats } from "./cells.ts";
import { readMergedCells } from "./merged-cells.ts";
import { openTableWriter, tooLargeError } from "./table.ts";
import { readXml } from "./xml.ts";

export interface WorkbookTable {
  sheet: string;
  /** Rows that the workbook hides; they are in the table. */
  hiddenRows: number;
  /** Formulas that the workbook has no value for: blank in the table. */
  formulasWithoutValue: number;
  /** Merged ranges whose value was given to their other cells. */
  mergedRanges: number;
  /** Cells that hold an error such as `#N/A`: read as it is shown. */
  errors: { count: number; first?: { line: number; text: string } };
}

interface Sheet {
  name: string;
  isVisible: boolean;
  path: string;
}

interface Workbook {
  sheets: Sheet[];
  epoch: 1900 | 1904;
  /** Where the parts are that all sheets share; a workbook can do without. */
  styles?: string;
  sharedTexts?: string;
}

/** In characters. */
const maxSharedTextCharacters = 256 * 1024 ** 2;
/** A contact has some dozens of columns; a workbook can have 16,384. */
const maxColumns = 1024;

/**
 * Writes one sheet as a table in which each row has its number of the sheet.
 * @param wanted a sheet's name, or its number from 1; needed when several are visible
 * @throws UsageError for a workbook that is damaged, and when it is not plain which sheet is meant
 */
export async function readWorkbook(
  file: InputFile,
  target: string,
  sheetName: string | undefined,
): Promise<WorkbookTable> {
  const archive = await openArchive(file);
  try {
    const workbook = await readParts(archive, file);
    const sheet = chooseSheet(workbook.sheets, sheetName, file.name);
    const styles = await readStyles(archive, file, workbook.styles);
    const texts = await readSharedTexts(archive, file, workbook.sharedTexts);
    const formatCell = createCellReader(await loadNumberFormats(), workbook.epoch, styles, texts);
    return { sheet: sheet.name, ...(await writeSheet(archive, file, sheet, target, formatCell)) };
  } finally {
    archive.close();
  }
}

async function readParts(archive: Archive, file: InputFile): Promise<Workbook> {
  const main = await findMainPart(archive, file);
  const targets = await readRelations(archive, file, main);
  const findPart = (type: string, defaultPath: string) => {
    const namedPath = [...targets.values()].find((each) => each.type.endsWith(type))?.target;
    const path = posix.join(posix.dirname(main), defaultPath);
    return namedPath ?? (archive.has(path) ? path : undefined);
  };
  const sheets: Sheet[] = [];
  let epoch: Workbook["epoch"] = 1900;
  await readXml(archive.read(main), file.name, {
    open(name, attributes) {
      if (name === "workbookPr" && /^(?:1|true)$/.test(attributes.date1904 ?? "")) epoch = 1904;
      const path = name === "sheet" ? targets.get(findRelationId(attributes)) : undefined;
      // A chart has a sheet of its own, without cells.
      if (path?.type.endsWith("/worksheet")) {
        sheets.push({
          name: attributes.name ?? "",
          isVisible: !/hidden/i.test(attributes.state ?? ""),
          path: path.target,
        });
      }
    },
  });
  const styles = findPart("/styles", "styles.xml");
  return { sheets, epoch, styles, sharedTexts: findPart("/sharedStrings", "sharedStrings.xml") };
}

/** Usually `r:id`, but a program can name the prefix as it likes. */
function findRelationId(attributes: Record<string, string>): string {
  const name = Object.keys(attributes).find((each) => each.endsWith(":id"));
  return name === undefined ? "" : attributes[name]!;
}

async function findMainPart(archive: Archive, file: InputFile): Promise<string> {
  const relations = archive.has("_rels/.rels")
    ? await readRelations(archive, file, "")
    : new Map<string, Relation>();
  const main = [...relations.values()].find(({ type }) => type.endsWith("/officeDocument"))?.target;
  if (main?.endsWith(".xml") && archive.has(main) && /^xl\//i.test(main)) return main;
  throw notWorkbookError(archive, file, main);
}

function notWorkbookError(archive: Archive, { name }: InputFile, main: string | undefined): UsageError {
  const hint = "Open it in a spreadsheet and save the sheet as .xlsx or as CSV UTF-8";
  if (main?.endsWith(".bin"))
    return new UsageError(`${name} is a binary workbook (.xlsb), which is not supported`, hint);
  if (archive.has("content.xml"))
    return new UsageError(`${name} is an OpenDocument file, which is not supported`, hint);
  if (main !== undefined)
    return new UsageError(`${name} is an Office document, not a workbook`, "Name a workbook or a CSV file");
  return new UsageError(
    `${name} is a ZIP archive, not a workbook`,
    "Unpack it first, and name the file inside",
  );
}

interface Relation {
  type: string;
  target: string;
}

/** What a part refers to, by id; of the package itself for "". */
async function readRelations(
  archive: Archive,
  file: InputFile,
  part: string,
): Promise<Map<string, Relation>> {
  const base = posix.dirname(part);
  const path = part === "" ? "_rels/.rels" : posix.join(base, "_rels", `${posix.basename(part)}.rels`);
  const relations = new Map<string, Relation>();
  await readXml(archive.read(path), file.name, {
    open(name, { Id, Type, Target, TargetMode }) {
      if (name !== "Relationship" || !Id || !Target || TargetMode === "External") return;
      const target = Target.startsWith("/") ? Target.slice(1) : posix.join(part === "" ? "" : base, Target);
      relations.set(Id, { type: Type ?? "", target });
    },
  });
  return relations;
}

/** By name, without regard to case where that is plain, then by number. */
function chooseSheet(sheets: Sheet[], sheetName: string | undefined, file: string): Sheet {
  const formatNames = (some: Sheet[]) => some.map(({ name }) => JSON.stringify(name)).join(", ");
  if (sheetName !== undefined) {
    const loose = sheets.filter(({ name }) => name.toLowerCase() === sheetName.trim().toLowerCase());
    const found =
      sheets.find(({ name }) => name === sheetName) ??
      (loose.length === 1 ? loose[0] : undefined) ??
      (/^\d+$/.test(sheetName) ? sheets[Number(sheetName) - 1] : undefined);
    if (found) return found;
    throw new UsageError(
      `${file} has no sheet ${JSON.stringify(sheetName)}`,
      `Sheets: ${formatNames(sheets)}`,
    );
  }
  const visible = sheets.filter(({ isVisible }) => isVisible);
  if (visible.length === 1) return visible[0]!;
  if (visible.length === 0)
    throw new UsageError(`${file} has no visible sheet`, `Name one with --sheet: ${formatNames(sheets)}`);
  throw new UsageError(
    `${file} has ${visible.length} sheets: ${formatNames(visible)}`,
    `Say which one: --sheet ${quoteShellWord(visible[0]!.name)}, or its number`,
  );
}

/** The number format of each cell style. */
async function readStyles(archive: Archive, file: InputFile, path: string | undefined): Promise<string[]> {
  const patterns: string[] = [];
  if (path === undefined) return patterns;
  const own = new Map<string, string>();
  let isInCells = false;
  await readXml(archive.read(path), file.name, {
    open(name, attributes) {
      if (name === "numFmt") own.set(attributes.numFmtId ?? "", attributes.formatCode ?? "General");
      if (name === "cellXfs") isInCells = true;
      if (name !== "xf" || !isInCells) return;
      const id = attributes.numFmtId ?? "0";
      patterns.push(own.get(id) ?? builtInFormats[Number(id)] ?? "General");
    },
    close(name) {
      if (name === "cellXfs") isInCells = false;
    },
  });
  return patterns;
}

async function readSharedTexts(
  archive: Archive,
  file: InputFile,
  path: string | undefined,
): Promise<string[]> {
  const texts: string[] = [];
  if (path === undefined) return texts;
  let characters = 0;
  const gather = createTextGatherer();
  await readXml(archive.read(path), file.name, {
    open(name) {
      if (name === "si") gather.start();
      gather.open(name);
    },
    text: gather.text,
    close(name) {
      gather.close(name);
      if (name !== "si") return;
      const text = gather.take();
      characters += text.length + 1;
      if (characters > maxSharedTextCharacters) throw tooLargeError(file.name);
      texts.push(text);
    },
  });
  return texts;
}

/** The text of a cell, which may be in parts of several fonts; how it is pronounced is no part of it. */
function createTextGatherer() {
  let whole = "";
  let isInText = false;
  let isPronunciation = false;
  return {
    start() {
      whole = "";
    },
    open(name: string) {
      if (name === "t") isInText = true;
      if (name === "rPh") isPronunciation = true;
    },
    text(text: string) {
      if (isInText && !isPronunciation) whole += text;
    },
    close(name: string) {
      if (name === "t") isInText = false;
      if (name === "rPh") isPronunciation = false;
    },
    /** Characters that XML cannot hold are written as `_x000D_`. */
    take: () => unescapeText(whole),
  };
}

function unescapeText(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** @returns undefined for a cell that refers to a text that is not there */
type CellReader = (type: string, style: string | undefined, value: string) => string | undefined;

function createCellReader(
  formats: NumberFormats,
  epoch: Workbook["epoch"],
  styles: readonly string[],
  texts: readonly string[],
): CellReader {
  return (type, style, value) => {
    if (value === "") return "";
    if (type === "s") return /^\s*\d+\s*$/.test(value) ? texts[Number(value)] : undefined;
    if (type === "str") return unescapeText(value);
    if (type === "b") return booleanTexts[value.trim()] ?? value;
    // An ISO date, as some programs write it.
    if (type === "d") return value.replace(/T00:00:00(?:\.0+)?Z?$/, "").replace(/(T[\d:]+)\.\d+Z?$/, "$1");
    if (type !== "n") return value;
    return formatNumericCell(value, styles[Number(style ?? 0)] ?? "General", epoch, formats);
  };
}

const booleanTexts: Record<string, string> = { 1: "TRUE", true: "TRUE", 0: "FALSE", false: "FALSE" };

interface OpenCell {
  column: number;
  type: string;
  style?: string;
  value: string;
  hasFormula: boolean;
  hasValue: boolean;
}

async function writeSheet(
  archive: Archive,
  file: InputFile,
  sheet: Sheet,
  target: string,
  formatCell: CellReader,
): Promise<Omit<WorkbookTable, "sheet">> {
  const found: Omit<WorkbookTable, "sheet" | "mergedRanges"> = {
    hiddenRows: 0,
    formulasWithoutValue: 0,
    errors: { count: 0 },
  };
  const merged = await readMergedCells(() => archive.read(sheet.path), file.name);
  const writer = openTableWriter(target, file.name);
  let rows: { line: number; cells: (string | undefined)[] }[] = [];
  let line = 0;
  /** The row says its number, or a cell of it has. */
  let isNumbered = false;
  let isHidden = false;
  let cells: (string | undefined)[] = [];
  /** Of a cell that does not say its place: behind the one before it, blank or not. */
  let nextColumn = 0;
  let cell: OpenCell | undefined;
  let isInValue = false;
  const gather = createTextGatherer();
  const handlers = {
    open(name: string, attributes: Record<string, string>) {
      if (name === "row") {
        isNumbered = attributes.r !== undefined;
        line = isNumbered ? Number(attributes.r) : line + 1;
        if (!(Number.isInteger(line) && line > 0))
          throw damagedCellError(file.name, `a row has the number ${attributes.r}`);
        isHidden = /^(?:1|true)$/.test(attributes.hidden ?? "");
        cells = [];
        nextColumn = 0;
      } else if (name === "c") {
        const place = attributes.r === undefined ? { column: nextColumn } : parseReference(attributes.r);
        if (!place || (isNumbered && place.line !== undefined && place.line !== line))
          throw damagedCellError(file.name, `row ${line} has a cell ${attributes.r}`);
        if (place.line !== undefined) {
          line = place.line;
          isNumbered = true;
        }
        nextColumn = place.column + 1;
        cell = {
          column: place.column,
          type: attributes.t ?? "n",
          style: attributes.s,
          value: "",
          hasFormula: false,
          hasValue: false,
        };
      } else if (name === "v") isInValue = true;
      else if (name === "f" && cell) cell.hasFormula = true;
      else if (name === "is") gather.start();
      gather.open(name);
    },
    text(text: string) {
      if (isInValue && cell) {
        cell.value += text;
        cell.hasValue = true;
      } else gather.text(text);
    },
    close(name: string) {
      gather.close(name);
      if (name === "v") isInValue = false;
      if (name === "is" && cell) {
        cell.value = gather.take();
        cell.type = "text";
      }
      if (name === "c" && cell) {
        if (cell.hasFormula && !cell.hasValue) found.formulasWithoutValue += 1;
        const text = formatCell(cell.type, cell.style, cell.value);
        if (text === undefined)
          throw damagedCellError(file.name, `row ${line} refers to a shared text that is not there`);
        if (cell.type === "e" && text !== "") {
          found.errors.count += 1;
          found.errors.first ??= { line, text };
        }
        if (text !== "") placeCell(cells, cell.column, text, file.name, line);
        cell = undefined;
      }
      if (name !== "row" || cells.length === 0) return;
      if (isHidden) found.hiddenRows += 1;
      merged?.fill(line, cells);
      rows.push({ line, cells });
      cells = [];
    },
  };
  try {
    await readXml(archive.read(sheet.path), file.name, handlers, async () => {
      for (const row of rows) await writer.write(row.line, row.cells);
      rows = [];
    });
    for (const row of rows) await writer.write(row.line, row.cells);
    await writer.end();
  } finally {
    writer.close();
  }
  return { ...found, mergedRanges: merged?.filled() ?? 0 };
}

/** A cell of a workbook is never missing: where there is none, it is blank. */
function placeCell(
  cells: (string | undefined)[],
  column: number,
  text: string,
  file: string,
  line: number,
): void {
  if (!(column < maxColumns)) {
    throw new UsageError(
      `${file}:${line}: there is a value in column ${column + 1}; at most ${maxColumns} columns are read`,
      "Remove the cells far to the right of the table",
    );
  }
  if (cells[column]) throw damagedCellError(file, `row ${line} has two values in column ${column + 1}`);
  while (cells.length < column) cells.push("");
  cells[column] = text;
}

/** `A7` → the first column, line 7. Undefined for what is no reference to a cell. */
function parseReference(reference: string): { column: number; line?: number } | undefined {
  const [, letters, line] = /^\$?([A-Z]{1,3})\$?([1-9]\d{0,6})?$/i.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return { column: column - 1, line: line === undefined ? undefined : Number(line) };
}

function damagedCellError(file: string, what: string): UsageError {
  return new UsageError(
    `${file} is a damaged workbook: ${what}`,
    "Open it in a spreadsheet and save it again",
  );
}
