import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { Manifest, Reject, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { advise, ecm, type Hint } from "../../hint.ts";
import { isJson } from "../../terminal/format.ts";
import type { View } from "../../terminal/present.ts";
import { type ShownReject, shortPath, toShownReject } from "../bulk/words.ts";
import { commandOnRun, formatForAccount } from "../help/command-line.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents, type Result } from "../output/presents.ts";
import { findNamedRun, requireRun } from "./shared.ts";

export function registerRunsRejects(parent: Command, context: Context): void {
  const command = parent
    .command("rejects")
    .description("print what a run rejected, with the reason (rows of an import: fix and import again)")
    .argument("[run]", "its id, the start of it, or last");
  describeCommand(command, {
    examples: ["ecm runs rejects last > fix-me.csv"],
    output:
      "At a terminal a table of lines and reasons; else the rejects file: the input's own columns, ecm_line, ecm_error and ecm_message; where a row lacks cells, ecm_missing names their columns; where the whole input marks it as not subscribed, ecm_not_subscribed says so. Nothing if no row was rejected. With -o json { run, file, startedAt, baseUrl, line, code, message, row }.",
    isLocal: true,
    exitCodes: { 5: "no such run" },
  });
  command.action(
    presents(context, {}, async (typedRun): Promise<Result<unknown> | undefined> => {
      const hasRejects = ({ manifest }: StoredRun) => manifest.summary?.rows.rejected !== 0;
      const wanted = await requireRun(context, typedRun, "rejects", hasRejects);
      const { fileNames, readingsOf } = await import("../../bulk/index.ts");
      const run = await findNamedRun(context, wanted);
      const { terminal } = context;
      const { format } = context.output();
      const rejects = readingsOf(run).rejects();
      if (isJson(format)) return { many: addRun(run.manifest, rejects), view: rowView };
      const text = await readText(join(run.folder, fileNames.rejects));
      if (text === undefined) {
        terminal.note(formatForAccount(describeNone(run), context.settings));
        return undefined;
      }
      if (format !== "table" || !terminal.isStdoutTerminal) return { text, value: null };
      const { id, kind, summary, account } = run.manifest;
      const isRetried = kind === "import" && summary?.status === "completed" && summary.rejects !== null;
      const retry = await commandOnRun(context, account, ecm`runs retry ${id}`);
      return {
        many: toShown(rejects),
        view: rejectView as View<unknown>,
        ...(isRetried && {
          note: advise`The rows: ${shortPath(summary.rejects!)}\nFix them, then: ${retry}`,
        }),
      };
    }),
  );
}

/** Undefined where there is none. */
async function readText(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  });
}

function describeNone({ manifest: { id, summary }, isFinished }: StoredRun): Hint {
  if (summary?.rows.rejected === 0) return `Run ${id} rejected no rows`;
  // Those whose rows they were are erased.
  if (isFinished) return `Run ${id} has no rejected rows any more`;
  return advise`Run ${id} has no rejects file yet: it is written when the run ends (${ecm`runs resume ${id}`})`;
}

/** What a program needs to know of a rejected row besides: which input it is of. */
async function* addRun(
  { id, input, startedAt, account }: Manifest,
  rejects: AsyncIterable<Reject>,
): AsyncGenerator<object> {
  const about = { run: id, file: input.name, startedAt, baseUrl: account.baseUrl };
  for await (const { value: _value, ...reject } of rejects) yield { ...about, ...reject };
}

async function* toShown(rejects: AsyncIterable<Reject>): AsyncGenerator<ShownReject> {
  for await (const reject of rejects) yield toShownReject(reject);
}

const rowView: View<unknown> = { columns: [], id: () => "" };

const rejectView: View<ShownReject> = {
  columns: [
    { name: "line", value: ({ line }) => line },
    { name: "value", value: ({ value }) => value, isWhole: true },
    { name: "why", value: ({ why }) => why },
  ],
  id: ({ line }) => String(line),
};
