import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Manifest, PendingReject, ShownReject } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { advise, ecm, formatHint } from "../../hint.ts";
import { noteWithLinks } from "../../terminal/file-links.ts";
import { isJson } from "../../terminal/format.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { shortPath } from "../shared/bulk/format.ts";
import { commandOnRun } from "../shared/bulk/run-account.ts";
import { formatForAccount } from "../shared/command-line.ts";
import { describeCommand } from "../shared/help-text.ts";
import { findNamedRun, requireRun } from "./shared/choose.ts";

export function registerRunsRejects(parent: Command, context: Context): void {
  const command = parent
    .command("rejects")
    .description("print what a run rejected, with the reason (rows of an import: fix and import again)")
    .argument("[run]", "its id, the start of it, or last")
    .option("--pending", "of all imports of this machine, the rejected rows that were never imported again")
    .action((run: string | undefined, flags: { pending?: boolean }) =>
      flags.pending ? showPending(context, run) : runRunsRejects(context, run),
    );
  describeCommand(command, {
    examples: ["ecm runs rejects last > fix-me.csv", "ecm runs rejects --pending"],
    output:
      "At a terminal a table of lines and reasons; else the rejects file: the input's own columns, ecm_line, ecm_error and ecm_message; where a row lacks cells, ecm_missing names their columns; where the whole input marks it as not subscribed, ecm_not_subscribed says so. Nothing if no row was rejected. With -o json, and with --pending, { run, file, startedAt, baseUrl, line, code, message, row }. With --pending a row counts as imported again where a later import has written its key, or has read it from a rejects file.",
    isLocal: true,
    exitCodes: { 5: "no such run" },
  });
}

async function runRunsRejects(context: Context, typedRun?: string): Promise<void> {
  const idOrLast = await requireRun(
    context,
    typedRun,
    "rejects",
    ({ summary }) => summary?.rows.rejected !== 0,
  );
  const { fileNames } = await import("../../bulk/index.ts");
  const { manifest, folder } = await findNamedRun(context, idOrLast);
  const output = context.output();
  if (isJson(output.format)) {
    const { readRejectedRows } = await import("../../bulk/index.ts");
    await presentList(
      context.terminal,
      output,
      readRejectedRows({ manifest, folder }),
      await createPendingView(),
    );
    return;
  }
  if (context.terminal.isStdoutTerminal && output.format === "table") {
    if (await isShown(context, { manifest, folder })) return;
  }
  try {
    for await (const piece of createReadStream(join(folder, fileNames.rejects), "utf8")) {
      await context.terminal.write(String(piece));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const isClosed = manifest.summary && manifest.summary.rows.rejected === 0;
    context.terminal.note(
      isClosed
        ? `Run ${manifest.id} rejected no rows`
        : formatForAccount(
            advise`Run ${manifest.id} has no rejects file yet: it is written when the run ends (${ecm`runs resume ${manifest.id}`})`,
            context.settings,
          ),
      isClosed ? undefined : "needed",
    );
  }
}

async function createPendingView(): Promise<View<PendingReject>> {
  const { isOurBookkeeping } = await import("../../bulk/index.ts");
  // Why a row of a rejects file was rejected before is in columns of its own.
  const describeRow = (row: Record<string, string>) =>
    Object.entries(row)
      .map(([name, cell]) => (isOurBookkeeping(name) ? "" : cell.trim()))
      .filter((cell) => cell !== "")
      .join(", ");
  return {
    columns: [
      { name: "run", value: ({ run }) => run, isWhole: true },
      { name: "file", value: ({ file }) => file },
      { name: "line", value: ({ line }) => line },
      { name: "row", value: ({ row }) => describeRow(row) },
      { name: "why", value: ({ message }) => message },
    ],
    id: ({ run, line }) => `${run} ${line}`,
    empty: "No rejected rows are pending",
  };
}

/** @throws UsageError where a run is named too */
async function showPending(context: Context, typedRun: string | undefined): Promise<void> {
  if (typedRun !== undefined)
    throw new UsageError("--pending is about all runs", "Leave out the run, or --pending");
  const output = context.output();
  const { pendingRejects } = await import("../../bulk/index.ts");
  const pending = await pendingRejects(context.folders.state, ({ message }) =>
    context.terminal.warn(message),
  );
  await presentList(context.terminal, output, pending, await createPendingView());
  const [first] = pending;
  if (first === undefined) return;
  const { manifest } = await findNamedRun(context, first.run);
  const retry = await commandOnRun(context, manifest.account, ecm`runs retry ${first.run}`);
  context.terminal.note(formatHint(advise`Fix the rows of a run, then: ${retry}`));
}

const rejectView: View<ShownReject> = {
  columns: [
    { name: "line", value: ({ line }) => line },
    { name: "value", value: ({ value }) => value, isWhole: true },
    { name: "why", value: ({ message }) => message },
  ],
  id: ({ line }) => String(line),
};

/** @returns false where no plan says what was rejected: nothing was, or an earlier version made the run */
async function isShown(context: Context, run: { manifest: Manifest; folder: string }): Promise<boolean> {
  const { readRejects } = await import("../../bulk/index.ts");
  if (!run.manifest.summary?.rejects) return false;
  const rejects = readRejects(run);
  const first = await rejects.next();
  if (first.done) return false;
  async function* all(): AsyncGenerator<ShownReject> {
    yield first.value;
    yield* rejects;
  }
  await presentList(context.terminal, context.output(), all(), rejectView);
  const { id, kind, summary, account } = run.manifest;
  if (kind === "import" && summary.status === "completed") {
    const retry = await commandOnRun(context, account, ecm`runs retry ${id}`);
    const file = summary.rejects!;
    noteWithLinks(
      context.terminal,
      advise`The rows: ${{ file, text: shortPath(file) }}\nFix them, then: ${retry}`,
    );
  }
  return true;
}
