/** Reading: what a mapping makes of a file, told without the account: no request is needed for it. */

import { hashText } from "../../text-index.ts";
import type { ContactStructure, FieldDefinition } from "../../wire.ts";
import { type MadeColumn, madeColumns, toText } from "./columns/made-columns.ts";
import { isOurBookkeeping } from "./columns/map-columns.ts";
import { isTargetWord } from "./columns/targets.ts";
import { describeRule } from "./compute/entry.ts";
import { withMarks } from "./consent/row-marks.ts";
import type { OpenedInput } from "./formats/open.ts";
import { type Duplicates, describeRepeated, findRole, type JoinedRows, joinRows } from "./join.ts";
import { findPredefinedField, foldName, isKeyName } from "./names.ts";
import { findOldKeyConflicts, type OldKeyConflicts } from "./old-keys.ts";
import type { UnderstoodInput } from "./reading.ts";
import type { InputFacts, ReadOptions, ReadRow, Reason, Target } from "./rows.ts";
import { type Survey, surveyInput } from "./survey.ts";
import type { System } from "./system-table.ts";
import { chooseSystem, isIgnoredColumn } from "./systems.ts";
import { readTableLayout } from "./table-layout.ts";
import { placeholderStructure, understandInput } from "./understand.ts";

export interface CheckedColumn {
  /** The file's column, or the name of what the mapping adds. */
  column: string;
  /** `key`, `old-key`, `lists`, `tags`, `consent`, `ignore` or `field`. */
  target: string;
  /** The field's label. */
  field?: string;
  /** How its value is made, where the mapping says it. */
  rule?: string;
  /** Of its values, once they are made. */
  blank: number;
  distinct: number;
  /** There are more than `distinct` tells. */
  isDistinctAtLeast?: true;
  /** Values that are not what the cell is. */
  changed: number;
  /** Values that cannot be made. */
  failed: number;
}

export interface CheckedRow {
  line: number;
  before: Record<string, string | null>;
  /** Undefined for a row that is rejected. */
  after?: {
    key: string;
    oldKey?: string;
    fields: Record<string, string>;
    lists: string[];
    tags: string[];
  };
  rejected?: Reason;
}

/** What all rows of a file say together, as an import reads them. */
export interface SurveyedRows {
  survey: Survey;
  joined: JoinedRows;
  oldKeyConflicts: OldKeyConflicts;
}

export interface CheckReport {
  facts: InputFacts;
  rows: { read: number; accepted: number; rejected: number; notSubscribed: number };
  columns: CheckedColumn[];
  /** The first rows. */
  sample: CheckedRow[];
  /** By code. */
  rejectedCodes: Record<string, number>;
  /** The first ones. */
  rejects: { line: number; code: string; message: string }[];
}

const sampleRows = 10;
const shownRejects = 100;
const maxDistinct = 10_000;

/** Reads the whole file. @throws UsageError as an import would */
export async function checkInput(
  opened: OpenedInput,
  options: ReadOptions,
  duplicates: Duplicates,
  signal: AbortSignal,
): Promise<{ report: CheckReport; surveyed: SurveyedRows }> {
  const namedFields = listNamedFields(options);
  const structure = await assumedStructure(opened, options, namedFields);
  const understood = await understandInput(opened, options, structure);
  const names = understood.facts.columns.map(({ name }) => name);
  const made = madeColumns(understood.reading, understood.reading.computed, names);
  const tallies = made.map((column) => new ColumnTally(column));
  const report: CheckReport = {
    facts: understood.facts,
    rows: { read: 0, accepted: 0, rejected: 0, notSubscribed: 0 },
    columns: [],
    sample: [],
    rejectedCodes: {},
    rejects: [],
  };
  const survey = await surveyInput(understood, signal, () => {});
  const joined = await joinRows(survey.batches(), survey.identities, duplicates);
  const oldKeyConflicts = await findOldKeyConflicts(survey.batches(), survey.oldKeys);
  const surveyed = { survey, joined, oldKeyConflicts };
  for await (const rows of survey.batches()) {
    for (const row of rows) {
      const fault = findFault(row, surveyed);
      addRow(report, row, fault, surveyed);
      for (const tally of tallies) tally.add(row.cells);
      if (report.sample.length < sampleRows) report.sample.push(checkedRow(row, fault, names, structure));
    }
  }
  report.columns = tallies.map((tally, place) =>
    tally.result(findTarget(understood, place, new Set(namedFields.map(foldName)))),
  );
  return { report, surveyed };
}

function addRow(
  { rows, rejectedCodes, rejects }: CheckReport,
  row: ReadRow,
  fault: Reason | undefined,
  { survey, joined }: SurveyedRows,
): void {
  rows.read += 1;
  if (!fault) {
    rows.accepted += 1;
    const whole = row.kind === "row" ? (joined.groups.get(row.key.identity)?.row ?? row) : undefined;
    if (whole && withMarks(whole, survey.markedElsewhere).notSubscribed !== undefined)
      rows.notSubscribed += 1;
    return;
  }
  rows.rejected += 1;
  rejectedCodes[fault.code] = (rejectedCodes[fault.code] ?? 0) + 1;
  if (rejects.length < shownRejects) rejects.push({ line: row.line, ...fault });
}

/** Why an import rejects a row, as far as the file alone tells. */
function findFault(row: ReadRow, { joined, oldKeyConflicts }: SurveyedRows): Reason | undefined {
  if (row.kind === "rejected") return { code: row.code, message: row.message };
  const conflict = oldKeyConflicts.get(row.key.identity);
  if (conflict) return conflict;
  const role = findRole(row, joined);
  if (joined.how === "reject" && "passedOverFor" in role)
    return { code: "duplicate", message: describeRepeated(role.passedOverFor) };
  return row.keyFault;
}

function checkedRow(
  row: ReadRow,
  fault: Reason | undefined,
  names: readonly string[],
  { fields }: ContactStructure,
): CheckedRow {
  const before = Object.fromEntries(names.map((name, index) => [name, row.cells[index] ?? null]));
  if (fault || row.kind === "rejected") return { line: row.line, before, rejected: fault };
  const labelled = [...row.fields].map(([id, value]) => [
    fields.find(({ _id }) => _id === id)?.label ?? id,
    value,
  ]);
  return {
    line: row.line,
    before,
    after: {
      key: row.key.sent,
      ...(row.oldKey && { oldKey: row.oldKey.sent }),
      fields: Object.fromEntries(labelled),
      lists: row.lists,
      tags: row.tags,
    },
  };
}

/**
 * Of the file's columns first, then of what the mapping adds.
 * @param labels of the fields that the mapping names
 */
function findTarget({ facts, reading }: UnderstoodInput, place: number, labels: ReadonlySet<string>): Target {
  const added = reading.computed.filter(({ replaces }) => replaces.length === 0);
  const isConsent = reading.consent.some(({ index }) => index === place);
  const target = facts.columns[place]?.target ?? added[place - facts.columns.length]!.target;
  const isNamed = target.kind === "field" && labels.has(foldName(target.label));
  return isConsent && !isNamed ? { kind: "consent" } : target;
}

class ColumnTally {
  readonly #column: MadeColumn;
  readonly #seen = new Set<number>();
  #blank = 0;
  #changed = 0;
  #failed = 0;
  #hasMore = false;

  constructor(column: MadeColumn) {
    this.#column = column;
  }

  add(cells: ReadRow["cells"]): void {
    let after: string;
    try {
      after = toText(this.#column.after(cells));
    } catch {
      this.#failed += 1;
      return;
    }
    if (this.#column.entry && after !== (this.#column.before(cells) ?? "").trim()) this.#changed += 1;
    if (after === "") {
      this.#blank += 1;
      return;
    }
    if (this.#seen.size < maxDistinct) this.#seen.add(hashText(after));
    else this.#hasMore ||= !this.#seen.has(hashText(after));
  }

  result(target: Target): CheckedColumn {
    const { name, entry } = this.#column;
    return {
      column: name,
      target: target.kind,
      ...(target.kind === "field" && { field: target.label }),
      ...(entry && { rule: describeRule(entry) }),
      blank: this.#blank,
      distinct: this.#seen.size,
      ...(this.#hasMore && { isDistinctAtLeast: true as const }),
      changed: this.#changed,
      failed: this.#failed,
    };
  }
}

/** A structure that has every field that the mapping or a column's name can mean. */
async function assumedStructure(
  opened: OpenedInput,
  options: ReadOptions,
  namedFields: readonly string[],
): Promise<ContactStructure> {
  const { layout } = await readTableLayout(opened, options, placeholderStructure, "contacts");
  const system = chooseSystem(layout.names, options.from, true);
  const fields = new Map(predefinedFields.map((field) => [foldName(field.label), field]));
  for (const label of [...namedFields, ...layout.names.filter((name) => isFieldName(name, system))]) {
    const folded = foldName(label);
    if (label.trim() !== "" && !fields.has(folded))
      fields.set(folded, { _id: label, label, dataType: "text" });
  }
  return { ...placeholderStructure, fields: [...fields.values()] };
}

const predefinedFields: FieldDefinition[] = [
  { _id: "First Name", label: "First Name", dataType: "text", predefinedField: "firstName" },
  { _id: "Last Name", label: "Last Name", dataType: "text", predefinedField: "lastName" },
];

function listNamedFields(options: ReadOptions): string[] {
  // A wrong reading of consent is no field either.
  const isField = (target: string) => !isTargetWord(target) && !/^\s*consent:/i.test(target);
  return [
    ...[...options.map.values()].filter(isField),
    ...(options.entries ?? []).flatMap(({ target }) => (target.kind === "field" ? [target.field] : [])),
    ...(options.defaults ?? []).map(([field]) => field),
  ];
}

/** A column of such a name goes to a field of that name, if the account has it. */
function isFieldName(name: string, system: System | undefined): boolean {
  if (isOurBookkeeping(name) || isKeyName(name, "Email", "email") || findPredefinedField(name)) return false;
  if (["lists", "tags"].includes(foldName(name).replace(/^ecm:/, ""))) return false;
  return !(system && isIgnoredColumn(system, name));
}
