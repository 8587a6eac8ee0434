/**
 * The messages of a bulk run: what was read, what it costs, its progress, what it did. All of them go to
 * stderr.
 */

import {
  type Closed,
  describeDoubts,
  type MissingName,
  type MissingNames,
  type Price,
  type RowCounts,
  type RunEvent,
  type RunProgress,
  type ShownReject,
  type Summary,
} from "../../../bulk/index.ts";
import { loadAllChunks } from "../../../chunks.ts";
import type { Context } from "../../../context.ts";
import { formatProgressBar, type Progress, showProgress } from "../../../terminal/progress.ts";
import { createStyle } from "../../../terminal/style.ts";
import type { Terminal } from "../../../terminal/terminal.ts";
import { resultLines } from "../../bulk/result-lines.ts";
import { addAccountFlags } from "../command-line.ts";
import { formatConsent, formatMarked, type MarkedEvent } from "./consent-lines.ts";
import { capitalize, formatAboutDuration, formatCount, formatCounted, formatDuration } from "./format.ts";
import { formatMapping } from "./mapping-lines.ts";
import { formatSummary, toRejectsTitle } from "./summary-lines.ts";

export interface RunDisplay {
  on(event: RunEvent): void;
  /** The summary of a run. @param changes the first changes of its plan */
  end(closed: Closed, changes?: readonly string[]): void;
  /** The summary of a run that was refused before its first write. */
  refused(): Summary | undefined;
  /** Draws nothing while a question is asked. */
  whileAsking<T>(ask: () => Promise<T>): Promise<T>;
  close(): void;
}

/** A run that takes longer than this loads all of the program before its first write. */
const longRunSeconds = 10;

/** Says at once that something has begun. @param what such as `importing people.csv` */
export function displayRun(context: Context, what: string, isDryRun: boolean): RunDisplay {
  /** Of the work: while a question is open, nobody waits for it. */
  let startedAt = context.clock.now();
  let sentBefore = 0;
  let progressNow: (() => RunProgress) | undefined;
  let doneBefore = 0;
  const marked: MarkedEvent[] = [];
  let refused: Summary | undefined;
  let isAsking = false;
  const lines = () => {
    if (isAsking) return undefined;
    const since = { start: startedAt, done: doneBefore };
    return progressNow
      ? describeProgress(context.terminal, progressNow(), since, context.clock.now())
      : [what];
  };
  const progress: Progress = showProgress(context.terminal, lines, () =>
    findStateChange(progressNow?.(), context.clock.now()),
  );
  progress.note(what);
  /** What a dry run found out about the real one. */
  function noteMonthShare({ estimate, monthLeft = 0 }: Price): void {
    if (monthLeft <= 0) return;
    const share = computeShare(estimate.requests, monthLeft);
    progress.note(`A real run would use ${share} % of the requests left this month`);
  }

  return {
    on(event) {
      switch (event.kind) {
        case "phase":
          progressNow = event.progress;
          break;
        case "understood":
          for (const note of event.facts.notes) progress.note(note);
          for (const text of event.facts.warnings ?? []) progress.note(`warning: ${text}`, "needed");
          if (context.terminal.isStderrTerminal) {
            for (const line of formatMapping(event.facts, context.terminal.stderrColumns))
              progress.note(line);
          }
          break;
        case "surveyed":
          for (const line of event.survey.notes) progress.note(line);
          if (event.joined.passedOver > 0) progress.note(describeJoinedRows(event));
          for (const line of formatConsent(event.survey.consent, event.survey.read, event.notSubscribedAre)) {
            progress.note(line, event.survey.consent.unclearCount > 0 ? "needed" : undefined);
          }
          break;
        case "names-missing":
          for (const line of describeMissingNames(event.missing)) progress.note(line);
          break;
        case "input-changed":
          progress.note(
            `The file has changed since run ${event.older} stopped: this is a new run\nRemove the old one: ecm runs remove ${event.older}`,
            "needed",
          );
          break;
        case "entered":
          doneBefore = countSettled(event.rows);
          if (event.isResumed) {
            progress.note(
              `Resuming run ${event.run} (${formatCount(doneBefore)}${event.rows.read > 0 ? ` of ${formatCounted(event.rows.read, "row")}` : ""} done; --fresh starts over)`,
            );
          }
          break;
        case "marked":
          marked.push(event);
          break;
        case "remark":
          progress.note(event.text, event.isAside ? undefined : "needed");
          break;
        case "refused":
          refused = event.summary;
          break;
        case "priced":
          if (!isDryRun && event.price.estimate.seconds > longRunSeconds) loadAllChunks();
          progress.note(formatPrice(event.price));
          sentBefore = event.price.estimate.requests - event.price.left;
          break;
      }
      progress.refresh();
    },
    refused: () => refused,
    end({ summary, price, firstRejects = [] }, changes = []) {
      if (price && isDryRun && summary.stoppedBy !== "error") noteMonthShare(price);
      progress.close();
      if (summary.status === "stopped" && summary.run === null && summary.rows.read === 0) return;
      noteEnd(context, summary, {
        seconds: (context.clock.now() - startedAt) / 1000,
        changes,
        marked,
        firstRejects,
        sentBefore: context.terminal.isStderrTerminal ? sentBefore : 0,
      });
    },
    async whileAsking(ask) {
      isAsking = true;
      progress.refresh();
      try {
        return await ask();
      } finally {
        isAsking = false;
        startedAt = context.clock.now();
      }
    },
    close: () => progress.close(),
  };
}

interface EndDetails {
  seconds: number;
  /** Lines about what was changed, where there are few. */
  changes: readonly string[];
  /** Contacts that a file marks as unsubscribed. */
  marked: readonly MarkedEvent[];
  firstRejects: readonly ShownReject[];
  /** Requests before the price was said. */
  sentBefore: number;
}

/** What became of the run. A quiet one still says what was rejected. */
function noteEnd(
  { terminal, settings }: Pick<Context, "terminal" | "settings">,
  summary: Summary,
  { seconds, changes, marked, firstRejects, sentBefore }: EndDetails,
): void {
  const isShort = terminal.isStderrTerminal;
  const lines = formatSummary(summary, seconds, isShort, sentBefore);
  const [counts = "", ...rest] = lines.map((line) =>
    /: ecm /.test(line) ? addAccountFlags(line, settings) : line,
  );
  const mark = toMark(terminal, summary);
  const { stderrColumns: columns, isAccessible, isColored } = terminal;
  const screen = { columns, isAccessible, isColored: isColored.err };
  const shown = isShort ? resultLines(screen, summary, { seconds, firstRejects }) : [counts];
  for (const [at, line] of shown.entries()) terminal.note(at === 0 ? `${mark}${line}` : line, "painted");
  for (const line of changes) terminal.note(line, "painted");
  for (const line of rest) terminal.note(line);
  if (terminal.quiet && summary.rows.rejected > 0) {
    terminal.note(
      [counts, ...rest.filter((line) => line.startsWith(toRejectsTitle(summary)))].join("\n"),
      "needed",
    );
  }
  for (const group of marked) {
    const weight = group.isUnsubscribed ? undefined : "needed";
    for (const line of formatMarked(group, summary)) terminal.note(line, weight);
  }
}

/** What a run would make or makes, and which of it may not be meant. */
function describeMissingNames(missing: MissingNames): string[] {
  const fields = missing.fields.map(({ label }) => ({ name: label }));
  const createdParts = [
    describeCreated("field", fields),
    describeCreated("list", missing.lists),
    describeCreated("tag", missing.tags),
  ].filter((part) => part !== "");
  return createdParts.length === 0
    ? []
    : [`New in the account: ${createdParts.join(", ")}`, ...describeDoubts(missing)];
}

function describeCreated(kind: string, names: MissingName[]): string {
  if (names.length === 0) return "";
  const quotedNames = names.map(({ name }) => JSON.stringify(name)).join(", ");
  return `${kind}${names.length > 1 ? "s" : ""} ${quotedNames}`;
}

function describeJoinedRows({ joined }: Extract<RunEvent, { kind: "surveyed" }>): string {
  const examples = [...joined.groups.values()]
    .slice(0, 5)
    .map(({ lines }) => formatLines(lines.slice(0, 10)));
  const { size } = joined.groups;
  const more = size > examples.length ? `; and ${formatCount(size - examples.length)} more` : "";
  return `${formatCounted(size, "contact")} ${size === 1 ? "appears" : "appear"} on several lines (${examples.join("; ")}${more})`;
}

function formatLines(lines: readonly number[]): string {
  return `${lines.slice(0, -1).join(", ")} and ${lines.at(-1)}`;
}

function formatPrice({ estimate, left, monthLeft }: Price): string {
  const requests = `${estimate.isExact ? "" : "at most "}${formatCounted(left, "request")}`;
  const share =
    monthLeft !== undefined && monthLeft > 0
      ? `, ${computeShare(left, monthLeft)} % of what is left this month`
      : "";
  return `To send: ${requests} (${formatAboutDuration(estimate.seconds)}${share})`;
}

/** In percent, rounded up to a tenth. */
function computeShare(requests: number, monthLeft: number): number {
  return Math.ceil((requests / monthLeft) * 1000) / 10;
}

/** A short wait, such as for a lost answer, is not worth a line. */
const minReportedWaitMilliseconds = 5_000;

/** The wait that is worth a line of its own in a log. */
function findStateChange(status: RunProgress | undefined, now: number): string | undefined {
  const { why, until = 0 } = status?.waiting ?? {};
  return until - now < minReportedWaitMilliseconds ? undefined : `${why} ${until}`;
}

/** How far the run is; while it waits also until when, and how to stop. */
function describeProgress(
  terminal: Terminal,
  status: RunProgress,
  since: { start: number; done: number },
  now: number,
) {
  const { waiting, rows: counts, hourLeft } = status;
  const waits = waiting && [
    `${capitalize(waiting.why)}; resuming ${formatTime(waiting.until, now)}`,
    "Ctrl-C stops; the same command resumes",
  ];
  if (!counts)
    return waits ?? [status.rowsRead > 0 ? `Reading: ${formatCounted(status.rowsRead, "row")}` : "Reading"];
  const done = countSettled(counts);
  const seconds = Math.max(0.001, (now - since.start) / 1000);
  const rate = (done - since.done) / seconds;
  const parts = [
    formatProgressBar(counts.read === 0 ? 0 : done / counts.read, terminal),
    `${formatCount(done)} of ${formatCount(counts.read)}`,
  ];
  if (waits) return [[...parts, "paused"].join("  "), ...waits];
  if (status.phase === "looking") parts.push("reading the account");
  if (rate > 0) parts.push(`${rate >= 10 ? formatCount(Math.round(rate)) : rate.toFixed(1)}/s`);
  const left = estimateTimeLeft(status, counts.pending, rate);
  if (left !== undefined && status.phase === "working") parts.push(`${formatDuration(left)} left`);
  if (hourLeft !== undefined) parts.push(`hour ${formatCount(hourLeft)} left`);
  return [parts.join("  ")];
}

/** `at 15:00 (in 26 min)`, in local time. */
function formatTime(until: number, now: number): string {
  const at = new Date(until).toTimeString().slice(0, 5);
  const left = `in ${formatDuration(Math.max(1, (until - now) / 1000))}`;
  return until - now < 90_000 ? left : `at ${at} (${left})`;
}

/** By what the limits allow, or by the pace so far, whichever is longer. */
function estimateTimeLeft({ price, sent }: RunProgress, pending: number, rate: number): number | undefined {
  const byPace = rate > 0 ? pending / rate : undefined;
  if (!price || price.left === 0) return byPace;
  const share = Math.max(0, 1 - sent / Math.max(1, price.estimate.requests));
  return Math.max(byPace ?? 0, price.estimate.seconds * share);
}

/** A tick for what is done, where marks are drawn. */
function toMark(terminal: Terminal, { status, rows }: Summary): string {
  if (!terminal.isStderrTerminal || terminal.isAccessible || status !== "completed") return "";
  const { green, yellow } = createStyle(terminal.isColored.err);
  return rows.rejected > 0 ? `${yellow("!")} ` : `${green("✓")} `;
}

function countSettled(counts: RowCounts): number {
  return counts.read - counts.pending;
}
