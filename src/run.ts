/** One command from its words to its exit code: context → program → parse → exit code. The only catch-all. */
import { type Command, CommanderError } from "commander";
import { type Context, createContext, type Observer } from "./context.ts";
import { EcmError, exitCodes, InterruptedError } from "./errors.ts";
import { createProgram, inSameAccount, usageErrorFrom, wordsOf } from "./program.ts";
import { isJsonWanted } from "./terminal/format.ts";
import { rateLimitLine, rateLimitSentence } from "./terminal/rate-limit.ts";
import { reportError } from "./terminal/report-error.ts";
import type { Terminal, TerminalStreams } from "./terminal/terminal.ts";
import { maskTypedKeys } from "./terminal/typed-keys.ts";
import type { Clock, RateLimits } from "./wire.ts";

export interface Invocation {
  /** The words after `ecm`. */
  args: string[];
  streams: TerminalStreams;
  /** Its reason is an InterruptedError. */
  signal: AbortSignal;
  clock?: Clock;
  /** Is told what the streams do not carry. */
  observer?: Observer;
}

/** The reason that the signal of an interrupted invocation carries. */
export function interruptionBy(signal: "SIGINT" | "SIGTERM"): InterruptedError {
  return new InterruptedError(signal);
}

/** Runs one command and returns its exit code. Never throws, never ends the process. */
export async function run({ args, streams, signal, clock, observer }: Invocation): Promise<number> {
  const control = createContext(streams, signal, clock, observer);
  const { context } = control;
  // Said before the flags are parsed: what is wrong with them must not be painted either.
  if (args.includes("--no-color")) context.terminal.isColored = { out: false, err: false };
  const mask = (text: string) => maskTypedKeys(text, args);
  context.terminal.mask = mask;
  const isJson = isJsonWanted(args, streams.env);
  const words = wordsOf(args);
  let failure: unknown;
  try {
    const program = createProgram(control, (nested) => run({ ...nested, clock }), words);
    if (words.length === 0 && !isJson) program.outputHelp();
    else
      await program.parseAsync(words, { from: "user" }).catch((error) => throwReason(error, program, words));
  } catch (error) {
    // A signal ends whatever was under way; what that threw then is only the echo.
    failure = signal.aborted && !(error instanceof InterruptedError) ? signal.reason : error;
  } finally {
    await control.close();
  }
  const unwritten = await context.terminal.flush();
  if (unwritten) failure ??= cannotWriteOutput(unwritten);
  showLimits(context.terminal, context.limits(), context.clock.now());
  if (failure === undefined) return control.exitCode();
  if (streams.env.ECM_DEBUG && failure instanceof Error) context.terminal.note(failure.stack ?? "", "needed");
  if (failure instanceof EcmError) await keepAccount(context, failure);
  return reportError(context.terminal, failure, isJson, mask);
}

/** Its hint works on the account that this command worked on. */
async function keepAccount(context: Context, { details }: EcmError): Promise<void> {
  if (details.hint === undefined) return;
  // `auth login` makes the profile "default" where none is named, whichever is selected.
  const profile = details.hint.includes("ecm auth login")
    ? await context.profile().catch(() => undefined)
    : undefined;
  const selected = profile?.name?.source === "default" ? profile.name.value : undefined;
  const replaced = selected === "default" ? undefined : selected;
  details.hint = inSameAccount(details.hint, context.settings, replaced);
}

/** Throws what was really wrong, when anything was: a failure of the grammar is told in our words. */
async function throwReason(error: unknown, program: Command, words: readonly string[]): Promise<void> {
  const reason = error instanceof CommanderError ? await usageErrorFrom(error, program, words) : error;
  if (reason !== undefined) throw reason;
}

function cannotWriteOutput(cause: Error): EcmError {
  const message = `Cannot write to standard output: ${cause.message}`;
  return new EcmError(exitCodes.failed, message, { type: "OutputError", cause });
}

function showLimits(terminal: Terminal, limits: RateLimits | undefined, now: number): void {
  if (!limits) return;
  const { isStderrTerminal } = terminal;
  const line = isStderrTerminal ? rateLimitSentence(limits, now) : rateLimitLine(limits);
  if (line) terminal.note(line, isStderrTerminal ? "aside" : undefined);
}
