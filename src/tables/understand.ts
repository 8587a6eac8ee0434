/** Reading: what a file is, found out before anything is sent. */
import { foldName } from "../api/names.ts";
import type { ContactStructure } from "../wire.ts";
import { type Columns, mapColumns } from "./columns/map.ts";
import {
  findGoneColumns,
  findUnknownField,
  isTargetWord,
  type MappingInput,
  readConstants,
  readExplicitTargets,
} from "./columns/targets.ts";
import { type MappingFault, toUnclearError, type UnclearInput } from "./columns/unclear.ts";
import { type Batches, lookForConsent } from "./consent/columns.ts";
import { hasHint } from "./consent/names.ts";
import { holdsValues, readTableLayout, type Sample } from "./layout.ts";
import { openInput } from "./open.ts";
import { type Reading, readRowRecords, readRows, type UnderstoodInput } from "./read-rows.ts";
import type { InputFacts, Note, ReadOptions, RowKind } from "./rows.ts";
import type { InputFile } from "./source.ts";
import { chooseSystem, recogniseSystem, type System } from "./systems.ts";
import type { OpenedInput } from "./table.ts";

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
  if (!found?.layout.isNamed || (!found.layout.isHeaderSure && opened.form.kind === "text")) return;
  const { layout, sample } = found;
  const system = recogniseSystem(layout.names);
  if (system?.name === "ecm" || options.from !== undefined) return;
  const place = `${opened.file.name}:${layout.startLine}`;
  const gone = findGoneColumns(options, layout.names, place);
  if (gone) throw toUnclearError(gone);
  // Which fields there are is for the account to say.
  const words = [...options.map].filter(([, target]) => isTargetWord(target));
  const input = toMappingInput(
    { names: layout.names, sample, system, place },
    { ...options, map: new Map(words), set: [], readsConsent: true },
    placeholderStructure,
  );
  const columns = await mapTable(rowKind, input, () => readRowRecords(layout, system), hasHint);
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
  const opened = "sha256" in fileOrInput ? fileOrInput : await openInput(fileOrInput, options);
  const { file } = opened;
  const { layout, sample } = await readTableLayout(opened, options, structure, rowKind);
  const { names } = layout;
  const system = chooseSystem(names, options.from, layout.isNamed);
  const place = `${file.name}:${layout.startLine}`;
  const fault = findGoneColumns(options, names, place) ?? findUnknownField(options, structure);
  if (fault) return fault;
  const input = toMappingInput({ names, sample, system, place }, options, structure);
  const mapped = await mapTable(rowKind, input, () => readRowRecords(layout, system));
  if ("unclear" in mapped) return mapped;
  const { notes, ...columns } = mapped;
  const { constants } = input;
  for (const index of constants.flatMap(({ replaces }) => replaces))
    columns.targets[index] = { kind: "ignore" };
  const reading: Reading = {
    table: layout,
    keyType: structure.keyType,
    system,
    ...columns,
    constants,
    emptyColumns: rowKind === "contacts" && !options.ignoreUnmapped ? findEmptyColumns(names, sample) : [],
    takesIds: options.takesIds,
  };
  const understood = { file, reading, facts: collectFacts(opened, reading, structure.keyName, notes) };
  await addSample(understood);
  return understood;
}

function collectFacts(
  opened: OpenedInput,
  reading: Reading,
  keyName: string,
  columnNotes: readonly Note[],
): InputFacts {
  const { system, targets, constants, consent } = reading;
  const { form, dialect, written, names, formulaColumns } = reading.table;
  return {
    sha256: opened.sha256,
    bytes: opened.bytes,
    delimiter: dialect.delimiter,
    hasEscapes: dialect.hasEscapes,
    form,
    system: system?.name,
    columns: written.map((name, index) => ({ name, target: targets[index]! })),
    keyName,
    constants: constants.map(({ label, value }) => ({ label, value })),
    notes: [
      ...opened.notes,
      ...noteSystem(system, consent.length > 0),
      ...columnNotes,
      ...(formulaColumns.length > 0
        ? [{ code: "formula_texts", columns: formulaColumns.map((index) => names[index]!) } as const]
        : []),
    ],
    sample: [],
  };
}

async function addSample(understood: UnderstoodInput): Promise<void> {
  const { sample, notes } = understood.facts;
  for await (const row of readRows(understood)) {
    if (sample.push(row) === headerSampleRows) break;
  }
  if (sample.length === 0) notes.push({ code: "no_rows" });
}

function toMappingInput(
  file: Pick<MappingInput, "names" | "sample" | "system" | "place">,
  options: ReadOptions,
  structure: ContactStructure,
): MappingInput {
  const constants = readConstants(options, file.names, structure);
  const input = { ...file, options, structure, constants };
  return { ...input, explicit: readExplicitTargets(input) };
}

/**
 * Where the columns go, or what a person must decide on.
 * @param mayBeConsent whether the name of a column makes it worth looking at its cells; default: any does
 */
async function mapTable(
  rowKind: RowKind,
  input: MappingInput,
  rows: () => Batches,
  mayBeConsent?: (name: string) => boolean,
): Promise<Columns | UnclearInput> {
  const readsConsent = rowKind === "contacts" || input.options.readsConsent;
  const consent = readsConsent ? await lookForConsent(input, rows, mayBeConsent) : [];
  return mapColumns(input, { consent, rowKind, rows });
}

/**
 * Columns that have no name, and no value in the first rows. A delimiter at the end of each line makes one.
 */
function findEmptyColumns(names: string[], sample: Sample): number[] {
  return [...names.keys()].filter((index) => foldName(names[index]!) === "" && !holdsValues(sample, index));
}

function noteSystem(system: System | undefined, hasConsent: boolean): Note[] {
  if (!system) return [];
  const { title, isOfSubscribers } = system;
  const isSilent = !hasConsent && !isOfSubscribers;
  return [
    { code: "system", system: title },
    ...(isSilent ? [{ code: "system_without_consent", system: title } as const] : []),
  ];
}
