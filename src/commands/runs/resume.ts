import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { findDanger } from "../bulk/question.ts";
import { addBulkFlags, toRunOptions } from "../flags/bulk.ts";
import { verb } from "../verb.ts";
import { requireRun, requireSameAccount } from "./shared.ts";

export function registerRunsResume(parent: Command, context: Context): void {
  const command = parent
    .command("resume")
    .description("resume a run that stopped (or run the same command again)")
    .argument("[run]", "its id, the start of it, or last");
  const resuming = addBulkFlags(command, { isResume: true });
  verb(context, resuming, {
    examples: ["ecm runs resume last", "ecm runs resume 20261121-1402 --max-requests 1000"],
    output: "As the command that started it.",
    writes: true,
    exitCodes: { 3: "finished, and some rows were rejected" },
    async run(typedRun, { report, redact, rejects, ...flags }) {
      const options = toRunOptions(flags, context.clock.now());
      const job = await requireRun(context, typedRun, "resume", ({ isFinished }) => !isFinished);
      const [{ foreseeWrites }, { createBackUp, startRun }, { endRun }] = await Promise.all([
        import("../../bulk/index.ts"),
        import("../bulk/start.ts"),
        import("../bulk/end.ts"),
      ]);
      const { id, kind, input, account, backup, summary, after, supersededBy } = job.manifest;
      if (job.isFinished) {
        throw usageError(
          supersededBy === undefined
            ? `Run ${id} is finished; there is nothing to resume`
            : `Run ${id} cannot be resumed: run ${supersededBy} has undone it or started it over`,
          advise`See: ${ecm`runs show ${supersededBy ?? id}`}`,
        );
      }
      await requireSameAccount(context, job.manifest, "runs resume");
      if (summary?.status === "completed" && !options.isDryRun) {
        // All contacts are done, what follows on the run is not: it counts this invocation's requests.
        const requests = { search: 0, create: 0, mutate: 0, other: 0, retried: 0, total: 0 };
        return endRun(context, { summary: { ...summary, requests }, after });
      }
      const danger = findDanger(await foreseeWrites(job));
      const isUndo = kind === "undo";
      await startRun(context, {
        job,
        options: { ...options, rejects: rejects ?? job.manifest.rejects },
        // Its plan was shown, or written to a file, before it began.
        flags: { report, redact, rejects, show: 0 },
        what: `Resuming run ${id}: ${input.name}`,
        danger,
        isUndo,
        structureId: account.structureId,
        backUp: danger === "delete" && !isUndo ? createBackUp(context, undefined, backup) : undefined,
      });
    },
  });
}
