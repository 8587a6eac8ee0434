/**
 * Reading: how the cells of a consent column are read. In doubt a person is not subscribed, and nothing that
 * looks like consent is passed over without a word.
 */

import { findUnknown } from "../cells.ts";
import { readMarkCell, rejectsColumns, unclearSign } from "../rejects-columns.ts";
import { foldPhrase, isWithoutBlanks, listCellWords, phraseKey, signs, splitEntries } from "./words.ts";

/**
 * How a consent column speaks. `subscribed`: its cells say yes or no to mail, and an empty one is no yes;
 * `unlessRefused`: so too, but an empty cell says nothing; `status`: its cells are words for what has become
 * of a person; `optedOut`: its cells say yes or no to having left; `evidence`: any value of the cell speaks
 * against mail; `always`: the column's presence does; `marked`: it is that of a rejects file.
 */
export type ConsentRule =
  | "subscribed"
  | "unlessRefused"
  | "status"
  | "optedOut"
  | "evidence"
  | "always"
  | "marked";

export interface ConsentColumn {
  index: number;
  name: string;
  rule: ConsentRule;
}

/** A cell that keeps a person from being mailed. */
export interface ConsentRefusal {
  /** The column's. */
  index: number;
  /** As the file has it. */
  cell: string;
  /**
   * It is no word for yes or no: the person counts as not subscribed, and is not unsubscribed in the account.
   */
  isUnclear: boolean;
  /** Nobody knows the value of the cell. */
  isUnknown?: true;
}

type Meaning = "yes" | "no" | "active" | "subscribed" | "gone" | "notSubscribed" | "empty";

/** `perhapsGone`: a longer text with a word for gone in it. */
export type CellMeaning = Meaning | "perhapsGone" | "date" | "number" | "unclear";

/** Later entries win: what speaks for itself is stronger than yes and no. */
const words = new Map<string, Meaning>();
for (const meaning of ["yes", "no", "active", "subscribed", "notSubscribed", "gone"] as const) {
  for (const word of listCellWords(meaning)) words.set(phraseKey(word), meaning);
}
const exactly = new Map<string, Meaning>();
for (const meaning of ["yes", "no", "empty"] as const) {
  for (const sign of splitEntries(signs[meaning])) exactly.set(sign, meaning);
}
const ambiguous = new Set(listCellWords("goneOrName").map(phraseKey));
const around = new Set(listCellWords("aroundGone").map(phraseKey));

/**
 * Long enough to mean one thing in a longer text: "user
 * unsubscribed on 3 May" is gone, "Baja California" is not.
 */
const minLengthWithin = 7;
const maxTextLength = 60;
const goneWithin = listCellWords("gone")
  .map(foldPhrase)
  .filter((phrase) => phrase.length >= (isWithoutBlanks(phrase) ? 3 : minLengthWithin));
const negation =
  / (?:not|never|no|t|isn|hasn|nicht|nie|kein|keine|pas|jamais|ne|non|nunca|mai|niet|geen|inte|ikke|ei|не|nao|nu|nem|ne|nije|ni|değil|degil) /;

const emptyDate = /^0{1,4}[-/.]0{1,2}[-/.]0{1,4}(?:[ Tt].*)?$/;
const date =
  /^(?:\d{4}[-/.年]\s?\d{1,2}[-/.月]\s?\d{1,2}日?|\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?\d{2,4}|\d{8}|\d{10}|\d{13}|\d{1,2}\.? \p{L}{3,9}\.?,? \d{4}|\p{L}{3,9}\.? \d{1,2},? \d{4})(?:[Tt ,].*)?$/u;
const dateParts = /^(\d{1,4})[-/.年]\s?(\d{1,2})[-/.月]\s?(\d{1,4})(?!\d)/;
/** The first days of calendars, and those around them in other time zones. */
const firstDays = ["1-1-1", "1753-1-1", "1899-12-30", "1899-12-31", "1900-1-1", "1969-12-31", "1970-1-1"];
const dateWithin = /\d{1,2}\.? \p{L}{3,9}\.?,? \d{4}|\p{L}{3,9}\.? \d{1,2},? \d{4}|\d[\d/.:\-T]*\d|\d/gu;
const number = /^[+\-\u2212]?\s?\d+(?:[.,]\d+)?\s?%?$/;
/** What a spreadsheet shows in place of a value: `#N/A`, `#REF!`. */
const errorValue = /^#(?:n\/a|(?:ref|value|null|num|div\/0|spill|calc|field|blocked|connect|busy)!|name\?)$/;
/** Somebody was not sure, or has more to say elsewhere: `yes?`, `subscribed*`. */
const doubt = /[?？*＊¿]/;

/** Files say the same few words over and over; dates are remembered as long as there are not too many. */
const remembered = new Map<string, CellMeaning>();
const maxRememberedCells = 5000;

/** What a cell says, whatever its column. */
export function readConsentCell(cell: string): CellMeaning {
  const cachedMeaning = remembered.get(cell);
  if (cachedMeaning) return cachedMeaning;
  const cellMeaning = parseCell(cell);
  if (remembered.size >= maxRememberedCells) remembered.clear();
  remembered.set(cell, cellMeaning);
  return cellMeaning;
}

function parseCell(cell: string): CellMeaning {
  const written = cell
    .normalize("NFKC")
    .replace(/[\p{Cf}\u00ad]/gu, "")
    .replace(/^=(?=")/, "")
    .replace(/^[\s'"’]+|[\s'"’]+$/g, "")
    .toLowerCase();
  if (written === "" || emptyDate.test(written)) return "empty";
  if (errorValue.test(written)) return "unclear";
  const unclosed = /[\p{L}\p{N}\p{So}]/u.test(written) ? written.replace(/[\s!.,;:]+$/, "") : written;
  const sign = exactly.get(written) ?? exactly.get(unclosed);
  if (sign) return sign;
  if (date.test(unclosed)) return isZeroDate(unclosed) ? "empty" : "date";
  if (number.test(written)) return "number";
  const meaning = words.get(phraseKey(cell));
  if (meaning === "gone" || meaning === "notSubscribed") return meaning;
  if (meaning) return doubt.test(written) ? "unclear" : meaning;
  return findRefusalInText(cell);
}

/** Whether an empty cell of consent is a date that means never: somebody wrote it, so that its column is not empty. */
export function isNeverDate(cell: string): boolean {
  return /\d/.test(cell) && readConsentCell(cell) === "empty";
}

/** What programs write for never: day 0 of a spreadsheet, the first day of a calendar. */
function isZeroDate(written: string): boolean {
  if (/^0+$/.test(written)) return true;
  const [, first, second, third] = dateParts.exec(written) ?? [];
  if (first === undefined || second === undefined || third === undefined) return false;
  const [year, ...others] = first.length > 2 ? [first, second, third] : [third, second, first];
  const [one = 0, other = 0] = others.map(Number);
  if (one === 0 || other === 0) return true;
  return (
    year.length === 4 &&
    [`${one}-${other}`, `${other}-${one}`].some((day) => firstDays.includes(`${Number(year)}-${day}`))
  );
}

/** A word for gone that cannot be the name of a place or a person. */
export function isUnmistakable(cell: string): boolean {
  return readConsentCell(cell) === "gone" && !ambiguous.has(phraseKey(cell));
}

function findRefusalInText(cell: string): CellMeaning {
  if (cell.length > maxTextLength) return "unclear";
  const text = foldPhrase(cell);
  const rest = foldPhrase(cell.replace(dateWithin, " "))
    .split(" ")
    .filter((word) => !around.has(word));
  if (words.get(rest.join("")) === "gone") return "gone";
  const padded = ` ${text} `;
  const isWithin = goneWithin.some((phrase) =>
    isWithoutBlanks(phrase)
      ? padded.includes(phrase)
      : padded.includes(` ${phrase} `) && !negation.test(padded.replace(phrase, " ")),
  );
  return isWithin ? "perhapsGone" : "unclear";
}

type Answer = "allows" | "refuses" | "unclear";

const subscribed: Record<CellMeaning, Answer> = {
  yes: "allows",
  active: "allows",
  subscribed: "allows",
  date: "allows",
  no: "refuses",
  gone: "refuses",
  notSubscribed: "refuses",
  empty: "refuses",
  perhapsGone: "unclear",
  number: "unclear",
  unclear: "unclear",
};
const refused = Object.fromEntries(Object.keys(subscribed).map((meaning) => [meaning, "refuses"]));
/** What each meaning says under each rule that goes by meanings. */
export const answers: Record<Exclude<ConsentRule, "marked">, Record<CellMeaning, Answer>> = {
  subscribed,
  unlessRefused: { ...subscribed, empty: "allows" },
  status: { ...subscribed, date: "unclear" },
  optedOut: {
    ...subscribed,
    yes: "refuses",
    active: "refuses",
    date: "refuses",
    no: "allows",
    empty: "allows",
  },
  evidence: { ...subscribed, ...refused, empty: "allows" },
  always: { ...subscribed, ...refused },
};

const marks = { none: "allows", clear: "refuses", unclear: "unclear" } as const;

/** Whether a cell lets a person be mailed; `unclear` counts as refusing. */
function toAnswer(rule: ConsentRule, cell: string): Answer {
  if (findUnknown(cell) !== undefined) return "unclear";
  return rule === "marked" ? marks[readMarkCell(cell)] : answers[rule][readConsentCell(cell)];
}

/**
 * Why a cell says that the person is not subscribed; undefined when it says that all is well. What cannot be
 * understood, and an empty cell where a yes is asked for, count as not subscribed.
 *
 * @param cell undefined when the row has no such cell
 */
function findRefusal({ rule, index }: ConsentColumn, cell: string | undefined): ConsentRefusal | undefined {
  const answer = toAnswer(rule, cell ?? "");
  if (answer === "allows") return undefined;
  const unknown = findUnknown(cell);
  if (unknown !== undefined) return { index, cell: unknown, isUnclear: true, isUnknown: true };
  return { index, cell: cell?.trim() ?? "", isUnclear: answer === "unclear" };
}

/** Why a contact counts as not subscribed. */
export interface Mark {
  /** In the file's words, such as `Status: unsubscribed`. */
  reason: string;
  /** Some cell says so in words that are understood: only then is anybody unsubscribed because of it. */
  isClear: boolean;
  /** The same, cell by cell; empty where another row says so. */
  refusals: readonly ConsentRefusal[];
}

/** The mark of a row with these refusals; undefined where it has none. */
export function toMark(
  refusals: readonly ConsentRefusal[],
  columns: readonly ConsentColumn[],
): Mark | undefined {
  if (refusals.length === 0) return undefined;
  const reasons = refusals.map(({ index, cell }) => {
    const column = columns.find((each) => each.index === index);
    // What it says has the name of the input's own column.
    if (column?.name === rejectsColumns.notSubscribed) return cell;
    return `${column?.name ?? index + 1}: ${cell === "" ? "(empty)" : cell}`;
  });
  return { reason: reasons.join("; "), isClear: refusals.some(({ isUnclear }) => !isUnclear), refusals };
}

/** Two marks of one contact: the first reason stays; one that is understood makes the mark clear. */
export function joinMarks(one: Mark | undefined, other: Mark | undefined): Mark | undefined {
  return one && other ? { ...one, isClear: one.isClear || other.isClear } : (one ?? other);
}

/**
 * Where a cell holds a delimiter without quotes, all cells behind it are further to the right. In a column in
 * which any value is a refusal, nobody knows then whether the value is this column's.
 */
export function findRefusalWithin(
  column: ConsentColumn,
  cellAt: (index: number) => string | undefined,
  { shifted, isMoved }: { shifted: number; isMoved: boolean },
): ConsentRefusal | undefined {
  const isDoubtful = isMoved && (column.rule === "marked" || column.rule === "evidence");
  let found: ConsentRefusal | undefined;
  for (let by = 0; by <= shifted; by++) {
    const refusal = findRefusal(column, cellAt(column.index + by));
    if (refusal && isDoubtful) return { ...refusal, isUnclear: true };
    if (refusal && !refusal.isUnclear) return refusal;
    found ??= refusal;
  }
  return found;
}

/** What a rejects file says of a marked row. */
export function formatMark({ reason, isClear }: Mark): string {
  return isClear || readMarkCell(reason) === "unclear" ? reason : unclearSign + reason;
}

/**
 * The mark of a row that is wrong by itself, where it is not in its cells for all to see.
 * @param other what other rows say of the addresses in its cells
 */
export function findHiddenMark(
  own: Mark | undefined,
  other: Mark | undefined,
  columns: readonly ConsentColumn[],
): string | undefined {
  if (other) return formatMark(other);
  const isHidden = own?.refusals.some(
    ({ index, cell, isUnknown }) =>
      isUnknown || cell === "" || columns.some((each) => each.index === index && isHiddenIn(each)),
  );
  return own && isHidden ? formatMark(own) : undefined;
}

/** A column that is known by its values, in whatever rows they are. */
function isHiddenIn({ rule }: ConsentColumn): boolean {
  return rule === "status" || rule === "marked";
}

/** A cell that is no word for yes or no. */
export interface UnclearCell {
  line: number;
  column: string;
  said: string;
}

export interface ColumnTally {
  name: string;
  rule: ConsentRule;
  /** Rows that this column marks; those among them whose cell is not understood. */
  marked: number;
  unclear: number;
  /**
   * What they say, as it is written first, and how many say it. Of
   * very many different ones (dates) the first alone.
   */
  words: Map<string, SaidWord>;
}

interface SaidWord {
  said: string;
  count: number;
  isUnclear: boolean;
}

const maxWordsCounted = 1000;
const maxUnclearCells = 5;

/** What the rows of a file say of consent, counted for the report. */
export class ConsentTally {
  /** One for each consent column. */
  readonly columns: readonly ColumnTally[];
  /** The first cells that are no word for yes or no. */
  readonly unclear: UnclearCell[] = [];
  unclearCount = 0;
  /** Rows with a mark that is understood. */
  clearlyMarked = 0;
  readonly #byIndex: ReadonlyMap<number, ColumnTally>;

  constructor(columns: readonly ConsentColumn[]) {
    this.columns = columns.map(({ name, rule }) => ({ name, rule, marked: 0, unclear: 0, words: new Map() }));
    this.#byIndex = new Map(columns.map(({ index }, place) => [index, this.columns[place]!]));
  }

  /** Counts a row. */
  add(line: number, refusals: readonly ConsentRefusal[] = []): void {
    if (refusals.some(({ isUnclear }) => !isUnclear)) this.clearlyMarked += 1;
    for (const { index, cell, isUnclear = false } of refusals) {
      const column = this.#byIndex.get(index)!;
      column.marked += 1;
      countWord(column.words, cell, isUnclear);
      if (!isUnclear) continue;
      column.unclear += 1;
      this.#keepUnclear({ line, column: column.name, said: cell });
    }
  }

  #keepUnclear(cell: UnclearCell): void {
    this.unclearCount += 1;
    if (this.unclear.length < maxUnclearCells) this.unclear.push(cell);
  }
}

function countWord(words: ColumnTally["words"], said: string, isUnclear: boolean): void {
  const folded = said.toLowerCase();
  const word = words.get(folded);
  if (word) word.count++;
  else if (words.size < maxWordsCounted) words.set(folded, { said, count: 1, isUnclear });
}
