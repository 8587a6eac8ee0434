/**
 * The messages of a bulk run: what was read, what it costs, its
 * progress, what it did. All of them go to stderr.
 */

import { parseNewFieldId } from "../../api/structures.ts";
import type {
  Closed,
  Price,
  RowCounts,
  RunEvent,
  RunProgress,
  RunRemark,
  Summary,
} from "../../bulk/index.ts";
import { loadAllChunks } from "../../chunks.ts";
import type { Context } from "../../context.ts";
import { capitalize, formatCount, formatCounted } from "../../counts.ts";
import { formatDuration, formatMoment } from "../../moments.ts";
import {
  findUnknown,
  type InputFacts,
  type ReadRow,
  rejectsColumns,
  type Target,
} from "../../tables/index.ts";
import { formatProgressBar, type Progress, showProgress } from "../../terminal/progress.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { cut, measureWidth } from "../../terminal/text-width.ts";
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

type RunEventOfKind<Kind extends RunEvent["kind"]> = Extract<RunEvent, { kind: Kind }>;

export class RunDisplay {
  readonly #context: Context;
  readonly #isDryRun: boolean;
  readonly #isSingle: boolean;
  readonly #areColumnsShown: () => boolean;
  readonly #progress: Progress;
  readonly #marked: MarkedEvent[] = [];
  /** Of the work: while a question is open, nobody waits for it. */
  #startedAt: number;
  readonly #what: string;
  #sentBefore = 0;
  #doneBefore = 0;
  #progressNow: (() => RunProgress) | undefined;
  /** The summary of a run that was refused before its first write. */
  refused: Summary | undefined;
  #isAsking = false;

  /** Says at once that something has begun. @param what such as `Importing people.csv` */
  constructor(
    context: Context,
    what: string,
    {
      isDryRun,
      isSingle = false,
      areColumnsShown = () => false,
    }: { isDryRun: boolean; isSingle?: boolean; areColumnsShown?(): boolean },
  ) {
    const { terminal, clock } = context;
    this.#context = context;
    this.#isDryRun = isDryRun;
    this.#isSingle = isSingle;
    this.#areColumnsShown = areColumnsShown;
    this.#what = what;
    this.#startedAt = clock.now();
    this.#progress = showProgress(
      terminal,
      () => this.#lines(what),
      () => findStateChange(this.#progressNow?.(), clock.now()),
    );
    if (!isSingle) this.#progress.note(what);
  }

  readonly on = (event: RunEvent): void => {
    this.#take(event);
    this.#progress.refresh();
  };

  close(): void {
    this.#progress.close();
  }

  /** The summary of a run. @param changes the first changes of its plan */
  end({ summary, price, firstRejects = [] }: Closed, changes: readonly string[]): void {
    const { clock } = this.#context;
    if (price && this.#isDryRun && summary.stoppedBy !== "error") this.#noteShortMonth(price);
    this.#progress.close();
    // The error says it.
    if (this.#isSingle && (summary.codes.skipped.missing ?? 0) > 0) return;
    if (summary.status === "stopped" && summary.run === null && summary.rows.read === 0) return;
    noteEnd(this.#context, summary, {
      seconds: (clock.now() - this.#startedAt) / 1000,
      changes,
      marked: this.#marked,
      firstRejects,
      sentBefore: this.#sentBefore,
      monthLeft: price?.monthLeft,
    });
  }

  /** For a question that does not say it itself. */
  sayPrice(price: Price): void {
    if (!this.#isSingle) this.#progress.note(formatPrice(price));
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

  #lines(what: string): string[] | undefined {
    if (this.#isAsking || this.#isSingle) return undefined;
    const { terminal, clock } = this.#context;
    const since = { start: this.#startedAt, done: this.#doneBefore };
    return this.#progressNow ? describeProgress(terminal, this.#progressNow(), since, clock.now()) : [what];
  }

  #take(event: RunEvent): void {
    switch (event.kind) {
      case "phase":
        this.#progressNow = event.progress;
        this.#context.observer?.progress?.(() => describeForObserver(event.progress()));
        return;
      case "understood":
        this.#noteInput(event);
        return;
      case "surveyed":
        this.#noteSurvey(event);
        return;
      case "names-missing":
        if (event.missing.length > 0)
          this.#progress.note(`New in the account: ${listCreated(event.missing)}`);
        return;
      case "entered":
        this.#noteEntered(event);
        return;
      case "marked":
        this.#marked.push(event);
        return;
      case "remark":
        this.#noteRemark(event.remark);
        return;
      case "refused":
        this.refused = event.summary;
        return;
      case "priced":
        this.#notePrice(event.price);
        return;
    }
  }

  #noteInput({ facts }: RunEventOfKind<"understood">): void {
    const { terminal } = this.#context;
    for (const note of facts.notes) this.#progress.note(describeNote(note));
    if (!terminal.isStderrTerminal || this.#areColumnsShown()) return;
    for (const line of formatMapping(facts, terminal.stderrColumns)) this.#progress.note(line);
  }

  #noteSurvey(event: RunEventOfKind<"surveyed">): void {
    noteSurvey(event, (line, kind) => this.#progress.note(line, kind));
  }

  #noteEntered({ run, isResumed, rows }: RunEventOfKind<"entered">): void {
    this.#doneBefore = countSettled(rows);
    if (!isResumed) return;
    const of = rows.read > 0 ? ` of ${formatCounted(rows.read, "row")}` : "";
    const done = `${formatCount(this.#doneBefore)}${of} done`;
    // `runs resume` has said which run, and cannot start over.
    const isNamed = this.#what.startsWith(`Resuming run ${run}`);
    this.#progress.note(isNamed ? `${done} before` : `Resuming run ${run} (${done}; --fresh starts over)`);
  }

  #noteRemark(remark: RunRemark): void {
    this.#progress.note(describeRemark(remark), isAside(remark) ? undefined : "needed");
  }

  #notePrice(price: Price): void {
    const { requests, seconds } = price.estimate;
    if (!this.#isDryRun && seconds > longRunSeconds) loadAllChunks();
    // A dry run ends with it, and where a person is asked it goes with the question.
    const isAsked = !this.#context.settings.yes && this.#context.prompter() !== undefined;
    if (!this.#isDryRun && !isAsked) this.sayPrice(price);
    this.#sentBefore = requests - price.left;
  }

  /** Of a dry run: the month cannot hold the real one. */
  #noteShortMonth({ estimate, monthLeft = 0 }: Price): void {
    if (monthLeft <= 0 || estimate.requests <= monthLeft) return;
    const [needed, left] = [formatCounted(estimate.requests, "request"), formatCount(monthLeft)];
    this.#progress.note(`A real run needs ${needed}, and ${left} are left this month`);
  }
}

/** In requests, once their price is known; else in rows that were read. */
function describeForObserver({ phase, price, sent, rowsRead, waiting }: RunProgress) {
  const what = waiting ? `${phase}: waiting, ${waiting.why}` : phase;
  return price ? { done: sent, total: price.estimate.requests, what } : { done: sent + rowsRead, what };
}

// The lines that are drawn anew while a run works.

/** A short wait, such as for a lost answer, is not worth a line. */
const minReportedWaitMilliseconds = 5_000;

/** The wait that is worth a line of its own in a log. */
function findStateChange(status: RunProgress | undefined, now: number): string | undefined {
  const { why, until = 0 } = status?.waiting ?? {};
  return until - now < minReportedWaitMilliseconds ? undefined : `${why} ${until}`;
}

/** Since when the run works, in milliseconds since the epoch, and how many rows were done then. */
interface Beginning {
  start: number;
  done: number;
}

/** How far the run is; while it waits also until when, and how to stop. */
function describeProgress(terminal: Terminal, status: RunProgress, since: Beginning, now: number): string[] {
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
function countSettled(counts: RowCounts): number {
  return counts.read - counts.pending;
}

// * Where the columns of a file go, before anything is sent: column → field, with the first value of each;
// what is ignored comes last.

/** @returns nothing for a file that only names contacts */
function formatMapping({ columns, constants, sample, keyName }: InputFacts, width: number): string[] {
  if (constants.length === 0 && !columns.some(({ target }) => target.kind === "field")) return [];
  const rows = columns.map(({ name, target }, place): Row & { isIgnored: boolean } => ({
    isIgnored: target.kind === "ignore",
    texts: [formatColumnName(name, place), formatTarget(target, keyName), findFirstValue(sample, place)],
  }));
  for (const { label, value } of constants) rows.push({ isIgnored: false, texts: ["--set", label, value] });
  const read = rows.filter(({ isIgnored }) => !isIgnored);
  // An empty column is not missed, nor is what a rejects file says of its rows.
  const ignored = rows.filter(
    ({ isIgnored, texts }) => isIgnored && texts[2] !== "" && !rejectsColumns.has(texts[0]),
  );
  const all = [
    ["Column", "Field", "First value"] as const,
    ...[...read, ...ignored.slice(0, maxIgnoredListed)].map(({ texts }) => texts),
  ];
  const [first, second] = shareWidth(
    [0, 1].map((place) => Math.max(...all.map((row) => measureWidth(row[place]!)))) as [number, number],
    width - edges - minRoom,
  );
  const room = Math.max(minRoom, width - edges - first - second);
  const lines = all.map(([column, field, value], place) => {
    const arrow = place === 0 ? " →  " : "    ";
    return `  ${fitToWidth(column, first)}${arrow}${fitToWidth(field, second)}  ${cut(value, room)}`.trimEnd();
  });
  const more = ignored.length - maxIgnoredListed;
  return more > 0 ? [...lines, `  … ${more} more ${more === 1 ? "column" : "columns"} ignored`] : lines;
}

interface Row {
  texts: readonly [column: string, field: string, value: string];
}

/** Exports of other systems have dozens of columns that only they know. */
const maxIgnoredListed = 5;
const maxColumnWidth = 28;
const minRoom = 12;
/** The indentation, the arrow and the gap before the value. */
const edges = 2 + 4 + 2;

/** In a narrow window the wider one gives way first. */
function shareWidth(needed: [number, number], width: number): [number, number] {
  const [first, second] = needed.map((each) => Math.min(each, maxColumnWidth)) as [number, number];
  const half = Math.floor(width / 2);
  return [Math.min(first, Math.max(half, width - second)), Math.min(second, Math.max(half, width - first))];
}

function formatColumnName(name: string, place: number): string {
  return name.trim() === "" ? `column ${place + 1}` : name;
}

function formatTarget(target: Target, keyName: string): string {
  if (target.kind === "ignore") return "– ignored";
  if (target.kind === "key") return formatKeyTarget(keyName);
  if (target.kind !== "field") return target.kind;
  return parseNewFieldId(target.fieldId) === undefined ? target.label : `${target.label} (new)`;
}

/** `Email (key)`: by the name that the structure has for it, and by the word that `--map` takes. */
export function formatKeyTarget(keyName: string): string {
  return keyName.toLowerCase() === "key" ? keyName : `${keyName} (key)`;
}

function findFirstValue(sample: readonly ReadRow[], place: number): string {
  const cells = sample.map((row) => (findUnknown(row.cells[place]) ?? row.cells[place] ?? "").trim());
  return cells.find((cell) => cell !== "")?.replaceAll(/\s+/g, " ") ?? "";
}

function fitToWidth(text: string, width: number): string {
  const cutText = cut(text, width);
  return cutText + " ".repeat(width - measureWidth(cutText));
}
