/** The plan of a bulk run: written to a file (`--plan`), and shown contact by contact as a difference. */

import type { ClosedPlan, PlanChange, PlanLine } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import { usageError } from "../../errors.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { isJson, requireFileFormat } from "../../terminal/format.ts";
import { openFileOutput, openOutput, type Sink } from "../../terminal/output-file.ts";
import { createStyle } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { cut, measureWidth } from "../../terminal/text-width.ts";
import type { ReportFlags } from "../flags/bulk.ts";

export interface PlanFlags extends ReportFlags {
  plan?: string;
  show?: number;
}

/** A plan as far as a report shows it: its first lines. */
export interface SeenPlan extends Pick<ClosedPlan, "creations"> {
  head?: ClosedPlan["head"];
  changes: PlanLine[];
  rejects: Pick<PlanLine, "line" | "key" | "code" | "message">[];
}

export interface TakenPlan extends SeenPlan {
  writes: number;
  /** The digest of the file that was written. */
  digest?: string;
}

/** More are slow to open in a page, and nobody reads them. */
export const maxChangesReported = 1000;
export const maxRejectsReported = 100;
const defaultChangesShown = 10;
/** More of them are better read in a file. */
const maxChangesOnRequest = 200;

/**
 * Where `--plan` writes.
 * @throws UsageError when the file cannot be written, or when both the plan and the summary want stdout
 */
export async function openPlanSink(context: Context, { plan: file }: PlanFlags): Promise<Sink | undefined> {
  const { files, terminal } = context;
  if (file === undefined) return undefined;
  if (file !== "-") {
    requireFileFormat(file, "ndjson", "--plan");
    files.writes(file, "--plan");
    return openFileOutput(file, { flag: "--plan" });
  }
  if (!isJson(context.output().format)) return openOutput(terminal, { format: "ndjson" });
  throw usageError(
    "--plan - and --json both write to stdout",
    "Write the plan to a file: --plan plan.ndjson",
  );
}

/** Writes a plan that is closed to its file, and reads what is shown of it. */
export async function takePlan(
  plan: ClosedPlan,
  sink: Sink | undefined,
  isShown: boolean,
): Promise<TakenPlan> {
  const { exportPlan } = await import("../../bulk/index.ts");
  const digest = sink && (await exportPlan(plan, sink.write));
  await sink?.commit();
  const changes = await takeLines(plan, isShown ? maxChangesReported : 0, isChange);
  const isReject = ({ action }: PlanLine) => action === "reject";
  const rejects = await takeLines(plan, isShown ? maxRejectsReported : 0, isReject);
  return { ...plan, changes, rejects, digest, writes: countWrites(plan) };
}

/** How many changes of a dry run are shown at once. */
export function countShown({ isStderrTerminal }: Terminal, { show }: PlanFlags): number {
  return show ?? (isStderrTerminal ? defaultChangesShown : 0);
}

export function countWrites({ end: { counts } }: Pick<ClosedPlan, "end">): number {
  return counts.create + counts.update + counts.delete;
}

/** Whether a plan line changes something in the account. */
export function isChange({ action }: PlanLine): boolean {
  return action === "create" || action === "update" || action === "delete";
}

/** The first lines that are wanted. */
export async function takeLines(
  plan: Pick<ClosedPlan, "lines">,
  count: number,
  isWanted: (line: PlanLine) => boolean,
): Promise<PlanLine[]> {
  const taken: PlanLine[] = [];
  if (count === 0) return taken;
  for await (const line of plan.lines()) {
    if (isWanted(line) && taken.push(line) >= count) break;
  }
  return taken;
}

// A plan for people.

/**
 * The first changes, how many there are besides, and what is easily forgotten.
 * @param howToSee the others
 */
export function changeLines(
  terminal: Terminal,
  plan: Pick<TakenPlan, "head" | "creations" | "changes" | "writes">,
  howToSee = `${plan.writes <= maxChangesOnRequest ? `--show ${plan.writes}, or ` : ""}--plan plan.ndjson`,
  howToList = "--list NAME adds them to one",
): string[] {
  const { changes, writes } = plan;
  const more = writes - changes.length;
  return [
    ...drawDifference(terminal, changes),
    ...(more > 0 && changes.length > 0 ? [`  … ${formatCount(more)} more: ${howToSee}`] : []),
    ...(writes > 0 && goesIntoNoList(plan.head) ? [`  In no list: ${howToList}`] : []),
  ];
}

/** Neither the command nor the file names a list for the contacts of an import. */
function goesIntoNoList(head: SeenPlan["head"]): boolean {
  return head?.kind === "import" && !head.source.includes("lists");
}

/** Keys are aligned up to this width. */
const maxKeyWidth = 40;
const minRoom = 20;

/**
 * One line for each contact: `~ ada@example.com  City  London → Paris   + tag VIP`. The key is never cut.
 * @param stream that it is for
 */
export function drawDifference(
  terminal: Terminal,
  plan: readonly PlanLine[],
  stream: "out" | "err" = "err",
): string[] {
  const { green, red, yellow } = createStyle(terminal.isColored[stream]);
  const marks: Record<string, string> = { create: green("+"), delete: red("-") };
  const columns = stream === "out" ? terminal.columns : terminal.stderrColumns;
  const widths = plan.map(({ key }) => measureWidth(escapeControls(key)));
  const keyWidth = Math.min(Math.max(...widths), maxKeyWidth);
  return plan.map((line, at) => {
    const key = escapeControls(line.key) + " ".repeat(Math.max(0, keyWidth - widths[at]!));
    const room = Math.max(minRoom, columns - 6 - Math.max(keyWidth, widths[at]!));
    const separator = line.action === "create" ? ", " : "   ";
    const what = cut(escapeControls(formatChanges(line).join(separator)), room);
    return `  ${marks[line.action] ?? yellow("~")} ${key}  ${what}`.trimEnd();
  });
}

/** `City  London → Paris`, `+ tag VIP`; of a contact that is created `City Paris`, `tag VIP`. */
export function formatChanges({ action, changes }: PlanLine): string[] {
  return changes.map(action === "create" ? formatValue : formatChange);
}

function formatValue({ what, name, after }: PlanChange): string {
  return what === "field" ? `${name} ${after}` : `${what} ${name}`;
}

function formatChange({ what, name, before, after }: PlanChange): string {
  if (typeof after === "boolean") return `${after ? "+" : "-"} ${what} ${name}`;
  const was = before === null ? "" : `${before || "(empty)"} → `;
  return `${what === "status" ? "Status" : name}  ${was}${after || "(empty)"}`;
}
