/** One command from its words to its exit code: context → program → parse → exit code. The only catch-all. */
import { formatRootHelp } from "./commands/groups.ts";
import type { NestedCommand } from "./commands/help/tree.ts";
import { Context } from "./context.ts";
import { describeDiskError } from "./disk/disk-errors.ts";
import { EcmError, failedError, interruptedError, isInterruption } from "./errors.ts";
import { formatRateLimitLine, formatRateLimitSentence } from "./rate-limits.ts";
import { maskTypedKeys } from "./terminal/escape.ts";
import { isJsonWanted } from "./terminal/format.ts";
import type { TerminalStreams } from "./terminal/terminal.ts";
import type { Clock } from "./wire.ts";

interface Invocation extends NestedCommand {
  clock?: Clock;
}

/** The reason that the signal of an interrupted invocation carries. */
export function createInterruption(signal: "SIGINT" | "SIGTERM"): EcmError {
  return interruptedError(signal);
}

/** Runs one command and returns its exit code. Never throws, never ends the process. */
export async function run({ args, streams, signal, clock, observer }: Invocation): Promise<number> {
  const context = new Context(streams, signal, clock, observer);
  // Applied before the flags are parsed, since errors about flags must not have colours either.
  if (args.includes("--no-color")) context.terminal.isColored = { out: false, err: false };
  context.terminal.mask = (text) => maskTypedKeys(text, args);
  const isJson = isJsonWanted(args, streams.env);
  let failure: unknown;
  try {
    if (asksForIndex(args, isJson)) {
      // The most common help needs no parser.
      await context.terminal.write(formatRootHelp(context.terminal.columns));
    } else {
      const { runProgram } = await import("./program.ts");
      await runProgram(context, (nested) => run({ ...nested, clock }), args);
    }
  } catch (error) {
    // After a signal, other errors are only its consequences.
    failure = signal.aborted && !isInterruption(error) ? signal.reason : error;
  } finally {
    await context.close();
  }
  const unwritten = await context.terminal.flush();
  if (unwritten) failure ??= cannotWriteOutputError(unwritten);
  const limitsLine = formatLimits(context, failure);
  // The limits come last at a terminal, and first elsewhere: scripts read the error from the last line.
  if (!context.terminal.isStderrTerminal && limitsLine) context.terminal.note(limitsLine);
  const exitCode =
    failure === undefined ? context.exitCode : await reportFailure(context, failure, isJson, streams.env);
  if (context.terminal.isStderrTerminal && limitsLine) context.terminal.note(limitsLine, "aside");
  return exitCode;
}

async function reportFailure(
  context: Context,
  failure: unknown,
  isJson: boolean,
  env: TerminalStreams["env"],
): Promise<number> {
  if (env.ECM_DEBUG && failure instanceof Error) context.terminal.note(failure.stack ?? "", "needed");
  if (failure instanceof EcmError) await completeHint(context, failure);
  const { reportError } = await import("./terminal/report-error.ts");
  return reportError(context.terminal, failure, isJson);
}

/** Adds to the commands of the hint the flags that select this command's account. */
async function completeHint(context: Context, { details }: EcmError): Promise<void> {
  if (details.hint === undefined) return;
  // `auth login` makes the profile "default" where none is named, whichever is selected.
  const profile = await context.profile().catch(() => undefined);
  const selected = profile?.name?.source === "default" ? profile.name.value : "default";
  const { addAccountFlags } = await import("./commands/help/command-line.ts");
  const replaced = selected === "default" ? undefined : selected;
  details.hint = addAccountFlags(details.hint, context.settings, replaced);
}

/** Whether `ecm` is typed alone or with a word for help only. */
function asksForIndex(args: readonly string[], isJson: boolean): boolean {
  const [first, ...rest] = args;
  if (first === undefined) return !isJson;
  return rest.length === 0 && ["help", "--help", "-h"].includes(first);
}

function cannotWriteOutputError(cause: Error): EcmError {
  const message = `Cannot write to standard output: ${describeDiskError(cause)}`;
  return failedError(message, undefined, { type: "OutputError", cause });
}

/** What is left of the limits; not for people after a refusal by a limit, which says when it ends. */
function formatLimits({ terminal, clock, limits }: Context, failure: unknown): string | undefined {
  const known = limits();
  if (!known) return undefined;
  if (!terminal.isStderrTerminal) return formatRateLimitLine(known);
  const isRefused = failure instanceof EcmError && failure.details.limit !== undefined;
  return isRefused ? undefined : formatRateLimitSentence(known, clock.now());
}
