/** The one question of a bulk run that changes contacts, between its price and its first write. */
import type { Creation, ForeseenPlan, PlanFile, PlanLine, Price, RunOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { declinedError, interruptedError, isInterruption, toStopSignal, usageError } from "../../errors.ts";
import { formatHint } from "../../hint.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import type { KeyChoice, Prompter } from "../../terminal/prompter.ts";
import { cannotAskError } from "../../terminal/prompts.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { drawDifference, goesIntoNoList } from "./plan.ts";
import type { RunDisplay } from "./progress.ts";
import { resultLines } from "./result.ts";
import { describeCode, formatAboutDuration, formatShare, isChange } from "./words.ts";

/** `change-all`: of everybody, which is said before anything is read. */
export type Danger = "change" | "change-all" | "unsubscribe" | "delete";

const consequences: Record<Exclude<Danger, "change">, string> = {
  "change-all": "A change of every contact must be confirmed",
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

/**
 * @param review shows the plan before its question
 * @throws DeclinedError on a no, or, about `revised`, where a person wants to change what was answered before
 */
export function createAgreement(
  context: Context,
  display: RunDisplay,
  danger: Danger,
  review?: Review,
): NonNullable<RunOptions["agree"]> {
  return async (price, planned, created, plan) => {
    const prompter = context.settings.yes ? undefined : context.prompter();
    if (!prompter) return requireAnswer(context, danger, false);
    if (danger === "delete" || danger === "unsubscribe") display.sayPrice(price);
    const ask = async () => {
      if (!review && plan) await noteLeftOut(context.terminal, plan);
      if (danger === "delete") return confirmDeletion(prompter, planned.deleted, plan);
      const question = await formatQuestion(context, danger, price, created);
      if (!review || !plan) return prompter.confirm(question);
      const answer = await askWithPlan(context, prompter, { question, plan, review });
      if (answer === "change") throw declinedError("revised");
      return answer === "yes";
    };
    if (!(await display.whileAsking(ask).catch(throwUnapplied))) throw declinedError();
  };
}

/** Whom the question does not count, though they were named: before the answer, not after it. */
async function noteLeftOut(terminal: Terminal, plan: ForeseenPlan): Promise<void> {
  if (plan.summary.rows.rejected + plan.summary.rows.skipped === 0) return;
  for (const line of await leftOutLines(terminal, plan)) terminal.note(line, "painted");
}

/** Ctrl-C at the question is a no. @throws InterruptedError that says so */
function throwUnapplied(error: unknown): never {
  if (!isInterruption(error)) throw error;
  throw interruptedError(toStopSignal(error), "Nothing was written", {
    applied: "no",
  });
}

/** Of an undo: a number to be typed where it deletes several, a yes elsewhere. */
export function undoAgreement(context: Context, display: RunDisplay): NonNullable<RunOptions["agree"]> {
  return async (price, planned) => {
    const prompter = context.settings.yes ? undefined : context.prompter();
    if (!prompter) return requireAnswer(context, planned.deleted > 0 ? "delete" : "change", false);
    const { name, baseUrl } = await context.profile();
    const place = JSON.stringify(name?.value ?? baseUrl.value);
    const { countPlannedWrites } = await import("../../bulk/index.ts");
    const restored = formatCounted(countPlannedWrites(planned), "contact");
    const ask = () => {
      if (planned.deleted === 0)
        return prompter.confirm(`Restore ${restored} in ${place} (${formatCounted(price.left, "request")})?`);
      display.sayPrice(price);
      return confirmDeletion(prompter, planned.deleted);
    };
    if (!(await display.whileAsking(ask).catch(throwUnapplied))) throw declinedError();
  };
}

async function confirmDeletion(
  prompter: Prompter,
  count: number,
  plan?: Pick<ForeseenPlan, "lines">,
): Promise<boolean> {
  if (count === 1) return prompter.confirm(`Permanently delete ${await findDeletedKey(plan)}?`);
  return isNumber(
    await prompter.input(
      `Type ${count} to permanently delete ${formatCounted(count, "contact")}`,
      undefined,
      // A yes is meant as one, but proves no look at the number; anything else is a no.
      (answer) => (/^\s*y(es)?\s*$/i.test(answer) ? `Type ${count} to confirm; Enter cancels` : undefined),
    ),
    count,
  );
}

/** Who is deleted, where it is one. */
async function findDeletedKey(plan: Pick<ForeseenPlan, "lines"> | undefined): Promise<string> {
  if (plan) for await (const { action, key } of plan.lines()) if (action === "delete") return key;
  return "1 contact";
}

async function formatQuestion(
  context: Context,
  danger: Danger,
  price: Price,
  created: readonly Creation[] | undefined,
): Promise<string> {
  const { left, writes, estimate, monthLeft } = price;
  if (danger === "unsubscribe") {
    return `Unsubscribe ${formatCounted(writes ?? left, "contact")}? This cannot be undone: only they can subscribe again.`;
  }
  const { name, baseUrl } = await context.profile();
  const share = formatShare(left, monthLeft);
  const cost = `${formatCounted(left, "request")}, ${formatAboutDuration(estimate.seconds)}${share}`;
  const place = JSON.stringify(name?.value ?? baseUrl.value);
  const news = created ? describeCreatedParts(created) : "";
  const write = news === "" ? "Write" : `Create ${news}, and write`;
  return writes === undefined
    ? `${write} to ${place} (up to ${cost})?`
    : `${write} to ${formatCounted(writes, "contact")} in ${place} (${cost})?`;
}

/** `6 fields, the list "News" and 12 tags`; empty for nothing. */
function describeCreatedParts(created: readonly Creation[]): string {
  const parts = (["field", "list", "tag"] as const).flatMap((kind) => {
    const [first, ...more] = created.filter(({ what }) => what === kind);
    if (!first) return [];
    return more.length === 0
      ? [`the ${kind} ${JSON.stringify(first.name)}`]
      : [formatCounted(more.length + 1, kind)];
  });
  const last = parts.pop() ?? "";
  return parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
}

/** Digits may be grouped, as the question shows them. */
function isNumber(answer: string, expected: number): boolean {
  return answer.replace(/[\s,.'_]/g, "") === String(expected);
}

// A plan as it is shown before the question whether it is carried out.

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
async function askWithPlan(
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
async function leftOutLines(terminal: Terminal, plan: ForeseenPlan): Promise<string[]> {
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
  const { showInPager } = await import("../../terminal/pager.ts");
  if (showInPager(terminal, `${lines.join("\n")}\n`)) return;
  for (const line of lines) terminal.note(line, "painted");
}

/** `= ada@example.com  unchanged`, `! line 17  klaus@@example.de  not an email address`. */
function describeRest({ action, key, line, message, code }: PlanLine): string {
  if (action === "unchanged") return `= ${escapeControls(key)}  unchanged`;
  const why = escapeControls(message ?? describeCode(code ?? ""));
  const what = action === "skip" ? "skipped" : "rejected";
  const parts = [line === null ? "" : `line ${line}`, escapeControls(key), `${what}: ${why}`];
  return `${action === "skip" ? "·" : "!"} ${parts.filter((part) => part !== "").join("  ")}`;
}
