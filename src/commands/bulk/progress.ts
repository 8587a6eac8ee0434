/** The messages of a bulk run, all on stderr: what was read, what it costs, its progress, what it did. */

import { toStandInName } from "../../api/names.ts";
import type { Closed, Price, RowCounts, RunEvent, RunProgress, Summary } from "../../bulk/index.ts";
import { loadAllChunks } from "../../chunks.ts";
import type { Context } from "../../context.ts";
import { capitalize, formatCount, formatCounted } from "../../counts.ts";
import { formatDuration, formatMoment } from "../../moments.ts";
import { type InputFacts, rejectsColumns, type Target } from "../../tables/index.ts";
import { formatProgressBar, type Progress, showProgress } from "../../terminal/progress.ts";
import { renderTable } from "../../terminal/table.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { noteEnd } from "./result.ts";
import {
  describeNote,
  describeRemark,
  formatPrice,
  isAside,
  listCreated,
  type MarkedEvent,
  noteSurvey,
} from "./words.ts";

/** A run that takes longer than this loads all of the program before its first write. */
const longRunSeconds = 10;

interface Shown {
  /** Said at once, such as `Importing people.csv`. */
  what: string;
  isDryRun: boolean;
  isSingle?: boolean;
  /** `what` says which run goes on; a run that is resumed cannot be started over. */
  isResume: boolean;
  /** Whether a person has just seen where the columns go. */
  areColumnsShown?(): boolean;
}

export class RunDisplay {
  readonly #context: Context;
  readonly #shown: Shown;
  readonly #progress: Progress;
  readonly #marked: MarkedEvent[] = [];
  /** When the work began: nobody waits for it while a question is open. */
  #startedAt: number;
  #doneBefore = 0;
  #readProgress: (() => RunProgress) | undefined;
  /** The summary of a run that was refused before its first write. */
  refused: Summary | undefined;
  #isAsking = false;
  #isAgreed = false;

  constructor(context: Context, shown: Shown) {
    const { terminal, clock } = context;
    this.#context = context;
    this.#shown = shown;
    this.#startedAt = clock.now();
    this.#progress = showProgress(
      terminal,
      () => this.#lines(),
      () => findStateChange(this.#readProgress?.(), clock.now()),
    );
    if (!shown.isSingle) this.#context.terminal.note(shown.what);
  }

  readonly on = (event: RunEvent): void => {
    this.#take(event);
    this.#progress.refresh();
  };

  close(): void {
    this.#progress.close();
  }

  /** The summary of a run. @param changes the first changes of its plan */
  end({ summary, price, firstRejects = [], after }: Closed, changes: readonly string[]): void {
    this.#progress.close();
    // The error says it.
    if (this.#shown.isSingle && (summary.codes.skipped.missing ?? 0) > 0) return;
    if (summary.status === "stopped" && summary.run === null && summary.rows.read === 0) return;
    const seconds = (this.#context.clock.now() - this.#startedAt) / 1000;
    const facts = { seconds, price, firstRejects, after };
    noteEnd(this.#context, summary, facts, { changes, marked: this.#marked });
  }

  /** Draws nothing while a question is asked. */
  async whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    this.#isAsking = true;
    this.#progress.refresh();
    try {
      return await ask();
    } finally {
      this.#isAsking = false;
      this.#startedAt = this.#context.clock.now();
    }
  }

  #lines(): string[] | undefined {
    const { isSingle, what } = this.#shown;
    if (this.#isAsking || isSingle) return undefined;
    if (!this.#readProgress) return [what];
    const { terminal, clock } = this.#context;
    const seconds = Math.max(0.001, (clock.now() - this.#startedAt) / 1000);
    const since = { seconds, done: this.#doneBefore };
    return describeProgress(terminal, this.#readProgress(), since, clock.now());
  }

  #take(event: RunEvent): void {
    const { note } = this.#context.terminal;
    switch (event.kind) {
      case "phase":
        this.#readProgress = event.progress;
        break;
      case "understood":
        this.#noteInput(event.facts);
        break;
      case "surveyed":
        noteSurvey(event, note);
        break;
      case "names-missing":
        if (event.missing.length > 0) note(`New in the account: ${listCreated(event.missing)}`);
        break;
      case "entered":
        this.#isAgreed = event.isAgreed;
        this.#doneBefore = countSettled(event.rows);
        if (event.isResumed) this.#noteResumed(event.run, event.rows.read);
        break;
      case "marked":
        this.#marked.push(event);
        break;
      case "remark":
        note(describeRemark(event.remark), isAside(event.remark) ? undefined : "needed");
        break;
      case "refused":
        this.refused = event.summary;
        break;
      case "priced":
        this.#notePrice(event.price);
    }
  }

  #noteInput(facts: InputFacts): void {
    const { terminal } = this.#context;
    for (const note of facts.notes)
      terminal.note(describeNote(note), note.code === "columns_gone" ? "needed" : undefined);
    if (!terminal.isStderrTerminal || this.#shown.areColumnsShown?.()) return;
    for (const line of formatMapping(facts, terminal.stderrColumns)) this.#context.terminal.note(line);
  }

  #noteResumed(run: string, rows: number): void {
    const done = `${formatCount(this.#doneBefore)}${rows > 0 ? ` of ${formatCounted(rows, "row")}` : ""} done`;
    this.#context.terminal.note(
      this.#shown.isResume ? `${done} before` : `Resuming run ${run} (${done}; --fresh starts over)`,
    );
  }

  /** A dry run ends with it, and where a person is asked it goes with the question. */
  #notePrice(price: Price): void {
    const { isDryRun, isSingle } = this.#shown;
    if (isDryRun) return;
    if (price.estimate.seconds > longRunSeconds) loadAllChunks();
    const { settings } = this.#context;
    const isAsked = !settings.yes && !this.#isAgreed && this.#context.prompter() !== undefined;
    if (!isAsked && !isSingle) this.#context.terminal.note(formatPrice(price));
  }
}

// The lines that are drawn anew while a run works.

/** A short wait, such as for a lost answer, is not worth a line. */
const minReportedWaitMilliseconds = 5_000;

/** The wait that is worth a line of its own in a log. */
function findStateChange(status: RunProgress | undefined, now: number): string | undefined {
  const { why, until = 0 } = status?.waiting ?? {};
  return until - now < minReportedWaitMilliseconds ? undefined : `${why} ${until}`;
}

/**
 * How far the run is; while it waits also until when, and how to stop.
 * @param since for how long the run works, and how many rows were done before
 */
function describeProgress(
  terminal: Terminal,
  status: RunProgress,
  since: { seconds: number; done: number },
  now: number,
): string[] {
  const { waiting, rows: counts, rowsRead } = status;
  const waits = waiting && [
    `${capitalize(waiting.why)}; resuming ${formatMoment(waiting.until, now)}`,
    "Ctrl-C stops; the same command resumes",
  ];
  if (!counts) return waits ?? [rowsRead > 0 ? `Reading: ${formatCounted(rowsRead, "row")}` : "Reading"];
  const done = countSettled(counts);
  const parts = [
    formatProgressBar(counts.read === 0 ? 0 : done / counts.read, terminal),
    `${formatCount(done)} of ${formatCount(counts.read)}`,
  ];
  if (waits) return [[...parts, "paused"].join("  "), ...waits];
  return [[...parts, ...describePace(status, counts, (done - since.done) / since.seconds)].join("  ")];
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
function countSettled(counts: RowCounts): number {
  return counts.read - counts.pending;
}

// Where the columns of a file go, before anything is sent: column → field, with the first value of each.

/** Exports of other systems have dozens of columns that only they know. */
const maxIgnoredListed = 5;
const mappingColumns = ["Column", "→", "Field", "First value"].map((name) => ({ name }));

/** @returns nothing for a file that only names contacts; what is ignored comes last */
function formatMapping({ columns, constants, sample, keyName }: InputFacts, width: number): string[] {
  if (constants.length === 0 && !columns.some(({ target }) => target.kind === "field")) return [];
  const rows = columns.map(({ name, target }, place) => {
    const cells = sample.map((row) => (row[place] ?? "").trim());
    const first = cells.find((cell) => cell !== "")?.replaceAll(/\s+/g, " ") ?? "";
    const shown = [name.trim() || `column ${place + 1}`, "", formatTarget(target, keyName), first];
    return { name, first, shown, isIgnored: target.kind === "ignore" };
  });
  // An empty column is not missed, nor is what a rejects file says of its rows.
  const ignored = rows.filter((row) => row.isIgnored && row.first !== "" && !rejectsColumns.has(row.name));
  const lines = [
    ...rows.filter(({ isIgnored }) => !isIgnored).map(({ shown }) => shown),
    ...constants.map(({ label, value }) => ["--set", "", label, value]),
    ...ignored.slice(0, maxIgnoredListed).map(({ shown }) => shown),
  ];
  const table = renderTable(mappingColumns, lines, width - 2, false)
    .trimEnd()
    .split("\n");
  if (ignored.length > maxIgnoredListed)
    table.push(`… ${formatCounted(ignored.length - maxIgnoredListed, "more column")} ignored`);
  return table.map((line) => `  ${line.trimEnd()}`);
}

function formatTarget(target: Target, keyName: string): string {
  if (target.kind === "ignore") return "– ignored";
  if (target.kind === "key") return formatKeyTarget(keyName);
  if (target.kind !== "field") return target.kind;
  return toStandInName(target.fieldId) === undefined ? target.label : `${target.label} (new)`;
}

/** `Email (key)`: by the name that the structure has for it, and by the word that `--map` takes. */
export function formatKeyTarget(keyName: string): string {
  return keyName.toLowerCase() === "key" ? keyName : `${keyName} (key)`;
}
