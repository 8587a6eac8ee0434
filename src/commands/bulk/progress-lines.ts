/** The lines that are drawn anew while a run works. */
import type { RowCounts, RunProgress } from "../../bulk/index.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { formatDuration, formatMoment } from "../../moments.ts";
import { formatProgressBar } from "../../terminal/progress.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { capitalize } from "./format.ts";

/** A short wait, such as for a lost answer, is not worth a line. */
const minReportedWaitMilliseconds = 5_000;

/** The wait that is worth a line of its own in a log. */
export function findStateChange(status: RunProgress | undefined, now: number): string | undefined {
  const { why, until = 0 } = status?.waiting ?? {};
  return until - now < minReportedWaitMilliseconds ? undefined : `${why} ${until}`;
}

/** Since when the run works, in milliseconds since the epoch, and how many rows were done then. */
export interface Beginning {
  start: number;
  done: number;
}

/** How far the run is; while it waits also until when, and how to stop. */
export function describeProgress(
  terminal: Terminal,
  status: RunProgress,
  since: Beginning,
  now: number,
): string[] {
  const { waiting, rows: counts } = status;
  const waits = waiting && [
    `${capitalize(waiting.why)}; resuming ${formatMoment(waiting.until, now)}`,
    "Ctrl-C stops; the same command resumes",
  ];
  if (!counts)
    return waits ?? [status.rowsRead > 0 ? `Reading: ${formatCounted(status.rowsRead, "row")}` : "Reading"];
  const done = countSettled(counts);
  const parts = [
    formatProgressBar(counts.read === 0 ? 0 : done / counts.read, terminal),
    `${formatCount(done)} of ${formatCount(counts.read)}`,
  ];
  if (waits) return [[...parts, "paused"].join("  "), ...waits];
  const seconds = Math.max(0.001, (now - since.start) / 1000);
  parts.push(...describePace(status, counts, (done - since.done) / seconds));
  return [parts.join("  ")];
}

/** @param rate rows a second */
function describePace(status: RunProgress, counts: RowCounts, rate: number): string[] {
  const parts: string[] = [];
  if (status.phase === "looking") parts.push("reading the account");
  if (rate > 0) parts.push(`${rate >= 10 ? formatCount(Math.round(rate)) : rate.toFixed(1)}/s`);
  const left = estimateTimeLeft(status, counts.pending, rate);
  if (left !== undefined && status.phase === "working") parts.push(`${formatDuration(left)} left`);
  if (status.hourLeft !== undefined) parts.push(`hour ${formatCount(status.hourLeft)} left`);
  return parts;
}

/** By what the limits allow, or by the pace so far, whichever is longer. */
function estimateTimeLeft({ price, sent }: RunProgress, pending: number, rate: number): number | undefined {
  const byPace = rate > 0 ? pending / rate : undefined;
  if (!price || price.left === 0) return byPace;
  const share = Math.max(0, 1 - sent / Math.max(1, price.estimate.requests));
  return Math.max(byPace ?? 0, price.estimate.seconds * share);
}

/** Rows of which it is certain what became of them. */
export function countSettled(counts: RowCounts): number {
  return counts.read - counts.pending;
}
