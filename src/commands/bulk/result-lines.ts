/**
 * What a run came to, to be looked at: a line for each outcome with its
 * reasons, a bar of all, the first that was rejected.
 */
import type { Reject, Summary } from "../../bulk/index.ts";
import { formatCount } from "../../counts.ts";
import { advise, ecm, formatHint, type Hint } from "../../hint.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { createStyle } from "../../terminal/style.ts";
import { formatReasons } from "./format.ts";
import { formatSummary, formatTitle, listOutcomes, type ShownOutcome } from "./summary-lines.ts";
import { toShownReject } from "./words.ts";

interface Screen {
  columns: number;
  isColored: boolean;
  isAccessible: boolean;
}

export interface ResultDetails {
  /** That it took; undefined where nobody knows it any more. */
  seconds?: number;
  firstRejects?: readonly Reject[];
}

const barWidth = 30;
const indent = "    ";
/** Told apart without colour too. */
const marks: Record<ShownOutcome["look"], string> = {
  done: "█",
  same: "▓",
  skipped: "▒",
  rejected: "×",
  pending: "░",
};

/**
 * Escaped and painted, each within the width of the screen. One outcome
 * alone, and what is read aloud, is a sentence.
 */
export function resultLines(
  screen: Screen,
  summary: Summary,
  { seconds, firstRejects = [] }: ResultDetails,
): Hint[] {
  const outcomes = listOutcomes(summary, true);
  const rejects = rejectLines(screen, summary, firstRejects);
  if (screen.isAccessible || outcomes.length < 2) {
    return [escapeControls(formatHint(formatSummary(summary, true, { seconds })[0]!)), ...rejects];
  }
  return [
    `${formatTitle(summary, seconds)}:  ${drawBar(outcomes, screen)}`,
    ...outcomeLines(outcomes, screen),
    ...rejects,
  ];
}

function outcomeLines(outcomes: readonly ShownOutcome[], { columns, isColored }: Screen): string[] {
  const digits = Math.max(...outcomes.map(({ number }) => formatCount(number).length));
  const widest = Math.max(...outcomes.map(({ words }) => words.length));
  return outcomes.map((outcome) => {
    const { number, words, reasons = {} } = outcome;
    const why = escapeControls(formatReasons(reasons));
    const start = `${formatCount(number).padStart(digits)} ${why === "" ? words : words.padEnd(widest)}`;
    const hang = indent.length + digits + widest + 3;
    const line = why === "" ? `${indent}${start}` : `${indent}${start}  ${why}`;
    const fitted = fitMessage(line, columns, Math.min(hang, columns - 30));
    return fitted.replace(start, painted(start, outcome, isColored));
  });
}

/** Each outcome has a part, however small. */
function drawBar(outcomes: readonly ShownOutcome[], { isColored }: Screen): string {
  const total = outcomes.reduce((sum, { number }) => sum + number, 0);
  const spare = barWidth - outcomes.length;
  let before = 0;
  return outcomes
    .map((outcome) => {
      const from = Math.round((before / total) * spare);
      before += outcome.number;
      const length = 1 + Math.round((before / total) * spare) - from;
      return painted(marks[outcome.look].repeat(length), outcome, isColored);
    })
    .join("");
}

function painted(text: string, { look }: ShownOutcome, isColored: boolean): string {
  const { green, yellow, dim } = createStyle(isColored);
  if (look === "done") return green(text);
  return look === "rejected" ? yellow(text) : dim(text);
}

/** `line 17  klaus@@example.de  not an email address`. */
function rejectLines({ columns }: Screen, { kind, rows, run }: Summary, rejects: readonly Reject[]): Hint[] {
  if (rejects.length === 0) return [];
  const hasLines = kind === "import" || kind === "sync";
  const digits = Math.max(...rejects.map(({ line }) => String(line).length));
  const lines: Hint[] = rejects.map(toShownReject).map(({ line, value, why }) => {
    const where = hasLines ? `line ${String(line).padStart(digits)}  ` : "";
    return fitMessage(`${indent}${where}${escapeControls(value === "" ? why : `${value}  ${why}`)}`, columns);
  });
  const more = rows.rejected - rejects.length;
  if (more > 0)
    lines.push(
      advise`${indent}… ${formatCount(more)} more${run === null ? "" : advise`: ${ecm`runs rejects ${run}`}`}`,
    );
  return lines;
}
