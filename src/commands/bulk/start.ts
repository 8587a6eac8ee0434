/** Starts a bulk run over rows or a selection: one way for every command that writes to many contacts. */
import { resolve } from "node:path";
import type { BackUp, Closed, Engine, Job, RunOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { isJson } from "../../terminal/format.ts";
import { createAgreement, type Danger, requireAnswer } from "./agree.ts";
import { claimFiles, type FileFlags } from "./distinct-files.ts";
import { openEngine, printSummary } from "./flags.ts";
import { openPlanOutput, type PlanFlags } from "./plan-output.ts";
import { RunDisplay } from "./progress.ts";
import type { Review } from "./review.ts";

/** Asks, while nothing else is drawn. */
export type WhileAsking = <T>(ask: () => Promise<T>) => Promise<T>;

export interface BulkStart {
  job: Job;
  options: RunOptions;
  flags: PlanFlags & FileFlags;
  /** What is said at once, such as `Importing people.csv`. */
  what: string;
  danger: Danger;
  backUp?: BackUp;
  /** The same job, which has a person settle what is open: taken where one can be asked. */
  asks?(whileAsking: WhileAsking): Promise<Job> | Job;
  /** Whether a person has just seen where the columns go: then they are not listed again. */
  areColumnsShown?(): boolean;
  /** Where it is not the account's usual one. */
  structureId?: string;
  /** One contact that was named: what becomes of it needs no bar. */
  isSingle?: boolean;
  /** After a yes, before the first write. */
  agreed?(): Promise<void>;
  /** The plan is shown before its question. */
  review?: Review;
}

/**
 * Runs the job with its display, its plan and its question, and says
 * what it did; what stopped it is in the result.
 * @throws UsageError before anything is sent; DeclinedError on a no
 */
export async function startRun(context: Context, start: BulkStart): Promise<Closed> {
  const { job, options, flags, what, danger, backUp, asks, structureId, agreed, review } = start;
  const { runJob } = await import("../../bulk/index.ts");
  requireAnswer(context, danger, options.isDryRun);
  const { name, path = name, stream } = job.input;
  claimFiles(context, stream ? undefined : path, flags);
  const inputs = stream || !job.readsInput ? [] : [resolve(path)];
  await context.tellUnderWay({ kind: "run", what: `A run (${what})`, inputs });
  return withRun(context, start, async ({ engine, display, options }) => {
    if (structureId !== undefined) engine.account.preferredStructure = structureId;
    const agree = createAgreement(context, display, danger, review);
    const mayAsk = asks && context.prompter() !== undefined;
    return runJob(
      engine,
      mayAsk ? await asks((ask) => display.whileAsking(ask)) : job,
      {
        ...options,
        isAtTerminal: isAtTerminal(context),
        backUp,
        async agree(...about) {
          await agree(...about);
          await agreed?.();
        },
      },
      display.on,
    );
  });
}

/** Somebody reads along, and will work with the files that a run leaves; no script does. */
export function isAtTerminal({ terminal, output }: Context): boolean {
  return terminal.isStdinTerminal && terminal.isStderrTerminal && !isJson(output().format);
}

/** A run that can begin. */
export interface OpenRun {
  engine: Engine;
  display: RunDisplay;
  /** With the places that its plan goes to. */
  options: RunOptions;
}

/**
 * Opens what a run needs, does it, and closes all of it however it ends. Of a run that is refused, the summary
 * is printed.
 * @param begun `what` is said at once, such as `Importing people.csv`
 */
export async function withRun(
  context: Context,
  begun: Pick<BulkStart, "what" | "options" | "flags" | "isSingle" | "areColumnsShown">,
  run: (open: OpenRun) => Promise<Closed>,
): Promise<Closed> {
  const { what, options, flags } = begun;
  const plan = await openPlanOutput(context, flags, options.isDryRun);
  const display = new RunDisplay(context, what, { ...begun, isDryRun: options.isDryRun });
  try {
    const engine = await openEngine(context, options);
    const planFile = flags.plan === "-" ? undefined : flags.plan;
    const result = await run({
      engine,
      display,
      options: { ...options, takePlan: plan.take, planFile, reportFile: flags.report },
    });
    await plan.discard();
    display.end(result, plan.lines());
    const note = plan.note();
    if (note) context.terminal.note(note);
    await plan.report(result);
    return result;
  } catch (error) {
    await plan.discard();
    await printSummary(context, display.refused);
    throw error;
  } finally {
    display.close();
  }
}
