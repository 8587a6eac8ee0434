/** Reading: what a file is, found out before anything is sent. */
import { foldName } from "../api/names.ts";
import type { ContactStructure } from "../wire.ts";
import { type Columns, mapColumns, type RowKind } from "./columns/map.ts";
import {
  findGoneColumns,
  findUnknownField,
  isTargetWord,
  type MappingInput,
  readConstants,
} from "./columns/targets.ts";
import { type MappingFault, toUnclearError, type UnclearInput } from "./columns/unclear.ts";
import { lookForConsent } from "./consent/columns.ts";
import { hasHint } from "./consent/names.ts";
import type { FoundEncoding } from "./encoding.ts";
import { holdsValues, readTableLayout, type Sample, type TableLayout } from "./layout.ts";
import { formatQuotedNames } from "./names.ts";
import { type OpenedInput, openInput } from "./open.ts";
import { readRowBatches, readRows } from "./read-rows.ts";
import { type Reading, readPlainly, type UnderstoodInput } from "./reading.ts";
import type { InputFacts, ReadOptions, SourceForm } from "./rows.ts";
import type { InputFile } from "./source.ts";
import type { System } from "./system-table.ts";
import { chooseSystem, recogniseSystem } from "./systems.ts";

/** Enough of a structure to find a header by: what the account really has is not asked yet. */
const placeholderStructure: ContactStructure = {
  _id: "",
  label: "",
  keyName: "Email",
  keyType: "email",
  fields: [],
};

const headerSampleRows = 5;

/**
 * Opens a file, and refuses one with a column of consent that cannot be read, before a request is spent: where its
 * header is found without the account's help, which is nearly always, and where nothing else can be unclear. What
 * else is unclear of a file depends on the account's fields, and is to be said at once.
 * @throws UsageError, also where a mapping names columns that are not there
 */
export async function openClearInput(
  rowKind: RowKind,
  file: InputFile,
  options: ReadOptions,
): Promise<OpenedInput> {
  const opened = await openInput(file, options);
  await requireClearConsent(rowKind, opened, options);
  return opened;
}

async function requireClearConsent(
  rowKind: RowKind,
  opened: OpenedInput,
  options: ReadOptions,
): Promise<void> {
  const found = await readTableLayout(opened, options, placeholderStructure, rowKind).catch(() => undefined);
  if (!found?.layout.isNamed || (!found.layout.isHeaderSure && !opened.table)) return;
  const { layout, sample } = found;
  const system = recogniseSystem(layout.names);
  if (system?.name === "ecm" || options.from !== undefined) return;
  const place = `${opened.file.name}:${layout.startLine}`;
  const gone = findGoneColumns(options, layout.names, place);
  if (gone) throw toUnclearError(gone);
  // Which fields there are is for the account to say.
  const words = [...options.map].filter(([, target]) => isTargetWord(target));
  const input: MappingInput = {
    names: layout.names,
    sample,
    options: { ...options, map: new Map(words), readsConsent: true },
    structure: placeholderStructure,
    system,
    place,
    constants: [],
  };
  const reading = readPlainly(layout, placeholderStructure.keyType, system);
  const consent = await lookForConsent(input, () => readRowBatches({ reading }), hasHint);
  const columns = mapColumns(input, { consent, rowKind });
  if (!("unclear" in columns) || columns.unclear.length === 0) return;
  if (columns.unclear.every(({ kind }) => kind === "consent")) throw toUnclearError(columns);
}

/**
 * As `understandInput`, where nobody is asked.
 * @throws UsageError for what is not clear, too
 */
export async function requireUnderstood(
  ...input: Parameters<typeof understandInput>
): Promise<UnderstoodInput> {
  const found = await understandInput(...input);
  if ("reading" in found) return found;
  throw toUnclearError(found);
}

/**
 * Understands a file: delimiter, header, where each column goes. Reads its first rows; all of its bytes where
 * it was not opened yet. A quote that is not closed further down shows only when `readRows` is read to its
 * end, which the engine does before it sends.
 *
 * @param rowKind `keys`: the file names contacts, by one key for each line or as a table with a key column;
 *   its rows have a key and nothing else
 * @returns what is not clear, where anything is; a fault of the mapping before all else
 * @throws UsageError with the place and the next step, for a file that cannot be read
 */
export async function understandInput(
  rowKind: RowKind,
  fileOrInput: InputFile | OpenedInput,
  options: ReadOptions,
  structure: ContactStructure = placeholderStructure,
): Promise<UnderstoodInput | UnclearInput | MappingFault> {
  const opened = "encoding" in fileOrInput ? fileOrInput : await openInput(fileOrInput, options);
  const { file } = opened;
  const { layout, sample } = await readTableLayout(opened, options, structure, rowKind);
  const { names } = layout;
  const system = chooseSystem(names, options.from, layout.isNamed);
  const plain = readPlainly(layout, structure.keyType, system);
  const place = `${file.name}:${layout.startLine}`;
  const fault = findGoneColumns(options, names, place) ?? findUnknownField(options, structure);
  if (fault) return fault;
  const constants = readConstants(options, names, structure);
  const input: MappingInput = { names, sample, options, structure, system, place, constants };
  const mapped = await mapTable(rowKind, input, plain);
  if ("unclear" in mapped) return mapped;
  const { notes, ...columns } = mapped;
  for (const index of constants.flatMap(({ replaces }) => replaces))
    columns.targets[index] = { kind: "ignore" };
  const reading: Reading = {
    ...plain,
    ...columns,
    constants,
    emptyColumns: rowKind === "contacts" && !options.ignoreUnmapped ? findEmptyColumns(names, sample) : [],
    takesIds: options.takesIds,
  };
  const understood = { file, reading, facts: collectFacts(opened, reading, structure, notes) };
  await addSample(understood);
  return understood;
}

function collectFacts(
  opened: OpenedInput,
  reading: Reading,
  { keyName }: ContactStructure,
  columnNotes: readonly string[],
): InputFacts {
  const { system, targets, constants, consent } = reading;
  const { source, dialect, startLine, headerLines, written, names, formulaColumns } = reading.table;
  return {
    sha256: opened.sha256,
    bytes: opened.bytes,
    encoding: source.encoding,
    // Rejected rows of a table are written as CSV.
    delimiter: dialect.isTable ? "," : dialect.delimiter,
    hasEscapes: !dialect.isTable && dialect.hasEscapes,
    form: findForm(opened, reading.table),
    system: system?.name,
    headerLine: headerLines > 0 ? startLine : undefined,
    keyName,
    columns: written.map((name, index) => ({ name, target: targets[index]! })),
    constants: constants.map(({ label, value }) => ({ label, value })),
    notes: [
      ...opened.notes,
      ...describeEncoding(opened.encoding),
      ...describeSystem(system, consent.length > 0),
      ...columnNotes,
      ...describeFormulas(names, formulaColumns),
    ],
    sample: [],
  };
}

async function addSample(understood: UnderstoodInput): Promise<void> {
  const { sample, notes } = understood.facts;
  for await (const row of readRows(understood)) {
    if (sample.push(row) === headerSampleRows) break;
  }
  if (sample.length === 0) notes.push("The file has a header but no rows");
}

function findForm({ table }: OpenedInput, { source, isSheet }: TableLayout): SourceForm {
  if (!table) return { kind: "text", encoding: source.encoding, hasMark: source.markBytes > 0 };
  return { kind: isSheet ? "workbook" : "json", encoding: "utf-8", hasMark: true };
}

/** Where the columns go, or what a person must decide on. */
async function mapTable(
  rowKind: RowKind,
  input: MappingInput,
  reading: Reading,
): Promise<Columns | UnclearInput> {
  const readBatches = () => readRowBatches({ reading });
  const readsConsent = rowKind === "contacts" || input.options.readsConsent;
  const consent = readsConsent ? await lookForConsent(input, readBatches) : [];
  const columns = mapColumns(input, { consent, rowKind });
  if ("unclear" in columns) columns.proposal.rows = () => ({ names: input.names, batches: readBatches() });
  return columns;
}

/**
 * Columns that have no name, and no value in the first rows. A delimiter at the end of each line makes one.
 */
function findEmptyColumns(names: string[], sample: Sample): number[] {
  return [...names.keys()].filter((index) => foldName(names[index]!) === "" && !holdsValues(sample, index));
}

function describeFormulas(names: string[], columns: number[]): string[] {
  if (columns.length === 0) return [];
  const quotedNames = formatQuotedNames(columns.map((index) => names[index]!));
  return [`Cells such as ="01067" are read as the text inside: ${quotedNames}`];
}

function describeEncoding({ encoding, isGuess, firstForeign }: FoundEncoding): string[] {
  if (encoding === "utf-8" || (!isGuess && !firstForeign)) return [];
  const how = isGuess ? " (detected; override with --encoding)" : "";
  const sample = firstForeign
    ? `; the first line that is not plain ASCII is line ${firstForeign.line}: ${firstForeign.text}`
    : "";
  return [`Read as ${encoding}${how}${sample}`];
}

function describeSystem(system: System | undefined, hasConsent: boolean): string[] {
  if (!system) return [];
  const notes = [`Read as ${system.title}`];
  if (!hasConsent && !system.isOfSubscribers) {
    notes.push(
      `${system.title} says nothing about consent: make sure that these people agreed to receive email`,
    );
  }
  return notes;
}
