/** Columns of which it is not plain where they go: asked of a person, one by one, and kept for the next time. */
import { existsSync } from "node:fs";
import { basename, extname } from "node:path";
import { foldName, type Unclear, type UnclearColumn, UnclearColumnsError } from "../../bulk/input/index.ts";
import type { Context } from "../../context.ts";
import type { Choice, Prompter } from "../../terminal/prompts.ts";
import { requireText } from "../questions.ts";

/** Column name → target, as in `--map`. */
type ColumnMap = Map<string, string>;

/**
 * What a person says about the columns that stopped an import, after what was said already.
 * @param failure of the import
 * @throws the failure itself, when it is another one or nobody can be asked
 */
export async function askColumns(
  context: Context,
  failure: unknown,
  file: string,
  told: ColumnMap,
): Promise<ColumnMap> {
  const prompter = failure instanceof UnclearColumnsError ? context.prompter() : undefined;
  if (!prompter) throw failure;
  const { message, unclear } = failure as UnclearColumnsError;
  context.terminal.note(message, "needed");
  const map = new Map([...told, ...(await targetsFor(prompter, unclear))]);
  await offerToSave(context, prompter, file, map);
  return map;
}

async function targetsFor(prompter: Prompter, unclear: Unclear): Promise<ColumnMap> {
  const { structure, keyCandidates, unmapped, consent } = unclear;
  const answers: ColumnMap = new Map();
  if (keyCandidates.length > 0) {
    const question = `Which column has the key (${structure.keyName})?`;
    const choices = keyCandidates.map((column) => ({
      name: described(column),
      short: column.name,
      value: column.name,
    }));
    answers.set(await prompter.select(question, choices), "key");
  }
  const taken = new Set(unclear.takenFields);
  for (const column of [...consent, ...unmapped]) {
    if (answers.has(column.name)) continue;
    const choices = targetChoices(unclear, column, taken);
    const target = await prompter.select(
      `Where does ${described(column)} go?`,
      consent.includes(column) ? [saysWhoIsSubscribed, ...choices] : choices,
    );
    taken.add(target);
    answers.set(column.name, wordFor(target, unclear));
  }
  return answers;
}

/** A field's label, as a person would write it, where that can mean nothing else. */
function wordFor(target: string, { structure }: Unclear): string {
  const label = structure.fields.find(({ _id }) => _id === target)?.label;
  if (label === undefined) return target;
  const alike = structure.fields.filter((field) => foldName(field.label) === foldName(label));
  const isTaken = ["key", "lists", "tags", "ignore", "consent"].includes(foldName(label));
  return alike.length > 1 || isTaken ? target : label;
}

const saysWhoIsSubscribed = { name: "says who is subscribed", value: "consent" };

/** The field of a like name first, then leaving it out; then everything else. */
function targetChoices(
  { structure }: Unclear,
  { near }: UnclearColumn,
  taken: ReadonlySet<string>,
): Choice<string>[] {
  const fields = structure.fields
    .filter(({ _id }) => !taken.has(_id))
    .map(({ _id, label }) => ({ name: `the field ${label}`, value: _id, label }));
  const likely = fields.filter(({ label }) => label === near);
  return [
    ...likely,
    { name: "nowhere (ignore it)", value: "ignore" },
    ...fields.filter((field) => !likely.includes(field)),
    { name: "lists, by name", value: "lists" },
    { name: "tags, by label", value: "tags" },
  ];
}

function described({ name, count, samples }: UnclearColumn): string {
  const shown = samples.map((sample) => (sample.length > 24 ? `${sample.slice(0, 23)}…` : sample));
  const title = name.trim() === "" ? "the column without a name" : JSON.stringify(name);
  const several = count > 1 ? `${title}, ${count} columns` : title;
  return shown.length === 0 ? `${several} (empty)` : `${several} (${shown.join(", ")})`;
}

async function offerToSave(
  context: Context,
  prompter: Prompter,
  file: string,
  map: ColumnMap,
): Promise<void> {
  if (!(await prompter.confirm("Save these answers for next time?"))) {
    const flags = [...map].map(([column, target]) => `--map ${quoted(`${column}=${target}`)}`);
    context.terminal.note(`The same without questions: ecm import ${quoted(file)} ${flags.join(" ")}`);
    return;
  }
  const { writeMapping } = await import("../../bulk/input/mapping-file.ts");
  const proposal = `${basename(file, extname(file))}.mapping.yaml`;
  const mapping = await prompter.input("File", proposal, (answer) =>
    existsSync(answer) ? "This file already exists; choose another name." : requireText(answer),
  );
  await writeMapping(mapping, map);
  context.terminal.note(`Next time: ecm import ${quoted(file)} --mapping ${quoted(mapping)}`);
}

/** As a shell takes it. */
function quoted(word: string): string {
  return /^[\w=.@:/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
