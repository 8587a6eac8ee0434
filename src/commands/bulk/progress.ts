/**
 * The messages of a bulk run: what was read, what it costs, its
 * progress, what it did. All of them go to stderr.
 */

import type { Closed, Price, RunEvent, RunProgress, RunRemark, Summary } from "../../bulk/index.ts";
import { loadAllChunks } from "../../chunks.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { advise, ecm } from "../../hint.ts";
import { type Progress, showProgress } from "../../terminal/progress.ts";
import { formatForAccount } from "../help/command-line.ts";
import type { MarkedEvent } from "./consent-lines.ts";
import { noteEnd } from "./end-lines.ts";
import { formatMapping } from "./mapping-lines.ts";
import { describeMissingNames, formatPrice, noteSurvey } from "./preparation-lines.ts";
import { countSettled, describeProgress, findStateChange } from "./progress-lines.ts";
import { describeNote } from "./reading-lines.ts";
import { describeRemark, isAside } from "./words.ts";

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
        for (const line of describeMissingNames(event.missing)) this.#progress.note(line);
        return;
      case "input-changed":
        this.#progress.note(
          formatForAccount(
            advise`The file has changed since run ${event.older} stopped: this is a new run\nRemove the old one: ${ecm`runs remove ${event.older}`}`,
            this.#context.settings,
          ),
          "needed",
        );
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
    // A dry run ends with it.
    if (!this.#isDryRun && !this.#isSingle) this.#progress.note(formatPrice(price));
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
