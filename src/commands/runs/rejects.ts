import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { Manifest, Reject, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { advise, ecm, formatHint, type Hint } from "../../hint.ts";
import { isJson } from "../../terminal/format.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { commandOnRun } from "../bulk/start.ts";
import { type ShownReject, shortPath, toShownReject } from "../bulk/words.ts";
import { formatForAccount } from "../help/command-line.ts";
import { describeCommand } from "../help/help-text.ts";
import { findNamedRun, requireRun } from "./shared.ts";

export function registerRunsRejects(parent: Command, context: Context): void {
  const command = parent
    .command("rejects")
    .description("print what a run rejected, with the reason (rows of an import: fix and import again)")
    .argument("[run]", "its id, the start of it, or last")
    .action((run: string | undefined) => runRunsRejects(context, run));
  describeCommand(command, {
    examples: ["ecm runs rejects last > fix-me.csv"],
    output:
      "At a terminal a table of lines and reasons; else the rejects file: the input's own columns, ecm_line, ecm_error and ecm_message; where a row lacks cells, ecm_missing names their columns; where the whole input marks it as not subscribed, ecm_not_subscribed says so. Nothing if no row was rejected. With -o json { run, file, startedAt, baseUrl, line, code, message, row }.",
    isLocal: true,
    exitCodes: { 5: "no such run" },
  });
}

async function runRunsRejects(context: Context, typedRun?: string): Promise<void> {
  const idOrLast = await requireRun(
    context,
    typedRun,
    "rejects",
    ({ manifest }) => manifest.summary?.rows.rejected !== 0,
  );
  const { fileNames } = await import("../../bulk/index.ts");
  const run = await findNamedRun(context, idOrLast);
  const { manifest, folder, isFinished } = run;
  const output = context.output();
  if (isJson(output.format)) {
    await presentList(context.terminal, output, readRows(run), rowView);
    return;
  }
  if (context.terminal.isStdoutTerminal && output.format === "table") {
    if (await isShown(context, run)) return;
  }
  try {
    for await (const piece of createReadStream(join(folder, fileNames.rejects), "utf8")) {
      await context.terminal.write(String(piece));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const { note, isNeeded } = describeNoRejects(manifest, isFinished);
    context.terminal.note(formatForAccount(note, context.settings), isNeeded ? "needed" : undefined);
  }
}

function describeNoRejects(
  { id, summary }: Manifest,
  isFinished: boolean,
): { note: Hint; isNeeded: boolean } {
  if (summary?.rows.rejected === 0) return { note: advise`Run ${id} rejected no rows`, isNeeded: false };
  // Those whose rows they were are erased.
  if (isFinished) return { note: advise`Run ${id} has no rejected rows any more`, isNeeded: false };
  return {
    note: advise`Run ${id} has no rejects file yet: it is written when the run ends (${ecm`runs resume ${id}`})`,
    isNeeded: true,
  };
}

/** For JSON: elsewhere the rejects file is printed. */
interface RejectedRow extends Omit<Reject, "value"> {
  run: string;
  /** The input, as the command named it. */
  file: string;
  /** When the run began: RFC 3339, UTC. */
  startedAt: string;
  baseUrl: string;
}

async function* readRows(run: StoredRun): AsyncGenerator<RejectedRow> {
  const { readingsOf } = await import("../../bulk/index.ts");
  const { id, input, startedAt, account } = run.manifest;
  const about = { run: id, file: input.name, startedAt, baseUrl: account.baseUrl };
  for await (const { value: _value, ...reject } of readingsOf(run).rejects()) yield { ...about, ...reject };
}

const rowView: View<RejectedRow> = { columns: [], id: ({ line }) => String(line) };

const rejectView: View<ShownReject> = {
  columns: [
    { name: "line", value: ({ line }) => line },
    { name: "value", value: ({ value }) => value, isWhole: true },
    { name: "why", value: ({ why }) => why },
  ],
  id: ({ line }) => String(line),
};

/** @returns false where no plan says what was rejected: nothing was */
async function isShown(context: Context, run: StoredRun): Promise<boolean> {
  const { readingsOf } = await import("../../bulk/index.ts");
  if (!run.manifest.summary?.rejects) return false;
  const rejects = readingsOf(run).rejects();
  const first = await rejects.next();
  if (first.done) return false;
  async function* all(): AsyncGenerator<ShownReject> {
    yield toShownReject(first.value as Reject);
    for await (const reject of rejects) yield toShownReject(reject);
  }
  await presentList(context.terminal, context.output(), all(), rejectView);
  const { id, kind, summary, account } = run.manifest;
  if (kind === "import" && summary.status === "completed") {
    const retry = await commandOnRun(context, account, ecm`runs retry ${id}`);
    const file = summary.rejects!;
    context.terminal.note(
      formatHint(advise`The rows: ${shortPath(file)}
Fix them, then: ${retry}`),
    );
  }
  return true;
}
