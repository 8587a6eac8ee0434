/** The first pass over an input: everything is read and checked before anything is sent. */

import { TextIndex } from "../text-index.ts";
import { findUnknown } from "./cells.ts";
import { ConsentTally, findHiddenMark, formatMark, joinMarks, type Mark } from "./consent/cells.ts";
import { readRowBatches, type UnderstoodInput } from "./read-rows.ts";
import { rejectsColumns } from "./rejects-columns.ts";
import type { OddCells, ReadRow, RejectedRow, Row, RowsNote } from "./rows.ts";

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
  readonly #markedElsewhere = new Map<string, Mark>();
  /** Identities that sound rows mark under their own key, by whether the mark is understood. */
  readonly #markedIdentities = { clear: new TextIndex(), unclear: new TextIndex() };
  /** Identities of the sound rows. */
  readonly identities = new TextIndex();
  /** The last row, where nothing is wrong with it but that it may be cut off. */
  openRow: Row | undefined;
  /** The largest line on which a row starts. */
  lastLine = 0;
  /** All rows, in file order and in batches of any size. @throws the signal's reason */
  readonly batches: () => AsyncIterable<readonly ReadRow[]>;
  readonly #oddities: Oddities | undefined;

  constructor(understood: UnderstoodInput | undefined, signal: AbortSignal) {
    this.batches = async function* () {
      for await (const rows of understood ? readRowBatches(understood) : []) {
        signal.throwIfAborted();
        yield rows;
      }
    };
    this.#oddities = understood && new Oddities(understood);
    this.consent = new ConsentTally(understood?.reading.consent ?? []);
  }

  /** What looks odd in rows that are read all the same. */
  get notes(): RowsNote[] {
    return this.#oddities?.notes() ?? [];
  }

  add(row: ReadRow): void {
    this.read += 1;
    this.lastLine = row.line;
    this.#oddities?.add(row);
    if (row.kind === "rejected") this.#addRejected(row);
    else this.#addSound(row);
  }

  #addRejected({ code, mark, line, identities = [] }: RejectedRow): void {
    this.rejected += 1;
    countOne(this.rejectedCodes, code);
    if (mark) this.#mark(identities, mark);
    this.consent.add(line, mark);
  }

  #addSound(row: Row): void {
    const { key, mark } = row;
    if (row.isOpen) this.openRow = row;
    this.identities.add(key.identity);
    if (mark) {
      this.#markedIdentities[mark.isClear ? "clear" : "unclear"].add(key.identity);
      this.#mark(row.alsoNames ?? [], mark);
    }
    this.consent.add(row.line, mark);
    for (const name of row.lists) this.lists.add(name);
    for (const name of row.tags) this.tags.add(name);
  }

  /** A mark on any row of a contact marks it, also on one that is rejected. */
  withMarks(row: Row): Row {
    const other = this.#markedElsewhere.get(row.key.identity);
    return other ? { ...row, mark: joinMarks(row.mark, other) } : row;
  }

  /** What a rejects file says of a sound row that is marked, by itself or by another one. */
  describeMark({ mark }: Row): string | undefined {
    return mark && formatMark(mark);
  }

  /** The mark of a rejected row, where its own cells do not show it. */
  findHiddenMark(row: RejectedRow): string | undefined {
    return findHiddenMark(row.mark, this.#findOtherMark(row));
  }

  /** The mark that other rows of the file give to the addresses of a rejected row. */
  #findOtherMark({ identities = [], mark: own }: RejectedRow): Mark | undefined {
    for (const identity of identities) {
      const { clear, unclear } = this.#markedIdentities;
      if (clear.has(identity)) return { ...markOfOther, isClear: true };
      const mark = this.#markedElsewhere.get(identity);
      // The row's own is among them.
      if (mark && (!own || (mark.isClear && !own.isClear))) return mark;
      if (unclear.has(identity)) return markOfOther;
    }
    return undefined;
  }

  #mark(identities: readonly string[], mark: Mark): void {
    for (const identity of identities) {
      const known = this.#markedElsewhere.get(identity);
      this.#markedElsewhere.set(identity, joinMarks(known, { ...mark, refusals: [] })!);
    }
  }
}

const markOfOther: Mark = { reason: "another row of the input says so", isClear: false, refusals: [] };

function countOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Reads all rows once. @throws the signal's reason */
export async function surveyInput(
  understood: UnderstoodInput | undefined,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<Survey> {
  const survey = new Survey(understood, signal);
  for await (const rows of survey.batches()) {
    onRows(survey.read);
    for (const row of rows) survey.add(row);
  }
  return survey;
}

/** `426.65 €`, `1,204`: a workbook does not say whether its people see `426,65 €` and `1.204`. */
const amount = /^(?=.*(?:\p{Sc}|,\d{3}))[^\d]{0,8}(?:\d{1,3}(?:,\d{3})+|\d+(?=\.))(?:\.\d+)?[^\d]{0,8}$/u;

function isAmount(cell: string): boolean {
  // No amount is longer, and the pattern is slow on what is.
  return cell.length <= 40 && amount.test(cell);
}

interface ReadColumn {
  name: string;
  index: number;
  /** The numbers seen so far, in a column that fills a field. */
  zeros?: LostZeros;
}

/** What looks odd in the rows of a file: each thing once, with the first cell of which it is to be said. */
class Oddities {
  readonly #found = new Map<string, RowsNote>();
  readonly #columns: readonly ReadColumn[];
  readonly #isSheet: boolean;
  readonly #namesContacts: boolean;

  constructor({ facts: { columns }, reading: { table, consent, takesIds = false } }: UnderstoodInput) {
    this.#columns = columns.flatMap(({ name, target: { kind } }, index): ReadColumn[] => {
      if (kind === "field") return [{ name, index, zeros: new LostZeros() }];
      const isRead = kind !== "ignore" || consent.some((each) => each.index === index);
      return isRead ? [{ name, index }] : [];
    });
    // The cells of our own rejects are texts.
    const isRejects = columns.some(({ name }) => rejectsColumns.has(name));
    this.#isSheet = table.form.kind === "workbook" && !isRejects;
    this.#namesContacts = takesIds;
  }

  add(row: ReadRow): void {
    for (const column of this.#columns) this.#addCell(row, row.cells[column.index] ?? "", column);
    if (row.kind === "rejected") return;
    for (const code of row.warnings) {
      // A contact that a file only names exists already.
      if (code !== "role_address" || !this.#namesContacts) this.#count(code, row.line, row.key.written);
    }
  }

  #addCell({ kind, line }: ReadRow, cell: string, { name, zeros }: ReadColumn): void {
    const unknown = findUnknown(cell);
    if (unknown !== undefined) this.#count("unknown_value", line, unknown, name);
    if (unknown !== undefined || kind === "rejected" || !zeros) return;
    zeros.add(cell.trim(), line);
    if (this.#isSheet && isAmount(cell)) this.#count("formatted_amount", line, cell, name);
  }

  notes(): RowsNote[] {
    const zeros = this.#columns.flatMap(({ name, zeros }): RowsNote[] =>
      zeros?.odd ? [{ code: "lost_zeros", column: name, ...zeros.odd }] : [],
    );
    return [...this.#found.values(), ...zeros];
  }

  #count(code: RowsNote["code"], line: number, cell: string, column?: string): void {
    const known = this.#found.get(`${code} ${column}`);
    if (known) known.count += 1;
    else this.#found.set(`${code} ${column}`, { code, column, count: 1, line, cell });
  }
}

/**
 * The cells of a column of numbers of one length, some of which begin with 0: a spreadsheet has taken the
 * zero of those that are one digit shorter.
 */
class LostZeros {
  /** Cells by their length; none for a column in which other cells are. */
  readonly #lengths = new Map<number, OddCells>();
  #isOfNumbers = true;
  #hasZero = false;

  add(cell: string, line: number): void {
    if (cell === "" || !this.#isOfNumbers) return;
    this.#isOfNumbers = /^\d{3,10}$/.test(cell);
    if (cell.startsWith("0")) this.#hasZero = true;
    const known = this.#lengths.get(cell.length);
    if (known) known.count += 1;
    else this.#lengths.set(cell.length, { count: 1, line, cell });
  }

  /** The shorter cells. */
  get odd(): OddCells | undefined {
    if (!this.#isOfNumbers || !this.#hasZero || this.#lengths.size !== 2) return undefined;
    const [short = 0, long = 0] = [...this.#lengths.keys()].sort((one, other) => one - other);
    return long === short + 1 ? this.#lengths.get(short) : undefined;
  }
}

// Rows of one contact made one: by the first, the last, or joined in file order.

export type Duplicates = "merge" | "first" | "last" | "reject";

/** Several rows of one contact. */
interface Group {
  /** The row that represents all; its `line` names the contact in journal and report. */
  row: Row;
  /** Every line of the group, in file order. */
  lines: number[];
}

export interface JoinedRows {
  /** By identity; identities of one row are not here. */
  groups: ReadonlyMap<string, Group>;
  /** Rows that another row represents. */
  passedOver: number;
  /** What became of them. */
  how: Duplicates;
}

/** Reads all rows once and keeps those of repeated identities only. */
export async function joinRows(
  batches: AsyncIterable<readonly ReadRow[]>,
  identities: TextIndex,
  duplicates: Duplicates,
): Promise<JoinedRows> {
  const groups = new Map<string, Group>();
  const gather = (row: Row) => {
    const group = groups.get(row.key.identity);
    if (group) addTo(group, row, duplicates);
    else groups.set(row.key.identity, { row: copyRow(row), lines: [row.line] });
  };
  if (identities.hasRepeated) {
    for await (const rows of batches) {
      for (const row of rows) {
        if (row.kind === "row" && identities.isRepeated(row.key.identity)) gather(row);
      }
    }
  }
  let passedOver = 0;
  for (const [identity, group] of groups) {
    if (group.lines.length === 1) groups.delete(identity);
    else passedOver += group.lines.length - 1;
  }
  return { groups, passedOver, how: duplicates };
}

/** What a row is, now that all are known: it represents its contact, or is passed over for another line. */
export function findRole(row: Row, joined: JoinedRows): { representative: Row } | { passedOverFor: number } {
  const group = joined.groups.get(row.key.identity);
  if (!group) return { representative: row };
  return group.row.line === row.line ? { representative: group.row } : { passedOverFor: group.row.line };
}

function addTo(group: Group, row: Row, duplicates: Duplicates): void {
  group.lines.push(row.line);
  // Whichever row represents the contact: a mark on any of them marks it.
  const mark = joinMarks(group.row.mark, row.mark);
  if (duplicates === "last") group.row = copyRow(row);
  if (duplicates === "merge") mergeInto(group.row, row);
  group.row.mark = mark;
}

/** Without the cells, which are read again for a rejects file: keeping them would hold the file in memory. */
function copyRow(row: Row): Row {
  return { ...row, cells: [], fields: new Map(row.fields) };
}

/** The later value wins unless it is blank; lists and tags add up. */
function mergeInto(target: Row, later: Row): void {
  for (const [id, value] of later.fields) {
    if (value !== "" || !target.fields.has(id)) target.fields.set(id, value);
  }
  target.lists = [...new Set([...target.lists, ...later.lists])];
  target.tags = [...new Set([...target.tags, ...later.tags])];
}
