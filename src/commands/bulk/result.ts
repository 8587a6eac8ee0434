/**
 * What a run came to, or would come to: one sentence, and at a terminal a line for each outcome with its reasons,
 * a bar of all, the first that was rejected.
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

/** What is known of a run besides its summary; a command that shows an earlier run knows none of the numbers. */
export interface RunFacts {
  /** That it took. */
  seconds?: number;
  /** Requests before the price was said: they are named apart from those that it counts. */
  sentBefore?: number;
  /** Requests that the month had left when the price was said. */
  monthLeft?: number;
  firstRejects?: readonly Reject[];
}

// What became of the contacts.

/** Contacts that came to the same. */
export interface ShownOutcome {
  number: number;
  words: string;
  /** Of skipped and rejected ones, by code. */
  reasons?: Readonly<Record<string, number>>;
  look: "done" | "same" | "skipped" | "rejected" | "pending";
}

/** How many contacts had which outcome; those without a contact are left out. */
export function listOutcomes({ kind, rows, codes, status, partial = 0 }: Summary): ShownOutcome[] {
  const would = (word: string) => (status === "dry-run" ? `would be ${word}` : word);
  const isUndo = kind === "undo";
  const isRemoval = kind === "unsubscribe" || kind === "delete";
  const restored = `${would("restored")}${partial > 0 ? ` (${formatCount(partial)} in part)` : ""}`;
  const updated = isUndo ? restored : would(kind === "unsubscribe" ? "unsubscribed" : "updated");
  const same = isUndo ? "already as before" : isRemoval ? "already inactive" : "unchanged";
  const outcomes: ShownOutcome[] = [
    { number: rows.created, words: would(isUndo ? "created again" : "created"), look: "done" },
    { number: rows.updated, words: updated, look: "done" },
    { number: rows.deleted, words: would("deleted"), look: "done" },
    { number: rows.unchanged, words: same, look: "same" },
    { number: rows.skipped, words: "skipped", reasons: codes.skipped, look: "skipped" },
    {
      number: rows.rejected,
      words: isUndo ? "not undone" : "rejected",
      reasons: codes.rejected,
      look: "rejected",
    },
    { number: rows.pending, words: "not attempted", look: "pending" },
  ];
  return outcomes.filter(({ number }) => number > 0);
}

/** Whether it is of rows of a file, and not of contacts that were chosen. */
export function hasRows({ kind }: Pick<Summary, "kind">): boolean {
  return kind === "import" || kind === "sync";
}

/** `1,204 rows in 21 s`. */
function formatTitle(summary: Summary, seconds: number | undefined): string {
  const took = summary.status === "dry-run" || seconds === undefined ? "" : ` in ${formatDuration(seconds)}`;
  return `${formatCounted(summary.rows.read, hasRows(summary) ? "row" : "contact")}${took}`;
}

/** `1,204 rows in 21 s: 812 created; 3 rejected: no email address (3)`. */
function formatSentence(summary: Summary, seconds: number | undefined): string {
  const outcomes = listOutcomes(summary).map(({ number, words, reasons = {} }) => {
    const why = formatReasons(reasons);
    return `${formatCount(number)} ${words}${why === "" ? "" : `: ${why}`}`;
  });
  return `${formatTitle(summary, seconds)}: ${outcomes.join("; ") || "nothing to do"}`;
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
 * Escaped and painted, each within the width of the screen. One outcome alone, and what is read aloud, is a
 * sentence.
 */
export function resultLines(
  terminal: Terminal,
  stream: "out" | "err",
  summary: Summary,
  { seconds, firstRejects = [] }: RunFacts,
): Hint[] {
  const columns = stream === "out" ? terminal.columns : terminal.stderrColumns;
  const outcomes = listOutcomes(summary);
  const rejects = rejectLines(columns, summary, firstRejects);
  if (terminal.isAccessible || outcomes.length < 2)
    return [escapeControls(formatSentence(summary, seconds)), ...rejects];
  const { green, yellow, dim } = createStyle(terminal.isColored[stream]);
  const paint = (text: string, { look }: ShownOutcome) =>
    look === "done" ? green(text) : look === "rejected" ? yellow(text) : dim(text);
  const digits = Math.max(...outcomes.map(({ number }) => formatCount(number).length));
  const widest = Math.max(...outcomes.map(({ words }) => words.length));
  const lines = outcomes.map((outcome) => {
    const why = escapeControls(formatReasons(outcome.reasons ?? {}));
    const start = `${formatCount(outcome.number).padStart(digits)} ${outcome.words.padEnd(why === "" ? 0 : widest)}`;
    const hang = indent.length + digits + widest + 3;
    const fitted = fitMessage(`${indent}${start}  ${why}`.trimEnd(), columns, Math.min(hang, columns - 30));
    return fitted.replace(start, paint(start, outcome));
  });
  const bar = outcomes.map((outcome, at) =>
    paint(marks[outcome.look].repeat(toLength(outcomes, at)), outcome),
  );
  return [`${formatTitle(summary, seconds)}:  ${bar.join("")}`, ...lines, ...rejects];
}

/** Of an outcome in the bar: each has a part, however small. */
function toLength(outcomes: readonly ShownOutcome[], at: number): number {
  const count = (end: number) => outcomes.slice(0, end).reduce((sum, { number }) => sum + number, 0);
  const spare = barWidth - outcomes.length;
  const toPlace = (end: number) => Math.round((count(end) / count(outcomes.length)) * spare);
  return 1 + toPlace(at + 1) - toPlace(at);
}

/** `line 17  klaus@@example.de  not an email address`. */
function rejectLines(columns: number, summary: Summary, rejects: readonly Reject[]): Hint[] {
  if (rejects.length === 0) return [];
  const { rows, run } = summary;
  const digits = Math.max(...rejects.map(({ line }) => String(line).length));
  const lines: Hint[] = rejects.map(toShownReject).map(({ line, value, why }) => {
    const where = hasRows(summary) ? `line ${String(line).padStart(digits)}  ` : "";
    return fitMessage(`${indent}${where}${escapeControls(value === "" ? why : `${value}  ${why}`)}`, columns);
  });
  const more = rows.rejected - rejects.length;
  const all = run === null ? "" : advise`: ${ecm`runs rejects ${run}`}`;
  return more > 0 ? [...lines, advise`${indent}… ${formatCount(more)} more${all}`] : lines;
}

// What is said of a run when it has ended.

/** What follows on the outcomes. @param isShort at a terminal, where paths are as somebody would type them */
export function formatSummary(summary: Summary, isShort: boolean, facts: RunFacts = {}): Hint[] {
  const { rejects, backup, kind, status, run } = summary;
  const lines: Hint[] = [...describeAccount(summary), formatRequests(summary, facts)];
  if (backup) lines.push(`Contacts as they were before: ${backup}`);
  if (rejects) lines.push(`${toRejectsTitle(summary)}: ${isShort ? shortPath(rejects) : rejects}`);
  if (isShort && rejects && kind === "import" && status === "completed" && run !== null)
    lines.push(advise`Fix them, then: ${ecm`runs retry ${run}`}`);
  const undo = adviseUndo(summary);
  return undo === undefined ? lines : [...lines, undo];
}

/** Members of a synced list; inactive contacts, which stay so. */
function describeAccount({ members, inactive, kind, status }: Summary): string[] {
  const would = status === "dry-run" ? "would be " : "";
  const isEnd = kind === "unsubscribe" || kind === "delete";
  const stays = kind === "import" ? "; an import does not change that" : "";
  return [
    ...(members
      ? [
          `The list: ${formatCount(members.added)} ${would}added, ${formatCount(members.removed)} ${would}removed`,
        ]
      : []),
    ...(inactive > 0 && !isEnd
      ? [
          `${formatCount(inactive)} of these contacts ${inactive === 1 ? "is" : "are"} inactive in the account${stays}`,
        ]
      : []),
  ];
}

/** How what was done is taken back. Nobody is resubscribed through the API. */
function adviseUndo({ kind, rows, status, run, file, codes }: Summary): Hint | undefined {
  if (kind === "undo") {
    const hasCreated = (codes.rejected.created ?? 0) > 0;
    return hasCreated
      ? advise`To delete what the run created: ${ecm`runs undo ${file} --delete-created`}`
      : undefined;
  }
  const isWritten = rows.created + rows.updated + rows.deleted > 0;
  if (status === "dry-run" || kind === "unsubscribe" || run === null || !isWritten) return undefined;
  // Without the flag the contacts that the run created would stay.
  return advise`Undo: ${ecm`runs undo ${run} ${rows.created > 0 ? ["--delete-created"] : []}`}`;
}

/** Of the file that says what was not done, and why. */
function toRejectsTitle({ kind, rows }: Summary): string {
  if (kind === "import") return "Rejected rows (fix and import again)";
  if (kind !== "undo") return "Rejected, with the reason";
  return rows.rejected > 0 ? "Not undone, with the reason" : "Restored in part, with the reason";
}

function formatRequests(
  { requests, status, estimate }: Summary,
  { sentBefore, monthLeft }: RunFacts,
): string {
  const before = sentBefore ? `, after ${formatCount(sentBefore)} to read the account` : "";
  if (status === "dry-run") {
    const left = estimate.requests - (sentBefore ?? 0);
    const price = `${formatAboutDuration(estimate.seconds)}${formatShare(estimate.requests, monthLeft)}`;
    return `A real run would send ${formatCounted(left, "request")} (${price})${before}`;
  }
  const again = requests.retried > 0 ? `, ${formatCount(requests.retried)} of them retries` : "";
  const all = sentBefore === undefined ? ", reading the account included" : before;
  return `${formatCounted(requests.total - (sentBefore ?? 0), "request")} sent${again}${all}`;
}

/**
 * What became of the run. A quiet one still says what was rejected.
 * @param changes lines about what was changed
 * @param marked contacts that the file marks as unsubscribed
 */
export function noteEnd(
  { terminal, settings }: Pick<Context, "terminal" | "settings">,
  summary: Summary,
  facts: RunFacts,
  { changes, marked }: { changes: readonly string[]; marked: readonly MarkedEvent[] },
): void {
  const isShort = terminal.isStderrTerminal;
  const withAccount = (line: Hint) => formatHint(addAccountFlags(line, settings));
  const sentence = formatSentence(summary, facts.seconds);
  const results = isShort
    ? resultLines(terminal, "err", summary, facts).map(withAccount)
    : [escapeControls(sentence)];
  const further = formatSummary(summary, isShort, facts).map(withAccount);
  for (const [at, line] of results.entries())
    terminal.note(`${at === 0 ? toMark(terminal, summary) : ""}${line}`, "painted");
  for (const line of changes) terminal.note(line, "painted");
  for (const line of further) terminal.note(line);
  if (terminal.quiet && summary.rows.rejected > 0) {
    const rejects = further.filter((line) => line.startsWith(toRejectsTitle(summary)));
    terminal.note([sentence, ...rejects].join("\n"), "needed");
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
  return isDone ? `${green("✓")} ` : `${yellow("!")} `;
}
