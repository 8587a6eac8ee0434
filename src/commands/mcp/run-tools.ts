/** Tools for runs that were made: resumed where a limit stopped them, or planned to be undone. */
import type { Invoke } from "./invoke.ts";
import { findRun, readOwnRuns } from "./own-runs.ts";
import { type PlanTool, runBulk, runOutput } from "./plan-then-apply.ts";
import { createInputSchema, type Tool } from "./tool.ts";
import { offerArguments, type Toolkit } from "./toolkit.ts";

export function createResumeTool(toolkit: Toolkit): Tool {
  const { invoke } = toolkit;
  const { properties } = offerArguments(toolkit, { path: ["runs", "resume"], offers: ["<run>"] });
  return {
    name: "run_resume",
    path: ["runs", "resume"],
    description:
      "Goes on with a bulk run that a limit, a cancelled call or a lost connection stopped: what its plan still has, and nothing else. See resumableAt of its summary.",
    inputSchema: createInputSchema(properties, { required: ["run"] }),
    outputSchema: runOutput,
    annotations: {
      title: "Resume a bulk run",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
    },
    async call({ run: id }: { run: string }, signal, talk) {
      const { run } = findRun(await readOwnRuns(invoke, signal), id);
      const words = ["runs", "resume", "--yes", "--no-wait", "--", run];
      return runBulk(invoke, words, { signal, talk });
    },
  };
}

export function undoTool(invoke: Invoke): PlanTool {
  return {
    name: "plan_undo",
    title: "Plan to undo a run",
    description:
      "Puts back the values, lists and tags that a bulk run changed and that nobody has changed since. An unsubscription cannot be undone; contacts that the run created stay.",
    path: ["runs", "undo"],
    offers: ["<run>"],
    required: ["run"],
    complete: async ({ run: id }: { run: string }, signal) => {
      const { run } = findRun(await readOwnRuns(invoke, signal), id);
      return { args: [run] };
    },
  };
}
