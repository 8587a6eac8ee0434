/**
 * Tools run the commands of this program: the same checks, services
 * and jobs as at a terminal, on streams in memory.
 */
import { Readable, Writable } from "node:stream";
import type { ResolvedProfile } from "../../config/resolve.ts";
import type { Context, Observer } from "../../context.ts";
import { interruptedError } from "../../errors.ts";
import type { CommandTree } from "../help/tree.ts";

/** A failure that has a shape already: the JSON error of a command. */
export class ToolFailure extends Error {
  readonly failure: object;

  constructor(failure: object) {
    super("A command failed");
    this.failure = failure;
  }
}

interface InvokeOptions {
  stdin?: string;
  observer?: Observer;
  signal: AbortSignal;
  /** Codes besides 0 with which the command has done its work. */
  accepts?: readonly number[];
  /** The command writes one JSON value a line: they come as an array. */
  isLines?: boolean;
  /** The id of one that is not the server's. */
  structureId?: string;
}

interface Invoked {
  exitCode: number;
  /** Stdout as JSON; null when it is empty. */
  value: unknown;
  /** Warnings, remarks and the rate-limit line. */
  messages: string[];
}

/** Runs a command. @throws ToolFailure with the command's own error */
export type Invoke = (words: string[], options: InvokeOptions) => Promise<Invoked>;

const maxMessages = 40;

/** Stands in a hint where a command is that no tool runs: the client has no shell. */
export const shellOnly = "\u0000";

/**
 * The account stays the one that the server was started for,
 * whatever becomes of the current profile meanwhile.
 * @param options.mayWrite else every command runs with `--read-only`
 * @param options.formatCommand names a command as the client can carry it out
 */
export function createInvoke(
  context: Context,
  tree: CommandTree,
  { name, isSandbox }: ResolvedProfile,
  { mayWrite, formatCommand }: { mayWrite: boolean } & Pick<Observer, "formatCommand">,
): Invoke {
  const { settings, terminal } = context;
  const { baseUrl, structure, timeoutSeconds, maxWaitSeconds } = settings;
  const globals = [
    ...(name ? [`--profile=${name.value}`] : []),
    ...(baseUrl?.source === "flag" && !isSandbox ? [`--base-url=${baseUrl.value}`] : []),
    ...[`--timeout=${timeoutSeconds}`, `--max-wait=${maxWaitSeconds}`],
    ...["--json", "--no-input", "--no-color", "--no-pager"],
    ...(mayWrite ? [] : ["--read-only"]),
  ];
  return async (words, { stdin = "", observer, signal, accepts = [], isLines = false, structureId }) => {
    const chosen = structureId ?? structure?.value;
    const stdout = createCollector();
    const stderr = createCollector();
    const interruption = new AbortController();
    const interrupt = () =>
      interruption.abort(context.signal.aborted ? context.signal.reason : interruptedError("SIGINT"));
    const signals = [context.signal, signal];
    for (const each of signals) each.addEventListener("abort", interrupt);
    if (signals.some((each) => each.aborted)) interrupt();
    try {
      const exitCode = await tree.run({
        args: [...globals, ...(chosen ? [`--structure=${chosen}`] : []), ...words],
        streams: {
          stdin: Readable.from(stdin === "" ? [] : [stdin]),
          stdout: stdout.stream,
          stderr: stderr.stream,
          env: terminal.env,
        },
        signal: interruption.signal,
        observer: { ...observer, formatCommand },
      });
      return toResult(exitCode, parseOutput(stdout.text(), isLines), stderr.text(), accepts);
    } finally {
      for (const each of signals) each.removeEventListener("abort", interrupt);
    }
  };
}

function toResult(exitCode: number, value: unknown, stderr: string, accepts: readonly number[]): Invoked {
  const lines = stderr.split("\n").filter((line) => line !== "");
  const error = lines.findLast((line) => line.startsWith('{"error":'));
  // The shell is not the client's.
  const isForShell = (line: string) => /: ecm [-a-z]/.test(line) || line.includes(shellOnly);
  const messages = lines.filter((line) => line !== error && !isForShell(line)).slice(-maxMessages);
  if (exitCode === 0 || accepts.includes(exitCode)) return { exitCode, value, messages };
  const failure =
    error === undefined
      ? { error: { message: messages.join("\n"), exitCode } }
      : (JSON.parse(error) as object);
  // The summary of a bulk run is on stdout; one that has not begun says nothing.
  const hasBegun = value !== null && (value as { run?: string | null }).run !== null;
  throw new ToolFailure({ ...failure, ...(hasBegun && { summary: value }), messages });
}

function parseOutput(stdout: string, isLines: boolean): unknown {
  if (isLines) return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  if (stdout.trim() === "") return null;
  try {
    return JSON.parse(stdout);
  } catch {
    // What another address answers may be no JSON.
    return stdout;
  }
}

/** Keeps what is written. */
function createCollector() {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(piece, _encoding, done) {
      pieces.push(Buffer.from(piece));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(pieces).toString("utf8") };
}
