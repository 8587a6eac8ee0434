import type { Command } from "commander";
import type { Manifest } from "../../bulk/runs/folder.ts";
import type { Context } from "../../context.ts";
import { agreeToDelete, agreeToUndo, requireAnswer } from "../bulk/agree.ts";
import {
  addBulkFlags,
  type BulkFlags,
  endRunAfter,
  openEngine,
  requireAccountOf,
  runOptionsFrom,
} from "../bulk/flags.ts";
import { describeCommand } from "../help-text.ts";
import { openSuppressionList } from "../suppression-list.ts";
import { runOr } from "./choose.ts";

interface UndoFlags extends BulkFlags {
  partial?: boolean;
  deleteCreated?: boolean;
}

export function registerRunsUndo(parent: Command, context: Context): void {
  const command = parent
    .command("undo")
    .description("restore the values, lists and tags that a run changed, unless they changed since")
    .argument("[run]", "its id, the start of it, or last")
    .action((run: string | undefined, flags: UndoFlags) => runRunsUndo(context, run, flags));
  addBulkFlags(command, { isResume: true });
  command.option(
    "--delete-created",
    "delete contacts that the run created, unless they changed since (asks first)",
  );
  command.option("--partial", "undo what can still be read from a damaged journal");
  describeCommand(command, {
    examples: [
      "ecm runs undo last --dry-run",
      "ecm runs undo 20261121-1402",
      "ecm runs undo last --delete-created",
    ],
    output:
      "Nothing; with --json one summary object. Contacts that cannot be restored are rejected, with the reason.",
    writes: true,
    exitCodes: {
      1: "the journal is damaged (--partial undoes what can still be read)",
      3: "finished, and some contacts could not be restored: they were created by the run, or changed since",
      5: "no such run",
    },
  });
}

async function runRunsUndo(context: Context, given: string | undefined, flags: UndoFlags): Promise<void> {
  const options = runOptionsFrom(flags, context.clock.now());
  const deletesCreated = flags.deleteCreated ?? false;
  if (deletesCreated) requireAnswer(context, "delete", options.isDryRun);
  const [{ findRun }, { undoRun }, { displayRun }] = await Promise.all([
    import("../../bulk/runs/folder.ts"),
    import("../../bulk/jobs/undo.ts"),
    import("../bulk/progress.ts"),
  ]);
  const wanted = await runOr(context, given, "undo", ({ kind }) => kind !== "undo");
  const source = await findRun(context.folders.state, wanted);
  const what = `Undoing run ${source.manifest.id}: ${source.manifest.input.name}`;
  const display = displayRun(context, what, options.isDryRun);
  try {
    const engine = await openEngine(context, options);
    requireAccountOf(source.manifest, engine.account.baseUrl);
    const { requireUndoableList, requestsAfterUndo, finishUndoingList } = await import(
      "../bulk/composed-list.ts"
    );
    await requireUndoableList(context, source.manifest);
    engine.sentBefore = context.requestsSent();
    const isSuppressed = await suppressedFor(context, source.manifest);
    const result = await undoRun(engine, source, options, display.on, {
      isPartial: flags.partial,
      deletesCreated,
      requestsAfter: requestsAfterUndo(source.manifest, deletesCreated),
      isSuppressed,
      agreeToDelete: (contacts) => agreeToDelete(context, display, contacts),
      agree: (contacts, requests) => agreeToUndo(context, display, contacts, requests),
    });
    display.end(result);
    await endRunAfter(context, result, () =>
      finishUndoingList(context, source.manifest, result, deletesCreated),
    );
  } finally {
    display.close();
  }
}

/** Only the undo of a deletion creates anyone. @throws SuppressionsError */
export async function suppressedFor(
  context: Context,
  { kind }: Manifest,
): Promise<((key: string) => boolean) | undefined> {
  if (kind !== "delete") return undefined;
  const suppressions = await openSuppressionList(context);
  return (key) => suppressions.has(key);
}
