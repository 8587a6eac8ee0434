/** The first pass over an input: everything is read and checked before anything is sent. */
import { stat } from "node:fs/promises";
import { TextIndex } from "../../text-index.ts";
import { ConsentTally } from "./consent-tally.ts";
import { inputChangedError } from "./input-errors.ts";
import { Oddities } from "./oddities.ts";
import { readRowBatches } from "./read-rows.ts";
import type { UnderstoodInput } from "./reading.ts";
import type { Mark, ReadRow, RejectedRow, Row } from "./rows.ts";
import type { InputFile } from "./source.ts";

/** So many rows are kept in memory; more are read from the file again in each pass. */
const maxKeptRows = 5000;
/** How often a further pass looks whether the file is still the same, in rows. */
const rowsBetweenChecks = 2000;

export interface Survey {
  /** Rows of the file: sound ones and rejected ones. */
  read: number;
  /** Rows that are invalid by themselves. */
  rejected: number;
  rejectedCodes: Map<string, number>;
  /** Rows that look odd without being wrong, by code. */
  warnings: Map<string, number>;
  /** Names or ids as the cells have them. */
  lists: Set<string>;
  tags: Set<string>;
  /** What the file says of consent. */
  consent: ConsentTally;
  /** Identities that a rejected row, or another contact's, marks as not subscribed, and why. */
  markedElsewhere: ReadonlyMap<string, Mark>;
  /** Whom sound rows mark under their own key, by whether the mark is understood. */
  markedIdentities: Record<"clear" | "unclear", TextIndex>;
  /** Whom its sound rows name. */
  identities: TextIndex;
  /** Whom they name under further keys besides. */
  otherIdentities: TextIndex;
  /** Its keys, further keys and old keys; absent where no row names an old key. */
  oldKeys?: TextIndex;
  /** The largest line on which a row starts. */
  lastLine: number;
  /** The last row, where it alone has no line end: nothing is wrong with it, but it may be cut off. */
  openRow?: Row;
  /** What looks odd in rows that are read all the same, in sentences. */
  notes: string[];
  /**
   * All rows again, in file order and in batches of any size.
   * @throws EcmError when the file has changed since the survey
   */
  batches(): AsyncIterable<readonly ReadRow[]>;
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
  const tally = new RowTally(understood);
  let keptBatches: ReadRow[][] | undefined = [];
  let read = 0;
  for await (const rows of readRowBatches(understood)) {
    signal.throwIfAborted();
    onRows(read);
    read += rows.length;
    for (const row of rows) tally.add(row);
    if (keptBatches && read <= maxKeptRows) keptBatches.push(rows);
    else keptBatches = undefined;
  }
  await requireUnchanged(understood.file, before);
  // What was understood is of the file as it was opened; some file systems tell no size.
  if (before.size > 0 && before.size !== understood.facts.bytes)
    throw inputChangedError(understood.file.name);
  const batches = keptBatches;
  return {
    read,
    ...tally.result(),
    batches: () => (batches ? toAsync(batches) : readAgain(understood, before, signal)),
  };
}

/** What the rows of a file hold, counted one by one. */
class RowTally {
  readonly #identities = new TextIndex();
  readonly #otherIdentities = new TextIndex();
  /** Keys, further keys and old keys, where a column holds those. */
  readonly #oldKeys: TextIndex | undefined;
  #namesOldKey = false;
  readonly #oddities: Oddities;
  readonly #consent: ConsentTally;
  readonly #lists = new Set<string>();
  readonly #tags = new Set<string>();
  readonly #rejectedCodes = new Map<string, number>();
  readonly #warnings = new Map<string, number>();
  readonly #markedElsewhere = new Map<string, Mark>();
  readonly #markedIdentities = { clear: new TextIndex(), unclear: new TextIndex() };
  #rejected = 0;
  #lastLine = 0;
  #openRow: Row | undefined;

  constructor({ facts, reading }: UnderstoodInput) {
    this.#oddities = new Oddities(facts.columns, reading.table.formulaColumns);
    this.#consent = new ConsentTally(reading.consent);
    const namesOldKeys = reading.targets.some(({ kind }) => kind === "old-key");
    this.#oldKeys = namesOldKeys ? new TextIndex() : undefined;
  }

  add(row: ReadRow): void {
    this.#lastLine = row.line;
    this.#oddities.add(row);
    if (row.kind === "rejected") this.#addRejected(row);
    else this.#addSound(row);
  }

  result(): Omit<Survey, "read" | "batches"> {
    return {
      rejected: this.#rejected,
      rejectedCodes: this.#rejectedCodes,
      warnings: this.#warnings,
      lists: this.#lists,
      tags: this.#tags,
      consent: this.#consent,
      markedElsewhere: this.#markedElsewhere,
      markedIdentities: this.#markedIdentities,
      identities: this.#identities,
      otherIdentities: this.#otherIdentities,
      oldKeys: this.#namesOldKey ? this.#oldKeys : undefined,
      lastLine: this.#lastLine,
      openRow: this.#openRow,
      notes: this.#oddities.notes(),
    };
  }

  #addRejected({ code, mark, line }: RejectedRow): void {
    this.#rejected++;
    this.#rejectedCodes.set(code, (this.#rejectedCodes.get(code) ?? 0) + 1);
    if (mark) this.#mark(mark.identities, mark);
    this.#consent.add(line, mark?.refusals);
  }

  #addSound(row: Row): void {
    if (row.isOpen) this.#openRow = row;
    this.#identities.add(row.key.identity);
    for (const { identity } of row.otherKeys ?? []) this.#otherIdentities.add(identity);
    this.#addOldKey(row);
    if (row.notSubscribed !== undefined)
      this.#markedIdentities[row.isMarkClear ? "clear" : "unclear"].add(row.key.identity);
    if (row.alsoNames && row.notSubscribed !== undefined) {
      this.#mark(row.alsoNames, { notSubscribed: row.notSubscribed, isMarkClear: row.isMarkClear ?? false });
    }
    this.#consent.add(row.line, row.refusals);
    for (const name of row.lists) this.#lists.add(name);
    for (const name of row.tags) this.#tags.add(name);
    for (const code of row.warnings) this.#warnings.set(code, (this.#warnings.get(code) ?? 0) + 1);
  }

  #addOldKey({ key, oldKey, otherKeys = [] }: Row): void {
    for (const { identity } of [key, ...otherKeys]) this.#oldKeys?.add(identity);
    if (!oldKey) return;
    this.#namesOldKey = true;
    this.#otherIdentities.add(oldKey.identity);
    this.#oldKeys?.add(oldKey.identity);
  }

  /** The first reason stays; one that is understood makes the mark clear. */
  #mark(identities: readonly string[], { notSubscribed, isMarkClear }: Mark): void {
    for (const identity of identities) {
      const known = this.#markedElsewhere.get(identity);
      this.#markedElsewhere.set(identity, {
        notSubscribed: known?.notSubscribed ?? notSubscribed,
        isMarkClear: isMarkClear || (known?.isMarkClear ?? false),
      });
    }
  }
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
