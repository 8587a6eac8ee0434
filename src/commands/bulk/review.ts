/** A plan as it is shown before the question whether it is carried out. */
import type { ForeseenPlan, PlanLine } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import { formatHint } from "../../hint.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { showInPager } from "../../terminal/pager.ts";
import type { KeyChoice, Prompter } from "../../terminal/prompter.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { drawDifference, goesIntoNoList, isChange } from "./difference.ts";
import { describeReason } from "./format.ts";
import { resultLines } from "./result-lines.ts";

export interface Review {
  /** What was answered before can be changed. */
  canChange: boolean;
  /** How many changes are shown. */
  show?: number;
}

type Answer = "yes" | "no" | "change";

const defaultChangesShown = 5;
/** Nobody reads further; a plan file has them all. */
const maxRowsListed = 10_000;
const maxLeftOutShown = 5;

/** Shows what would be done, and asks; the rows are listed as often as they are asked for. */
export async function askWithPlan(
  context: Context,
  prompter: Prompter,
  { question, plan, review }: { question: string; plan: ForeseenPlan; review: Review },
): Promise<Answer> {
  const { terminal } = context;
  for (const line of await describePlan(terminal, plan, review)) terminal.note(line, "painted");
  const choices: KeyChoice<Answer | "list">[] = [
    { key: "y", name: "yes", value: "yes" },
    ...(review.canChange && !plan.isResumed
      ? [{ key: "c", name: "change columns or list", value: "change" } as const]
      : []),
    { key: "l", name: "list the rows", value: "list" },
    { key: "n", name: "no", value: "no" },
  ];
  for (;;) {
    const answer = await prompter.chooseKey(question, choices);
    if (answer !== "list") return answer;
    await listRows(terminal, plan);
  }
}

/** The outcome as that of a dry run, and the first changes. */
async function describePlan(
  terminal: Terminal,
  plan: ForeseenPlan,
  { show, canChange }: Review,
): Promise<string[]> {
  const { stderrColumns: columns, isAccessible, isColored } = terminal;
  const screen = { columns, isAccessible, isColored: isColored.err };
  const lines = resultLines(screen, plan.summary, { firstRejects: plan.firstRejects }).map((line) =>
    formatHint(line),
  );
  const maxShown = show ?? defaultChangesShown;
  const changes = await takeLines(plan, maxShown, isChange);
  const { created, updated, deleted } = plan.summary.rows;
  const more = created + updated + deleted - changes.length;
  if (changes.length > 0) lines.push(...drawDifference(terminal, changes));
  if (maxShown > 0 && more > 0) lines.push(`  … ${formatCount(more)} more`);
  if (goesIntoNoList(plan)) lines.push(`  In no list${canChange ? ": c to choose one" : ""}`);
  return lines;
}

/** `! nobody@example.com  rejected: no contact has this key or id`: the first who are not changed though they were named. */
export async function leftOutLines(terminal: Terminal, plan: ForeseenPlan): Promise<string[]> {
  const { kind, rows } = plan.summary;
  const hasLines = kind === "import" || kind === "sync";
  const left = await takeLines(
    plan,
    maxLeftOutShown,
    ({ action }) => action === "skip" || action === "reject",
  );
  const lines = left.map((row) =>
    fitMessage(`  ${describeRest(hasLines ? row : { ...row, line: null })}`, terminal.stderrColumns),
  );
  const more = rows.rejected + rows.skipped - left.length;
  if (more > 0) lines.push(`  … ${formatCount(more)} more left out`);
  return lines;
}

async function takeLines(
  plan: ForeseenPlan,
  count: number,
  isTaken: (line: PlanLine) => boolean,
): Promise<PlanLine[]> {
  const taken: PlanLine[] = [];
  if (count === 0) return taken;
  for await (const line of plan.lines()) {
    if (isTaken(line) && taken.push(line) >= count) break;
  }
  return taken;
}

/** Every row that is changed, skipped or rejected, through the pager where they are many. */
async function listRows(terminal: Terminal, plan: ForeseenPlan): Promise<void> {
  const rows = await takeLines(plan, maxRowsListed, () => true);
  const lines = rows.flatMap((row) =>
    isChange(row) ? drawDifference(terminal, [row]) : [`  ${describeRest(row)}`],
  );
  const more = plan.summary.rows.read - rows.length;
  if (rows.length === maxRowsListed && more > 0) {
    lines.push(`  … ${formatCount(more)} more: --plan plan.ndjson`);
  }
  if (showInPager(terminal, `${lines.join("\n")}\n`)) return;
  for (const line of lines) terminal.note(line, "painted");
}

/** `= ada@example.com  unchanged`, `! line 17  klaus@@example.de  not an email address`. */
function describeRest({ action, key, line, message, code }: PlanLine): string {
  if (action === "unchanged") return `= ${escapeControls(key)}  unchanged`;
  const why = escapeControls(message ?? describeReason(code ?? ""));
  const what = action === "skip" ? "skipped" : "rejected";
  const parts = [line === null ? "" : `line ${line}`, escapeControls(key), `${what}: ${why}`];
  return `${action === "skip" ? "·" : "!"} ${parts.filter((part) => part !== "").join("  ")}`;
}
