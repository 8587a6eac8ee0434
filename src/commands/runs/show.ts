import type { Command } from "@commander-js/extra-typings";
import type { PlanLine, RunView, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { capitalize, formatCounted } from "../../counts.ts";
import { isLeaseHeld } from "../../disk/lease.ts";
import { advise, ecm, formatHint, type Hint } from "../../hint.ts";
import { escapeControlsInLines } from "../../terminal/escape.ts";
import { isForPeople } from "../../terminal/format.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { drawDifference } from "../bulk/plan.ts";
import { formatSummary, resultLines } from "../bulk/result.ts";
import { withReason } from "../bulk/words.ts";
import { requireReportFlags } from "../flags/bulk.ts";
import { writtenFileOption } from "../flags/flags.ts";
import { addAccountFlags } from "../help/command-line.ts";
import { type Result, verb } from "../verb.ts";
import { createRunView, describeWait, requireRun } from "./shared.ts";

export function registerRunsShow(parent: Command, context: Context): void {
  const showing = parent
    .command("show")
    .description("show one run and its progress")
    .argument("[run]", "its id, the start of it, or last")
    .option("--changes", "show what it did to each contact, as the lines of a plan")
    .addOption(
      writtenFileOption(
        "--report <file>",
        "write a page (HTML) about the run to FILE, in place of showing it",
      ),
    )
    .option("--redact", "hide addresses and values in the report");
  verb(context, showing, {
    examples: [
      "ecm runs show last",
      "ecm runs show last --json",
      "ecm runs show last --changes",
      "ecm runs show last --report run.html",
    ],
    output:
      "The run; with -o json one object. With --changes one JSON line per contact; at a terminal a diff.",
    isLocal: true,
    exitCodes: { 5: "no such run" },
    async run(typedRun, flags): Promise<Result<RunView> | undefined> {
      requireReportFlags(flags);
      const run = await requireRun(context, typedRun, "show");
      const { readingsOf, viewRun } = await import("../../bulk/index.ts");
      if (flags.changes) {
        const lines = (await readingsOf(run).changes()).map(withReason);
        const none = lines.length === 0 ? `Run ${run.manifest.id} changed nothing.` : undefined;
        return { pieces: formatLines(context, lines), note: none };
      }
      if (flags.report !== undefined) {
        const { reportEarlierRun } = await import("../bulk/report.ts");
        await reportEarlierRun(context, run, flags);
        return undefined;
      }
      const { terminal } = context;
      const one = await viewRun(run);
      if (one.damage !== null) terminal.warn(`The journal of run ${one.run} is damaged: ${one.damage}`);
      const isRead = isForPeople(context.output()) && terminal.isStdoutTerminal;
      const view = createRunView(isRead);
      return isRead ? { one, view, last: () => tellStory(context, run, one) } : { one, view };
    },
  });
}

function formatLines(context: Context, lines: readonly PlanLine[]): string[] {
  if (context.output().format !== "table") return lines.map((line) => JSON.stringify(line));
  return drawDifference(context.terminal, lines, "out");
}

/** The last lines of a run, told again; of one that was interrupted, what is unknown and how to resume it. */
async function tellStory(context: Context, run: StoredRun, view: RunView): Promise<void> {
  const { terminal, settings } = context;
  const { summary, after } = run.manifest;
  const toText = (hint: Hint, format?: (text: string) => string) =>
    formatHint(addAccountFlags(hint, settings), format);
  const escaped = (text: string) => escapeControlsInLines(terminal.mask(text));
  const lines: string[] = [];
  if (summary) {
    lines.push(...resultLines(terminal, "out", summary).map((line) => toText(line)));
    lines.push(...formatSummary(summary, true, { after }).map((line) => toText(line, escaped)));
  }
  if (view.status === "stopped" || view.status === "unfinished")
    lines.push(...(await describeState(context, run, view)).map((line) => toText(line)));
  await terminal.write(`\n${fitMessage(lines.join("\n"), terminal.columns)}\n`);
}

/** What becomes of a run that has not come to its end. */
async function describeState(
  { folders }: Context,
  { manifest }: StoredRun,
  { waiting, stoppedBy, done, open, run }: RunView,
): Promise<Hint[]> {
  if (waiting) return [`${capitalize(describeWait(waiting))} (${waiting.why}); it resumes by itself`];
  const { toLocksFolder } = await import("../../bulk/index.ts");
  if (await isLeaseHeld(toLocksFolder(folders.state), manifest.fingerprint))
    return ["Another process is working on it now"];
  const how = stoppedBy === null ? "Stopped without a word, perhaps killed" : `Stopped by ${stoppedBy}`;
  const unknown = `It is unknown whether ${formatCounted(open, "request")} arrived; resuming finds out`;
  return [
    `${how}: ${formatCounted(done, "contact")} done`,
    ...(open > 0 ? [unknown] : []),
    advise`Resume with: ${ecm`runs resume ${run}`}`,
  ];
}
