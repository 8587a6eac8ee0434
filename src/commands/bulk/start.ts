/** Starts a bulk run over rows or a selection: one way for every command that writes to many contacts. */
import type { Closed } from "../../bulk/engine/finish.ts";
import type { BackUp, RowJob, RunOptions } from "../../bulk/engine/row-job.ts";
import type { Context } from "../../context.ts";
import { agreementFor, type Danger } from "./agree.ts";
import { openEngine } from "./flags.ts";
import { openPlanOutput, type PlanFlags } from "./plan-output.ts";
import { displayRun } from "./progress.ts";

export interface BulkStart {
  job: RowJob;
  options: RunOptions;
  flags: PlanFlags;
  /** What is said at once, such as `Importing people.csv`. */
  what: string;
  danger: Danger;
  backUp?: BackUp;
}

/**
 * Runs the job with its display, its plan and its question, and says what it did; what stopped it is in the result.
 * @throws UsageError before anything is sent; DeclinedError on a no
 */
export async function startRun(
  context: Context,
  { job, options, flags, what, danger, backUp }: BulkStart,
): Promise<Closed> {
  const { runRowJob } = await import("../../bulk/engine/execute-run.ts");
  const plan = await openPlanOutput(context, flags, options.isDryRun);
  const display = displayRun(context, what);
  try {
    const engine = await openEngine(context, options.concurrency);
    const asks = !options.isDryRun && !context.settings.yes && context.prompter() !== undefined;
    const result = await runRowJob(
      engine,
      job,
      {
        ...options,
        backUp,
        plan: plan.sink,
        looksFirst: asks,
        agree: agreementFor(context, display, danger),
      },
      display.on,
    );
    await plan.commit();
    display.end(result.summary, plan.lines());
    return result;
  } catch (error) {
    await plan.discard();
    throw error;
  } finally {
    display.close();
  }
}
