/**
 * An import's questions about its columns: which have the addresses, which say who is subscribed, and one table of
 * where all of them go, whose lines can be changed.
 */

import type { ImportOptions } from "../../../bulk/index.ts";
import { formatCount, formatCounted } from "../../../counts.ts";
import { type Proposal, toUnclearError, type UnclearInput } from "../../../tables/index.ts";
import type { Prompter } from "../../../terminal/prompter.ts";
import type { Terminal } from "../../../terminal/terminal.ts";
import { changeColumn, describeColumn, describeTarget } from "./column-menu.ts";
import { type ColumnReading, Draft, type DraftColumn } from "./draft.ts";

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
