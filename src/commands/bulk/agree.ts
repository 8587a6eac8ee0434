/** The one question of a bulk run that changes contacts, between its price and its first write. */
import type { ForeseenPlan, MissingNames, PlanFile, Price, RunOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { declinedError, interruptedError, isInterruption, toStopSignal, usageError } from "../../errors.ts";
import type { Prompter } from "../../terminal/prompter.ts";
import { cannotAskError } from "../../terminal/prompts.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { formatAboutDuration } from "./format.ts";
import type { RunDisplay } from "./progress.ts";
import type { Review } from "./review.ts";

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
    const ask = async () => {
      if (!review && plan) await noteLeftOut(context.terminal, plan);
      if (danger === "delete") return confirmDeletion(prompter, planned.deleted, plan);
      const question = await formatQuestion(context, danger, price, created);
      if (!review || !plan) return prompter.confirm(question);
      const { askWithPlan } = await import("./review.ts");
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
  const { leftOutLines } = await import("./review.ts");
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
  return async ({ left }, planned) => {
    const prompter = context.settings.yes ? undefined : context.prompter();
    if (!prompter) return requireAnswer(context, planned.deleted > 0 ? "delete" : "change", false);
    const { name, baseUrl } = await context.profile();
    const place = JSON.stringify(name?.value ?? baseUrl.value);
    const { countPlannedWrites } = await import("../../bulk/index.ts");
    const restored = formatCounted(countPlannedWrites(planned), "contact");
    const ask = () =>
      planned.deleted > 0
        ? confirmDeletion(prompter, planned.deleted)
        : prompter.confirm(`Restore ${restored} in ${place} (${formatCounted(left, "request")})?`);
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
  created: MissingNames | undefined,
): Promise<string> {
  const { left, writes, estimate } = price;
  if (danger === "unsubscribe") {
    return `Unsubscribe ${formatCounted(writes ?? left, "contact")}? This cannot be undone: only they can subscribe again.`;
  }
  const { name, baseUrl } = await context.profile();
  const cost = `${formatCounted(left, "request")}, ${formatAboutDuration(estimate.seconds)}`;
  const place = JSON.stringify(name?.value ?? baseUrl.value);
  const news = created ? describeCreatedParts(created) : "";
  const write = news === "" ? "Write" : `Create ${news}, and write`;
  return writes === undefined
    ? `${write} to ${place} (up to ${cost})?`
    : `${write} to ${formatCounted(writes, "contact")} in ${place} (${cost})?`;
}

/** `6 fields, the list "News" and 12 tags`; empty for nothing. */
function describeCreatedParts({ fields, lists, tags }: MissingNames): string {
  const part = (kind: string, names: string[]) =>
    names.length === 1
      ? [`the ${kind} ${JSON.stringify(names[0])}`]
      : names.length > 1
        ? [formatCounted(names.length, kind)]
        : [];
  const parts = [
    ...part(
      "field",
      fields.map(({ label }) => label),
    ),
    ...part(
      "list",
      lists.map(({ name }) => name),
    ),
    ...part(
      "tag",
      tags.map(({ name }) => name),
    ),
  ];
  const last = parts.pop() ?? "";
  return parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
}

/** Digits may be grouped, as the question shows them. */
function isNumber(answer: string, expected: number): boolean {
  return answer.replace(/[\s,.'_]/g, "") === String(expected);
}
