import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { Manifest, Reject, RunView, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { capitalize, formatCounted } from "../../counts.ts";
import { isLeaseHeld } from "../../disk/lease.ts";
import { advise, ecm, formatHint, type Hint, mapCommands } from "../../hint.ts";
import { formatDayAndTime } from "../../moments.ts";
import { escapeControlsInLines } from "../../terminal/escape.ts";
import { isForPeople } from "../../terminal/format.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { drawDifference } from "../bulk/plan.ts";
import { formatSummary, resultLines } from "../bulk/result.ts";
import { withReason } from "../bulk/words.ts";
import { requireReportFlags } from "../flags/bulk.ts";
import { writtenFileOption } from "../flags/flags.ts";
import { commandOnRun } from "../help/command-line.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents, type Result } from "../output/presents.ts";
import { createRunView, describeWait, findNamedRun, requireRun } from "./shared.ts";

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
  describeCommand(showing, {
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
  });
  showing.action(
    presents(context, {}, async (typedRun, flags): Promise<Result<RunView> | undefined> => {
      requireReportFlags(flags);
      const wanted = await requireRun(context, typedRun, "show");
      const { viewRun } = await import("../../bulk/index.ts");
      const run = await findNamedRun(context, wanted);
      if (flags.changes) {
        await showChanges(context, run);
        return undefined;
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
      if (!isRead) return { one, view };
      const last = async () => {
        const lines = await storyLines(context, run, one);
        await terminal.write(`\n${fitMessage(lines.join("\n"), terminal.columns)}\n`);
      };
      return { one, view, last };
    }),
  );
}

async function showChanges(context: Context, run: StoredRun): Promise<void> {
  const { terminal } = context;
  const { readingsOf } = await import("../../bulk/index.ts");
  const lines = (await readingsOf(run).changes()).map(withReason);
  if (lines.length === 0) return terminal.note(`Run ${run.manifest.id} changed nothing.`);
  const isDrawn = context.output().format === "table";
  const shown = isDrawn ? drawDifference(terminal, lines, "out") : lines.map((line) => JSON.stringify(line));
  for (const line of shown) await terminal.write(`${line}\n`);
}

// The last lines of a run, told again; of one that was interrupted, what is unknown and how to resume it.

async function storyLines(context: Context, run: StoredRun, view: RunView): Promise<string[]> {
  const { terminal } = context;
  const { summary } = run.manifest;
  const inAccount = await createAccountNamer(context, run.manifest);
  const lines: string[] = [];
  if (summary) {
    const results = resultLines(terminal, "out", summary, { firstRejects: await readFirstRejects(run) });
    lines.push(...results.map((line) => formatHint(inAccount(line))));
    for (const line of formatSummary(summary, true)) {
      const text = formatHint(inAccount(line), (part) => escapeControlsInLines(terminal.mask(part)));
      // What was undone whole needs no undo.
      if (!(view.undone === "whole" && text.startsWith("Undo: "))) lines.push(text);
    }
  }
  if (view.status !== "stopped" && view.status !== "unfinished") return lines;
  const work = await describeWork(context, run.manifest, view);
  if (work !== undefined) return [...lines, work];
  const resume = formatHint(inAccount(advise`Resume with: ${ecm`runs resume ${view.run}`}`));
  return [...lines, ...(await describeStop(run, view)), resume];
}

/** More are for `runs rejects`. */
const maxRejects = 5;

async function readFirstRejects(run: StoredRun): Promise<Reject[]> {
  const first: Reject[] = [];
  const { readingsOf } = await import("../../bulk/index.ts");
  try {
    for await (const reject of readingsOf(run).rejects()) if (first.push(reject) === maxRejects) break;
  } catch {
    // What else is known of the run is told without them.
  }
  return first;
}

/** Undefined where no process is working on it. */
async function describeWork(
  { folders }: Context,
  { fingerprint }: Manifest,
  { waiting }: RunView,
): Promise<string | undefined> {
  if (waiting) return `${capitalize(describeWait(waiting))} (${waiting.why}); it resumes by itself`;
  const { toLocksFolder } = await import("../../bulk/index.ts");
  const isAtWork = await isLeaseHeld(toLocksFolder(folders.state), fingerprint);
  return isAtWork ? "Another process is working on it now" : undefined;
}

async function describeStop({ folder }: StoredRun, view: RunView): Promise<string[]> {
  const { fileNames } = await import("../../bulk/index.ts");
  const journal = await stat(join(folder, fileNames.journal)).catch(() => undefined);
  const when = journal ? ` (${formatDayAndTime(journal.mtime.toISOString(), new Date())})` : "";
  const how =
    view.stoppedBy === null ? "Stopped without a word, perhaps killed" : `Stopped by ${view.stoppedBy}`;
  const unknown = `It is unknown whether ${formatCounted(view.open, "request")} arrived; resuming finds out`;
  return [`${how}${when}: ${formatCounted(view.done, "contact")} done`, ...(view.open > 0 ? [unknown] : [])];
}

/** Commands of a run work on its account, whichever one is in use. */
async function createAccountNamer(context: Context, { account }: Manifest): Promise<(line: Hint) => Hint> {
  const { words } = await commandOnRun(context, account, ecm`runs`);
  const flags = words.slice(0, -1);
  return (line) => mapCommands(line, (command) => ({ words: [...flags, ...command.words] }));
}
