/** `ecm import FILE --check`: what a mapping makes of a file, without an account and without a request. */
import type { CheckedColumn, CheckedRow, CheckReport, ReadOptions, SurveyedRows } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { exitCodes } from "../../errors.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { isJson } from "../../terminal/format.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { formatReasons } from "../shared/bulk/format.ts";
import { noteSurvey } from "../shared/bulk/preparation-lines.ts";
import { withInputFile } from "../shared/input-file.ts";
import type { ImportFlags } from "./shared/import-flags.ts";

/** @throws UsageError as an import of the file would */
export async function runCheck(
  context: Context,
  file: string,
  read: ReadOptions,
  flags: ImportFlags,
): Promise<void> {
  const { terminal } = context;
  const output = context.output();
  const { report, surveyed } = await reportOn(context, file, read, flags.duplicates);
  for (const note of report.facts.notes) terminal.note(note);
  for (const text of report.facts.warnings ?? []) terminal.note(`warning: ${text}`, "needed");
  const { toSubscriptionRule } = await import("../../bulk/index.ts");
  const notSubscribedAre = toSubscriptionRule(flags);
  noteSurvey({ ...surveyed, notSubscribedAre }, (line, kind) => terminal.note(line, kind));
  if (isJson(output.format)) {
    await terminal.write(`${JSON.stringify(jsonReport(file, report))}\n`);
  } else {
    await presentList(terminal, output, report.columns, columnsView);
    const isForPeople = output.format === "table" && output.outputFile === undefined;
    for (const line of reportLines(report, notSubscribedAre)) {
      if (isForPeople) await terminal.write(`${escapeControls(line)}\n`);
      else terminal.note(line);
    }
  }
  terminal.note("Checked without the account: whether its fields, lists and tags exist was not asked");
  if (report.rows.rejected > 0) context.endWith(exitCodes.rejectedRows);
}

async function reportOn(
  context: Context,
  file: string,
  read: ReadOptions,
  duplicates: ImportFlags["duplicates"],
): Promise<{ report: CheckReport; surveyed: SurveyedRows }> {
  const { openInput, requireMapped, checkInput } = await import("../../bulk/index.ts");
  return withInputFile(context, file, async (input) => {
    const opened = await openInput(input, read);
    await requireMapped(opened, read);
    return checkInput(opened, read, duplicates, context.signal);
  });
}

const columnsView: View<CheckedColumn> = {
  columns: [
    { name: "column", title: "Column", value: ({ column }) => column },
    { name: "target", title: "Goes to", value: ({ target, field }) => field ?? target },
    { name: "rule", title: "Made by", value: ({ rule }) => rule },
    { name: "blank", title: "Blank", value: ({ blank }) => blank },
    { name: "distinct", title: "Distinct", value: ({ distinct }) => distinct },
    { name: "changed", title: "Changed", value: ({ changed }) => changed },
    { name: "failed", title: "Failed", value: ({ failed }) => failed },
  ],
  id: ({ column }) => column,
};

function jsonReport(file: string, { facts, ...report }: CheckReport): Record<string, unknown> {
  return { file, ...report, notes: facts.notes, warnings: facts.warnings ?? [] };
}

const shownRejects = 10;

/** Rows before and after, and what is wrong. */
function reportLines(
  { rows, rejectedCodes, rejects, sample, columns }: CheckReport,
  notSubscribedAre: string,
): string[] {
  const made = columns.filter(({ rule }) => rule !== undefined);
  const lines = sample.map((row) => rowLine(row, made));
  const reasons = formatReasons(rejectedCodes);
  lines.push(
    `${formatCounted(rows.read, "row")}: ${formatCount(rows.accepted)} accepted, ${formatCount(rows.rejected)} rejected${reasons === "" ? "" : `: ${reasons}`}`,
  );
  if (rows.notSubscribed > 0) {
    lines.push(
      `${formatCounted(rows.notSubscribed, "row")} not subscribed, by the file: ${notSubscribedAre}`,
    );
  }
  for (const { line, message } of rejects.slice(0, shownRejects)) lines.push(`  line ${line}: ${message}`);
  const more = rows.rejected - shownRejects;
  return more > 0 ? [...lines, `  … and ${formatCount(more)} more`] : lines;
}

/** `line 2  ada@example.com  Birthday 31.12.1980 → 1980-12-31` */
function rowLine({ line, before, after, rejected }: CheckedRow, made: readonly CheckedColumn[]): string {
  if (!after) return `  line ${line}  rejected: ${rejected?.message}`;
  const parts = made.map(({ column, target, field }) => {
    const value =
      field !== undefined ? (after.fields[field] ?? "") : after[target as "lists" | "tags"].join(", ");
    return `${field ?? target} ${shown(before[column])} → ${shown(value)}`;
  });
  return [`  line ${line}`, after.key, ...parts].join("  ");
}

function shown(text: string | null | undefined): string {
  const plain = (text ?? "").trim().replace(/\s+/g, " ");
  if (plain === "") return "(blank)";
  return plain.length > 40 ? `${plain.slice(0, 39)}…` : plain;
}
