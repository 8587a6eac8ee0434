/** What the commands that start bulk runs share: flags, the way from flags to options, and how a run ends. */
import type { Command, OptionValues } from "@commander-js/extra-typings";
import type { Closed, Engine, GuardOptions, Limit, RunOptions, RunStop, Summary } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { diskFullHint } from "../../disk/disk-errors.ts";
import { EcmError, exitCodes, interruptedError, toStopSignal, usageError } from "../../errors.ts";
import { advise, ecm, type Hint, joinHints } from "../../hint.ts";
import { isJson } from "../../terminal/format.ts";
import { version } from "../../version.ts";
import { flagHeadings } from "../flags/flag-headings.ts";
import {
  type Bare,
  type FlagsOf,
  startsWithDay,
  wholeNumberOption,
  writtenFileOption,
} from "../flags/flags.ts";
import { formatForAccount } from "../help/command-line.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { describeReason } from "./words.ts";

/** Of every kind of run: a command lacks some of them. */
export type BulkFlags = FlagsOf<ReturnType<typeof addBulkFlags<[], Bare, Bare>>>;

const defaultConcurrency = 8;

/**
 * @param isResume for a run that exists: there is nothing to start over
 * @param isUndo for a run of its own, that has no other to start over either
 * @param isMutate for a command that does single contacts too
 * @param isSync for one that may take members out of a list
 */
export function addBulkFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
  { isResume = false, isUndo = false, isMutate = false, isSync = false } = {},
) {
  const started = addWhere(!isResume && !isUndo, command, () =>
    command.option("--fresh", "start over; resume no earlier run"),
  );
  const planned = addWhere(!isResume, started, () =>
    started
      .optionsGroup(flagHeadings.preview)
      .addOption(
        writtenFileOption("--plan <file>", "write the plan as JSON lines (- for stdout)").argParser(
          (file) => file,
        ),
      )
      .addOption(wholeNumberOption("--show <n>", "show the first N changes of a dry run (0: none)", 0)),
  ).optionsGroup(flagHeadings.guards);
  const guarded = addWhere(isSync || isResume, planned, () =>
    planned.option("--max-remove <n>", "allow removing up to N members, or N% (10%)"),
  );
  return guarded
    .option("--max-changes <n>", "refuse to write more than N contacts (or N%)")
    .option("--max-delete <n>", "refuse to delete more than N")
    .optionsGroup(flagHeadings.preview)
    .option("--dry-run", isMutate ? "show what would be done" : "show what would be sent, its price")
    .optionsGroup(flagHeadings.pace)
    .addOption(wholeNumberOption("--max-requests <n>", "stop after this many requests"))
    .addOption(wholeNumberOption("--reserve <n>", "requests of hour and month to leave unused (0)", 0))
    .option("--wait", "wait when the hourly limit is reached (default)")
    .option("--no-wait", "stop when it is reached; the run can be resumed")
    .option("--until <time>", "stop at this time: RFC 3339, HH:MM, or a duration (90m)")
    .addOption(
      wholeNumberOption("--concurrency <n>", `requests in flight at the same time (${defaultConcurrency})`),
    )
    .optionsGroup("Rejected rows:")
    .option(
      "--max-rejects <n>",
      isUndo
        ? "stop after N contacts that cannot be restored, or N% of them (default: never)"
        : "stop after N rejected rows, or N% (default: 50, if none was accepted)",
    )
    .addOption(writtenFileOption("--rejects <file>", "also write the rejected rows, with reasons, to FILE"))
    .optionsGroup(flagHeadings.preview)
    .addOption(writtenFileOption("--report <file>", "write an HTML page about the run, or the dry run"))
    .option("--redact", "hide addresses and values in the report")
    .optionsGroup("");
}

/** Adds flags to some commands only. Commander's types cannot say which have them: all seem to, and may lack a value. */
function addWhere<C>(isWanted: boolean, command: unknown, add: () => C): C {
  return isWanted ? add() : (command as C);
}

/** @throws UsageError naming the flag at fault */
export function toRunOptions(flags: BulkFlags, nowMilliseconds: number): RunOptions {
  return {
    isDryRun: flags.dryRun ?? false,
    isFresh: flags.fresh ?? false,
    concurrency: flags.concurrency ?? defaultConcurrency,
    reserve: flags.reserve ?? 0,
    waits: flags.wait ?? true,
    maxRequests: flags.maxRequests,
    until: flags.until === undefined ? undefined : parseTime(flags.until, nowMilliseconds),
    rejects: flags.rejects,
    guards: toGuards(flags),
  };
}

/** Those that were given. */
function toGuards(flags: BulkFlags): GuardOptions {
  const { maxChanges, maxDelete, maxRemove, maxRejects } = flags;
  const flagValues = {
    maxChanges: [maxChanges, "--max-changes"],
    maxDelete: [maxDelete, "--max-delete"],
    maxRemove: [maxRemove, "--max-remove"],
    maxRejects: [maxRejects, "--max-rejects"],
  } as const;
  const guards = Object.entries(flagValues).flatMap(([name, [text, flag]]) =>
    text === undefined ? [] : [[name, parseLimit(text, flag)]],
  );
  return Object.fromEntries(guards);
}

/** `N` or `N%`. @throws UsageError */
function parseLimit(text: string, flag: string): Limit {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
  const value = Number(digits);
  if (digits !== undefined && percent === "%" && value <= 100) return { percent: value };
  if (digits !== undefined && percent === "" && Number.isSafeInteger(value)) return { rows: value };
  throw usageError(
    `${flag}: ${JSON.stringify(text)} is neither a number nor a percentage`,
    `Give ${flag} 20, or ${flag} 5%`,
  );
}

const unitMilliseconds: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A moment: RFC 3339, `HH:MM` of today or tomorrow, or a duration from now. @throws UsageError */
function parseTime(text: string, nowMilliseconds: number): number {
  const duration = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text);
  if (duration) return nowMilliseconds + Number(duration[1]) * unitMilliseconds[duration[2]!]!;
  const clock = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (clock) {
    const at = new Date(nowMilliseconds);
    at.setHours(Number(clock[1]), Number(clock[2]), 0, 0);
    if (at.getTime() <= nowMilliseconds) at.setDate(at.getDate() + 1);
    return at.getTime();
  }
  const isTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text) && startsWithDay(text);
  const at = isTime ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw usageError(
    `--until: ${JSON.stringify(text)} is not a time`,
    "Give 2026-11-21T18:00:00Z, 18:00, or a duration such as 90m",
  );
}

/** Opens the account for a bulk run. A dry run sends few requests. */
export async function openEngine(
  context: Context,
  { concurrency, isDryRun }: { concurrency: number; isDryRun: boolean },
): Promise<Engine> {
  const { profile, send, behaviors, account } = await context.connect(
    isDryRun ? "single" : "bulk",
    concurrency,
  );
  return {
    send,
    clock: context.clock,
    signal: context.signal,
    stateFolder: context.folders.state,
    version,
    account: {
      baseUrl: profile.baseUrl.value,
      profile: profile.name?.value,
      isReadOnly: profile.readOnly,
      preferredStructure: profile.structure?.value,
    },
    limits: context.limits(),
    requestsSent: context.requestsSent,
    openSuppressions: () => openSuppressionList(context),
    behaviors,
    creatingNames: account.creatingNames,
    describeReason,
  };
}

/** Prints the summary where JSON is wanted: however early a run stops, once its input could be opened. */
export async function printSummary(context: Context, summary: Summary | undefined): Promise<void> {
  const { output, terminal } = context;
  const { format } = output();
  if (!summary) return;
  if (isJson(format))
    await terminal.write(`${terminal.mask(JSON.stringify({ ...summary, program: version }))}\n`);
}

/** The summary is printed also where what follows fails. */
async function follow(context: Context, result: Closed): Promise<{ summary: Summary; isLeftOut: boolean }> {
  const { summary } = result;
  if (!result.after?.length) return { summary, isLeftOut: false };
  const { followRun } = await import("./after.ts");
  try {
    const isLeftOut = await followRun(context, result);
    const all = withAllRequests(context, summary);
    // The run's own end has said how many were sent until then.
    const more = all.requests.total - summary.requests.total;
    if (more > 0) context.terminal.note(`${formatCounted(more, "more request")} sent for the list`);
    return { summary: all, isLeftOut };
  } catch (error) {
    await printSummary(context, withAllRequests(context, summary));
    if (error instanceof EcmError && summary.run !== null)
      error.details.hint = joinHints(
        error.details.hint,
        advise`Resume with: ${ecm`runs resume ${summary.run}`}`,
      );
    throw error;
  }
}

/** Counts what followed on the run too. */
function withAllRequests(context: Context, summary: Summary): Summary {
  const { requests } = summary;
  const total = context.requestsSent();
  return { ...summary, requests: { ...requests, other: requests.other + total - requests.total, total } };
}

/**
 * Does what follows on the run, and ends the command as the run ended: prints the summary, sets the exit code,
 * or throws what stopped it.
 */
export async function endRun(context: Context, result: Closed): Promise<void> {
  const { stop } = result;
  const { summary, isLeftOut } = await follow(context, result);
  await printSummary(context, summary);
  const allowedBy = stop?.failure.details.allowedBy ?? [];
  const resume =
    summary.run === null || stop?.failure.details.isNotOffered
      ? undefined
      : advise`Resume with: ${ecm`runs resume ${[summary.run, ...allowedBy]}`}`;
  const isOutOfBudget = stop?.failure.exitCode === exitCodes.outOfBudget;
  const again =
    isOutOfBudget && summary.run === null
      ? `Nothing was written. ${stop.by === "until" ? "Give a later time with --until" : "Run the same command again"}`
      : undefined;
  if (stop && stop.by !== "max-rejects") throw withHint(context, stop, resume ?? again);
  if (stop) {
    const lines = joinHints(stop.message, stop.failure.details.hint, resume)!;
    context.terminal.note(formatForAccount(lines, context.settings), "needed");
  }
  if (stop || isLeftOut || isIncomplete(summary)) context.endWith(exitCodes.rejectedRows);
}

/** Whether somebody who was meant to be written was not, or not in all parts. */
function isIncomplete({ kind, rows, partial = 0, codes: { skipped } }: Summary): boolean {
  const isChanged = kind === "apply" && (skipped.changed ?? 0) > 0;
  return rows.rejected > 0 || partial > 0 || isChanged;
}

function withHint(context: Context, { by, failure }: RunStop, resume: Hint | undefined): EcmError {
  const isSettled = resume !== undefined && failure.details.applied === "unknown";
  const known = isSettled ? "Resuming finds out what was applied" : failure.details.hint;
  const why = known ?? diskFullHint(failure, context.folders.state);
  const hint = joinHints(why, resume);
  if (by === "signal") {
    return interruptedError(toStopSignal(failure), hint);
  }
  return new EcmError(failure.kind, failure.message, hint, failure.details);
}
