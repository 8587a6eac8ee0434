import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { Reject, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { readTextIfThere } from "../../disk/walk.ts";
import { advise, ecm } from "../../hint.ts";
import { isJson } from "../../terminal/format.ts";
import type { View } from "../../terminal/present.ts";
import { shortenValue, shortPath } from "../bulk/words.ts";
import { formatForAccount } from "../help/command-line.ts";
import { type Result, verb } from "../verb.ts";
import { requireRun } from "./shared.ts";

export function registerRunsRejects(parent: Command, context: Context): void {
  const command = parent
    .command("rejects")
    .description("print what a run rejected, with the reason (rows of an import: fix and import again)")
    .argument("[run]", "its id, the start of it, or last");
  verb(context, command, {
    examples: ["ecm runs rejects last > fix-me.csv"],
    output:
      "At a terminal a table of lines and reasons; else the rejects file: the input's own columns, ecm_line, ecm_error and ecm_message; where a row lacks cells, ecm_missing names their columns; where the whole input marks it as not subscribed, ecm_not_subscribed says so. Nothing if no row was rejected. With -o json { line, value, code, message, row }.",
    isLocal: true,
    exitCodes: { 5: "no such run" },
    async run(typedRun): Promise<Result<Reject> | undefined> {
      const hasRejects = ({ manifest }: StoredRun) => manifest.summary?.rows.rejected !== 0;
      const run = await requireRun(context, typedRun, "rejects", hasRejects);
      const { fileNames, readingsOf } = await import("../../bulk/index.ts");
      const { id, kind, summary } = run.manifest;
      const { terminal } = context;
      const { format } = context.output();
      const rejects = readingsOf(run).rejects();
      if (isJson(format)) return { many: rejects, view: rejectView };
      const text = await readTextIfThere(join(run.folder, fileNames.rejects));
      if (text === undefined) {
        const none = run.isFinished
          ? `Run ${id} has no rejected rows`
          : advise`Run ${id} has no rejects file yet: it is written when the run ends (${ecm`runs resume ${id}`})`;
        terminal.note(formatForAccount(none, context.settings));
        return undefined;
      }
      if (format !== "table" || !terminal.isStdoutTerminal) return { text, value: null };
      const isRetried = kind === "import" && summary?.status === "completed" && summary.rejects !== null;
      const rows = shortPath(summary?.rejects ?? "");
      const note = advise`The rows: ${rows}\nFix them, then: ${ecm`runs retry ${id}`}`;
      return { many: rejects, view: rejectView, note: isRetried ? note : undefined };
    },
  });
}

const rejectView: View<Reject> = {
  columns: [
    { name: "line", value: ({ line }) => line },
    { name: "value", value: ({ value }) => shortenValue(value), isWhole: true },
    { name: "why", value: ({ message }) => message },
  ],
  id: ({ line }) => String(line),
};
