/** The first pass over an input: everything is read and checked before anything is sent. */

import { stat } from "node:fs/promises";
import { type EcmError, failedError } from "../errors.ts";
import { TextIndex } from "../text-index.ts";
import { findUnknown, unwrapFormula } from "./cells.ts";
import { type ConsentColumn, ConsentTally, findHiddenMark, formatMark, type Mark } from "./consent/cells.ts";
import { suggestDomain } from "./keys.ts";
import { emptyInput, readRowBatches, type UnderstoodInput } from "./read-rows.ts";
import { rejectsColumns } from "./rejects-columns.ts";
import type { InputFacts, OddCells, OddCellsNote, ReadRow, RejectedRow, Row, RowsNote } from "./rows.ts";
import type { InputFile } from "./source.ts";

/** How often a further pass looks whether the file is still the same, in rows. */
const rowsBetweenChecks = 2000;

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
  /** The largest line on which a row starts. */
  lastLine = 0;
  /** The last row, where it alone has no line end: nothing is wrong with it, but it may be cut off. */
  openRow: Row | undefined;
  /**
   * All rows again, in file order and in batches of any size.
   * @throws EcmError when the file has changed since the survey
   */
  batches: () => AsyncIterable<readonly ReadRow[]>;
  readonly #oddities: Oddities;
  readonly #misspelled = new MisspelledDomains();
  readonly #roles: Remarked = { count: 0 };
  readonly #several: Remarked = { count: 0 };
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
    return [
      ...this.#oddities.notes(),
      ...this.#misspelled.notes(),
      ...noteRows("role_addresses", this.#roles),
      ...noteRows("several_addresses", this.#several),
    ];
  }

  /** One for each column with cells of which nobody knows the value. */
  get unknownCells(): RowsNote[] {
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
    if (row.warnings.length > 0) this.#addWarnings(row);
  }

  #addWarnings(row: Row): void {
    if (row.warnings.includes("likely_typo")) this.#misspelled.add(row);
    // Whom a file only names is there already.
    if (row.warnings.includes("role_address") && !this.#namesContacts) countRow(this.#roles, row);
    if (row.warnings.includes("first_of_several")) countRow(this.#several, row);
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

const watchedKinds: ReadonlySet<string> = new Set(["field", "key"]);
const rounded = /^-?[1-9]\d{14}0+$/;
/** `426.65 €`, `1,204`: a workbook does not say whether its people see `426,65 €` and `1.204`. */
const amount = /^(?=.*(?:\p{Sc}|,\d{3}))[^\d]{0,8}(?:\d{1,3}(?:,\d{3})+|\d+(?=\.))(?:\.\d+)?[^\d]{0,8}$/u;
/** In characters: no number that a spreadsheet has changed is longer. */
const longestOdd = 40;
const shortened = /^[+-]?\d(?:[.,]\d+)?E\+\d{1,3}$/i;

export class Oddities {
  readonly #columns: InputFacts["columns"];
  /** Those whose `="…"` is undone. */
  readonly #formulaColumns: readonly number[];
  /** Columns whose cells become values of fields, or keys. */
  readonly #watched: readonly number[];
  /** Columns that are read at all. */
  readonly #read: readonly number[];
  readonly #unknown = new Map<number, OddCells>();
  readonly #zeros: ReadonlyMap<number, LostZeros>;
  readonly #shortened = new Map<number, OddCells>();
  readonly #formulas = new Map<number, OddCells>();
  readonly #rounded = new Map<number, OddCells>();
  readonly #amounts = new Map<number, OddCells>();
  readonly #isSheet: boolean;
  /** Rows of several lines. */
  #tall = 0;
  #tallest = { line: 0, lines: 1 };

  constructor(columns: InputFacts["columns"], { table, consent }: UnderstoodInput["reading"]) {
    const isConsent = (index: number) => consent.some((each) => each.index === index);
    this.#read = columns.flatMap(({ target }, index) =>
      target.kind !== "ignore" || isConsent(index) ? [index] : [],
    );
    const fields = columns.flatMap(({ target }, index) => (target.kind === "field" ? [index] : []));
    this.#zeros = new Map(fields.map((index) => [index, new LostZeros()]));
    this.#columns = columns;
    this.#formulaColumns = table.formulaColumns;
    // The cells of our own rejects are texts.
    const isRejects = columns.some(({ name }) => rejectsColumns.has(name));
    this.#isSheet = table.form.kind === "workbook" && !isRejects;
    this.#watched = columns.flatMap(({ target }, index) => (watchedKinds.has(target.kind) ? [index] : []));
  }

  add(row: ReadRow): void {
    if (row.lines !== undefined) {
      this.#tall += 1;
      if (row.lines > this.#tallest.lines) this.#tallest = { line: row.line, lines: row.lines };
    }
    for (const index of this.#read) {
      const unknown = findUnknown(row.cells[index]);
      if (unknown !== undefined) countOddity(this.#unknown, index, row.line, unknown);
    }
    if (row.kind === "rejected") return;
    for (const [index, zeros] of this.#zeros) zeros.add(row.cells[index] ?? "", row.line);
    for (const index of this.#watched) {
      const cell = row.cells[index];
      if (cell !== undefined && cell.length <= longestOdd) this.#look(index, cell, row.line);
    }
  }

  #look(index: number, cell: string, line: number): void {
    if (cell.includes("E+") && shortened.test(cell)) countOddity(this.#shortened, index, line, cell);
    else if (!this.#formulaColumns.includes(index) && unwrapFormula(cell) !== undefined)
      countOddity(this.#formulas, index, line, cell);
    else if (this.#isSheet && rounded.test(cell)) countOddity(this.#rounded, index, line, cell);
    else if (this.#isSheet && amount.test(cell)) countOddity(this.#amounts, index, line, cell);
  }

  notes(): RowsNote[] {
    const zeros = [...this.#zeros].flatMap(([index, { odd }]) => (odd ? [[index, odd] as const] : []));
    return [
      ...this.#notesOn(this.#shortened, "lost_digits"),
      ...this.#notesOn(this.#formulas, "odd_formula"),
      ...this.#notesOn(this.#rounded, "perhaps_lost_digits"),
      ...this.#notesOn(this.#amounts, "formatted_amount"),
      ...this.#notesOn(zeros, "lost_zeros"),
      ...(this.#tall === 0 ? [] : [{ code: "tall_rows" as const, count: this.#tall, ...this.#tallest }]),
    ];
  }

  unknownCells(): RowsNote[] {
    return this.#notesOn(this.#unknown, "unknown_value");
  }

  #notesOn(
    seenIn: Iterable<readonly [index: number, cells: OddCells]>,
    code: OddCellsNote["code"],
  ): OddCellsNote[] {
    return [...seenIn].map(([index, cells]) => ({ code, column: this.#columns[index]!.name, ...cells }));
  }
}

/**
 * The cells of a column of numbers of one length, some of which begin with 0: a spreadsheet has taken the zero of
 * those that are one digit shorter.
 */
class LostZeros {
  /** Undefined for a column in which other cells are. */
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
    countOddity(this.#lengths, cell.length, line, cell);
    if (this.#lengths.size > 2) this.#lengths = undefined;
  }

  /** The shorter cells. */
  get odd(): OddCells | undefined {
    if (!this.#hasZero || this.#lengths?.size !== 2) return undefined;
    const [short = 0, long = 0] = [...this.#lengths.keys()].sort((one, other) => one - other);
    return long === short + 1 ? this.#lengths.get(short) : undefined;
  }
}

/** Domains that are probably a big provider's, with the line of the first address. */
class MisspelledDomains {
  #count = 0;
  readonly #lines = new Map<string, number>();

  add({ key, line }: Row): void {
    this.#count += 1;
    const domain = key.identity.slice(key.identity.lastIndexOf("@") + 1);
    if (!this.#lines.has(domain)) this.#lines.set(domain, line);
  }

  notes(): RowsNote[] {
    if (this.#count === 0) return [];
    const domains = [...this.#lines].map(([domain, line]) => ({
      domain,
      meant: suggestDomain(domain)!,
      line,
    }));
    return [{ code: "misspelled", count: this.#count, domains }];
  }
}

/** Rows of which the same is to be said, and the first of them. */
interface Remarked {
  count: number;
  first?: Row;
}

function countRow(remarked: Remarked, row: Row): void {
  remarked.count += 1;
  remarked.first ??= row;
}

function noteRows(code: "role_addresses" | "several_addresses", { count, first }: Remarked): RowsNote[] {
  return first ? [{ code, count, key: first.key.written, line: first.line }] : [];
}

function countOddity(oddities: Map<number, OddCells>, index: number, line: number, cell: string): void {
  const oddity = oddities.get(index);
  if (oddity) oddity.count += 1;
  else oddities.set(index, { count: 1, line, cell });
}
