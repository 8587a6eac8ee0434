/** The questions about one column: where it goes, and how its values are written. */

import { foldName } from "../../../api/names.ts";
import { isTargetWord, type Proposal, proposeLabel } from "../../../tables/index.ts";
import type { Choice, Prompter } from "../../../terminal/prompter.ts";
import { formatKeyTarget } from "../../bulk/progress.ts";
import { checkText } from "../../flags/questions.ts";
import type { Draft, DraftColumn } from "./draft.ts";

/** Not a target that a person could write. */
const otherField = "a new field of another name=";

/** Asks where the column goes. The choice under the cursor is where it goes now; Esc leaves it there. */
export async function changeColumn(prompter: Prompter, draft: Draft, column: DraftColumn): Promise<void> {
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
export function describeColumn({ name, count, samples }: DraftColumn): string {
  const shortSamples = samples.map((sample) => (sample.length > 24 ? `${sample.slice(0, 23)}…` : sample));
  const title = name.trim() === "" ? "the column without a name" : JSON.stringify(name);
  const several = count > 1 ? `${title}, ${count} columns` : title;
  return shortSamples.length === 0 ? `${several} (empty)` : `${several} (${shortSamples.join(", ")})`;
}

export function describeTarget({ target, isNew, filled }: DraftColumn, keyName: string): string {
  if (target === "key") return formatKeyTarget(keyName);
  if (target === "ignore") return filled === 0 ? "– empty" : "– ignored";
  if (target === "consent=opt-in") return "consent (yes = in)";
  if (target === "consent=opt-out") return "consent (yes = out)";
  return isNew ? `${target} (new)` : target;
}
