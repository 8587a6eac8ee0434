/** Questions about columns whose target is unclear, one by one; each answer can be taken back. */
import { existsSync } from "node:fs";
import { basename, extname } from "node:path";
import {
  findConsentName,
  foldName,
  type MappingEntry,
  type NewField,
  type Unclear,
  type UnclearColumn,
} from "../../../bulk/index.ts";
import type { Choice, Prompter } from "../../../terminal/prompter.ts";
import type { Terminal } from "../../../terminal/terminal.ts";
import { formatCount, formatCounted } from "../../shared/bulk/format.ts";
import { checkText } from "../../shared/questions.ts";

export interface ColumnAnswers {
  /** Column name → how it is read as consent, as in `--consent-column`. */
  readings: Map<string, ColumnReading>;
  /** Column name → target, as in `--map`. */
  map: Map<string, string>;
  /** Columns whose values are made; they are not in `map`. */
  entries: MappingEntry[];
  /** The fields that targets name and that do not exist yet. */
  newFields: NewField[];
  /** The mapping file to write. */
  saveTo?: string;
}

type ColumnReading = "opt-in" | "opt-out" | "none";

interface Answer {
  column: string;
  /** Absent where only the reading was asked. */
  target?: string;
  reading?: ColumnReading;
  newField?: NewField;
  /** How its values are made. */
  entry?: MappingEntry;
}

export interface Asked {
  terminal: Terminal;
  prompter: Prompter;
  /** Values that a field has in the account. */
  heldValues(fieldId: string): Promise<readonly string[]>;
}

const back = Symbol("back");
const create = Symbol("create a field");
type ChosenTarget = string | typeof back | typeof create;

/**
 * Asks for each unclear column where it goes, and whether to save that. Sends and writes nothing.
 * @param earlier fields that earlier answers create
 * @throws InterruptedError
 */
export async function askColumns(
  asked: Asked,
  file: string,
  unclear: Unclear,
  earlier: readonly NewField[],
): Promise<ColumnAnswers> {
  const answers: Answer[] = [];
  for (;;) {
    const column = chooseColumn(unclear, answers);
    if (column === undefined) {
      const saveTo = await askWhereToSave(
        asked.prompter,
        file,
        answers.some(({ entry }) => entry),
      );
      if (saveTo === back) answers.pop();
      else return toColumnAnswers(answers, unclear, saveTo);
    } else {
      const newFields = [...earlier, ...answers.flatMap(({ newField }) => newField ?? [])];
      const answer = await askColumn(asked, unclear, { column, answers, known: newFields });
      if (answer === back) answers.pop();
      else answers.push({ ...answer, entry: await askEntry(asked, unclear, answer) });
    }
  }
}

/**
 * How the values of a column are written, where they look like a date, several values, or a word for another.
 */
async function askEntry(
  asked: Asked,
  unclear: Unclear,
  { column, target, newField }: Answer,
): Promise<MappingEntry | undefined> {
  if (target === undefined || ["key", "old-key", "ignore", "consent"].includes(target.split(":")[0]!))
    return undefined;
  const known = unclear.unmapped.find(({ name }) => name === column);
  const rows = unclear.rows?.();
  if (known?.count !== 1 || !rows) return undefined;
  const { askShape } = await import("./shapes.ts");
  const isNames = target === "tags" || target === "lists";
  return askShape(asked, {
    column,
    target: isNames ? { kind: target } : { kind: "field", field: toTargetWord(target, unclear) },
    rows,
    heldValues: async () => (newField ? [] : asked.heldValues(target)),
  });
}

/** `key` for the question which column has the key; undefined when all are answered. */
function chooseColumn(
  { unclearConsent, keyCandidates, consent, unmapped }: Unclear,
  answers: readonly Answer[],
): UnclearColumn | "key" | undefined {
  const findUnanswered = (columns: readonly UnclearColumn[]) =>
    columns.find(({ name }) => answers.every(({ column }) => column !== name));
  const first = findUnanswered(unclearConsent);
  if (first) return first;
  if (keyCandidates.length > 0 && answers.every(({ target }) => target !== "key")) return "key";
  return findUnanswered([...consent, ...unmapped]);
}

async function askColumn(
  { terminal, prompter }: { terminal: Terminal; prompter: Prompter },
  unclear: Unclear,
  so: { column: UnclearColumn | "key"; answers: readonly Answer[]; known: readonly NewField[] },
): Promise<Answer | typeof back> {
  const { column, answers, known: newFields } = so;
  if (column === "key") {
    const choices = unclear.keyCandidates.map((each) => ({
      name: describeColumn(each),
      short: each.name,
      value: each.name,
    }));
    const question = `Which column has the key (${unclear.structure.keyName})?`;
    return { column: await prompter.select(question, choices), target: "key" };
  }
  if (column.readings) return askReading(prompter, column, answers.length > 0);
  const takenTargets = new Set([...unclear.takenFields, ...answers.flatMap(({ target }) => target ?? [])]);
  const choices = listTargetChoices(unclear, column, takenTargets, answers.length > 0);
  const chosen = await prompter.select<ChosenTarget>(`Where does ${describeColumn(column)} go?`, choices);
  if (chosen === back) return back;
  if (chosen !== create) return { column: column.name, target: chosen };
  const newField = await askNewField(prompter, column.name, unclear, newFields);
  const { label, dataType } = newField;
  terminal.note(
    `The field ${JSON.stringify(label)} (${dataType}) will be added to the structure ${JSON.stringify(unclear.structure.label)}, for all contacts of the account, once you confirm the import.`,
  );
  return { column: column.name, target: label, newField };
}

/** Which way round a column that may be consent is read, with what each reading leaves out. */
async function askReading(
  prompter: Prompter,
  column: UnclearColumn,
  isBackPossible: boolean,
): Promise<Answer | typeof back> {
  const { rows, optIn, optOut } = column.readings!;
  const describeLeftOut = (number: number) =>
    `leaves out ${formatCount(number)} of ${formatCounted(rows, "row")}`;
  const chosen = await prompter.select<ColumnReading | "ignore" | typeof back>(
    `Does ${describeColumn(column)} say who is subscribed?`,
    [
      { name: `a yes means subscribed (${describeLeftOut(optIn)})`, short: "opt-in", value: "opt-in" },
      { name: `a yes means not subscribed (${describeLeftOut(optOut)})`, short: "opt-out", value: "opt-out" },
      { name: "it says neither", short: "neither", value: "none" },
      { name: "ignore the column", short: "ignored", value: "ignore" },
      ...toBackChoice(isBackPossible),
    ],
  );
  if (chosen === back) return back;
  if (chosen === "ignore") return { column: column.name, target: "ignore" };
  return { column: column.name, reading: chosen };
}

function toBackChoice(isPossible: boolean): Choice<typeof back>[] {
  return isPossible ? [{ name: "back to the previous question", short: "back", value: back }] : [];
}

/** The field of a like name first, then leaving it out; then everything else. */
function listTargetChoices(
  { structure, consent }: Unclear,
  column: UnclearColumn,
  takenTargets: ReadonlySet<string>,
  isBackPossible: boolean,
): Choice<ChosenTarget>[] {
  const fields = structure.fields
    .filter(({ _id }) => !takenTargets.has(_id))
    .map(({ _id, label }) => ({ name: `the field ${label}`, short: label, value: _id, label }));
  const likely = fields.filter(({ label }) => label === column.near);
  const isConsent = consent.includes(column);
  // The name of any other column does not say what a yes in it means.
  const readings = [
    { name: "says who is subscribed (a yes means subscribed)", short: "consent", value: "consent:opt-in" },
    {
      name: "says who is not subscribed (a yes means not subscribed)",
      short: "consent",
      value: "consent:opt-out",
    },
  ];
  return [
    ...(isConsent ? [{ name: `says who is ${mayNamePerson(column.name)}`, value: "consent" }] : []),
    ...likely,
    { name: "nowhere (ignore it)", short: "ignored", value: "ignore" },
    { name: "a new field (added to the account)", short: "a new field", value: create },
    ...fields.filter((field) => !likely.includes(field)),
    { name: "lists, by name", value: "lists" },
    { name: "tags, by label", value: "tags" },
    ...(takenTargets.has("old-key")
      ? []
      : [
          { name: "the key of before (moves the person to the new one)", short: "old key", value: "old-key" },
        ]),
    ...(isConsent ? [] : readings),
    ...toBackChoice(isBackPossible),
  ];
}

/** As the column's name will be read. */
function mayNamePerson(name: string): string {
  return findConsentName(name) === "optOut" ? "unsubscribed" : "subscribed";
}

const targetWords = ["key", "old-key", "lists", "tags", "ignore", "consent"];

async function askNewField(
  prompter: Prompter,
  column: string,
  { structure }: Unclear,
  newFields: readonly NewField[],
): Promise<NewField> {
  const check = (answer: string) => {
    const label = answer.trim();
    if (label.includes("=")) return "A label with = cannot be named in --map; enter another name";
    if (targetWords.includes(foldName(label))) return `"${label}" is a reserved word; enter another name`;
    const same = [...structure.fields, ...newFields].find(
      (field) => foldName(field.label) === foldName(label),
    );
    return same ? `A field named ${JSON.stringify(same.label)} already exists` : checkText(answer);
  };
  const proposal = check(column) === undefined ? column.trim() : undefined;
  const label = await prompter.input("Name of the new field", proposal, check);
  const dataType = await prompter.input("Type of its values", "text", checkText);
  return { label: label.trim(), dataType: dataType.trim() };
}

function toColumnAnswers(
  answers: readonly Answer[],
  unclear: Unclear,
  saveTo: string | undefined,
): ColumnAnswers {
  return {
    readings: new Map(answers.flatMap(({ column, reading }) => (reading ? [[column, reading]] : []))),
    map: new Map(
      answers.flatMap(({ column, target, entry }) =>
        target && !entry ? [[column, toTargetWord(target, unclear)]] : [],
      ),
    ),
    entries: answers.flatMap(({ entry }) => entry ?? []),
    newFields: answers.flatMap(({ newField }) => newField ?? []),
    saveTo,
  };
}

/** A field's label, as a person would write it, where that can mean nothing else. */
function toTargetWord(target: string, { structure }: Unclear): string {
  const label = structure.fields.find(({ _id }) => _id === target)?.label;
  if (label === undefined) return target;
  const alike = structure.fields.filter((field) => foldName(field.label) === foldName(label));
  const isClear = alike.length === 1 && !targetWords.includes(foldName(label)) && !label.includes("=");
  return isClear ? label : target;
}

function describeColumn({ name, count, samples }: UnclearColumn): string {
  const shortSamples = samples.map((sample) => (sample.length > 24 ? `${sample.slice(0, 23)}…` : sample));
  const title = name.trim() === "" ? "the column without a name" : JSON.stringify(name);
  const several = count > 1 ? `${title}, ${count} columns` : title;
  return shortSamples.length === 0 ? `${several} (empty)` : `${several} (${shortSamples.join(", ")})`;
}

/** @param isNeeded no flag says all of the answers */
async function askWhereToSave(
  prompter: Prompter,
  file: string,
  isNeeded: boolean,
): Promise<string | undefined | typeof back> {
  const no = isNeeded
    ? "no (how values are written is asked again next time)"
    : "no (the command that repeats them is shown)";
  const answers = [
    { name: no, short: "no", value: "no" as const },
    { name: "yes, in a mapping file", short: "yes", value: "yes" as const },
  ];
  const answer = await prompter.select<"no" | "yes" | typeof back>("Save these answers for next time?", [
    ...(isNeeded ? answers.reverse() : answers),
    { name: "back to the previous question", short: "back", value: back },
  ]);
  if (answer === back) return back;
  if (answer === "no") return undefined;
  const proposal = `${basename(file, extname(file))}.mapping.yaml`;
  return prompter.input("File", proposal, (name) =>
    existsSync(name) ? "This file already exists; choose another name" : checkText(name),
  );
}
