/** Reading: what a file is, found out before anything is sent. */
import { UsageError } from "../../errors.ts";
import type { ContactStructure } from "../../wire.ts";
import { type Columns, type MappingInput, mapColumns, mapKeyColumn, toldTargets } from "./columns.ts";
import { findConsent } from "./consent.ts";
import { isConsentKnown } from "./consent-columns.ts";
import { type FoundEncoding, findEncoding } from "./encoding/detect.ts";
import { unreadableFrom } from "./faults.ts";
import { findHeader, type Header, parseDelimiter } from "./header.ts";
import { inspectFile } from "./inspect.ts";
import { foldName } from "./names.ts";
import { readRows } from "./read-rows.ts";
import type { Reading, Understood } from "./reading.ts";
import type { InputFacts, ReadOptions, ReadRow, Target } from "./rows.ts";
import { type InputFile, requireFile } from "./source.ts";
import { recogniseSystem, type System, systemNamed } from "./systems.ts";
import { readStart, type TextSource } from "./text.ts";
import { addSamples, UnclearColumnsError } from "./unclear.ts";
import { valueReader } from "./values.ts";

/** Enough for a header and some rows, whatever their length. */
const startBytes = 256 * 1024;
const sampleRows = 5;

/**
 * Understands a file: encoding, delimiter, header, where each column goes. Reads all of its bytes, and its first rows.
 * A quote that is not closed further down shows only when `readRows` is read to its end, which the engine does
 * before it sends.
 *
 * @throws UsageError with the place and the next step, for a file that cannot be read
 */
export async function understandInput(
  file: InputFile,
  options: ReadOptions,
  structure: ContactStructure,
): Promise<Understood> {
  return understand(file, options, structure, "contacts");
}

/**
 * Understands a file that names contacts: one key for each line, or a table with a key column, whose other columns
 * are ignored. `readRows` then gives rows that have a key and nothing else.
 *
 * @throws UsageError as `understandInput`
 */
export async function understandKeys(
  file: InputFile,
  options: ReadOptions,
  structure: ContactStructure,
): Promise<Understood> {
  return understand(file, options, structure, "keys");
}

async function understand(
  file: InputFile,
  options: ReadOptions,
  structure: ContactStructure,
  wanted: "contacts" | "keys",
): Promise<Understood> {
  await requireFile(file);
  const inspection = await inspectFile(file);
  const found = await findEncoding(inspection, options.encoding);
  const { encoding, markBytes } = found;
  const header = await findHeaderOf({ file, encoding, markBytes }, options, structure);
  const hasHeader =
    !options.hasNoHeader && (wanted === "contacts" || header.isSure || header.names.length > 1);
  const written = hasHeader
    ? withoutTrailingBlanks(header.names)
    : header.names.map((_, at) => String(at + 1));
  const hasSafeCells = hasHeader && written.some((name) => foldName(name) === safeCellsColumn);
  // Columns are named by labels, and a label can look like a formula too.
  const names = written.map(valueReader(hasSafeCells, false));
  if (hasHeader && !header.isSure) requireHeader(file.name, header, structure);
  const system = systemOf(names, options, hasHeader);
  const input = { names, options, structure, system, place: `${file.name}:${header.line}` };
  const readingBy = ({ targets, consent }: Columns): Reading => ({
    keyType: structure.keyType,
    encoding,
    markBytes,
    delimiter: header.delimiter,
    startLine: header.line,
    hasHeader,
    targets,
    system,
    consent,
    hasSafeCells,
  });
  const columns = await mapped(wanted, input, (unmapped) => readRows({ file, reading: readingBy(unmapped) }));
  const facts: InputFacts = {
    sha256: inspection.sha256,
    bytes: inspection.bytes,
    encoding,
    delimiter: header.delimiter,
    system: system?.name,
    headerLine: hasHeader ? header.line : undefined,
    columns: written.map((name, index) => ({ name, target: columns.targets[index]! })),
    notes: [...encodingNotes(found), ...systemNotes(system, columns.consent.length > 0), ...columns.notes],
    sample: [],
  };
  const understood: Understood = { file, facts, reading: readingBy(columns) };
  for await (const row of readRows(understood)) {
    facts.sample.push(row);
    if (facts.sample.length === sampleRows) break;
  }
  if (facts.sample.length === 0) facts.notes.push("the file has a header and no rows");
  return understood;
}

/** Where the columns go. @throws UnclearColumnsError with samples of those that a person must decide on */
async function mapped(
  wanted: "contacts" | "keys",
  input: MappingInput,
  rowsOf: (columns: Columns) => AsyncIterable<ReadRow>,
): Promise<Columns> {
  const none = { targets: input.names.map((): Target => ({ kind: "ignore" })), consent: [], notes: [] };
  if (wanted === "contacts" || input.options.readsConsent) {
    const isKnown = isConsentKnown(input, toldTargets(input));
    input.found = await findConsent(input.names, isKnown, rowsOf(none));
  }
  try {
    return wanted === "keys" ? mapKeyColumn(input) : mapColumns(input);
  } catch (error) {
    if (error instanceof UnclearColumnsError) {
      await addSamples(error.unclear, input.names, rowsOf(none));
    }
    throw error;
  }
}

/** The column by which a file says that its cells were made safe for spreadsheets. */
const safeCellsColumn = "ecm:safe-cells";

async function findHeaderOf(
  source: TextSource,
  options: ReadOptions,
  structure: ContactStructure,
): Promise<Header & { line: number }> {
  let firstLine = 1 + (options.skipLines ?? 0);
  let delimiter = options.delimiter === undefined ? undefined : parseDelimiter(options.delimiter);
  let { text, isCut } = await readStart(source, firstLine, startBytes);
  const told = /^"?sep=(.)"?(?:\r\n|\n|\r|$)/i.exec(text);
  if (told) {
    delimiter ??= told[1]!;
    firstLine += 1;
    text = text.slice(told[0].length);
  }
  const header = await findHeader({
    text,
    firstLine,
    isCut,
    delimiter,
    hasNoHeader: options.hasNoHeader ?? false,
    keyName: structure.keyName,
    keyType: structure.keyType,
    mapped: [...options.map.keys()],
  }).catch((error: unknown) => {
    throw unreadableFrom(source.file.name, error);
  });
  if (header.line !== undefined) return { ...header, line: header.line };
  throw options.skipLines
    ? new UsageError(
        `${source.file.name} has nothing after ${options.skipLines} skipped lines`,
        "lower --skip-lines",
      )
    : new UsageError(`${source.file.name} is empty`, "name a file with a header and rows");
}

/** @throws UsageError when what stands in place of a header is a row */
function requireHeader(name: string, { line, names }: Header, structure: ContactStructure): void {
  if (structure.keyType.toLowerCase() !== "email") return;
  const column = names.findIndex((cell) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim()));
  if (column === -1) return;
  throw new UsageError(
    `${name}:${line}: there is no header: the first row already holds an address`,
    `add a header line, or pass --no-header --map ${column + 1}=key`,
  );
}

/** A delimiter at the end of the header line makes columns without a name: cells under them must be empty. */
function withoutTrailingBlanks(names: string[]): string[] {
  const last = names.findLastIndex((name) => foldName(name) !== "");
  return names.slice(0, last + 1);
}

function systemOf(names: string[], options: ReadOptions, hasHeader: boolean): System | undefined {
  if (options.from !== undefined) return systemNamed(options.from, names);
  return hasHeader ? recogniseSystem(names) : undefined;
}

function encodingNotes({ encoding, isGuess, firstForeign }: FoundEncoding): string[] {
  if (encoding === "utf-8" || (!isGuess && !firstForeign)) return [];
  const how = isGuess ? " (found by the look of its bytes; --encoding overrides)" : "";
  const sample = firstForeign
    ? `; the first line beyond ASCII is line ${firstForeign.line}: ${firstForeign.text}`
    : "";
  return [`read as ${encoding}${how}${sample}`];
}

function systemNotes(system: System | undefined, hasConsent: boolean): string[] {
  if (!system) return [];
  const notes = [`read as ${system.title}`];
  if (!hasConsent && !system.isOfSubscribers) {
    notes.push(`${system.title} says nothing about consent: make sure that these people agreed to be mailed`);
  }
  return notes;
}
