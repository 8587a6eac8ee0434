/** Starts a bulk run over rows or a selection: one way for every command that writes to many contacts. */
import { resolve } from "node:path";
import type { BackUp, Closed, JobOptions, RowJob, RunOptions } from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { createAgreement, type Danger, requireAnswer } from "./agree.ts";
import { type FileFlags, requireDistinctFiles } from "./distinct-files.ts";
import { openEngine, printSummary } from "./flags.ts";
import { openPlanOutput, type PlanFlags, type PlanOutput } from "./plan-output.ts";
import { displayRun } from "./progress.ts";
import type { Review } from "./review.ts";

export interface BulkStart {
  job: RowJob;
  options: RunOptions;
  flags: PlanFlags & FileFlags;
  /** What is said at once, such as `Importing people.csv`. */
  what: string;
  danger: Danger;
  backUp?: BackUp;
  /**
   * Settles with a person what stops the preparation; nothing is drawn meanwhile. Asked only at a terminal.
   */
  clarify?: JobOptions["clarify"];
  /** Where it is not the account's usual one. */
  structureId?: string;
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
export async function startRun(
  context: Context,
  { job, options, flags, what, danger, backUp, clarify, structureId, agreed, review }: BulkStart,
): Promise<Closed> {
  const { runJob } = await import("../../../bulk/index.ts");
  requireAnswer(context, danger, options.isDryRun);
  requireDistinctFiles(job, flags);
  for (const file of [flags.backup, flags.rejects]) if (file !== undefined) context.noteWrittenFile(file);
  const { name, path = name, stream } = job.input;
  const inputs = stream || !job.open ? [] : [resolve(path)];
  await context.tellUnderWay({ kind: "run", what: `A run (${what})`, inputs });
  const plan = await openPlanOutput(context, flags, options.isDryRun);
  const display = displayRun(context, what, options.isDryRun);
  return withOutputs(context, { plan, display }, async () => {
    const engine = await openEngine(context, options);
    if (structureId !== undefined) engine.account.preferredStructure = structureId;
    const agree = createAgreement(context, display, danger, review);
    const mayAsk = context.prompter() !== undefined;
    return runJob(
      engine,
      job,
      {
        ...options,
        isAtTerminal: isAtTerminal(context),
        backUp,
        takePlan: plan.take,
        planFile: flags.plan === "-" ? undefined : flags.plan,
        async agree(...about) {
          await agree(...about);
          await agreed?.();
        },
        clarify: clarify && mayAsk ? (failure) => display.whileAsking(() => clarify(failure)) : undefined,
      },
      display.on,
    );
  });
}

/** Somebody reads along, and will work with the files that a run leaves; no script does. */
export function isAtTerminal({ terminal, output }: Context): boolean {
  const isData = ["json", "ndjson"].includes(output().format);
  return terminal.isStdinTerminal && terminal.isStderrTerminal && !isData;
}

/**
 * Does a run whose plan and display are open, and closes both however it ends. Of one that is refused, the
 * summary is printed.
 */
export async function withOutputs(
  context: Context,
  { plan, display }: { plan: PlanOutput; display: ReturnType<typeof displayRun> },
  run: () => Promise<Closed>,
): Promise<Closed> {
  try {
    const result = await run();
    await plan.discard();
    display.end(result, plan.lines());
    const note = plan.note();
    if (note) context.terminal.note(note);
    await plan.report(result);
    return result;
  } catch (error) {
    await plan.discard();
    await printSummary(context, display.refused());
    throw error;
  } finally {
    display.close();
  }
}
