/** One line that says how far a long command is: redrawn on a terminal, repeated as plain text elsewhere. */
import stringWidth from "fast-string-width";
import { escapeControls } from "./escape.ts";
import type { Terminal } from "./terminal.ts";

export interface Progress {
  /** A message that stays, above the line. */
  note(message: string): void;
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
  let isDrawn = false;
  const clear = () => {
    if (isDrawn) terminal.stderr.write("\r\x1b[2K");
    isDrawn = false;
  };
  const draw = () => {
    const text = describe();
    clear();
    if (text === undefined) return;
    terminal.stderr.write(cut(escapeControls(text), terminal.columns - 1));
    isDrawn = true;
  };
  const timer = setInterval(draw, redrawMilliseconds);
  draw();
  return {
    note(message) {
      clear();
      terminal.note(message);
      draw();
    },
    refresh: draw,
    close() {
      clearInterval(timer);
      clear();
    },
  };
}

function repeated(terminal: Terminal, describe: () => string | undefined): Progress {
  let last: string | undefined;
  const say = () => {
    const text = describe();
    if (text === undefined || text === last || terminal.quiet) return;
    last = text;
    terminal.note(text);
  };
  const timer = setInterval(say, terminal.isStderrTerminal ? spokenMilliseconds : loggedMilliseconds);
  return {
    note: (message) => terminal.note(message),
    refresh: () => undefined,
    close: () => clearInterval(timer),
  };
}

/** To fit one line: a line that wraps cannot be redrawn. */
function cut(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const character of text) {
    const wide = stringWidth(character);
    if (width + wide > columns - 1) break;
    kept += character;
    width += wide;
  }
  return `${kept}…`;
}
