/** The first pass over an input: everything is read and checked before anything is sent. */

import { stat } from "node:fs/promises";
import { type EcmError, failedError } from "../errors.ts";
import { TextIndex } from "../text-index.ts";
import { findUnknown } from "./cells.ts";
import { type ConsentColumn, ConsentTally, findHiddenMark, formatMark, type Mark } from "./consent/cells.ts";
import { emptyInput, readRowBatches, type UnderstoodInput } from "./read-rows.ts";
import { rejectsColumns } from "./rejects-columns.ts";
import type { InputFacts, OddCells, ReadRow, RejectedRow, Row, RowsNote } from "./rows.ts";
import type { InputFile } from "./source.ts";

/** What the rows of a file hold, counted one by one. */
export class Survey {
  /** Rows of the file: sound ones and rejected ones. */
  read = 0;
  /** Rows that are invalid by themselves. */
  rejected = 0;
  readonly rejectedCodes = new Map<string, number>();
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
  /** The last row, where nothing is wrong with it but that it may be cut off. */
  openRow: Row | undefined;
  /** The largest line on which a row starts. */
  lastLine = 0;
  /**
   * All rows again, in file order and in batches of any size.
   * @throws EcmError when the file has changed since the survey
   */
  batches: () => AsyncIterable<readonly ReadRow[]>;
  readonly #oddities: Oddities;
  readonly #consentColumns: readonly ConsentColumn[];
  readonly #namesContacts: boolean;

  constructor(understood: UnderstoodInput) {
    const { facts, reading } = understood;
    this.batches = () => readRowBatches(understood);
    this.#oddities = new Oddities(facts.columns, reading);
    this.#consentColumns = reading.consent;
    this.#namesContacts = reading.takesIds ?? false;
    this.consent = new ConsentTally(reading.consent);
  }

  /** What looks odd in rows that are read all the same. */
  get notes(): RowsNote[] {
    return this.#oddities.notes();
  }

  add(row: ReadRow): void {
    this.read += 1;
    this.lastLine = row.line;
    this.#oddities.add(row, this.#namesContacts);
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
  }

  /** A mark on any row of a contact marks it, also on one that is rejected. */
  withMarks(row: Row): Row {
    const mark = this.markedElsewhere.get(row.key.identity);
    if (!mark) return row;
    const { notSubscribed = mark.notSubscribed, isMarkClear } = row;
    return { ...row, notSubscribed, isMarkClear: isMarkClear || mark.isMarkClear };
  }

  /** What a rejects file says of a sound row that is marked, by itself or by another one. */
  describeMark({ notSubscribed, isMarkClear = false }: Row): string | undefined {
    return notSubscribed === undefined ? undefined : formatMark({ notSubscribed, isMarkClear });
  }

  /** The mark of a row that is wrong by itself, where it is not in its cells for all to see. */
  findHiddenMark(row: RejectedRow): string | undefined {
    return findHiddenMark(row.mark, this.#findOtherMark(row), this.#consentColumns);
  }

  /** What other rows of the file say of whom a rejected row means. */
  #findOtherMark({ identities = [], mark: own }: RejectedRow): Mark | undefined {
    for (const identity of identities) {
      const { clear, unclear } = this.markedIdentities;
      if (clear.has(identity)) return { notSubscribed: markOfOther, isMarkClear: true };
      const mark = this.markedElsewhere.get(identity);
      // The row's own is among them.
      if (mark && (!own || (mark.isMarkClear && !own.isMarkClear))) return mark;
      if (unclear.has(identity)) return { notSubscribed: markOfOther, isMarkClear: false };
    }
    return undefined;
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

const markOfOther = "another row of the input says so";

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
  if (understood === emptyInput) return new Survey(understood);
  const before = await stat(understood.file.path);
  const survey = new Survey(understood);
  for await (const rows of readRowBatches(understood)) {
    signal.throwIfAborted();
    onRows(survey.read);
    for (const row of rows) survey.add(row);
  }
  await requireUnchanged(understood.file, before);
  // What was understood is of the file as it was opened; some file systems tell no size.
  if (before.size > 0 && before.size !== understood.facts.bytes)
    throw inputChangedError(understood.file.name);
  if (!understood.reading.table.records.areKept) survey.batches = () => readAgain(understood, before, signal);
  return survey;
}

/** A further pass over the file. @throws EcmError when it is another file by now */
async function* readAgain(
  understood: UnderstoodInput,
  before: FileState,
  signal: AbortSignal,
): AsyncGenerator<ReadRow[]> {
  await requireUnchanged(understood.file, before);
  for await (const rows of readRowBatches(understood)) {
    signal.throwIfAborted();
    yield rows;
  }
  await requireUnchanged(understood.file, before);
}

/** Passes over a file must read the same. */
function inputChangedError(name: string): EcmError {
  return failedError(
    `${name} was changed while it was being read`,
    "Run the same command again: a changed file is a new run",
    { type: "InputChangedError" },
  );
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

/** `426.65 €`, `1,204`: a workbook does not say whether its people see `426,65 €` and `1.204`. */
const amount = /^(?=.*(?:\p{Sc}|,\d{3}))[^\d]{0,8}(?:\d{1,3}(?:,\d{3})+|\d+(?=\.))(?:\.\d+)?[^\d]{0,8}$/u;
/** In characters: no amount is longer. */
const longestAmount = 40;

/** What looks odd in the rows of a file: each thing once, with the first cell of which it is to be said. */
class Oddities {
  readonly #found = new Map<string, RowsNote>();
  readonly #columns: InputFacts["columns"];
  /** Columns that are read at all. */
  readonly #read: readonly number[];
  /** Columns whose cells become values of fields. */
  readonly #zeros: ReadonlyMap<number, LostZeros>;
  readonly #isSheet: boolean;

  constructor(columns: InputFacts["columns"], { table, consent }: UnderstoodInput["reading"]) {
    const isConsent = (index: number) => consent.some((each) => each.index === index);
    const indexes = [...columns.keys()];
    this.#columns = columns;
    this.#read = indexes.filter((index) => columns[index]!.target.kind !== "ignore" || isConsent(index));
    const fields = indexes.filter((index) => columns[index]!.target.kind === "field");
    this.#zeros = new Map(fields.map((index) => [index, new LostZeros()]));
    // The cells of our own rejects are texts.
    const isRejects = columns.some(({ name }) => rejectsColumns.has(name));
    this.#isSheet = table.form.kind === "workbook" && !isRejects;
  }

  add(row: ReadRow, namesContacts: boolean): void {
    const { cells, line } = row;
    for (const index of this.#read) {
      const unknown = findUnknown(cells[index]);
      if (unknown !== undefined) this.#count("unknown_value", index, line, unknown);
    }
    if (row.kind === "rejected") return;
    for (const [index, zeros] of this.#zeros) {
      const cell = cells[index] ?? "";
      zeros.add(cell, line);
      if (this.#isSheet && cell.length <= longestAmount && amount.test(cell))
        this.#count("formatted_amount", index, line, cell);
    }
    for (const code of row.warnings) {
      // Whom a file only names is there already.
      if (code !== "role_address" || !namesContacts) this.#count(code, undefined, line, row.key.written);
    }
  }

  notes(): RowsNote[] {
    const zeros = [...this.#zeros].flatMap(([index, { odd }]): RowsNote[] =>
      odd ? [{ code: "lost_zeros", column: this.#columns[index]!.name, ...odd }] : [],
    );
    return [...this.#found.values(), ...zeros];
  }

  #count(code: RowsNote["code"], index: number | undefined, line: number, cell: string): void {
    const known = this.#found.get(`${code} ${index}`);
    if (known) known.count += 1;
    else {
      const column = index === undefined ? undefined : this.#columns[index]!.name;
      this.#found.set(`${code} ${index}`, { code, column, count: 1, line, cell });
    }
  }
}

/**
 * The cells of a column of numbers of one length, some of which begin with 0: a spreadsheet has taken the zero of
 * those that are one digit shorter.
 */
class LostZeros {
  /** Cells by their length. Undefined for a column in which other cells are. */
  #lengths: Map<number, OddCells> | undefined = new Map();
  #hasZero = false;

  add(text: string, line: number): void {
    const cell = text.trim();
    if (cell === "" || !this.#lengths) return;
    if (!/^\d{3,10}$/.test(cell)) {
      if (findUnknown(cell) === undefined) this.#lengths = undefined;
      return;
    }
    if (cell.startsWith("0")) this.#hasZero = true;
    const known = this.#lengths.get(cell.length);
    if (known) known.count += 1;
    else this.#lengths.set(cell.length, { count: 1, line, cell });
    if (this.#lengths.size > 2) this.#lengths = undefined;
  }

  /** The shorter cells. */
  get odd(): OddCells | undefined {
    if (!this.#hasZero || this.#lengths?.size !== 2) return undefined;
    const [short = 0, long = 0] = [...this.#lengths.keys()].sort((one, other) => one - other);
    return long === short + 1 ? this.#lengths.get(short) : undefined;
  }
}
