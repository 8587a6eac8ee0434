/** One command from its words to its exit code: context → program → parse → exit code. The only catch-all. */
import { CommanderError } from "commander";
import { createContext } from "./context.ts";
import { InterruptedError } from "./errors.ts";
import { createProgram, usageErrorFrom, wordsOf } from "./program.ts";
import { isJsonWanted } from "./terminal/format.ts";
import { rateLimitLine, rateLimitSentence } from "./terminal/rate-limit.ts";
import { reportError } from "./terminal/report-error.ts";
import type { Terminal, TerminalStreams } from "./terminal/terminal.ts";
import type { Clock, RateLimits } from "./wire.ts";

export interface Invocation {
  /** The words after `ecm`. */
  args: string[];
  streams: TerminalStreams;
  /** Its reason is an InterruptedError. */
  signal: AbortSignal;
  clock?: Clock;
}

/** Runs one command and returns its exit code. Never throws, never ends the process. */
export async function run({ args, streams, signal, clock }: Invocation): Promise<number> {
  const control = createContext(streams, signal, clock);
  const { context } = control;
  let failure: unknown;
  try {
    await createProgram(control).parseAsync(wordsOf(args), { from: "user" });
  } catch (error) {
    failure = reasonOf(error, signal);
  } finally {
    await control.close();
  }
  showLimits(context.terminal, context.limits(), context.clock.now());
  if (failure === undefined) return control.exitCode();
  const exitCode = reportError(context.terminal, failure, isJsonWanted(args, streams.env));
  if (streams.env.ECM_DEBUG && failure instanceof Error) context.terminal.note(failure.stack ?? "");
  return exitCode;
}

/** What the failure really was: grammar, a signal, or the error itself. Undefined when there was none. */
function reasonOf(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof CommanderError) return usageErrorFrom(error);
  if (signal.aborted && !(error instanceof InterruptedError)) return signal.reason;
  return error;
}

function showLimits(terminal: Terminal, limits: RateLimits | undefined, now: number): void {
  if (!limits || terminal.quiet) return;
  const line = terminal.isStderrTerminal ? rateLimitSentence(limits, now) : rateLimitLine(limits);
  if (line) terminal.note(line);
}
