/** Reading: what a file is, found out before anything is sent. */
import { foldName } from "../api/names.ts";
import { usageError } from "../errors.ts";
import type { ContactStructure } from "../wire.ts";
import { mapColumns, readConstants, readExplicitTargets } from "./columns/map.ts";
import { toUnclearError, type UnclearInput } from "./columns/unclear.ts";
import { findConsentName } from "./consent/consent-names.ts";
import { findColumns } from "./header-names.ts";
import { holdsValues, readSample, readTableLayout, requireHeader, type TableLayout } from "./layout.ts";
import { openInput } from "./open.ts";
import { type Reading, readRowRecords, type UnderstoodInput } from "./read-rows.ts";
import { rejectsColumns } from "./rejects-columns.ts";
import type { InputFacts, Note, ReadOptions, RowKind } from "./rows.ts";
import type { InputFile } from "./source.ts";
import { chooseSystem, type System } from "./systems.ts";
import type { ChooseSheet, HeaderSigns, OpenedInput } from "./table.ts";

/** Enough of a structure to find a header by: what the account really has is not asked yet. */
const placeholderStructure: ContactStructure = {
  _id: "",
  label: "",
  keyName: "Email",
  keyType: "email",
  fields: [],
};

/**
 * Opens a file, and refuses one that cannot be read before a request is spent, as far as its header is found
 * without the account's help, which is nearly always. Where nobody is asked, a column of consent that is not
 * clear is refused too, unless more may be unclear: what else is depends on the account's fields, and all is
 * said at once.
 * @param chooseSheet where a person is asked
 * @throws UsageError
 */
export async function openClearInput(
  rowKind: RowKind,
  file: InputFile,
  options: ReadOptions,
  chooseSheet?: ChooseSheet,
): Promise<OpenedInput> {
  const opened = await openInput(file, options, chooseSheet);
  const signs = { rowKind, options, structure: placeholderStructure };
  const layout = await readTableLayout(opened, signs);
  if (!layout.isHeaderSure && !options.hasNoHeader) return opened;
  if (chooseSheet || !layout.isNamed || chooseSystem(layout.names, options.from, true)?.name === "ecm")
    return opened;
  // Which fields there are is for the account to say.
  const any = { ...signs, options: { ...options, createsFields: true } };
  const found = await understandTable(opened, layout, any);
  if ("unclear" in found && found.unclear.every(({ kind }) => kind === "consent"))
    throw toUnclearError(found);
  return opened;
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
 * @returns what is not clear, where anything is
 * @throws UsageError with the place and the next step, for a file that cannot be read, and for a wrong
 *   mapping
 */
export async function understandInput(
  rowKind: RowKind,
  fileOrInput: InputFile | OpenedInput,
  options: ReadOptions,
  structure: ContactStructure = placeholderStructure,
): Promise<UnderstoodInput | UnclearInput> {
  const opened = "sha256" in fileOrInput ? fileOrInput : await openInput(fileOrInput, options);
  const signs = { rowKind, options, structure };
  const layout = await readTableLayout(opened, signs);
  requireHeader(opened.file.name, layout, structure);
  return understandTable(opened, layout, signs);
}

async function understandTable(
  opened: OpenedInput,
  layout: TableLayout,
  signs: HeaderSigns,
): Promise<UnderstoodInput | UnclearInput> {
  const { file } = opened;
  const { options, structure, rowKind } = signs;
  const { names } = layout;
  const marksLeaveOut = options.readsConsent && !options.consentChoosesRows;
  if (rowKind === "contacts" || marksLeaveOut) requireNoMarkAbove(file, layout);
  const system = chooseSystem(names, options.from, layout.isNamed);
  const place = `${file.name}:${layout.startLine}`;
  const explicit = readExplicitTargets(signs, names, place);
  const sample = await readSample(layout.records);
  const input = { ...signs, names, sample, system, place, explicit };
  const mapped = await mapColumns(input, () => readRowRecords(layout, system));
  if ("unclear" in mapped) return mapped;
  const { notes, ...columns } = mapped;
  const isEmpty = (index: number) => foldName(names[index]!) === "" && !holdsValues(sample, index);
  const hasEmptyColumns = rowKind === "contacts" && !options.ignoreUnmapped;
  const reading: Reading = {
    table: layout,
    keyType: structure.keyType,
    system,
    ...columns,
    constants: readConstants(signs),
    // A delimiter at the end of each line makes one.
    emptyColumns: hasEmptyColumns ? [...names.keys()].filter(isEmpty) : [],
    takesIds: options.takesIds,
  };
  const facts = collectFacts(opened, reading, signs);
  facts.notes.push(...notes);
  const gone = (options.mayBeGone ?? []).filter((column) => findColumns(column, names).length === 0);
  if (gone.length > 0) facts.notes.push({ code: "columns_gone", columns: gone });
  if (sample.length === 0) facts.notes.push({ code: "no_rows" });
  facts.sample = sample.slice(0, shownRows);
  return { file, reading, facts };
}

/**
 * Over the header, in a group of columns or as a title, a word for people who have left says something of
 * those below.
 * @throws UsageError
 */
function requireNoMarkAbove(file: InputFile, { above, startLine }: TableLayout): void {
  for (const { line, cells } of above) {
    const mark = cells.find((cell) => cell !== undefined && findConsentName(cell) === "optOut");
    if (mark === undefined) continue;
    throw usageError(
      `${file.name}:${line}: ${JSON.stringify(mark)} stands above the header (line ${startLine}): it is not clear of whom`,
      `Make it the name of a column; where it says nothing of these people, pass --skip-lines ${startLine - 1}`,
      { type: "ConsentError" },
    );
  }
}

const shownRows = 5;

function collectFacts(
  { sha256, bytes, notes }: OpenedInput,
  { table, system, targets, constants, consent }: Reading,
  { options, structure: { keyName } }: HeaderSigns,
): InputFacts {
  const { form, dialect, hasEscapes, written } = table;
  return {
    sha256,
    bytes,
    delimiter: dialect.delimiter,
    hasEscapes,
    form,
    system: system?.name,
    columns: written.map((name, index) => {
      const isConsent = consent.some((column) => column.index === index) && !rejectsColumns.has(name);
      return { name, target: targets[index]!, isConsent: isConsent || undefined };
    }),
    keyName,
    constants,
    notes: [...notes, ...noteLayout(table, options), ...noteSystem(system, consent.length > 0)],
    sample: [],
  };
}

/** What was detected of how the table lies in its file. */
function noteLayout(
  { form, dialect: { delimiter }, hasEscapes, headerLines, startLine, names }: TableLayout,
  { delimiter: typed, skipLines = 0 }: ReadOptions,
): Note[] {
  const isPlain = delimiter === "," || hasEscapes || typed !== undefined;
  const isSaid = form.kind === "text" && names.length > 1 && !isPlain;
  const isLower = headerLines > 0 && startLine > 1 + skipLines;
  return [
    ...(isSaid ? [{ code: "delimiter", delimiter } as const] : []),
    ...(isLower ? [{ code: "header", line: startLine } as const] : []),
  ];
}

function noteSystem(system: System | undefined, hasConsent: boolean): Note[] {
  if (!system) return [];
  const { title, isOfSubscribers } = system;
  const recognised: Note = { code: "system", system: title };
  return hasConsent || isOfSubscribers
    ? [recognised]
    : [recognised, { code: "system_without_consent", system: title }];
}
