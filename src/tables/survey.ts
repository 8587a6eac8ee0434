/** The first pass over an input: everything is read and checked before anything is sent. */
import { stat } from "node:fs/promises";
import { TextIndex } from "../text-index.ts";
import { ConsentTally } from "./consent/tally.ts";
import { inputChangedError } from "./input-errors.ts";
import { Oddities } from "./oddities.ts";
import { readRowBatches } from "./read-rows.ts";
import type { UnderstoodInput } from "./reading.ts";
import type { Mark, ReadRow, RejectedRow, Row } from "./rows.ts";
import type { InputFile } from "./text/source.ts";

/** So many rows are kept in memory; more are read from the file again in each pass. */
const maxKeptRows = 5000;
/** How often a further pass looks whether the file is still the same, in rows. */
const rowsBetweenChecks = 2000;

/** What the rows of a file hold, counted one by one. */
export class Survey {
  /** Rows of the file: sound ones and rejected ones. */
  read = 0;
  /** Rows that are invalid by themselves. */
  rejected = 0;
  readonly rejectedCodes = new Map<string, number>();
  /** Rows that look odd without being wrong, by code. */
  readonly warnings = new Map<string, number>();
  /** Names or ids as the cells have them. */
  readonly lists = new Set<string>();
  readonly tags = new Set<string>();
  /** What the file says of consent. */
  readonly consent: ConsentTally;
  /** Identities that a rejected row, or another contact's, marks as not subscribed, and why. */
  readonly markedElsewhere = new Map<string, Mark>();
  /** Whom sound rows mark under their own key, by whether the mark is understood. */
  readonly markedIdentities = { clear: new TextIndex(), unclear: new TextIndex() };
  /** Whom its sound rows name. */
  readonly identities = new TextIndex();
  /** The largest line on which a row starts. */
  lastLine = 0;
  /** The last row, where it alone has no line end: nothing is wrong with it, but it may be cut off. */
  openRow: Row | undefined;
  /**
   * All rows again, in file order and in batches of any size.
   * @throws EcmError when the file has changed since the survey
   */
  batches: () => AsyncIterable<readonly ReadRow[]> = () => toAsync([]);
  readonly #oddities: Oddities;

  constructor({ facts, reading }: UnderstoodInput) {
    this.#oddities = new Oddities(
      facts.columns,
      reading.table.formulaColumns,
      reading.consent.map(({ index }) => index),
    );
    this.consent = new ConsentTally(reading.consent);
  }

  /** What looks odd in rows that are read all the same, in sentences. */
  get notes(): string[] {
    return this.#oddities.notes();
  }

  /** A sentence for each column with cells of which nobody knows the value. */
  get unknownCells(): string[] {
    return this.#oddities.unknownCells();
  }

  add(row: ReadRow): void {
    this.read += 1;
    this.lastLine = row.line;
    this.#oddities.add(row);
    if (row.kind === "rejected") this.#addRejected(row);
    else this.#addSound(row);
  }

  #addRejected({ code, mark, line }: RejectedRow): void {
    this.rejected += 1;
    countOne(this.rejectedCodes, code);
    if (mark) this.#mark(mark.identities, mark);
    this.consent.add(line, mark?.refusals);
  }

  #addSound(row: Row): void {
    const { key, notSubscribed, isMarkClear = false } = row;
    if (row.isOpen) this.openRow = row;
    this.identities.add(key.identity);
    if (notSubscribed !== undefined) {
      this.markedIdentities[isMarkClear ? "clear" : "unclear"].add(key.identity);
      this.#mark(row.alsoNames ?? [], { notSubscribed, isMarkClear });
    }
    this.consent.add(row.line, row.refusals);
    for (const name of row.lists) this.lists.add(name);
    for (const name of row.tags) this.tags.add(name);
    for (const code of row.warnings) countOne(this.warnings, code);
  }

  /** The first reason stays; one that is understood makes the mark clear. */
  #mark(identities: readonly string[], { notSubscribed, isMarkClear }: Mark): void {
    for (const identity of identities) {
      const known = this.markedElsewhere.get(identity);
      this.markedElsewhere.set(identity, {
        notSubscribed: known?.notSubscribed ?? notSubscribed,
        isMarkClear: isMarkClear || (known?.isMarkClear ?? false),
      });
    }
  }
}

function countOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/**
 * @throws UsageError when the file cannot be read to its end; EcmError when it is still being written; the
 *   signal's reason
 */
export async function surveyInput(
  understood: UnderstoodInput,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<Survey> {
  const before = await stat(understood.file.path);
  const survey = new Survey(understood);
  let keptBatches: ReadRow[][] | undefined = [];
  for await (const rows of readRowBatches(understood)) {
    signal.throwIfAborted();
    onRows(survey.read);
    for (const row of rows) survey.add(row);
    if (survey.read <= maxKeptRows) keptBatches?.push(rows);
    else keptBatches = undefined;
  }
  await requireUnchanged(understood.file, before);
  // What was understood is of the file as it was opened; some file systems tell no size.
  if (before.size > 0 && before.size !== understood.facts.bytes)
    throw inputChangedError(understood.file.name);
  const batches = keptBatches;
  survey.batches = () => (batches ? toAsync(batches) : readAgain(understood, before, signal));
  return survey;
}

/** A further pass over the file. @throws EcmError when it is another file by now */
async function* readAgain(
  understood: UnderstoodInput,
  before: FileState,
  signal: AbortSignal,
): AsyncGenerator<ReadRow[]> {
  let unchecked = rowsBetweenChecks;
  for await (const rows of readRowBatches(understood)) {
    signal.throwIfAborted();
    if (unchecked >= rowsBetweenChecks) {
      await requireUnchanged(understood.file, before);
      unchecked = 0;
    }
    yield rows;
    unchecked += rows.length;
  }
}

async function* toAsync(batches: ReadRow[][]): AsyncGenerator<ReadRow[]> {
  yield* batches;
}

interface FileState {
  size: number;
  mtimeMs: number;
}

async function requireUnchanged(file: InputFile, before: FileState): Promise<void> {
  const now = await stat(file.path).catch(() => undefined);
  if (now?.size === before.size && now.mtimeMs === before.mtimeMs) return;
  throw inputChangedError(file.name);
}
