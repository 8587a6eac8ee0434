/**
 * An import's questions about its columns: which have the addresses, which say who is subscribed, and one table of
 * where all of them go, whose lines can be changed.
 */

import { foldName } from "../../api/names.ts";
import type { ImportOptions } from "../../bulk/index.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import {
  countMarkedRows,
  isTargetWord,
  type Proposal,
  type ProposedColumn,
  proposeLabel,
  rejectsColumns,
  toUnclearError,
  type UnclearInput,
} from "../../tables/index.ts";
import type { Choice, Prompter } from "../../terminal/prompter.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { formatKeyTarget } from "../bulk/progress.ts";
import { checkText } from "../flags/questions.ts";

/**
 * Columns that are empty in the whole file are ignored without a question, where nothing else is to be asked.
 * @returns how the file is read then; undefined where a person has to look at the columns
 */
export function ignoreEmpty(
  terminal: Terminal,
  proposal: Proposal,
  read: ImportOptions["read"],
): ImportOptions["read"] | undefined {
  const open = proposal.columns.filter(({ isSure, readings }) => !isSure || readings);
  const isPlain = open.every(
    ({ target, filled, readings }) => target === "ignore" && filled === 0 && !readings,
  );
  if (read.isReviewed || proposal.keyCandidates.length > 0 || !isPlain) return undefined;
  terminal.note(`Ignored empty columns: ${open.map(({ name }) => JSON.stringify(name)).join(", ")}`);
  return new Draft(proposal).applyTo(read);
}

/**
 * Asks where the columns go; sends and writes nothing.
 * @returns how the file is read by the answers
 * @throws UsageError where no column can have the key; InterruptedError
 */
export async function askColumns(
  prompter: Prompter,
  found: UnclearInput,
  proposal: Proposal,
  read: ImportOptions["read"],
): Promise<ImportOptions["read"]> {
  const draft = new Draft(proposal);
  await askKey(prompter, draft, found);
  await askReadings(prompter, draft);
  for (;;) {
    const at = await prompter.chooseLine(toTable(draft));
    if (at !== undefined) await changeColumn(prompter, draft, draft.columns[at]!);
    else if (draft.key()) return draft.applyTo(read);
    else await askKey(prompter, draft, found);
  }
}

function toTable(draft: Draft) {
  const { columns, proposal } = draft;
  const rows = proposal.head.length;
  const news = columns.filter(({ isNew }) => isNew).length;
  const ignored = columns.filter(({ target }) => target === "ignore").length;
  const parts = [
    ...(news > 0 ? [formatCounted(news, "new field")] : []),
    ...(ignored > 0 ? [`${formatCount(ignored)} ignored`] : []),
  ];
  const head = proposal.isWhole ? "" : ` (from the first ${formatCount(rows)} rows)`;
  return {
    message: `${formatCounted(columns.length, "column")}${parts.length > 0 ? `, ${parts.join(", ")}` : ""}${head}. Is this right?`,
    accept: "yes, go on (to change a line, choose it)",
    columns: ["Column", "Goes to", "Filled", "Values"],
    lines: columns.map((column) => [
      toTitle(column),
      describeTarget(column, proposal.structure.keyName),
      formatShare(column.filled, rows),
      describeValues(column, rows),
    ]),
  };
}

function toTitle({ name, count }: DraftColumn): string {
  const title = name.trim() === "" ? "(no name)" : name.replace(/\s+/g, " ");
  return count > 1 ? `${title} (${count})` : title;
}

/** Neither all nor none is said of what is nearly so. */
function formatShare(filled: number, rows: number): string {
  const share = rows === 0 ? 0 : (filled / rows) * 100;
  const whole = filled === 0 ? 0 : filled === rows ? 100 : Math.min(99, Math.max(1, Math.round(share)));
  return `${String(whole).padStart(3)} %`;
}

function describeValues({ samples, marked, split }: DraftColumn, rows: number): string {
  const values = samples.map((sample) => sample.replace(/\s+/g, " ")).join(", ");
  const consent =
    marked === undefined ? [] : [`not subscribed: ${formatCount(marked)} of ${formatCounted(rows, "row")}`];
  return [...consent, ...(split === undefined ? [] : [`split at ${JSON.stringify(split)}`]), values].join(
    " · ",
  );
}

/** The column of the addresses. */
async function askKey(prompter: Prompter, draft: Draft, found: UnclearInput): Promise<void> {
  if (draft.key()) return;
  const { structure, keyCandidates } = draft.proposal;
  const names = keyCandidates.length > 0 ? keyCandidates : draft.columns.map(({ name }) => name);
  const candidates = findKeyColumns(
    names.map((name) => draft.find(name)),
    structure.keyType,
  );
  const [only] = candidates;
  if (!only) throw toUnclearError(found);
  const chosen =
    candidates.length === 1
      ? only
      : await prompter.select(
          `Which column has the key (${structure.keyName})?`,
          candidates.map((column) => ({
            name: describeColumn(column),
            short: column.name,
            value: column,
          })),
        );
  draft.placeKey(chosen);
}

/** Those that can have the key, the likeliest first. */
function findKeyColumns(columns: DraftColumn[], keyType: string): DraftColumn[] {
  const filled = columns.filter((column) => column.filled > 0);
  if (keyType !== "email") return filled;
  return filled
    .filter(({ addresses }) => addresses > 0)
    .sort((one, other) => other.addresses - one.addresses);
}

/** Which way round each column is read that may be consent, with what each reading leaves out. */
async function askReadings(prompter: Prompter, draft: Draft): Promise<void> {
  for (const column of draft.columns) {
    if (!column.readings || column.target === "key") continue;
    const { rows, optIn, optOut } = column.readings;
    const describeLeftOut = (number: number) =>
      `leaves out ${formatCount(number)} of ${formatCounted(rows, "row")}`;
    const chosen = await prompter.select<ColumnReading | "ignore">(
      `Does ${describeColumn(column)} say who is subscribed?`,
      [
        {
          name: `a yes means subscribed (${describeLeftOut(optIn)})`,
          short: "a yes means subscribed",
          value: "opt-in",
        },
        {
          name: `a yes means not subscribed (${describeLeftOut(optOut)})`,
          short: "a yes means not subscribed",
          value: "opt-out",
        },
        { name: "it says neither: skip the column", short: "skipped", value: "ignore" },
      ],
    );
    answerReading(draft, column, chosen);
  }
}

function answerReading(draft: Draft, column: DraftColumn, chosen: ColumnReading | "ignore"): void {
  if (chosen === "ignore") draft.place(column, "ignore");
  else if (column.fillsField) draft.read(column, chosen);
  else draft.place(column, `consent=${chosen}`);
}

// The questions about one column: where it goes, and how its values are written.

/** Not a target that a person could write. */
const otherField = "a new field of another name=";

/** Asks where the column goes. The choice under the cursor is where it goes now; Esc leaves it there. */
async function changeColumn(prompter: Prompter, draft: Draft, column: DraftColumn): Promise<void> {
  const own = column.isNew ? column.target : proposedLabel(draft, column);
  const choices = listChoices(draft, column, own);
  const initial = choices.some(({ value }) => value === column.target) ? column.target : undefined;
  const chosen = await prompter.reselect(`Where does ${describeColumn(column)} go?`, choices, initial);
  // A split that was agreed to stays with the tags or lists that it was asked for.
  if (chosen === undefined || (chosen === column.target && column.split !== undefined)) return;
  if (chosen === otherField) draft.place(column, await askLabel(prompter, draft, column), true);
  else if (chosen === "key") draft.placeKey(column);
  else draft.place(column, chosen, chosen === own);
  await askSplit(prompter, draft, column);
}

function proposedLabel(draft: Draft, column: DraftColumn): string {
  const { names, structure } = draft.proposal;
  return proposeLabel(column.name, names.indexOf(column.name), structure, draft.labels(column));
}

/** @param own the label of a field that would be created for the column */
function listChoices(draft: Draft, column: DraftColumn, own: string): Choice<string>[] {
  const { structure } = draft.proposal;
  const fields = structure.fields.map(({ _id, label }) => {
    const alike = structure.fields.filter((field) => foldName(field.label) === foldName(label));
    const isClear = alike.length === 1 && !isTargetWord(label) && !label.includes("=");
    const value = isClear ? label : _id;
    const other = draft.columns.find((each) => each !== column && each.target === value);
    const besides = other ? `, besides ${JSON.stringify(other.name)}` : "";
    return { name: `${label}  (field${besides})`, short: label, value };
  });
  return [
    { name: `${own}  (new field)`, short: `${own} (new field)`, value: own },
    ...fields,
    { name: "a new field with another name", short: "a new field", value: otherField },
    toKeyChoice(draft, column),
    { name: "says who is subscribed: a yes means subscribed", short: "consent", value: "consent=opt-in" },
    {
      name: "says who is not subscribed: a yes means not subscribed",
      short: "consent",
      value: "consent=opt-out",
    },
    ...(column.target === "consent"
      ? [
          {
            name: "says who is subscribed, as its name and values have it",
            short: "consent",
            value: "consent",
          },
        ]
      : []),
    { name: "lists, by name", short: "lists", value: "lists" },
    { name: "tags, by label", short: "tags", value: "tags" },
    { name: "skip this column", short: "skipped", value: "ignore" },
  ];
}

function toKeyChoice(draft: Draft, column: DraftColumn): Choice<string> {
  const key = draft.key();
  const name = formatKeyTarget(draft.proposal.structure.keyName);
  const isOther = key !== undefined && key !== column;
  return {
    name: isOther ? `${name}, in place of ${JSON.stringify(key.name)}` : name,
    short: name,
    value: "key",
  };
}

function askLabel(prompter: Prompter, draft: Draft, column: DraftColumn): Promise<string> {
  const { fields } = draft.proposal.structure;
  const check = (answer: string) => {
    const label = answer.trim();
    if (label.includes("=")) return "A label with = cannot be named in --map; enter another name";
    if (isTargetWord(label)) return `"${label}" is a reserved word; enter another name`;
    const same = fields.find((field) => foldName(field.label) === foldName(label));
    return same ? `A field named ${JSON.stringify(same.label)} already exists` : checkText(answer);
  };
  return prompter
    .input("Name of the new field", proposedLabel(draft, column), check)
    .then((label) => label.trim());
}

/** A column of tags or lists whose cells hold several, where a comma is not what is between them. */
async function askSplit(prompter: Prompter, draft: Draft, column: DraftColumn): Promise<void> {
  const { target, name, count } = column;
  if (count !== 1 || (target !== "tags" && target !== "lists")) return;
  const separator = await findSeparator(draft.proposal, name);
  if (separator === undefined) return;
  const question = `Split the cells of ${JSON.stringify(name)} at ${JSON.stringify(separator)}?`;
  if (await prompter.confirm(question)) column.split = separator;
}

const separators = [";", "|"];

async function findSeparator({ names, rows }: Proposal, column: string): Promise<string | undefined> {
  const index = names.indexOf(column);
  for await (const batch of rows()) {
    for (const { cells } of batch) {
      const found = separators.find((each) => cells[index]?.includes(each));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** `"City" (Oslo, Rome)`. */
function describeColumn({ name, count, samples }: DraftColumn): string {
  const shortSamples = samples.map((sample) => (sample.length > 24 ? `${sample.slice(0, 23)}…` : sample));
  const title = name.trim() === "" ? "the column without a name" : JSON.stringify(name);
  const several = count > 1 ? `${title}, ${count} columns` : title;
  return shortSamples.length === 0 ? `${several} (empty)` : `${several} (${shortSamples.join(", ")})`;
}

function describeTarget({ target, isNew, filled }: DraftColumn, keyName: string): string {
  if (target === "key") return formatKeyTarget(keyName);
  if (target === "ignore") return filled === 0 ? "– empty" : "– ignored";
  if (target === "consent=opt-in") return "consent (yes = in)";
  if (target === "consent=opt-out") return "consent (yes = out)";
  return isNew ? `${target} (new)` : target;
}

// Where the columns of a file go, as a person is changing it.

export type ColumnReading = "opt-in" | "opt-out";

/** A column with what was answered of it. */
export interface DraftColumn extends ProposedColumn {
  /** A person has said where it goes. */
  isAnswered: boolean;
  reading?: ColumnReading;
  /** What is between the tags or lists in a cell. */
  split?: string;
}

export class Draft {
  readonly proposal: Proposal;
  readonly columns: DraftColumn[];

  constructor(proposal: Proposal) {
    this.proposal = proposal;
    this.columns = proposal.columns
      .filter(({ name }) => !rejectsColumns.has(name))
      .map((column) => ({ ...column, isAnswered: false }));
  }

  key(): DraftColumn | undefined {
    return this.columns.find(({ target }) => target === "key");
  }

  find(name: string): DraftColumn {
    return this.columns.find((column) => column.name === name)!;
  }

  /** @param isNew the target is a field that is to be created */
  place(column: DraftColumn, target: string, isNew = false): void {
    Object.assign(column, { target, isNew, isAnswered: true, split: undefined });
    column.marked = undefined;
    // Only of what may be consent by itself the answer holds wherever it goes.
    if (!column.readings || target === "ignore") column.reading = undefined;
    const [, reading] = /^consent=(opt-in|opt-out)$/.exec(target) ?? [];
    if (reading !== undefined) this.read(column, reading as ColumnReading);
  }

  /** How a column is read as consent, wherever it goes. */
  read(column: DraftColumn, reading: ColumnReading): void {
    column.reading = reading;
    column.marked = countMarkedRows(this.proposal, column.name, reading);
  }

  /** In place of the column that had the key, which is ignored then. */
  placeKey(column: DraftColumn): void {
    const before = this.key();
    if (before && before !== column) this.place(before, "ignore");
    this.place(column, "key");
  }

  /** Labels of the fields that columns go to. */
  labels(except?: DraftColumn): Set<string> {
    return new Set(this.columns.flatMap((each) => (each === except ? [] : foldName(each.target))));
  }

  /** How the file is read by the answers: flags and rules that settle a column are left as they are. */
  applyTo(read: ImportOptions["read"]): ImportOptions["read"] {
    const placed = this.columns.filter(({ isAnswered, isSure }) => isAnswered || !isSure);
    const isPlaced = (name: string) => placed.some((column) => foldName(column.name) === foldName(name));
    const map = new Map([...read.map].filter(([name]) => !isPlaced(name)));
    for (const { name, target } of placed) map.set(name, target);
    const splits = [
      ...(read.splits ?? []).filter(([name]) => !isPlaced(name)),
      ...placed.flatMap(({ name, split }) => (split === undefined ? [] : [[name, split] as const])),
    ];
    const consentColumns = this.consentColumns(read.consentColumns ?? []);
    const newFields = this.columns
      .filter(({ isNew }) => isNew)
      .map(({ target }) => ({ label: target, dataType: "text" }));
    return {
      ...read,
      map,
      splits: splits.length > 0 ? splits : undefined,
      consentColumns: consentColumns.length > 0 ? consentColumns : undefined,
      newFields: newFields.length > 0 ? newFields : undefined,
      isReviewed: undefined,
    };
  }

  /** What a target cannot say: how a column is read that fills a field besides. */
  private consentColumns(typed: readonly string[]): string[] {
    const answered = this.columns.filter(
      ({ reading, isAnswered, target }) => reading !== undefined || (isAnswered && target === "ignore"),
    );
    const isAnswered = (text: string) =>
      answered.some(({ name }) => [text, text.replace(/=[^=]*$/, "")].map(foldName).includes(foldName(name)));
    const flags = answered
      .filter(({ reading, target }) => reading !== undefined && !target.startsWith("consent="))
      .map(({ name, reading }) => `${name}=${reading}`);
    return [...typed.filter((text) => !isAnswered(text)), ...flags];
  }
}
