/**
 * Lines that say how far a long command is: redrawn on a terminal, repeated as one line of plain text
 * elsewhere.
 */
import { escapeControls } from "./escape.ts";
import type { Terminal } from "./terminal.ts";
import { cut, measureWidth } from "./text-width.ts";

export interface Progress {
  /** Draws at once instead of at the next interval. */
  refresh(): void;
  close(): void;
}

const redrawIntervalMilliseconds = 200;
/** Plain lines, in milliseconds: for a person who listens, and for a log. */
const accessibleIntervalMilliseconds = 5_000;
const logIntervalMilliseconds = 30_000;
const noticeIntervalMilliseconds = 1_000;

/** The lines as they are now; undefined for nothing to say. */
type Describe = () => readonly string[] | undefined;

/** Whether progress is redrawn in place: bars make no sense in a log or to a screen reader. */
function isRedrawn({ isStderrTerminal, isAccessible }: Terminal): boolean {
  return isStderrTerminal && !isAccessible;
}

/**
 * @param turn names what everything is waiting for; where nothing is redrawn, the lines are repeated at once
 *   when another wait begins
 */
export function showProgress(
  terminal: Terminal,
  describe: Describe,
  turn: () => string | undefined = () => undefined,
): Progress {
  return isRedrawn(terminal) ? createRedrawn(terminal, describe) : createRepeated(terminal, describe, turn);
}

function createRedrawn(terminal: Terminal, describe: Describe): Progress {
  let drawnWidths: number[] = [];
  const clear = () => {
    if (drawnWidths.length === 0) return;
    // A screen that was made narrower has wrapped the lines: all of their rows go.
    const rows = drawnWidths.map((width) => Math.max(1, Math.ceil(width / terminal.stderrColumns)));
    const rowsAbove = rows.reduce((sum, each) => sum + each, -1);
    terminal.stderr.write(`${rowsAbove > 0 ? `\x1b[${rowsAbove}A` : ""}\r\x1b[${rowsAbove > 0 ? "J" : "2K"}`);
    drawnWidths = [];
  };
  const draw = () => {
    const described = describe();
    clear();
    if (described === undefined || terminal.quiet) return;
    const lines = described.map((line) =>
      cut(escapeControls(terminal.mask(line)), terminal.stderrColumns - 1),
    );
    terminal.stderr.write(lines.join("\n"));
    drawnWidths = lines.map(measureWidth);
  };
  const timer = setInterval(draw, redrawIntervalMilliseconds);
  draw();
  terminal.drawing = { clear, draw };
  return {
    refresh: draw,
    close() {
      clearInterval(timer);
      clear();
      terminal.drawing = undefined;
    },
  };
}

function createRepeated(terminal: Terminal, describe: Describe, turn: () => string | undefined): Progress {
  let last: string | undefined;
  let lastTurn: string | undefined;
  const say = () => {
    const text = describe()?.join(" · ");
    if (text === undefined || text === last) return;
    last = text;
    terminal.note(text);
  };
  const notice = () => {
    const now = turn();
    if (now !== undefined && now !== lastTurn) say();
    lastTurn = now;
  };
  const timers = [
    setInterval(say, terminal.isStderrTerminal ? accessibleIntervalMilliseconds : logIntervalMilliseconds),
    setInterval(notice, noticeIntervalMilliseconds),
  ];
  return {
    refresh: notice,
    close() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

const barWidth = 20;

/** How far something is, as a percentage, and a bar where it is redrawn. @param share from 0 to 1 */
export function formatProgressBar(share: number, terminal: Terminal): string {
  const done = Math.min(1, Math.max(0, share));
  const percent = Math.floor(done * 100);
  if (!isRedrawn(terminal)) return `${percent} %`;
  const full = Math.floor(done * barWidth);
  return `${"█".repeat(full)}${"░".repeat(barWidth - full)} ${String(percent).padStart(3)} %`;
}
