/**
 * What a run came to, to be looked at: a line for each outcome with its
 * reasons, a bar of all, the first that was rejected.
 */
import type { Reject, Summary } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { advise, ecm, formatHint, type Hint } from "../../hint.ts";
import { formatDuration } from "../../moments.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { createStyle } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { addAccountFlags } from "../help/command-line.ts";
import {
  formatAboutDuration,
  formatMarked,
  formatReasons,
  formatShare,
  type MarkedEvent,
  shortPath,
  toShownReject,
} from "./words.ts";

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

// What a bulk run did, or would do, in lines.

/** Of the file that says what was not done, and why. */
function toRejectsTitle({ kind, rows }: Summary): string {
  if (kind === "undo")
    return rows.rejected > 0 ? "Not undone, with the reason" : "Restored in part, with the reason";
  return kind === "import" ? "Rejected rows (fix and import again)" : "Rejected, with the reason";
}

/** What the command knows of a run besides its summary; a run of another command tells none of it. */
export interface RunFacts {
  /** That it took. */
  seconds?: number;
  /** Requests before the price was said: they are named apart from those that it counts. */
  sentBefore?: number;
  /** Requests that the month had left when the price was said. */
  monthLeft?: number;
}

/** @param isShort at a terminal: outcomes without a contact are left out */
export function formatSummary(summary: Summary, isShort: boolean, facts: RunFacts = {}): Hint[] {
  const { seconds } = facts;
  const { kind, status, rejects } = summary;
  const lines: Hint[] = [
    `${formatTitle(summary, seconds)}: ${formatOutcomes(summary, isShort).join("; ") || "nothing to do"}`,
  ];
  lines.push(...describeMembers(summary), ...describeInactive(summary));
  lines.push(formatRequests(summary, facts));
  if (summary.backup) lines.push(`Contacts as they were before: ${summary.backup}`);
  if (rejects) {
    lines.push(`${toRejectsTitle(summary)}: ${isShort ? shortPath(rejects) : rejects}`);
  }
  if (isShort && rejects && kind === "import" && status === "completed" && summary.run !== null) {
    lines.push(advise`Fix them, then: ${ecm`runs retry ${summary.run}`}`);
  }
  lines.push(...describeUndo(summary));
  return lines;
}

/** Of a sync: what became of the list. */
function describeMembers(summary: Summary): string[] {
  if (!summary.members) return [];
  const would = createWording(summary);
  const { added, removed } = summary.members;
  return [`The list: ${formatCount(added)} ${would("added")}, ${formatCount(removed)} ${would("removed")}`];
}

function describeInactive({ kind, inactive: count }: Summary): string[] {
  if (count === 0 || kind === "unsubscribe" || kind === "delete") return [];
  const are = count === 1 ? "is" : "are";
  const inactive = `${formatCount(count)} of these contacts ${are} inactive in the account`;
  return [kind === "import" ? `${inactive}; an import does not change that` : inactive];
}

/** How what was done is taken back. Nobody is resubscribed through the API. */
function describeUndo({ kind, rows, status, run, file, codes }: Summary): Hint[] {
  if (kind === "undo") {
    const hasCreated = (codes.rejected.created ?? 0) > 0;
    return hasCreated
      ? [advise`To delete what the run created: ${ecm`runs undo ${file} --delete-created`}`]
      : [];
  }
  const isWritten = rows.created + rows.updated + rows.deleted > 0;
  if (status === "dry-run" || kind === "unsubscribe" || run === null || !isWritten) return [];
  // Without the flag the contacts that the run created would stay.
  return [advise`Undo: ${ecm`runs undo ${run} ${rows.created > 0 ? ["--delete-created"] : []}`}`];
}

/** `1,204 rows in 21 s`. */
function formatTitle({ kind, rows, status }: Summary, seconds: number | undefined): string {
  const took = status === "dry-run" || seconds === undefined ? "" : ` in ${formatDuration(seconds)}`;
  return `${formatCounted(rows.read, kind === "import" || kind === "sync" ? "row" : "contact")}${took}`;
}

function formatRequests(
  { requests, status, estimate }: Summary,
  { sentBefore: knownBefore, monthLeft }: RunFacts,
): string {
  const sentBefore = knownBefore ?? 0;
  const before = sentBefore > 0 ? `, after ${formatCount(sentBefore)} to read the account` : "";
  if (status === "dry-run") {
    const left = estimate.requests - sentBefore;
    const price = `${formatAboutDuration(estimate.seconds)}${formatShare(estimate.requests, monthLeft)}`;
    return `A real run would send ${formatCounted(left, "request")} (${price})${before}`;
  }
  const again = requests.retried > 0 ? `, ${formatCount(requests.retried)} of them retries` : "";
  return `${formatCounted(requests.total - sentBefore, "request")} sent${again}${knownBefore === undefined ? ", reading the account included" : before}`;
}

function createWording({ status }: Summary): (word: string) => string {
  return (word) => (status === "dry-run" ? `would be ${word}` : word);
}

function formatPartial({ partial = 0 }: Summary): string {
  return partial > 0 ? ` (${formatCount(partial)} in part)` : "";
}

/** Contacts that came to the same. */
export interface ShownOutcome {
  number: number;
  words: string;
  /** Of skipped and rejected ones, by code. */
  reasons?: Readonly<Record<string, number>>;
  look: "done" | "same" | "skipped" | "rejected" | "pending";
}

/** How many contacts had which outcome; of skipped and rejected ones also why. */
function formatOutcomes(summary: Summary, isShort: boolean): string[] {
  return listOutcomes(summary, isShort).map(({ number, words, reasons = {} }) => {
    const why = formatReasons(reasons);
    return `${formatCount(number)} ${words}${why === "" ? "" : `: ${why}`}`;
  });
}

/** @param isShort those without a contact are left out */
export function listOutcomes(summary: Summary, isShort: boolean): ShownOutcome[] {
  const { kind, rows, codes } = summary;
  const would = createWording(summary);
  const isRemoval = kind === "unsubscribe" || kind === "delete";
  const isBrief = isShort || isRemoval;
  const skipped = {
    number: rows.skipped,
    words: "skipped",
    reasons: codes.skipped,
    look: "skipped",
  } as const;
  const rejected = { number: rows.rejected, reasons: codes.rejected, look: "rejected" } as const;
  const done = (number: number, words: string) => ({ number, words, look: "done" }) as const;
  const same = (words: string) => ({ number: rows.unchanged, words, look: "same" }) as const;
  const all: [outcome: ShownOutcome, isLeftOut: boolean][] =
    kind === "undo"
      ? [
          [done(rows.updated, `${would("restored")}${formatPartial(summary)}`), isShort],
          [done(rows.created, would("created again")), true],
          [done(rows.deleted, would("deleted")), true],
          [same("already as before"), isShort],
          [skipped, true],
          [{ ...rejected, words: "not undone" }, isShort],
        ]
      : [
          [done(rows.created, would("created")), isBrief],
          [
            done(rows.updated, would(kind === "unsubscribe" ? "unsubscribed" : "updated")),
            isShort || kind === "delete",
          ],
          [done(rows.deleted, would("deleted")), isShort || kind !== "delete"],
          [same(isRemoval ? "already inactive" : "unchanged"), isBrief],
          [skipped, isBrief],
          [{ ...rejected, words: "rejected" }, isBrief],
        ];
  all.push([{ number: rows.pending, words: "not attempted", look: "pending" }, true]);
  return all.flatMap(([outcome, isLeftOut]) => (outcome.number > 0 || !isLeftOut ? [outcome] : []));
}

// What is said of a run when it has ended.

export interface EndDetails extends RunFacts {
  /** Lines about what was changed, where there are few. */
  changes: readonly string[];
  /** Contacts that a file marks as unsubscribed. */
  marked: readonly MarkedEvent[];
  firstRejects: readonly Reject[];
}

/** What became of the run. A quiet one still says what was rejected. */
export function noteEnd(
  { terminal, settings }: Pick<Context, "terminal" | "settings">,
  summary: Summary,
  { changes, marked, firstRejects, ...facts }: EndDetails,
): void {
  const isShort = terminal.isStderrTerminal;
  const lines = formatSummary(summary, isShort, facts);
  const withAccount = (line: Hint) => addAccountFlags(line, settings);
  const [counts = "", ...rest] = lines.map(withAccount);
  const mark = toMark(terminal, summary);
  const { stderrColumns: columns, isAccessible, isColored } = terminal;
  const screen = { columns, isAccessible, isColored: isColored.err };
  const shown = isShort
    ? resultLines(screen, summary, { seconds: facts.seconds, firstRejects })
    : [escapeControls(formatHint(counts))];
  for (const [at, line] of shown.entries()) {
    terminal.note(`${at === 0 ? mark : ""}${formatHint(withAccount(line))}`, "painted");
  }
  for (const line of changes) terminal.note(line, "painted");
  for (const line of rest) terminal.note(formatHint(line));
  if (terminal.quiet && summary.rows.rejected > 0) {
    terminal.note(
      [counts, ...rest]
        .map((line) => formatHint(line))
        .filter((line, at) => at === 0 || line.startsWith(toRejectsTitle(summary)))
        .join("\n"),
      "needed",
    );
  }
  for (const group of marked) {
    for (const line of formatMarked(group, summary)) terminal.note(line, "needed");
  }
}

/** A tick for what is done, where marks are drawn; none where all were passed over. */
function toMark(terminal: Terminal, { status, rows }: Summary): string {
  if (!terminal.isStderrTerminal || terminal.isAccessible || status !== "completed") return "";
  const { green, yellow } = createStyle(terminal.isColored.err);
  const isDone = rows.rejected === 0 && (rows.skipped === 0 || rows.skipped < rows.read);
  return !isDone ? `${yellow("!")} ` : `${green("✓")} `;
}
