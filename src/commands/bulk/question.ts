/** The one question of a bulk run, between its price and its first write, with the plan that it is about. */
import type { Creation, ForeseenPlan, PlanFile, PlanLine, Price, RunOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { declinedError, interruptedError, isInterruption, toStopSignal, usageError } from "../../errors.ts";
import { formatHint } from "../../hint.ts";
import { escapeControls } from "../../terminal/escape.ts";
import type { KeyChoice, Prompter } from "../../terminal/prompter.ts";
import { cannotAskError } from "../../terminal/prompts.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { drawDifference, goesIntoNoList } from "./plan.ts";
import type { RunDisplay } from "./progress.ts";
import { resultLines } from "./result.ts";
import {
  describeCode,
  formatAboutDuration,
  formatPrice,
  formatShare,
  isChange,
  listCreated,
} from "./words.ts";

export type Danger = "change" | "unsubscribe" | "delete";

/** What the question of a run depends on. */
export interface Question {
  danger: Danger;
  /** What was changed before is restored. */
  isUndo?: boolean;
  /** One contact that was named: what becomes of it needs no bar. */
  isSingle?: boolean;
  /** What was answered before can be changed. */
  canChange?: boolean;
  /** How many changes are shown. */
  show?: number;
}

const consequences: Record<Exclude<Danger, "change">, string> = {
  unsubscribe: "An unsubscription must be confirmed: it cannot be undone through the API",
  delete: "A deletion must be confirmed",
};

/** What a plan file asks for is confirmed as if it had been typed. */
export function findDanger({ deletes, unsubscribes }: Pick<PlanFile, "deletes" | "unsubscribes">): Danger {
  if (deletes > 0) return "delete";
  return unsubscribes ? "unsubscribe" : "change";
}

/**
 * Before anything is sent. Changes without danger need no answer where there is no terminal.
 * @throws UsageError where nobody can be asked and `--yes` is not given
 */
export function requireAnswer(context: Context, danger: Danger, isDryRun: boolean): void {
  if (isDryRun || context.settings.yes || context.prompter()) return;
  const { isStdinTerminal, isStderrTerminal } = context.terminal;
  if (isStdinTerminal && isStderrTerminal) {
    throw usageError("This must be confirmed, and --no-input forbids questions", "Confirm with --yes", {
      type: "InputRequiredError",
    });
  }
  if (danger === "change") return;
  throw cannotAskError(consequences[danger], "See what it would do with --dry-run, then confirm with --yes");
}

/** @throws DeclinedError on a no, or, about `revised`, where a person wants to change what was answered before */
export function createAgreement(
  context: Context,
  display: RunDisplay,
  question: Question,
): NonNullable<RunOptions["agree"]> {
  return async (price, planned, news, plan) => {
    const danger = planned.deleted > 0 ? "delete" : question.danger;
    const prompter = context.settings.yes ? undefined : context.prompter();
    if (!prompter) return requireAnswer(context, danger, false);
    const answer = () => ask(context, prompter, { ...question, danger, price, planned, news, plan });
    if (!(await display.whileAsking(answer).catch(throwUnapplied))) throw declinedError();
  };
}

interface Asked extends Question {
  price: Price;
  planned: { deleted: number };
  /** What the run creates in the account first. */
  news?: readonly Creation[];
  plan?: ForeseenPlan;
}

async function ask(context: Context, prompter: Prompter, asked: Asked): Promise<boolean> {
  const { terminal } = context;
  const { danger, isSingle, price, planned, canChange } = asked;
  const plan = isSingle ? undefined : asked.plan;
  if (plan) await showPlan(terminal, plan, asked);
  // Another question names the price itself.
  if (!isSingle && (danger === "delete" || danger === "unsubscribe")) terminal.note(formatPrice(price));
  if (danger === "delete") return confirmDeletion(prompter, planned.deleted, asked.plan);
  const text = await formatQuestion(context, asked);
  return plan ? askWithPlan(terminal, prompter, { text, plan, canChange }) : prompter.confirm(text);
}

/** Ctrl-C at the question is a no. @throws InterruptedError that says so */
function throwUnapplied(error: unknown): never {
  if (!isInterruption(error)) throw error;
  throw interruptedError(toStopSignal(error), "Nothing was written", { applied: "no" });
}

/** A number is typed where several are deleted. */
async function confirmDeletion(
  prompter: Prompter,
  count: number,
  plan: ForeseenPlan | undefined,
): Promise<boolean> {
  if (count === 1) {
    const [deleted] = plan ? await takeLines(plan, 1, ({ action }) => action === "delete") : [];
    return prompter.confirm(`Permanently delete ${deleted?.key ?? "1 contact"}?`);
  }
  const answer = await prompter.input(
    `Type ${count} to permanently delete ${formatCounted(count, "contact")}`,
    undefined,
    // A yes is meant as one, but proves no look at the number; anything else is a no.
    (answer) => (/^\s*y(es)?\s*$/i.test(answer) ? `Type ${count} to confirm; Enter cancels` : undefined),
  );
  // Digits may be grouped, as the question shows them.
  return answer.replace(/[\s,.'_]/g, "") === String(count);
}

async function formatQuestion(
  context: Context,
  { danger, isUndo, news, price: { left, writes, estimate, monthLeft } }: Asked,
): Promise<string> {
  if (danger === "unsubscribe") {
    return `Unsubscribe ${formatCounted(writes, "contact")}? This cannot be undone: only they can subscribe again.`;
  }
  const { name, baseUrl } = await context.profile();
  const cost = `${formatCounted(left, "request")}, ${formatAboutDuration(estimate.seconds)}${formatShare(left, monthLeft)}`;
  const place = JSON.stringify(name?.value ?? baseUrl.value);
  const created = news ? listCreated(news, true) : "";
  const write = isUndo ? "Restore" : created === "" ? "Write to" : `Create ${created}, and write to`;
  return `${write} ${formatCounted(writes, "contact")} in ${place} (${cost})?`;
}

const defaultChangesShown = 5;
/** Nobody reads further; a plan file has them all. */
const maxRowsListed = 500;

/** The outcome as that of a dry run, and the first changes. */
async function showPlan(
  terminal: Terminal,
  plan: ForeseenPlan,
  { canChange, show = defaultChangesShown }: Question,
): Promise<void> {
  const lines = resultLines(terminal, "err", plan.summary, { firstRejects: plan.firstRejects });
  const changes = show === 0 ? [] : await takeLines(plan, show, isChange);
  const { created, updated, deleted } = plan.summary.rows;
  const more = created + updated + deleted - changes.length;
  lines.push(...drawDifference(terminal, changes));
  if (show > 0 && more > 0) lines.push(`  … ${formatCount(more)} more`);
  if (goesIntoNoList(plan)) lines.push(`  In no list${canChange ? ": c to choose one" : ""}`);
  for (const line of lines) terminal.note(formatHint(line), "painted");
}

/** The rows are listed as often as they are asked for. */
async function askWithPlan(
  terminal: Terminal,
  prompter: Prompter,
  { text, plan, canChange }: { text: string; plan: ForeseenPlan; canChange?: boolean },
): Promise<boolean> {
  const choices: KeyChoice<"yes" | "no" | "change" | "list">[] = [
    { key: "y", name: "yes", value: "yes" },
    ...(canChange && !plan.isResumed
      ? [{ key: "c", name: "change columns or list", value: "change" } as const]
      : []),
    { key: "l", name: "list the rows", value: "list" },
    { key: "n", name: "no", value: "no" },
  ];
  for (;;) {
    const answer = await prompter.chooseKey(text, choices);
    if (answer === "change") throw declinedError("revised");
    if (answer !== "list") return answer === "yes";
    await listRows(terminal, plan);
  }
}

async function takeLines(
  plan: ForeseenPlan,
  count: number,
  isTaken: (line: PlanLine) => boolean,
): Promise<PlanLine[]> {
  const taken: PlanLine[] = [];
  for await (const line of plan.lines()) {
    if (isTaken(line) && taken.push(line) >= count) break;
  }
  return taken;
}

/** Every row that is changed, skipped or rejected. */
async function listRows(terminal: Terminal, plan: ForeseenPlan): Promise<void> {
  const rows = await takeLines(plan, maxRowsListed, () => true);
  const lines = rows.flatMap((row) =>
    isChange(row) ? drawDifference(terminal, [row]) : [`  ${describeRest(row)}`],
  );
  const more = plan.summary.rows.read - rows.length;
  if (rows.length === maxRowsListed && more > 0) {
    lines.push(`  … ${formatCount(more)} more: --plan plan.ndjson`);
  }
  for (const line of lines) terminal.note(line, "painted");
}

/** `= ada@example.com  unchanged`, `! line 17  klaus@@example.de  rejected: not an email address`. */
function describeRest({ action, key, line, message, code }: PlanLine): string {
  if (action === "unchanged") return `= ${escapeControls(key)}  unchanged`;
  const [mark, what] = action === "skip" ? ["·", "skipped"] : ["!", "rejected"];
  const where = line === null ? "" : `line ${line}  `;
  return `${mark} ${where}${escapeControls(`${key}  ${what}: ${message ?? describeCode(code ?? "")}`)}`;
}
