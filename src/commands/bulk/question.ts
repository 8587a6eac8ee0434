/** The one question of a bulk run, between its price and its first write, with the plan that it is about. */
import type { Creation, ForeseenPlan, PlanFile, PlanLine, Price, RunOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { declinedError, interruptedError, isInterruption, toStopSignal } from "../../errors.ts";
import { formatHint } from "../../hint.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { cannotAskError, canPrompt, type KeyChoice, type Prompter } from "../../terminal/prompts.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { changeLines, countWrites, drawDifference, isChange, takeLines } from "./plan.ts";
import type { RunDisplay } from "./progress.ts";
import { resultLines } from "./result.ts";
import { describeCode, formatCost, formatPrice, listCreated } from "./words.ts";

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
  const { terminal } = context;
  if (danger !== "change") {
    const remedy = "See what it would do with --dry-run, then confirm with --yes";
    throw cannotAskError(terminal, consequences[danger], remedy);
  }
  if (canPrompt(terminal, false)) {
    throw cannotAskError(terminal, "This must be confirmed", "Confirm with --yes");
  }
}

/** @throws DeclinedError on a no; about `revised` where a person wants to change earlier answers */
export function createAgreement(
  context: Context,
  display: RunDisplay,
  question: Question,
): NonNullable<RunOptions["agree"]> {
  return async (price, { deleted }, news = [], plan = undefined) => {
    const danger = deleted > 0 ? "delete" : question.danger;
    if (context.settings.yes) return true;
    const prompter = context.prompter();
    if (!prompter) {
      requireAnswer(context, danger, false);
      return false;
    }
    const answer = () => ask(context, prompter, { ...question, danger, price, deleted, news, plan });
    if (!(await display.whileAsking(answer).catch(throwUnapplied))) throw declinedError();
    return true;
  };
}

interface Asked extends Question {
  price: Price;
  deleted: number;
  /** What the run creates in the account first. */
  news: readonly Creation[];
  plan?: ForeseenPlan;
}

async function ask(context: Context, prompter: Prompter, asked: Asked): Promise<boolean> {
  const { terminal } = context;
  const { danger, isSingle, price, plan, deleted } = asked;
  if (plan && !isSingle) await showPlan(terminal, plan, asked);
  // The question of a change names the price itself.
  if (!isSingle && (danger === "delete" || danger === "unsubscribe")) terminal.note(formatPrice(price));
  if (danger === "delete") return confirmDeletion(prompter, deleted, plan);
  const text = await formatQuestion(context, asked);
  return plan && !isSingle
    ? askWithPlan(terminal, prompter, { ...asked, text, plan })
    : prompter.confirm(text);
}

/** Ctrl-C at the question is a no. @throws InterruptedError that says so */
function throwUnapplied(error: unknown): never {
  if (!isInterruption(error)) throw error;
  throw interruptedError(toStopSignal(error), "Nothing was written", { applied: "no" });
}

/** A number is typed where several are deleted. */
async function confirmDeletion(prompter: Prompter, count: number, plan?: ForeseenPlan): Promise<boolean> {
  if (count === 1) {
    const [deleted] = plan ? await takeLines(plan, 1, isChange) : [];
    return prompter.confirm(`Permanently delete ${deleted?.key ?? "1 contact"}?`);
  }
  const answer = await prompter.input(
    `Type ${count} to permanently delete ${formatCounted(count, "contact")}`,
    undefined,
    // A yes is meant as one, but proves no look at the number; anything else is a no.
    (typed) => (/^\s*y(es)?\s*$/i.test(typed) ? `Type ${count} to confirm; Enter cancels` : undefined),
  );
  return answer.trim() === String(count);
}

async function formatQuestion(
  context: Context,
  { danger, isUndo, news, price: { left, writes, estimate, monthLeft } }: Asked,
): Promise<string> {
  const contacts = formatCounted(writes, "contact");
  if (danger === "unsubscribe")
    return `Unsubscribe ${contacts}? This cannot be undone: only they can subscribe again.`;
  const { name, baseUrl } = await context.profile();
  const first = news.length === 0 ? "Write to" : `Create ${listCreated(news, true)}, and write to`;
  const place = JSON.stringify(name?.value ?? baseUrl.value);
  const cost = formatCost(left, estimate.seconds, monthLeft);
  return `${isUndo ? "Restore" : first} ${contacts} in ${place} with ${cost}?`;
}

const defaultChangesShown = 5;

/** The outcome as that of a dry run, and the first changes. */
async function showPlan(
  terminal: Terminal,
  plan: ForeseenPlan,
  { danger, canChange, show = defaultChangesShown }: Question,
): Promise<void> {
  const changes = await takeLines(plan, show, isChange);
  const shown = { ...plan, changes, writes: countWrites(plan) };
  // Where a number is typed, no key lists the rows.
  const howToSee = danger === "delete" ? undefined : "l to list them";
  const lines = [
    ...resultLines(terminal, "err", plan.summary, plan),
    ...changeLines(terminal, shown, howToSee, canChange ? "c to choose one" : undefined),
  ];
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
    { key: "c", name: "change columns or list", value: "change" },
    { key: "l", name: "list the rows", value: "list" },
    { key: "n", name: "no", value: "no" },
  ];
  const isOffered = ({ value }: { value: string }) => value !== "change" || (canChange && !plan.isResumed);
  for (;;) {
    const answer = await prompter.chooseKey(text, choices.filter(isOffered));
    if (answer === "change") throw declinedError("revised");
    if (answer !== "list") return answer === "yes";
    await listRows(terminal, plan);
  }
}

/** Nobody reads further; a plan file has them all. */
const maxRowsListed = 500;

/** Every row that is changed, skipped or rejected. */
async function listRows(terminal: Terminal, plan: ForeseenPlan): Promise<void> {
  const rows = await takeLines(plan, maxRowsListed, () => true);
  for (const row of rows) {
    const [line] = isChange(row) ? drawDifference(terminal, [row]) : [`  ${describeRest(row)}`];
    terminal.note(line!, "painted");
  }
  const more = plan.summary.rows.read - rows.length;
  if (rows.length === maxRowsListed && more > 0)
    terminal.note(`  … ${formatCount(more)} more: --plan plan.ndjson`);
}

/** `= ada@example.com  unchanged`, `! line 17  klaus@@example.de  rejected: not an email address`. */
function describeRest({ action, key, line, message, code }: PlanLine): string {
  if (action === "unchanged") return `= ${escapeControls(key)}  unchanged`;
  const [mark, what] = action === "skip" ? ["·", "skipped"] : ["!", "rejected"];
  const outcome = `${what}: ${message ?? describeCode(code ?? "")}`;
  const parts = [line === null ? "" : `line ${line}`, escapeControls(key), escapeControls(outcome)];
  return `${mark} ${parts.filter((part) => part !== "").join("  ")}`;
}
