/** One line that says how far a long command is: redrawn on a terminal, repeated as plain text elsewhere. */
import { escapeControls } from "./escape.ts";
import type { Terminal } from "./terminal.ts";
import { cut, widthOf } from "./text-width.ts";

export interface Progress {
  /** A message that stays, above the line. */
  note(message: string, weight?: "needed"): void;
  /** Draws at once; for when something has changed that a reader waits for. */
  refresh(): void;
  close(): void;
}

const redrawMilliseconds = 200;
/** Plain lines, in milliseconds: for a person who listens, and for a log. */
const spokenMilliseconds = 5_000;
const loggedMilliseconds = 30_000;

/** @param describe the line as it is now; undefined for nothing to say */
export function showProgress(terminal: Terminal, describe: () => string | undefined): Progress {
  if (terminal.isStderrTerminal && !terminal.isAccessible) return redrawn(terminal, describe);
  return repeated(terminal, describe);
}

function redrawn(terminal: Terminal, describe: () => string | undefined): Progress {
  let drawnWidth = 0;
  const clear = () => {
    if (drawnWidth === 0) return;
    // A screen that was made narrower has wrapped the line: all of its rows go.
    const rowsAbove = Math.ceil(drawnWidth / terminal.columns) - 1;
    terminal.stderr.write(`${rowsAbove > 0 ? `\x1b[${rowsAbove}A` : ""}\r\x1b[${rowsAbove > 0 ? "J" : "2K"}`);
    drawnWidth = 0;
  };
  const draw = () => {
    const text = describe();
    clear();
    if (text === undefined || terminal.quiet) return;
    const line = cut(escapeControls(text), terminal.columns - 1);
    terminal.stderr.write(line);
    drawnWidth = widthOf(line);
  };
  const timer = setInterval(draw, redrawMilliseconds);
  draw();
  terminal.drawing = { clear, draw };
  return {
    note: (message, weight) => terminal.note(message, weight),
    refresh: draw,
    close() {
      clearInterval(timer);
      clear();
      terminal.drawing = undefined;
    },
  };
}

function repeated(terminal: Terminal, describe: () => string | undefined): Progress {
  let last: string | undefined;
  const say = () => {
    const text = describe();
    if (text === undefined || text === last) return;
    last = text;
    terminal.note(text);
  };
  const timer = setInterval(say, terminal.isStderrTerminal ? spokenMilliseconds : loggedMilliseconds);
  return {
    note: (message, weight) => terminal.note(message, weight),
    refresh: () => undefined,
    close: () => clearInterval(timer),
  };
}

/** How far something is, as a bar and a percentage. @param share from 0 to 1 */
export function progressBar(share: number, width = 20): string {
  const done = Math.min(1, Math.max(0, share));
  const full = Math.floor(done * width);
  return `${"█".repeat(full)}${"░".repeat(width - full)} ${String(Math.floor(done * 100)).padStart(3)} %`;
}
