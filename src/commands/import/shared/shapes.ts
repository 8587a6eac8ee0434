/**
 * Questions about how the values of a column are written: a
 * date, several values in a cell, a table of values.
 */
import {
  type ColumnShape,
  columnShapes,
  entryExamples,
  findNearestName,
  foldName,
  type MappingEntry,
  maxTableValues,
  type Proposal,
} from "../../../bulk/index.ts";
import type { Prompter } from "../../../terminal/prompter.ts";
import type { Terminal } from "../../../terminal/terminal.ts";

/** Where a person is asked. */
export interface Screen {
  terminal: Terminal;
  prompter: Prompter;
  /** Values that a field has in the account; a request is sent for them. */
  heldValues(fieldId: string): Promise<readonly string[]>;
}

export interface ShapeQuestion {
  column: string;
  target: MappingEntry["target"];
  rows: NonNullable<ReturnType<NonNullable<Proposal["rows"]>>>;
  /** Values that the field has in the account; a request is sent for them. */
  heldValues(): Promise<readonly string[]>;
}

const keep = Symbol("keep");

/** @returns how the values are made; undefined where they stay as they are */
export async function askShape(
  { terminal, prompter }: { terminal: Terminal; prompter: Prompter },
  question: ShapeQuestion,
): Promise<MappingEntry | undefined> {
  const { names, batches } = question.rows;
  const index = names.indexOf(question.column);
  const shape = (await columnShapes([index], batches)).get(index)!;
  const entry = await askEntry(prompter, question, shape);
  if (!entry) return undefined;
  for (const [before, after] of await entryExamples(entry, shape.samples)) {
    terminal.note(`  ${before} → ${after === "" ? "(blank)" : after}`);
  }
  return entry;
}

async function askEntry(
  prompter: Prompter,
  question: ShapeQuestion,
  shape: ColumnShape,
): Promise<MappingEntry | undefined> {
  const { column, target } = question;
  const entry: MappingEntry = { name: column, target };
  if (target.kind !== "field") {
    const split = shape.separator;
    if (split === undefined) return undefined;
    const isSplit = await prompter.confirm(
      `Split the cells of ${JSON.stringify(column)} at ${JSON.stringify(split)}?`,
    );
    return isSplit ? { ...entry, split } : undefined;
  }
  if (shape.formats.length > 0) {
    const format = await askFormat(prompter, column, shape);
    return format === undefined ? undefined : { ...entry, date: [format] };
  }
  const map = await askTable(prompter, question, shape);
  return map && { ...entry, map };
}

async function askFormat(
  prompter: Prompter,
  column: string,
  { formats, samples }: ColumnShape,
): Promise<string | undefined> {
  const choices = await Promise.all(
    formats.map(async (format) => {
      const entry: MappingEntry = { name: column, target: { kind: "field", field: column }, date: [format] };
      const [example] = await entryExamples(entry, samples.slice(0, 1));
      return {
        name: `${format} (${example!.join(" → ")})`,
        short: format,
        value: format as string | typeof keep,
      };
    }),
  );
  const chosen = await prompter.select<string | typeof keep>(
    `How are the dates of ${JSON.stringify(column)} written?`,
    [...choices, { name: "keep the text as it is", short: "as it is", value: keep }],
  );
  return chosen === keep ? undefined : chosen;
}

/** Few values that repeat, and that the field does not have in the account. */
async function askTable(
  prompter: Prompter,
  { column, heldValues }: ShapeQuestion,
  shape: ColumnShape,
): Promise<[string, string][] | undefined> {
  if (!shape.values) return undefined;
  const held = await heldValues();
  const isHeld = (value: string) => held.some((each) => foldName(each) === foldName(value));
  const foreign = shape.values.filter((value) => !isHeld(value));
  if (held.length === 0 || held.length > maxTableValues || foreign.length === 0) return undefined;
  const shown = foreign.slice(0, 5).join(", ");
  const more = foreign.length > 5 ? ", …" : "";
  const isWanted = await prompter.confirm(
    `The field has other values in the account than ${JSON.stringify(column)} (${shown}${more}). Choose one for each?`,
  );
  if (!isWanted) return undefined;
  const map: [string, string][] = [];
  for (const value of foreign) {
    const near = findNearestName(value, held);
    const ordered = near === undefined ? held : [near, ...held.filter((each) => each !== near)];
    const chosen = await prompter.select<string | typeof keep>(`What is ${JSON.stringify(value)}?`, [
      ...ordered.map((each) => ({ name: each, value: each as string | typeof keep })),
      { name: "keep it as it is", short: "as it is", value: keep },
    ]);
    if (chosen !== keep) map.push([value, chosen]);
  }
  return map.length > 0 ? map : undefined;
}
