import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { describeCommand } from "../help-text.ts";
import { runOr } from "./choose.ts";

export function registerRunsRejects(parent: Command, context: Context): void {
  const command = parent
    .command("rejects")
    .description("the rows that a run rejected, ready to be mended and imported")
    .argument("[run]", "its id, the beginning of it, or last")
    .action((run?: string) => runRunsRejects(context, run));
  describeCommand(command, {
    examples: ["ecm runs rejects last > mend-me.csv"],
    output:
      "the rejects file: the input's own columns, ecm_line, ecm_error and ecm_message; nothing without rejects",
    isLocal: true,
    exitCodes: { 5: "there is no such run" },
  });
}

async function runRunsRejects(context: Context, given?: string): Promise<void> {
  const wanted = await runOr(context, given, "rejects", ({ summary }) => summary?.rows.rejected !== 0);
  const [{ findRun }, { fileOf }] = await Promise.all([
    import("../../bulk/runs/folder.ts"),
    import("../../bulk/runs/files.ts"),
  ]);
  const { manifest, folder } = await findRun(context.folders.state, wanted);
  try {
    for await (const piece of createReadStream(join(folder, fileOf.rejects), "utf8")) {
      await context.terminal.write(String(piece));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const isClosed = manifest.summary && manifest.summary.rows.rejected === 0;
    context.terminal.note(
      isClosed
        ? `run ${manifest.id} rejected no row`
        : `run ${manifest.id} has written no rejects file: it does so when it ends (ecm runs resume ${manifest.id})`,
      isClosed ? undefined : "needed",
    );
  }
}
