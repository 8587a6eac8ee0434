/** What the commands that start bulk runs share: flags, the way from flags to options, and how a run ends. */
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import type { Limit, RunOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { findFormatByName, requireFileFormat } from "../../terminal/format.ts";
import { type Bare, type FlagsOf, flagHeadings, wholeNumberOption, writtenFileOption } from "./flags.ts";
import { parseFutureTime } from "./times.ts";

/** The flags of all kinds of runs: a command lacks some of them. */
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
    planned.addOption(limitOption("--max-remove <n>", "allow removing up to N members, or N% (10%)")),
  );
  return guarded
    .addOption(limitOption("--max-changes <n>", "refuse to write more than N contacts (or N%)"))
    .addOption(limitOption("--max-delete <n>", "refuse to delete more than N"))
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
    .addOption(
      limitOption(
        "--max-rejects <n>",
        isUndo
          ? "stop after N contacts that cannot be restored, or N% of them (default: never)"
          : "stop after N rejected rows, or N% (default: 50, if none was accepted)",
      ),
    )
    .addOption(writtenFileOption("--rejects <file>", "also write the rejected rows, with reasons, to FILE"))
    .optionsGroup(flagHeadings.preview)
    .addOption(writtenFileOption("--report <file>", "write an HTML page about the run, or the dry run"))
    .option("--redact", "hide addresses and values in the report")
    .optionsGroup("");
}

/** Adds flags to some commands only. By Commander's types all commands seem to have them, perhaps unset. */
function addWhere<C>(isWanted: boolean, command: unknown, add: () => C): C {
  return isWanted ? add() : (command as C);
}

/** @throws UsageError naming the flag at fault */
export function toRunOptions(flags: BulkFlags, nowMilliseconds: number): RunOptions {
  const { maxChanges, maxDelete, maxRemove, maxRejects } = flags;
  const given = Object.entries({ maxChanges, maxDelete, maxRemove, maxRejects }).filter(([, limit]) => limit);
  return {
    isDryRun: flags.dryRun ?? false,
    isFresh: flags.fresh ?? false,
    concurrency: flags.concurrency ?? defaultConcurrency,
    reserve: flags.reserve ?? 0,
    waits: flags.wait ?? true,
    maxRequests: flags.maxRequests,
    until: flags.until === undefined ? undefined : parseFutureTime(flags.until, "--until", nowMilliseconds),
    rejects: flags.rejects,
    guards: Object.fromEntries(given),
  };
}

/** A flag that takes `N` or `N%`. @throws UsageError naming it, when parsed */
function limitOption<F extends string>(flags: F, description: string) {
  const option = new Option(flags, description);
  return option.argParser((text: string): Limit => {
    const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
    const value = Number(digits);
    if (percent === "%" && value <= 100) return { percent: value };
    if (percent === "" && Number.isSafeInteger(value)) return { rows: value };
    throw usageError(
      `${option.long}: ${JSON.stringify(text)} is neither a number nor a percentage`,
      `Give ${option.long} 20, or ${option.long} 5%`,
    );
  });
}

// `--report FILE --redact`, for commands that write a report.

export interface ReportFlags {
  report?: string;
  redact?: boolean;
}

/** @throws UsageError for a flag that means nothing, or a file that is no page by its name */
export function requireReportFlags({ report: file, redact }: ReportFlags): void {
  if (file === undefined && redact)
    throw usageError("--redact is for the report", "Name its file, such as --report report.html");
  if (file !== undefined && !/.\.html?$/i.test(file))
    throw usageError(
      `--report: ${file} is no page by its name`,
      `Name it ${file.replace(/\.[^./\\]*$/, "") || "report"}.html`,
    );
}

// The files of one bulk command: a plan written over the input would destroy it.

/** Files that flags name; `mapping` is only read. */
export interface FileFlags extends ReportFlags {
  plan?: string;
  backup?: string;
  rejects?: string;
  mapping?: string;
}

/**
 * @param input the file that is read, where there is one
 * @throws UsageError when a file that is written is the input, one that another flag names, or ecm's own
 */
export function claimFiles({ files }: Context, input: string | undefined, flags: FileFlags): void {
  const { mapping, rejects } = flags;
  if (input !== undefined) files.reads(input, "the input file");
  if (mapping !== undefined) files.reads(mapping, "--mapping");
  for (const flag of ["rejects", "backup", "plan", "report"] as const) {
    const file = flags[flag];
    if (file !== undefined && file !== "-") files.writes(file, `--${flag}`);
  }
  requireReportFlags(flags);
  if (rejects !== undefined && findFormatByName(rejects) !== "tsv")
    requireFileFormat(rejects, "csv", "--rejects");
}
