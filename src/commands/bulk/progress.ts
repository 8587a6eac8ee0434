/** A bulk run in words: what it understood, what it costs, how far it is, what it did. All of it goes to stderr. */
import { doubtsAbout, type MissingName, type MissingNames } from "../../bulk/account/names.ts";
import type { Price } from "../../bulk/engine/estimate.ts";
import type { RunEvent, RunStatus } from "../../bulk/engine/row-job.ts";
import type { RowCounts, Summary } from "../../bulk/runs/report.ts";
import { loadAllChunks } from "../../chunks.ts";
import type { Context } from "../../context.ts";
import { type Progress, showProgress } from "../../terminal/progress.ts";
import { consentLines, type MarkedEvent, markedLines } from "./consent-lines.ts";

export interface RunDisplay {
  on(event: RunEvent): void;
  /** The last words of a run. */
  end(summary: Summary): void;
  /** Draws nothing while a question is asked. */
  whileAsking<T>(ask: () => Promise<T>): Promise<T>;
  close(): void;
}

/** A run that takes longer than this loads all of the program before its first write. */
const longRunSeconds = 10;

/** Says at once that something has begun. @param what such as `importing people.csv` */
export function displayRun(context: Context, what: string): RunDisplay {
  const startedAt = context.clock.now();
  let status: RunStatus | undefined;
  let doneBefore = 0;
  let marked: MarkedEvent | undefined;
  let isAsking = false;
  const progress: Progress = showProgress(context.terminal, () => {
    if (isAsking) return undefined;
    return status === undefined ? what : describe(status, context.clock.now(), startedAt, doneBefore);
  });
  progress.note(what);
  return {
    on(event) {
      switch (event.kind) {
        case "status":
          status = event.status;
          break;
        case "understood":
          for (const note of event.facts.notes) progress.note(note);
          break;
        case "surveyed":
          for (const line of event.survey.notes) progress.note(line);
          if (event.joined.passedOver > 0) progress.note(joinedNote(event));
          for (const line of consentLines(event.survey.consent, event.survey.read, event.notSubscribedAre)) {
            progress.note(line);
          }
          break;
        case "names-missing":
          for (const line of namesLines(event.missing)) progress.note(line);
          break;
        case "input-changed":
          progress.note(
            `the file has changed since run ${event.older} stopped: this is a new run\nto drop the old one: ecm runs remove ${event.older}`,
          );
          break;
        case "entered":
          doneBefore = settled(event.rows);
          if (event.isResumed) {
            progress.note(
              `going on with run ${event.run}: ${count(doneBefore)}${event.rows.read > 0 ? ` of ${rows(event.rows.read)}` : ""} are done (--fresh starts over)`,
            );
          }
          break;
        case "marked":
          marked = event;
          break;
        case "remark":
          progress.note(event.text);
          break;
        case "priced":
          if (event.price.estimate.seconds > longRunSeconds) loadAllChunks();
          progress.note(priceSentence(event.price));
          break;
      }
      progress.refresh();
    },
    end(summary) {
      progress.close();
      for (const line of reportLines(summary)) context.terminal.note(line);
      if (marked) for (const line of markedLines(marked, summary)) context.terminal.note(line);
    },
    async whileAsking(ask) {
      isAsking = true;
      progress.refresh();
      try {
        return await ask();
      } finally {
        isAsking = false;
      }
    },
    close: () => progress.close(),
  };
}

/** What a run would make or makes, and which of it may not be meant. */
function namesLines(missing: MissingNames): string[] {
  const made = [madeOf("list", missing.lists), madeOf("tag", missing.tags)].filter((part) => part !== "");
  return made.length === 0 ? [] : [`New in the account: ${made.join(", ")}`, ...doubtsAbout(missing)];
}

function madeOf(kind: string, names: MissingName[]): string {
  if (names.length === 0) return "";
  const shown = names.map(({ name }) => JSON.stringify(name)).join(", ");
  return `${kind}${names.length > 1 ? "s" : ""} ${shown}`;
}

function joinedNote({ joined }: Extract<RunEvent, { kind: "surveyed" }>): string {
  const shown = [...joined.groups.values()].slice(0, 5).map(({ lines }) => lines.slice(0, 10).join("+"));
  const more = joined.groups.size > shown.length ? `, and ${joined.groups.size - shown.length} more` : "";
  return `${count(joined.groups.size)} contacts stand on several lines: ${shown.join(", ")}${more}`;
}

function priceSentence({ estimate, left, monthLeft }: Price): string {
  const parts = [
    `${estimate.isExact ? "" : "at most "}${requestsOf(left)}`,
    `about ${duration(estimate.seconds)}`,
  ];
  if (monthLeft !== undefined && monthLeft > 0) {
    parts.push(`${Math.ceil((left / monthLeft) * 1000) / 10} % of what the month has left`);
  }
  return `to send: ${parts.join(", ")}`;
}

function describe(status: RunStatus, now: number, startedAt: number, doneBefore: number): string {
  const waiting = status.send?.waiting;
  const wait = waiting && `${waiting.why}: on again in ${duration((waiting.until - now) / 1000)}`;
  const counts = status.rows?.();
  if (!counts) return wait ?? `reading: ${rows(status.rowsRead ?? 0)}`;
  const done = settled(counts);
  const seconds = Math.max(0.001, (now - startedAt) / 1000);
  const rate = (done - doneBefore) / seconds;
  const parts = [`${count(done)} of ${rows(counts.read)}`];
  // While nothing goes on, the line begins with why: its end may be cut.
  if (wait) parts.unshift(wait);
  if (rate > 0 && !wait) parts.push(`${rate >= 10 ? Math.round(rate) : rate.toFixed(1)}/s`);
  const hour = status.budget?.limits.hour;
  if (hour && !wait) parts.push(`${requestsOf(hour.remaining)} left this hour`);
  if (status.phase === "looking") parts.push("reading the account");
  const left = timeLeft(status, counts.pending, rate);
  if (left !== undefined && status.phase === "working") parts.push(`about ${duration(left)} left`);
  return parts.join(" · ");
}

/** By what the limits allow, or by the pace so far, whichever is longer. */
function timeLeft(status: RunStatus, pending: number, rate: number): number | undefined {
  const byPace = rate > 0 ? pending / rate : undefined;
  const { price, send } = status;
  if (!price || !send || price.left === 0) return byPace;
  const share = Math.max(0, 1 - send.counts.total / Math.max(1, price.estimate.requests));
  return Math.max(byPace ?? 0, price.estimate.seconds * share);
}

export function reportLines(summary: Summary): string[] {
  const { rows: counts, requests, status, estimate, rejects } = summary;
  const isDry = status === "dry-run";
  const would = (word: string) => (isDry ? `would be ${word}` : word);
  const parts = [
    `${count(counts.created)} ${would("created")}`,
    `${count(counts.updated)} ${would("updated")}`,
    ...(counts.deleted > 0 ? [`${count(counts.deleted)} ${would("deleted")}`] : []),
    `${count(counts.unchanged)} unchanged`,
    `${count(counts.skipped)} skipped${codes(summary.codes.skipped)}`,
    `${count(counts.rejected)} rejected${codes(summary.codes.rejected)}`,
  ];
  if (counts.pending > 0) parts.push(`${count(counts.pending)} not attempted`);
  const lines = [`${rows(counts.read)}: ${parts.join(", ")}`];
  const { members } = summary;
  if (members) {
    lines.push(
      `the list: ${count(members.added)} ${would("added")}, ${count(members.removed)} ${would("removed")}`,
    );
  }
  const isChangeOfStatus = summary.kind === "unsubscribe" || summary.kind === "delete";
  if (summary.inactive > 0 && !isChangeOfStatus) {
    lines.push(
      `${count(summary.inactive)} of these contacts are inactive in the account; an import leaves that as it is`,
    );
  }
  if (isDry) {
    lines.push(
      `a real run sends ${requestsOf(estimate.requests)} and takes about ${duration(estimate.seconds)}`,
    );
  } else
    lines.push(
      `${requestsOf(requests.total)} sent${requests.retried > 0 ? `, ${requests.retried} of them again` : ""}`,
    );
  if (summary.backup) lines.push(`Contacts as they were before: ${summary.backup}`);
  if (rejects) lines.push(`rejected rows, ready to be mended and imported: ${rejects}`);
  return lines;
}

function codes(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(([code, number]) => `${code} ${count(number)}`);
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function settled(counts: RowCounts): number {
  return counts.read - counts.pending;
}

function rows(number: number): string {
  return `${count(number)} ${number === 1 ? "row" : "rows"}`;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** `45 s`, `12 min`, `3.4 h`, `11.6 days`. */
export function duration(seconds: number): string {
  const left = Math.max(0, seconds);
  if (left < 90) return `${Math.ceil(left)} s`;
  if (left < 5400) return `${Math.round(left / 60)} min`;
  if (left < 172_800) return `${(left / 3600).toFixed(1)} h`;
  return `${(left / 86_400).toFixed(1)} days`;
}

function requestsOf(number: number): string {
  return `${count(number)} ${number === 1 ? "request" : "requests"}`;
}
