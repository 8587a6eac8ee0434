/** Which run is meant, where the command does not say. */

import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Manifest, Reject, RunView, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { capitalize, formatCount, formatCounted } from "../../counts.ts";
import { isLeaseHeld } from "../../disk/lease.ts";
import { advise, ecm, formatHint, type Hint, mapCommands } from "../../hint.ts";
import { formatDayAndTime } from "../../moments.ts";
import { escapeControlsInLines } from "../../terminal/escape.ts";
import type { Column, View } from "../../terminal/present.ts";
import type { Choice } from "../../terminal/prompter.ts";
import { formatSummary, resultLines } from "../bulk/result.ts";
import { commandOnRun } from "../bulk/start.ts";
import { type MissingArgument, requireChoice, requireChoices } from "../flags/questions.ts";

/**
 * @param verb of the command, for the error
 * @param fits which runs the command can do something with
 */
export function requireRun(
  context: Context,
  typedRun: string | undefined,
  verb: string,
  fits: (run: StoredRun) => boolean = () => true,
): Promise<string> {
  return requireChoice(context, typedRun, createMissingRun(verb), () => listRunChoices(context, fits));
}

export function requireRuns(context: Context, typedRuns: string[], verb: string): Promise<string[]> {
  return requireChoices(context, typedRuns, createMissingRun(verb), () =>
    listRunChoices(context, () => true),
  );
}

function createMissingRun(verb: string): MissingArgument {
  return { question: `Run to ${verb}`, what: "the run", usage: advise`${ecm`runs ${verb} RUN`}, or last` };
}

/**
 * The run that was named. Says which folders `last` passes over.
 * @throws NotFoundError, UsageError, or of a run that cannot be read
 */
export async function findNamedRun({ folders, terminal }: Context, idOrLast: string): Promise<StoredRun> {
  const { findRun } = await import("../../bulk/index.ts");
  return findRun(folders.state, idOrLast, ({ message }) => terminal.warn(message));
}

async function listRunChoices(
  context: Context,
  fits: (run: StoredRun) => boolean,
): Promise<Choice<string>[]> {
  const { listRuns, viewRun } = await import("../../bulk/index.ts");
  const choices: Choice<string>[] = [];
  const runs = await listRuns(context.folders.state, ({ message }) => context.terminal.warn(message));
  for (const each of runs) {
    if (!fits(each)) continue;
    const view = await viewRun(each);
    const { run, kind, file, status } = view;
    choices.push({
      name: [`${run}  ${kind} of ${basename(file)}, ${status}`, ...listOutcomes(view)].join(", "),
      short: run,
      value: run,
    });
  }
  return choices;
}

/** `29 created`, `5 rejected`; of a run that was never closed how far it came. */
function listOutcomes({ rows, done }: RunView): string[] {
  if (!rows) return [`${formatCount(done)} done`];
  const shown = ["created", "updated", "deleted", "rejected", "pending"] as const;
  return shown.flatMap((name) => (rows[name] > 0 ? [`${formatCount(rows[name])} ${name}`] : []));
}

// How runs look: as rows for scripts, and as a story for people.

const empty = "No runs yet. Start one with: ecm import FILE";
const id = ({ run }: RunView) => run;

/** For scripts. */
const plain: Column<RunView>[] = [
  { name: "run", value: (run) => run.run, isWhole: true },
  { name: "kind", value: (run) => run.kind },
  { name: "status", value: (run) => run.status },
  { name: "file", value: (run) => run.file },
  { name: "started", value: (run) => run.startedAt, isTime: "minute" },
  { name: "done", value: (run) => run.done },
  { name: "rejected", value: (run) => run.rows?.rejected },
  { name: "pending", value: (run) => run.rows?.pending, isAside: true },
  { name: "stopped by", value: (run) => run.stoppedBy, optional: true },
  { name: "resumable", value: (run) => run.resumableAt, isTime: true, optional: true },
  { name: "base address", value: (run) => run.baseUrl, optional: true },
  { name: "folder", value: (run) => run.folder, optional: true },
];

/** Only with numbers: nobody looks for a nought. */
function outcome(name: "created" | "updated" | "deleted" | "unchanged" | "skipped"): Column<RunView> {
  return {
    name,
    value: ({ rows }) => rows?.[name] || undefined,
    isAside: name === "unchanged" || name === "skipped",
  };
}

const outcomes = [
  outcome("created"),
  outcome("updated"),
  outcome("deleted"),
  outcome("unchanged"),
  outcome("skipped"),
];
const account: Column<RunView> = {
  name: "account",
  value: ({ profile, baseUrl }) => profile ?? baseUrl.replace(/^https?:\/\//, ""),
  isAside: true,
};
const undone: Column<RunView> = {
  name: "undone",
  value: (run) => (run.undone === null ? undefined : run.undone === "whole" ? "yes" : "in part"),
};

/**
 * For people: what a run did, by the name of its file alone; of one that was never closed how far it came.
 */
const story: Column<RunView>[] = [
  named("run"),
  named("started"),
  named("kind"),
  { name: "file", value: ({ file }) => basename(file) },
  { ...named("status"), value: ({ status, waiting }) => (waiting ? describeWait(waiting) : status) },
  ...outcomes,
  { ...named("rejected"), value: ({ rows }) => rows?.rejected || undefined },
  undone,
  { ...named("done"), value: ({ rows, done }) => (rows ? undefined : done), isAside: true },
  account,
];

function named(name: string): Column<RunView> {
  return plain.find((column) => column.name === name)!;
}

const waitingUntil: Column<RunView> = {
  name: "waiting until",
  value: ({ waiting }) => waiting?.until,
  isTime: true,
};

/** `waiting until 18:08`: the next whole minute. */
function describeWait({ until }: { until: string }): string {
  const at = new Date(Math.ceil(Date.parse(until) / 60_000) * 60_000);
  return `waiting until ${at.toTimeString().slice(0, 5)}`;
}

/** All columns of both; those of the other are shown when they are asked for. */
function viewFrom(shown: Column<RunView>[], others: Column<RunView>[]): View<RunView> {
  const more = others.filter(({ name }) => shown.every((column) => column.name !== name));
  return { columns: [...shown, ...more.map((column) => ({ ...column, optional: true }))], id, empty };
}

export const rowsForScripts = viewFrom(plain, [...outcomes, undone, account, waitingUntil]);
export const rowsForPeople = viewFrom(story, [...plain, waitingUntil]);

/** One run, with everything that is known of it. */
export const wholeRun: View<RunView> = {
  id,
  columns: [
    ...plain.map((column) => ({ ...column, optional: false })),
    { name: "requests without an answer", value: (run) => run.open },
    { name: "rejects file", value: (run) => run.rejects },
    waitingUntil,
  ],
};

/** The same as a story begins; its last lines follow. */
export const runForPeople: View<RunView> = {
  id,
  columns: [
    named("run"),
    named("kind"),
    { name: "file", value: ({ file }) => file },
    { name: "started", value: (run) => run.startedAt, isTime: true },
    {
      name: "account",
      value: ({ profile, baseUrl }) => (profile === null ? baseUrl : `${profile} (${baseUrl})`),
    },
    named("status"),
    undone,
    { ...named("folder"), optional: false },
  ],
};

// The last lines of a run, told again; of one that was interrupted, what is unknown and how to resume it.

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
    const { readingsOf } = await import("../../bulk/index.ts");
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
  const { toLocksFolder } = await import("../../bulk/index.ts");
  const isAtWork = await isLeaseHeld(toLocksFolder(folders.state), fingerprint);
  return isAtWork ? "Another process is working on it now" : undefined;
}

async function howItStopped({ folder }: StoredRun, row: RunView): Promise<string[]> {
  const { fileNames } = await import("../../bulk/index.ts");
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
