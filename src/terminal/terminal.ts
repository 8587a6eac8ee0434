/**
 * Standard input, output and error: what is known of them, and the few ways to write.
 * stdout carries data only; everything else goes to stderr.
 */
import type { Readable, Writable } from "node:stream";
import { escapeControlsInLines } from "./escape.ts";
import { fitMessage } from "./message-lines.ts";
import { createStyle } from "./style.ts";

export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly isStdinTerminal: boolean;
  readonly isStdoutTerminal: boolean;
  readonly isStderrTerminal: boolean;
  /** Width of stdout, or 80. */
  readonly columns: number;
  /** Width of stderr: stdout may be a file while a person reads the messages. */
  readonly stderrColumns: number;
  /** Height of stdout where it is a screen. */
  readonly rows: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether colour is wanted, for each stream; `style.ts` makes styles of it. */
  isColored: { out: boolean; err: boolean };
  /** Screen readers: nothing is redrawn. */
  readonly isAccessible: boolean;
  /** Set once the flags are read. */
  quiet: boolean;
  /** Takes out of messages what must never be shown, such as a key that was typed. */
  mask(text: string): string;
  /**
   * Drawn below the messages on stderr, such as progress: cleared before each message and redrawn after it.
   */
  drawing?: { clear(): void; draw(): void };
  /** Writes data to stdout, with backpressure. Resolves at once when the reader has closed it. */
  write(data: string | Uint8Array): Promise<void>;
  /**
   * One message on stderr, escaped; a line break is added; nothing with `--quiet`. `aside`: secondary, such
   * as what is left. `painted`: what is escaped already, and has colours of ours. `needed`: with `--quiet`
   * too, for what is an error or a warning without being called so. `verbatim`: so too, and never broken to
   * the width of the screen.
   */
  note(message: string, weight?: "aside" | "painted" | "needed" | "verbatim"): void;
  /** A warning on stderr, escaped; with `--quiet` too. */
  warn(message: string): void;
  /**
   * Waits until everything is written to stdout.
   * @returns why it could not be, such as a full disk; not a closed pipe
   */
  flush(): Promise<Error | undefined>;
  /** True when nothing more can be written to stdout: its reader closed it (`| head`), or it failed. */
  readonly isStdoutClosed: boolean;
}

export interface TerminalStreams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: Readonly<Record<string, string | undefined>>;
}

/** @param isAccessible a screen reader is at work: nothing is redrawn */
export function createTerminal(streams: TerminalStreams, isAccessible = false): Terminal {
  const { stdout, stderr, env } = streams;
  const output = createOutputStream(stdout);
  // Messages that cannot be written stop nothing: an import is worth more than its progress.
  stderr.on("error", () => undefined);

  function say(text: string, hang?: number): void {
    write(terminal.isStderrTerminal ? fitMessage(text, terminal.stderrColumns, hang) : text);
  }

  function write(lines: string): void {
    terminal.drawing?.clear();
    stderr.write(`${lines}\n`);
    terminal.drawing?.draw();
  }

  const terminal: Terminal = {
    // Node makes standard input at the first look at it: hardly a command looks.
    get stdin() {
      return streams.stdin;
    },
    stdout,
    stderr,
    env,
    get isStdinTerminal() {
      return streams.stdin.isTTY === true;
    },
    isStdoutTerminal: stdout.isTTY === true,
    isStderrTerminal: stderr.isTTY === true,
    get columns() {
      return stdout.columns || Number(env.COLUMNS) || 80;
    },
    get stderrColumns() {
      return stderr.columns || terminal.columns;
    },
    get rows() {
      // A pseudo-terminal whose size was never set reports 0.
      return stdout.isTTY ? stdout.rows || undefined : undefined;
    },
    isColored: {
      out: wantsColor(stdout.isTTY === true, env),
      err: wantsColor(stderr.isTTY === true, env),
    },
    isAccessible,
    quiet: false,
    mask: (text) => text,
    get isStdoutClosed() {
      return output.isClosed;
    },
    write: output.write,
    flush: output.flush,
    note(message, weight) {
      if (terminal.quiet && weight !== "needed" && weight !== "verbatim") return;
      const masked = terminal.mask(message);
      const text = weight === "painted" ? masked : escapeControlsInLines(masked);
      if (weight === "verbatim") write(text);
      else say(weight === "aside" ? createStyle(terminal.isColored.err).dim(text) : text);
    },
    warn(message) {
      const { yellow } = createStyle(terminal.isColored.err);
      say(`${yellow("warning:")} ${escapeControlsInLines(terminal.mask(message))}`, "warning: ".length);
    },
  };
  return terminal;
}

function wantsColor(isTerminal: boolean, env: TerminalStreams["env"]): boolean {
  if ((env.NO_COLOR ?? "") !== "") return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return isTerminal && env.TERM !== "dumb";
}

interface OutputStream {
  /** The reader has left, or writing has failed. */
  readonly isClosed: boolean;
  /** Done when it is written, or cannot be. */
  write(data: string | Uint8Array): Promise<void>;
  /**
   * Done when everything is written, or cannot be.
   * @returns what failed, other than that the reader has left
   */
  flush(): Promise<Error | undefined>;
}

/** A reader who leaves ends nothing. */
function createOutputStream(stream: Writable): OutputStream {
  let isClosed = false;
  let failure: Error | undefined;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") failure ??= error;
    isClosed = true;
  });
  stream.on("close", () => {
    isClosed = true;
  });
  const write = (data: string | Uint8Array) =>
    isClosed ? Promise.resolve() : new Promise<void>((resolve) => stream.write(data, () => resolve()));
  return {
    get isClosed() {
      return isClosed;
    },
    write,
    async flush() {
      // Pieces are taken in order: behind this one nothing is left.
      await write("");
      return failure;
    },
  };
}
