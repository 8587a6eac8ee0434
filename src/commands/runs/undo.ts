import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { requireAnswer, undoAgreement } from "../bulk/question.ts";
import { requireSameAccount } from "../bulk/start.ts";
import { addBulkFlags, claimFiles, toRunOptions } from "../flags/bulk.ts";
import type { OptionsOf } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { findNamedRun, requireRun } from "./shared.ts";

type UndoFlags = OptionsOf<typeof declareUndo>;

function declareUndo(parent: Command) {
  const command = parent
    .command("undo")
    .description("restore the values, lists and tags that a run changed, unless they changed since")
    .argument("[run]", "its id, the start of it, or last");
  return addBulkFlags(command, { isUndo: true }).option(
    "--delete-created",
    "delete contacts that the run created, unless they changed since (asks first)",
  );
}

export function registerRunsUndo(parent: Command, context: Context): void {
  const command = declareUndo(parent).action((run, flags) => runRunsUndo(context, run, flags));
  describeCommand(command, {
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
      1: "the journal is damaged",
      3: "finished, and some contacts could not be restored: they were created by the run, or changed since",
      5: "no such run",
    },
  });
}

async function runRunsUndo(context: Context, typedRun: string | undefined, flags: UndoFlags): Promise<void> {
  const options = toRunOptions(flags, context.clock.now());
  const idOrLast = await requireRun(context, typedRun, "undo", ({ manifest }) => manifest.kind !== "undo");
  requireAnswer(context, flags.deleteCreated ? "delete" : "change", options.isDryRun);
  const source = await findNamedRun(context, idOrLast);
  const { id, kind: undone, input } = source.manifest;
  if (idOrLast === "last" && undone === "undo") {
    context.terminal.note(`The last run, ${id}, was itself an undo, of run ${input.name}`, "needed");
  }
  const { manifest } = source;
  const deletesCreated = flags.deleteCreated ?? false;
  const [{ findNewList, jobs, runJob }, { withRun }, { noteListsInNoPlan, requireUndoableLists }] =
    await Promise.all([import("../../bulk/index.ts"), import("../bulk/start.ts"), import("../bulk/end.ts")]);
  claimFiles(context, undefined, flags);
  await context.tellUnderWay({ kind: "run", what: `The undo of run ${manifest.id}`, inputs: [] });
  const what = `Undoing run ${manifest.id}: ${manifest.input.name}`;
  const ended = () => {
    const newList = findNewList(manifest.after);
    if (newList && deletesCreated && options.isDryRun && flags.plan)
      noteListsInNoPlan(context, [newList.name]);
  };
  await withRun(context, { what, options, flags, ended }, async ({ engine, display, options }) => {
    await requireSameAccount(context, manifest, "runs undo");
    await requireUndoableLists(context, manifest);
    const agree = undoAgreement(context, display);
    const job = jobs.undo({ run: manifest.id, deletesCreated });
    return runJob(engine, job, { ...options, agree }, display.on);
  });
}
