/**
 * An import's questions about its columns: which have the addresses, which say who is subscribed, and one
 * table of where all of them go, whose lines can be changed.
 */

import { foldName } from "../../api/names.ts";
import type { ImportOptions } from "../../bulk/index.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import {
  isTargetWord,
  type Proposal,
  type ProposedColumn,
  rejectsColumns,
  toTargetWord,
  toUnclearError,
  type UnclearInput,
} from "../../tables/index.ts";
import type { Choice, LineTable, Prompter } from "../../terminal/prompts.ts";
import { formatKeyTarget } from "../bulk/progress.ts";
import { checkText } from "../flags/questions.ts";

/**
 * Asks where the columns go; sends and writes nothing.
 * @returns how the file is read by the answers
 * @throws UsageError where no column can have the key; InterruptedError
 */
export async function askColumns(
  prompter: Prompter,
  found: UnclearInput,
  read: ImportOptions["read"],
): Promise<ImportOptions["read"]> {
  const draft = new Draft(await found.propose());
  await askKey(prompter, draft, found);
  await askReadings(prompter, draft);
  for (;;) {
    const at = await prompter.chooseLine(toTable(draft));
    if (at !== undefined) await changeColumn(prompter, draft, draft.columns[at]!);
    else if (draft.key()) return draft.applyTo(read);
    else await askKey(prompter, draft, found);
  }
}

function toTable({ columns, proposal: { rows, structure } }: Draft): LineTable {
  const news = columns.filter(({ isNew }) => isNew).length;
  const ignored = columns.filter(({ target }) => target === "ignore").length;
  const parts = [
    formatCounted(columns.length, "column"),
    ...(news > 0 ? [formatCounted(news, "new field")] : []),
    ...(ignored > 0 ? [`${formatCount(ignored)} ignored`] : []),
  ];
  return {
    message: `${parts.join(", ")}. Is this right?`,
    accept: "yes, go on (to change a line, choose it)",
    columns: ["Column", "Goes to", "Filled", "Values"],
    lines: columns.map((column) => [
      toTitle(column),
      describeTarget(column, structure.keyName),
      `${String(Math.ceil((column.filled / Math.max(1, rows)) * 100)).padStart(3)} %`,
      column.samples.map((sample) => sample.replace(/\s+/g, " ")).join(", "),
    ]),
  };
}

function toTitle({ name, count }: DraftColumn): string {
  const title = name.trim() === "" ? "(no name)" : name.replace(/\s+/g, " ");
  return count > 1 ? `${title} (${count})` : title;
}

function describeTarget({ target, isNew, filled }: DraftColumn, keyName: string): string {
  if (target === "key") return formatKeyTarget(keyName);
  if (target === "ignore") return filled === 0 ? "– empty" : "– ignored";
  if (target === "consent=opt-in") return "consent (yes = in)";
  if (target === "consent=opt-out") return "consent (yes = out)";
  return isNew ? `${target} (new)` : target;
}

/** The column of the addresses. */
async function askKey(prompter: Prompter, draft: Draft, found: UnclearInput): Promise<void> {
  if (draft.key()) return;
  const { structure, keyCandidates } = draft.proposal;
  const isEmail = structure.keyType === "email";
  const candidates = draft.columns
    .filter(({ name }) => keyCandidates.length === 0 || keyCandidates.includes(name))
    .filter(({ filled, addresses }) => (isEmail ? addresses : filled) > 0)
    .sort((one, other) => other.addresses - one.addresses);
  const [only] = candidates;
  if (!only) throw toUnclearError(found);
  const choices = candidates.map((column) => ({
    name: describeColumn(column),
    short: column.name,
    value: column,
  }));
  const question = `Which column has the key (${structure.keyName})?`;
  draft.placeKey(candidates.length === 1 ? only : await prompter.select(question, choices));
}

/** Which way round each column is read that may be consent, with what each reading leaves out. */
async function askReadings(prompter: Prompter, draft: Draft): Promise<void> {
  for (const column of draft.columns) {
    if (!column.readings || column.target === "key") continue;
    const { rows, optIn, optOut } = column.readings;
    const choice = (value: ColumnReading, short: string, out: number) => ({
      name: `${short} (leaves out ${formatCount(out)} of ${formatCounted(rows, "row")})`,
      ...{ short, value },
    });
    const chosen = await prompter.select<ColumnReading | "ignore">(
      `Does ${describeColumn(column)} say who is subscribed?`,
      [
        choice("opt-in", "a yes means subscribed", optIn),
        choice("opt-out", "a yes means not subscribed", optOut),
        { name: "it says neither: skip the column", short: "skipped", value: "ignore" },
      ],
    );
    if (chosen === "ignore") draft.place(column, "ignore");
    else if (column.fillsField) column.reading = chosen;
    else draft.place(column, `consent=${chosen}`);
  }
}

// No targets that a person could write.
const otherField = "a new field of another name=";
const unchanged = "unchanged=";

/** Asks where the column goes. The choice under the cursor is where it goes now; Esc leaves it there. */
async function changeColumn(prompter: Prompter, draft: Draft, column: DraftColumn): Promise<void> {
  const choices = listChoices(draft, column);
  const initial = choices.some(({ value }) => value === column.target) ? column.target : undefined;
  const question = `Where does ${describeColumn(column)} go?`;
  const chosen = await prompter.select(question, choices, { initial, onEscape: unchanged });
  if (chosen === unchanged) return;
  if (chosen === otherField) draft.place(column, await askLabel(prompter, draft, column), true);
  else if (chosen === "key") draft.placeKey(column);
  else draft.place(column, chosen, chosen === column.label);
}

function listChoices({ proposal: { structure } }: Draft, { label, target }: DraftColumn): Choice<string>[] {
  const choices = [
    [label, `${label}  (new field)`],
    ...structure.fields.map((field) => [
      toTargetWord({ kind: "field", fieldId: field._id, label: field.label }, structure),
      `${field.label}  (field)`,
    ]),
    [otherField, "a new field with another name"],
    ["key", formatKeyTarget(structure.keyName)],
    ["consent=opt-in", "says who is subscribed: a yes means subscribed"],
    ["consent=opt-out", "says who is not subscribed: a yes means not subscribed"],
    ...(target === "consent" ? [[target, "says who is subscribed, as its name and values have it"]] : []),
    ["lists", "lists, by name"],
    ["tags", "tags, by label"],
    ["ignore", "skip this column"],
  ];
  return choices.map(([value = "", name = ""]) => ({ name, value }));
}

async function askLabel(prompter: Prompter, draft: Draft, column: DraftColumn): Promise<string> {
  const check = (answer: string) => {
    const label = answer.trim();
    if (label.includes("=") || isTargetWord(label))
      return `"${label}" cannot name a field; enter another name`;
    const same = draft.proposal.structure.fields.find((field) => foldName(field.label) === foldName(label));
    return same ? `A field named ${JSON.stringify(same.label)} already exists` : checkText(answer);
  };
  return (await prompter.input("Name of the new field", column.label, check)).trim();
}

/** `"City" (Oslo, Rome)`. */
function describeColumn({ name, count, samples }: DraftColumn): string {
  const shortSamples = samples.map((sample) => (sample.length > 24 ? `${sample.slice(0, 23)}…` : sample));
  const title = name.trim() === "" ? "the column without a name" : JSON.stringify(name);
  const several = count > 1 ? `${title}, ${count} columns` : title;
  return `${several} (${shortSamples.join(", ") || "empty"})`;
}

type ColumnReading = "opt-in" | "opt-out";

/** A column with what was answered of it. */
interface DraftColumn extends ProposedColumn {
  /** A person has said where it goes. */
  isAnswered?: true;
  /** How it is read as consent, wherever it goes. */
  reading?: ColumnReading;
}

/** Where the columns of a file go, as a person is changing it. */
export class Draft {
  readonly proposal: Proposal;
  readonly columns: DraftColumn[];

  constructor(proposal: Proposal) {
    this.proposal = proposal;
    this.columns = proposal.columns.filter(({ name }) => !rejectsColumns.has(name));
  }

  key(): DraftColumn | undefined {
    return this.columns.find(({ target }) => target === "key");
  }

  /** @param isNew the target is a field that is to be created */
  place(column: DraftColumn, target: string, isNew = false): void {
    const [, reading] = /^consent=(opt-in|opt-out)$/.exec(target) ?? [];
    // Only of what may be consent by itself the answer holds wherever it goes.
    const before = column.readings && target !== "ignore" ? column.reading : undefined;
    column.reading = (reading as ColumnReading | undefined) ?? before;
    Object.assign(column, { target, isNew, isAnswered: true });
  }

  /** In place of the column that had the key, which is ignored then. */
  placeKey(column: DraftColumn): void {
    const before = this.key();
    if (before && before !== column) this.place(before, "ignore");
    this.place(column, "key");
  }

  /** How the file is read by the answers: flags and rules that settle a column are left as they are. */
  applyTo(read: ImportOptions["read"]): ImportOptions["read"] {
    const placed = this.columns.filter(({ isAnswered, isSure }) => isAnswered || !isSure);
    const names = new Set(placed.map(({ name }) => foldName(name)));
    const others = [...read.map].filter(([name]) => !names.has(foldName(name)));
    const consentColumns = this.#listConsentColumns(read.consentColumns ?? []);
    return {
      ...read,
      map: new Map([...others, ...placed.map(({ name, target }) => [name, target] as const)]),
      consentColumns: consentColumns.length > 0 ? consentColumns : undefined,
      createsFields: read.createsFields || this.columns.some(({ isNew }) => isNew),
      isReviewed: undefined,
    };
  }

  /** What a target cannot say: how a column is read that fills a field besides. */
  #listConsentColumns(typed: readonly string[]): string[] {
    const settled = this.columns.filter(
      ({ reading, isAnswered, target }) => reading !== undefined || (isAnswered && target === "ignore"),
    );
    const names = new Set(settled.map(({ name }) => foldName(name)));
    const isSettled = (text: string) =>
      [text, text.replace(/=[^=]*$/, "")].map(foldName).some((name) => names.has(name));
    const answered = settled.filter(({ reading, target }) => reading && !target.startsWith("consent="));
    return [
      ...typed.filter((text) => !isSettled(text)),
      ...answered.map(({ name, reading }) => `${name}=${reading}`),
    ];
  }
}
