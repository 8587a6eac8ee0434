import type { Command } from "@commander-js/extra-typings";
import type { StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import { requireAnswer } from "../bulk/question.ts";
import { addBulkFlags, claimFiles, toRunOptions } from "../flags/bulk.ts";
import { formatForAccount } from "../help/command-line.ts";
import { verb } from "../verb.ts";
import { requireRun, requireSameAccount } from "./shared.ts";

export function registerRunsUndo(parent: Command, context: Context): void {
  const command = parent
    .command("undo")
    .description("restore the values, lists and tags that a run changed, unless they changed since")
    .argument("[run]", "its id, the start of it, or last");
  const undoing = addBulkFlags(command, { isUndo: true }).option(
    "--delete-created",
    "delete contacts that the run created, unless they changed since (asks first)",
  );
  verb(context, undoing, {
    examples: [
      "ecm runs undo last --dry-run",
      "ecm runs undo last --dry-run --plan plan.ndjson",
      "ecm runs undo 20261121-1402",
      "ecm runs undo last --delete-created",
    ],
    output:
      "Nothing; with --json one summary object. Contacts that cannot be restored are rejected, with the reason.",
    writes: true,
    asks: "With --delete-created",
    exitCodes: {
      3: "finished, and some contacts could not be restored: created by the run, changed since, or suppressed",
    },
    async run(typedRun, { deleteCreated: deletesCreated = false, ...flags }) {
      const options = toRunOptions(flags, context.clock.now());
      const isUndone = (run: StoredRun) => run.manifest.kind !== "undo";
      const { manifest } = await requireRun(context, typedRun, "undo", isUndone);
      const danger = deletesCreated ? "delete" : "change";
      requireAnswer(context, danger, options.isDryRun);
      const { id, kind, input } = manifest;
      if (typedRun === "last" && kind === "undo") {
        context.terminal.note(`The last run, ${id}, was itself an undo, of run ${input.name}`, "needed");
      }
      claimFiles(context, undefined, flags);
      const [{ findNewList, jobs }, { startRun }, { requireUndoableLists }] = await Promise.all([
        import("../../bulk/index.ts"),
        import("../bulk/start.ts"),
        import("../bulk/end.ts"),
      ]);
      await requireSameAccount(context, manifest, "runs undo");
      await requireUndoableLists(context, manifest);
      const newList = findNewList(manifest);
      if (newList !== undefined) {
        const stays = advise`The list ${JSON.stringify(newList)} stays; delete it with: ${ecm`lists delete ${toOperands(newList)}`}`;
        context.terminal.note(formatForAccount(stays, context.settings));
      }
      await startRun(context, {
        job: jobs.undo({ run: id, deletesCreated }),
        options,
        flags,
        what: `Undoing run ${id}: ${input.name}`,
        danger,
        isUndo: true,
      });
    },
  });
}
