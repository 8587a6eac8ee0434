/**
 * What a run came to, or would come to: one sentence, and at a terminal a line for each outcome with its
 * reasons, a bar of all, the first that was rejected.
 */
import type { ListDeletion, Price, Reject, Summary } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { advise, ecm, type Hint } from "../../hint.ts";
import { formatDuration } from "../../moments.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { createStyle } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { formatForAccount } from "../help/command-line.ts";
import {
  formatCost,
  formatMarked,
  formatReasons,
  type MarkedEvent,
  shortenValue,
  shortPath,
} from "./words.ts";

/** What is known of a run besides its summary; a command that shows an earlier run knows none of it. */
interface RunFacts {
  /** How long it took. */
  seconds?: number;
  /** The price as it was told before the first write. */
  price?: Price;
  firstRejects?: readonly Reject[];
  /** Lists that are deleted once it has written everybody: an undo would then leave people in none. */
  after?: readonly ListDeletion[];
}

// What became of the contacts.

/** Contacts that came to the same. */
interface ShownOutcome {
  number: number;
  words: string;
  /** Why contacts were skipped or rejected, by code. */
  reasons: Readonly<Record<string, number>>;
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
  const { skipped, rejected } = codes;
  const outcomes: ShownOutcome[] = [
    { number: rows.created, words: would(isUndo ? "created again" : "created"), reasons: {}, look: "done" },
    { number: rows.updated, words: updated, reasons: {}, look: "done" },
    { number: rows.deleted, words: would("deleted"), reasons: {}, look: "done" },
    { number: rows.unchanged, words: same, reasons: {}, look: "same" },
    { number: rows.skipped, words: "skipped", reasons: skipped, look: "skipped" },
    { number: rows.rejected, words: isUndo ? "not undone" : "rejected", reasons: rejected, look: "rejected" },
    { number: rows.pending, words: "not attempted", reasons: {}, look: "pending" },
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
  const outcomes = listOutcomes(summary).map(({ number, words, reasons }) => {
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
  { seconds, firstRejects = [] }: RunFacts = {},
): Hint[] {
  const columns = stream === "out" ? terminal.columns : terminal.stderrColumns;
  const outcomes = listOutcomes(summary);
  const lines = rejectLines(columns, summary, firstRejects);
  if (terminal.isAccessible || outcomes.length < 2)
    return [escapeControls(formatSentence(summary, seconds)), ...lines];
  const { green, yellow, dim } = createStyle(terminal.isColored[stream]);
  const looks = { done: green, same: dim, skipped: dim, rejected: yellow, pending: dim };
  const bar = outcomes.map(({ look, number }) => {
    const length = Math.max(1, Math.round((number / summary.rows.read) * barWidth));
    return looks[look](marks[look].repeat(length));
  });
  const digits = Math.max(...outcomes.map(({ number }) => formatCount(number).length));
  const widest = Math.max(...outcomes.map(({ words }) => words.length));
  const hang = Math.min(indent.length + digits + widest + 3, columns - 30);
  const counted = outcomes.map(({ number, words, reasons, look }) => {
    const why = escapeControls(formatReasons(reasons));
    const start = `${formatCount(number).padStart(digits)} ${words.padEnd(why === "" ? 0 : widest)}`;
    const line = fitMessage(`${indent}${start}  ${why}`.trimEnd(), columns, hang);
    return line.replace(start, looks[look](start));
  });
  return [`${formatTitle(summary, seconds)}:  ${bar.join("")}`, ...counted, ...lines];
}

/** `line 17  klaus@@example.de  not an email address`. */
function rejectLines(columns: number, summary: Summary, rejects: readonly Reject[]): Hint[] {
  if (rejects.length === 0) return [];
  const { rows, run } = summary;
  const digits = Math.max(...rejects.map(({ line }) => String(line).length));
  const lines: Hint[] = rejects.map(({ line, value, message }) => {
    const where = hasRows(summary) ? `line ${String(line).padStart(digits)}  ` : "";
    const what = value === "" ? message : `${shortenValue(value)}  ${message}`;
    return fitMessage(`${indent}${where}${escapeControls(what)}`, columns);
  });
  const more = rows.rejected - rejects.length;
  const all = run === null ? "" : advise`: ${ecm`runs rejects ${run}`}`;
  return more > 0 ? [...lines, advise`${indent}… ${formatCount(more)} more${all}`] : lines;
}

// What is said of a run when it has ended.

/** What follows on the outcomes. @param isShort at a terminal, where paths are as somebody would type them */
export function formatSummary(
  summary: Summary,
  isShort: boolean,
  { price, after = [] }: RunFacts = {},
): Hint[] {
  const { rejects, backup, kind, status, run } = summary;
  const lines: Hint[] = [...describeAccount(summary), formatRequests(summary, price)];
  if (backup) lines.push(`Contacts as they were before: ${backup}`);
  lines.push(...formatRejectsPlace(summary, isShort));
  if (isShort && rejects && kind === "import" && status === "completed" && run !== null)
    lines.push(advise`Fix them, then: ${ecm`runs retry ${run}`}`);
  const isFollowed = after.length > 0 && status === "completed" && summary.rows.rejected === 0;
  const undo = isFollowed ? undefined : adviseUndo(summary);
  return undo === undefined ? lines : [...lines, undo];
}

/** Members of a synced list; inactive contacts, which stay so. */
function describeAccount({ members, inactive, kind, status }: Summary): string[] {
  const would = status === "dry-run" ? "would be " : "";
  const lines: string[] = [];
  if (members) {
    const [added, removed] = [formatCount(members.added), formatCount(members.removed)];
    lines.push(`The list: ${added} ${would}added, ${removed} ${would}removed`);
  }
  if (inactive > 0 && kind !== "unsubscribe" && kind !== "delete") {
    const stays = kind === "import" ? "; an import does not change that" : "";
    const are = inactive === 1 ? "is" : "are";
    lines.push(`${formatCount(inactive)} of these contacts ${are} inactive in the account${stays}`);
  }
  return lines;
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

/** Where the file is that says what was not done, and why. */
function formatRejectsPlace({ kind, rows, rejects }: Summary, isShort: boolean): string[] {
  if (!rejects) return [];
  const ofUndo = rows.rejected > 0 ? "Not undone, with the reason" : "Restored in part, with the reason";
  const ofOthers = kind === "import" ? "Rejected rows (fix and import again)" : "Rejected, with the reason";
  return [`${kind === "undo" ? ofUndo : ofOthers}: ${isShort ? shortPath(rejects) : rejects}`];
}

/** The requests that the price counts, and apart from them those sent before it was told. */
function formatRequests({ requests, status, estimate }: Summary, price: Price | undefined): string {
  const before = price ? price.estimate.requests - price.left : 0;
  const apart = before > 0 ? `, after ${formatCount(before)} to read the account` : "";
  if (status === "dry-run") {
    const all = estimate.requests;
    return `A real run would send ${formatCost(all - before, estimate.seconds, price?.monthLeft, all)}${apart}`;
  }
  const again = requests.retried > 0 ? `, ${formatCount(requests.retried)} of them retries` : "";
  return `${formatCounted(requests.total - before, "request")} sent${again}${price ? apart : ", reading the account included"}`;
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
  const sentence = formatSentence(summary, facts.seconds);
  const results = isShort ? resultLines(terminal, "err", summary, facts) : [escapeControls(sentence)];
  const further = formatSummary(summary, isShort, facts).map((line) => formatForAccount(line, settings));
  for (const [at, line] of results.entries())
    terminal.note(
      `${at === 0 ? toMark(terminal, summary) : ""}${formatForAccount(line, settings)}`,
      "painted",
    );
  for (const line of changes) terminal.note(line, "painted");
  for (const line of further) terminal.note(line);
  if (terminal.quiet && summary.rows.rejected > 0)
    terminal.note([sentence, ...formatRejectsPlace(summary, isShort)].join("\n"), "needed");
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
