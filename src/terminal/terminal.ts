/**
 * Standard input, output and error: what is known of them, and the few ways to write.
 * stdout carries data only; everything else goes to stderr.
 */
import type { Readable, Writable } from "node:stream";
import { escapeControlsInLines } from "./escape.ts";
import { fitMessage } from "./message-lines.ts";
import { createStyle } from "./style.ts";

export interface TerminalStreams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: Readonly<Record<string, string | undefined>>;
}

/** Its members that are functions in fields are also called alone. */
export class Terminal {
  readonly stdout: TerminalStreams["stdout"];
  readonly stderr: TerminalStreams["stderr"];
  readonly env: TerminalStreams["env"];
  /** Screen readers: nothing is redrawn. */
  readonly isAccessible: boolean;
  /** Whether colour is wanted, for each stream; `style.ts` makes styles of it. */
  isColored: { out: boolean; err: boolean };
  /** Set once the flags are read. */
  quiet = false;
  /**
   * Drawn below the messages on stderr, such as progress: cleared before each message and redrawn after it.
   */
  drawing: { clear(): void; draw(): void } | undefined;
  /** Takes out of messages what must never be shown, such as a key that was typed. */
  mask: (text: string) => string = (text) => text;
  /** True when nothing more can be written to stdout: its reader closed it (`| head`), or it failed. */
  isStdoutClosed = false;
  private readonly streams: TerminalStreams;
  private failure: Error | undefined;

  /** @param isAccessible a screen reader is at work: nothing is redrawn */
  constructor(streams: TerminalStreams, isAccessible = false) {
    const { stdout, stderr, env } = streams;
    this.streams = streams;
    this.stdout = stdout;
    this.stderr = stderr;
    this.env = env;
    this.isAccessible = isAccessible;
    this.isColored = {
      out: wantsColor(this.isStdoutTerminal, env),
      err: wantsColor(this.isStderrTerminal, env),
    };
    // A reader who leaves ends nothing.
    stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") this.failure ??= error;
      this.isStdoutClosed = true;
    });
    stdout.on("close", () => {
      this.isStdoutClosed = true;
    });
    // Messages that cannot be written stop nothing: an import is worth more than its progress.
    stderr.on("error", () => undefined);
  }

  /** Node makes standard input at the first look at it: hardly a command looks. */
  get stdin(): TerminalStreams["stdin"] {
    return this.streams.stdin;
  }

  get isStdinTerminal(): boolean {
    return this.stdin.isTTY === true;
  }

  get isStdoutTerminal(): boolean {
    return this.stdout.isTTY === true;
  }

  get isStderrTerminal(): boolean {
    return this.stderr.isTTY === true;
  }

  /** Width of stdout, or 80. */
  get columns(): number {
    return this.stdout.columns || Number(this.env.COLUMNS) || 80;
  }

  /** Width of stderr: stdout may be a file while a person reads the messages. */
  get stderrColumns(): number {
    return this.stderr.columns || this.columns;
  }

  /** Height of stdout where it is a screen. A pseudo-terminal whose size was never set reports 0. */
  get rows(): number | undefined {
    return this.isStdoutTerminal ? this.stdout.rows || undefined : undefined;
  }

  /** Writes data to stdout, with backpressure. Resolves at once when the reader has closed it. */
  write(data: string | Uint8Array): Promise<void> {
    if (this.isStdoutClosed) return Promise.resolve();
    return new Promise((resolve) => this.stdout.write(data, () => resolve()));
  }

  /**
   * Waits until everything is written to stdout.
   * @returns why it could not be, such as a full disk; not a closed pipe
   */
  async flush(): Promise<Error | undefined> {
    // Pieces are taken in order: behind this one nothing is left.
    await this.write("");
    return this.failure;
  }

  /**
   * One message on stderr, escaped; a line break is added; nothing with `--quiet`. `aside`: secondary, such
   * as what is left. `painted`: what is escaped already, and has colours of ours. `needed`: with `--quiet`
   * too, for what is an error or a warning without being called so. `verbatim`: so too, and never broken to
   * the width of the screen.
   */
  readonly note = (message: string, weight?: "aside" | "painted" | "needed" | "verbatim"): void => {
    if (this.quiet && weight !== "needed" && weight !== "verbatim") return;
    const masked = this.mask(message);
    const text = weight === "painted" ? masked : escapeControlsInLines(masked);
    if (weight === "verbatim") this.writeLines(text);
    else this.say(weight === "aside" ? createStyle(this.isColored.err).dim(text) : text);
  };

  /** A warning on stderr, escaped; with `--quiet` too. */
  readonly warn = (message: string): void => {
    const { yellow } = createStyle(this.isColored.err);
    this.say(`${yellow("warning:")} ${escapeControlsInLines(this.mask(message))}`, "warning: ".length);
  };

  private say(text: string, hang?: number): void {
    this.writeLines(this.isStderrTerminal ? fitMessage(text, this.stderrColumns, hang) : text);
  }

  private writeLines(lines: string): void {
    this.drawing?.clear();
    this.stderr.write(`${lines}\n`);
    this.drawing?.draw();
  }
}

function wantsColor(isTerminal: boolean, env: TerminalStreams["env"]): boolean {
  if ((env.NO_COLOR ?? "") !== "") return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return isTerminal && env.TERM !== "dumb";
}
