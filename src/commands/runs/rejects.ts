import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { describeCommand } from "../shared/help-text.ts";
import { findNamedRun, requireRun } from "./shared/choose.ts";

export function registerRunsRejects(parent: Command, context: Context): void {
  const command = parent
    .command("rejects")
    .description("print what a run rejected, with the reason (rows of an import: fix and import again)")
    .argument("[run]", "its id, the start of it, or last")
    .action((run?: string) => runRunsRejects(context, run));
  describeCommand(command, {
    examples: ["ecm runs rejects last > fix-me.csv"],
    output:
      "The rejects file: the input's own columns, ecm_line, ecm_error and ecm_message; where a row lacks cells, ecm_missing names their columns. Nothing if no row was rejected.",
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
        : `Run ${manifest.id} has no rejects file yet: it is written when the run ends (ecm runs resume ${manifest.id})`,
      isClosed ? undefined : "needed",
    );
  }
}
