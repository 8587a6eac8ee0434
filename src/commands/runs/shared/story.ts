/** The last lines of a run, told again; of one that was interrupted, what is unknown and how to resume it. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  fileNames,
  type Manifest,
  type Reject,
  type RunView,
  readingsOf,
  type StoredRun,
  toLocksFolder,
} from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { capitalize, formatCounted } from "../../../counts.ts";
import { isLeaseHeld } from "../../../disk/lease.ts";
import { advise, ecm, formatHint, type Hint, mapCommands } from "../../../hint.ts";
import { formatDayAndTime } from "../../../moments.ts";
import { escapeControlsInLines } from "../../../terminal/escape.ts";
import { formatSummary, resultLines } from "../../bulk/result.ts";
import { commandOnRun } from "../../bulk/start.ts";
import { describeWait } from "./views.ts";

export async function storyLines(context: Context, run: StoredRun, row: RunView): Promise<string[]> {
  const { manifest } = run;
  const inAccount = await withAccount(context, manifest);
  const lines: string[] = [];
  if (manifest.summary) {
    const { summary } = manifest;
    const { columns, isAccessible, isColored } = context.terminal;
    const screen = { columns, isAccessible, isColored: isColored.out };
    const results = resultLines(screen, summary, { firstRejects: await firstRejects(run) });
    lines.push(...results.map((line) => formatHint(inAccount(line))));
    for (const line of formatSummary(summary, true).slice(1)) {
      // What was undone whole needs no undo.
      const text = formatHint(inAccount(line), (part) => escapeControlsInLines(context.terminal.mask(part)));
      if (!(row.undone === "whole" && text.startsWith("Undo: "))) lines.push(text);
    }
  }
  if (row.status === "stopped" || row.status === "unfinished") {
    const work = await describeWork(context, manifest, row);
    if (work !== undefined) lines.push(work);
    else {
      lines.push(...(await howItStopped(run, row)));
      lines.push(formatHint(inAccount(advise`Resume with: ${ecm`runs resume ${row.run}`}`)));
    }
  }
  return lines;
}

/** More are for `runs rejects`. */
const maxRejects = 5;

async function firstRejects(run: StoredRun): Promise<Reject[]> {
  const first: Reject[] = [];
  if (!run.manifest.summary?.rows.rejected) return first;
  try {
    for await (const reject of readingsOf(run).rejects()) {
      if (first.push(reject) === maxRejects) break;
    }
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
  if (waiting) {
    return `${capitalize(describeWait(waiting))} (${waiting.why}); it resumes by itself`;
  }
  const isAtWork = await isLeaseHeld(toLocksFolder(folders.state), fingerprint);
  return isAtWork ? "Another process is working on it now" : undefined;
}

async function howItStopped({ folder }: StoredRun, row: RunView): Promise<string[]> {
  const { mtime } = await stat(join(folder, fileNames.journal)).catch(() => ({ mtime: undefined }));
  const when = mtime ? ` (${formatDayAndTime(mtime.toISOString(), new Date())})` : "";
  const done = `${formatCounted(row.done, "contact")} done`;
  const how =
    row.stoppedBy === null
      ? `Stopped without a word, perhaps killed${when}`
      : `Stopped by ${row.stoppedBy}${when}`;
  const unknown =
    row.open === 0
      ? []
      : [`It is unknown whether ${formatCounted(row.open, "request")} arrived; resuming finds out`];
  return [`${how}: ${done}`, ...unknown];
}

/** Its commands work on the account of the run, whichever one is in use. */
async function withAccount(context: Context, { account }: Manifest): Promise<(line: Hint) => Hint> {
  const { words } = await commandOnRun(context, account, ecm`runs`);
  const flags = words.slice(0, -1);
  return (line) => mapCommands(line, (command) => ({ words: [...flags, ...command.words] }));
}
