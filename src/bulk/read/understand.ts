/** Reading: what a file is, found out before anything is sent. */
import type { ContactStructure } from "../../wire.ts";
import { formatQuotedNames } from "./column-names.ts";
import { type Columns, mapColumns, mapKeyColumn } from "./columns.ts";
import type { CompiledEntry } from "./compute/compile.ts";
import { type BlankRule, describeRule } from "./compute/entry.ts";
import {
  findConsentColumns,
  isConsentKnown,
  readNamedConsent,
  unclearConsentError,
} from "./consent-columns.ts";
import { hasHint } from "./consent-names.ts";
import type { FoundEncoding } from "./encoding/detect.ts";
import { findConsent } from "./find-consent.ts";
import { type OpenedInput, openInput } from "./formats/open.ts";
import type { MappingInput } from "./mapping-input.ts";
import { foldName } from "./names.ts";
import { UnclearColumnsError } from "./proposal.ts";
import { readRowBatches, readRows } from "./read-rows.ts";
import type { Reading, UnderstoodInput } from "./reading.ts";
import type { InputFacts, ReadOptions, ReadRow, SourceForm, Target } from "./rows.ts";
import { holdsValues, type Sample } from "./sample.ts";
import type { InputFile } from "./source.ts";
import type { System } from "./system-table.ts";
import { readTableLayout, type TableLayout } from "./table-layout.ts";
import { compiledEntries, findInputSystem, placeholderStructure, toReading } from "./table-reading.ts";
import { defaultValues, readExplicitTargets } from "./targets.ts";
import type { TextSource } from "./text.ts";

const headerSampleRows = 5;

/**
 * Understands a file: delimiter, header, where each column goes. Reads its first rows; all of its bytes where
 * it was not opened yet. A quote that is not closed further down shows only when `readRows` is read to its
 * end, which the engine does before it sends.
 *
 * @throws UsageError with the place and the next step, for a file that cannot be read
 */
export async function understandInput(
  input: InputFile | OpenedInput,
  options: ReadOptions,
  structure: ContactStructure,
): Promise<UnderstoodInput> {
  return understand(input, options, structure, "contacts");
}

/**
 * Understands a file that names contacts: one key for each line, or a table with a key column, whose other
 * columns are ignored. `readRows` then gives rows that have a key and nothing else.
 *
 * @throws UsageError as `understandInput`
 */
export async function understandKeys(
  input: InputFile | OpenedInput,
  options: ReadOptions,
  structure: ContactStructure,
): Promise<UnderstoodInput> {
  return understand(input, options, structure, "keys");
}

/**
 * Refuses a file with a column of consent that cannot be read, before a request is spent: where its header is
 * found without the account's help, which is nearly always.
 * @throws UsageError as `understandInput`
 */
export async function requireClearConsent(
  opened: OpenedInput,
  options: ReadOptions,
  rowKind: "contacts" | "keys",
): Promise<void> {
  const layout = await readTableLayout(opened, options, placeholderStructure, rowKind).catch(() => undefined);
  if (!layout?.isNamed || (!layout.header.isSure && !opened.table)) return;
  const { names, rows, header } = layout;
  const system = findInputSystem(names, { ...options, from: undefined }, true);
  if (system?.name === "ecm" || options.from !== undefined) return;
  const words = [...options.map].filter(([, target]) =>
    /^(?:key|ignore|consent(?::opt-(?:in|out))?)$/i.test(target.trim()),
  );
  const read = { ...options, map: new Map(words) };
  const place = `${opened.file.name}:${header.line}`;
  const input: MappingInput = {
    names,
    sample: rows,
    options: read,
    structure: placeholderStructure,
    system,
    place,
  };
  const targets = readExplicitTargets(input);
  const namedColumns = readNamedConsent(input, targets);
  const isKnown = isConsentKnown(input, targets);
  const columns = {
    isSettled: (index: number) => isKnown(index) || !hasHint(names[index]!),
    isNamed: (index: number) => namedColumns.has(index),
  };
  const reading = toReading(layout, placeholderStructure, system);
  const batches = readRowBatches({ file: opened.file, text: layout.source.file, reading });
  input.found = await findConsent(names, columns, batches);
  const { unclear } = findConsentColumns(input, targets);
  if (unclear.length > 0) throw unclearConsentError(input, unclear);
}

/**
 * Refuses a mapping that does not fit the file, and a file that is not as the mapping expects, before a
 * request is spent: where its header is found without the account's help.
 * @throws UsageError with the place
 */
export async function requireMapped(opened: OpenedInput, options: ReadOptions): Promise<void> {
  if (!options.entries?.length && !options.expect) return;
  const layout = await readTableLayout(opened, options, placeholderStructure, "contacts").catch(
    () => undefined,
  );
  if (!layout || (layout.hasHeader && !layout.header.isSure && !opened.table)) return;
  const system = findInputSystem(layout.names, options, layout.isNamed);
  const entries = await compiledEntries(options, layout, system);
  await requireExpected(opened, options, { layout, system, entries });
}

/** @throws UsageError with all that is not as the mapping expects */
async function requireExpected(
  opened: OpenedInput,
  { expect }: ReadOptions,
  table: { layout: TableLayout; system: System | undefined; entries: readonly CompiledEntry[] },
): Promise<void> {
  if (!expect) return;
  const { requireExpectations } = await import("./expectations.ts");
  await requireExpectations(opened, expect, table);
}

async function understand(
  fileOrInput: InputFile | OpenedInput,
  options: ReadOptions,
  structure: ContactStructure,
  rowKind: "contacts" | "keys",
): Promise<UnderstoodInput> {
  const opened = "text" in fileOrInput ? fileOrInput : await openInput(fileOrInput, options);
  const { file } = opened;
  const layout = await readTableLayout(opened, options, structure, rowKind);
  const { source, header, hasHeader, dialect, names, rows } = layout;
  const { encoding } = source;
  const system = findInputSystem(names, options, layout.isNamed);
  const place = `${file.name}:${header.line}`;
  const entries = await compiledEntries(options, layout, system);
  if (!opened.isAsExpected) await requireExpected(opened, options, { layout, system, entries });
  const input: MappingInput = { names, sample: rows, options, structure, system, place, entries };
  const createReading = ({ targets, consent, consentAside, computed }: Columns): Reading => ({
    ...toReading(layout, structure, system),
    targets,
    consent,
    consentAside,
    computed,
    blankRules: listBlankRules(computed),
    defaults: defaultValues(options.defaults ?? [], structure),
    emptyColumns: rowKind === "contacts" && !options.ignoreUnmapped ? findEmptyColumns(names, rows) : [],
    takesIds: options.takesIds,
  });
  const columns = await mapTable(rowKind, input, (unmapped) =>
    readRowBatches({ file, text: source.file, reading: createReading(unmapped) }),
  );
  const facts: InputFacts = {
    sha256: opened.sha256,
    bytes: opened.bytes,
    encoding,
    // Rejected rows of a table are written as CSV.
    delimiter: dialect.isTable ? "," : header.delimiter,
    hasEscapes: !dialect.isTable && dialect.hasEscapes,
    form: findForm(opened, source),
    system: system?.name,
    headerLine: hasHeader ? header.line : undefined,
    columns: layout.written.map((name, index) => ({ name, target: columns.targets[index]! })),
    computed: columns.computed.map(({ entry, index, replaces, target }) => ({
      name: entry.name,
      index: index ?? replaces[0],
      target,
      rule: describeRule(entry),
    })),
    notes: [
      ...opened.notes,
      ...describeEncoding(opened.encoding),
      ...describeSystem(system, columns.consent.length > 0),
      ...columns.notes,
      ...describeFormulas(names, toReading(layout, structure, system).formulaColumns),
    ],
    warnings: opened.warnings,
    sample: [],
  };
  const understood: UnderstoodInput = { file, text: source.file, facts, reading: createReading(columns) };
  for await (const row of readRows(understood)) {
    facts.sample.push(row);
    if (facts.sample.length === headerSampleRows) break;
  }
  if (facts.sample.length === 0) facts.notes.push("The file has a header but no rows");
  return understood;
}

function findForm({ table }: OpenedInput, { encoding, markBytes }: TextSource): SourceForm {
  if (!table) return { kind: "text", encoding, hasMark: markBytes > 0 };
  return { kind: table.names ? "json" : "workbook", encoding: "utf-8", hasMark: true };
}

function listBlankRules(computed: Columns["computed"]): Map<string, BlankRule> {
  return new Map(
    computed.flatMap(({ target, entry: { blank } }) =>
      target.kind === "field" && blank !== undefined ? [[target.fieldId, blank]] : [],
    ),
  );
}

/** Where the columns go. @throws UnclearColumnsError with those that a person must decide on */
async function mapTable(
  rowKind: "contacts" | "keys",
  input: MappingInput,
  readBatches: (columns: Columns) => AsyncIterable<readonly ReadRow[]>,
): Promise<Columns> {
  const none: Columns = {
    targets: input.names.map((): Target => ({ kind: "ignore" })),
    consent: [],
    computed: [],
    notes: [],
  };
  if (rowKind === "contacts" || input.options.readsConsent) {
    const targets = readExplicitTargets(input);
    const namedColumns = readNamedConsent(input, targets);
    const columns = {
      isSettled: isConsentKnown(input, targets),
      isNamed: (index: number) => namedColumns.has(index),
    };
    input.found = await findConsent(input.names, columns, readBatches(none));
  }
  try {
    return rowKind === "keys" ? mapKeyColumn(input) : mapColumns(input);
  } catch (error) {
    if (error instanceof UnclearColumnsError) {
      error.proposal.rows = () => ({ names: input.names, batches: readBatches(none) });
    }
    throw error;
  }
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
