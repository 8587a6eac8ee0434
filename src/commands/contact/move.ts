import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { createAgreement, requireAnswer } from "../shared/bulk/agree.ts";
import { requireDistinctFiles } from "../shared/bulk/distinct-files.ts";
import { addBulkFlags, type BulkFlags, endRun, toRunOptions } from "../shared/bulk/flags.ts";
import { noteLeftMeanwhile } from "../shared/bulk/left-meanwhile.ts";
import { writtenFileOption } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";

interface ContactMoveFlags extends BulkFlags {
  merge?: boolean;
  deleteOld?: boolean;
  backup?: string;
}

export function registerContactMove(parent: Command, context: Context): void {
  const command = parent
    .command("move")
    .description("give a contact a new key: create it under NEW as it is, then unsubscribe the old one")
    .argument("<old>", "the contact's id or key")
    .argument("<new>", "its new key")
    .option("--merge", "where NEW exists, add the values, lists and tags that it lacks")
    .option("--delete-old", "delete the old contact instead, after a backup")
    .addOption(
      writtenFileOption(
        "--backup <file>",
        "with --delete-old: file for the backup (default: in the run's folder)",
      ),
    )
    .action((from: string, to: string, flags: ContactMoveFlags) => runContactMove(context, from, to, flags));
  describeCommand(addBulkFlags(command), {
    examples: [
      "ecm contact move ada@old.example ada@new.example --dry-run",
      "ecm contact move ada@old.example ada@new.example --yes",
      "ecm contact move ada@old.example ada@new.example --merge --delete-old",
    ],
    output:
      "Nothing; with --json one summary object. Only an active contact can be moved. The new contact has a new id; history and date of creation stay with the old one.",
    writes: true,
    asks: true,
    exitCodes: {
      3: "finished, and one of the two was not written: it changed meanwhile, or was rejected",
      5: "no contact has the old key",
      6: "the old contact is not active, the new one exists (without --merge), or one of them is suppressed",
      7: "stopped by a limit; the same command resumes",
    },
  });
}

async function runContactMove(
  context: Context,
  from: string,
  to: string,
  flags: ContactMoveFlags,
): Promise<void> {
  const options = toRunOptions(flags, context.clock.now());
  requireDistinctFiles({ input: { name: "" } }, flags);
  requireAnswer(context, "move", options.isDryRun);
  const [{ moveContact }, { withRun }, { createBackUp, createBackupTarget }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("../shared/bulk/start.ts"),
    import("../shared/bulk/backup.ts"),
  ]);
  const target = flags.backup === undefined ? undefined : createBackupTarget(context, flags.backup);
  const what = `Moving ${from} to ${to}`;
  await context.tellUnderWay({ kind: "run", what: `A run (${what})`, inputs: [] });
  const { merge: merges = false, deleteOld: deletesOld = false } = flags;
  const result = await withRun(context, { what, options, flags }, ({ engine, display, options }) => {
    context.terminal.note(
      "The new contact gets a new id; history and date of creation stay with the old one",
    );
    const steps = {
      agree: createAgreement(context, display, "move"),
      ...(deletesOld && { backUp: createBackUp(context, target) }),
    };
    return moveContact(engine, { from, to, merges, deletesOld }, { ...options, ...steps }, display.on);
  });
  noteLeftMeanwhile(context, result.summary, to);
  await endRun(context, result);
}
