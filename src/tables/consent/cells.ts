/**
 * Reading: how the cells of a consent column are read. In doubt a person is not subscribed, and nothing that
 * looks like consent is passed over without a word.
 */

import { findUnknown } from "../cells.ts";
import { readMarkCell, unclearSign } from "../rejects-columns.ts";
import { foldPhrase, isWithoutBlanks, listCellWords, phraseKey, signs, splitEntries } from "./words.ts";

export interface ConsentColumn {
  index: number;
  name: string;
  rule: ConsentRule;
}

/** A cell that keeps a person from being mailed. */
interface ConsentRefusal {
  column: ConsentColumn;
  /** As the file has it. */
  cell: string;
  /** It is no word for yes or no: the person counts as not subscribed, and nobody is unsubscribed. */
  isUnclear: boolean;
  /** Nobody knows the value of the cell. */
  isUnknown: boolean;
}

/** What a cell says, in words that are in the tables. */
type Word = "yes" | "no" | "active" | "subscribed" | "notSubscribed" | "gone" | "goneOrName" | "empty";

/**
 * `perhapsGone`: a longer text with a word for gone in it; `never`: a date that means so, which somebody
 * wrote; `unknown`: the cell has a value that nobody knows.
 */
export type CellMeaning = Word | "perhapsGone" | "date" | "never" | "number" | "unclear" | "unknown";

/** Later entries win: what speaks for itself is stronger than yes and no. */
const words = new Map<string, Word>();
for (const word of ["yes", "no", "active", "subscribed", "notSubscribed", "gone", "goneOrName"] as const) {
  for (const entry of listCellWords(word)) words.set(phraseKey(entry), word);
}
const exactly = new Map<string, Word>();
for (const word of ["yes", "no", "empty"] as const) {
  for (const sign of splitEntries(signs[word])) exactly.set(sign, word);
}
const around = new Set(listCellWords("aroundGone").map(phraseKey));

/** Long enough to mean one thing in a text: "user unsubscribed on 3 May" is gone, "Baja California" not. */
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
  let meaning = remembered.get(cell);
  if (meaning) return meaning;
  meaning = findUnknown(cell) === undefined ? parseCell(cell) : "unknown";
  if (remembered.size >= maxRememberedCells) remembered.clear();
  remembered.set(cell, meaning);
  return meaning;
}

function parseCell(cell: string): CellMeaning {
  const written = cell
    .normalize("NFKC")
    .replace(/[\p{Cf}\u00ad]/gu, "")
    .replace(/^=(?=")/, "")
    .replace(/^[\s'"’]+|[\s'"’]+$/g, "")
    .toLowerCase();
  if (written === "") return "empty";
  if (emptyDate.test(written)) return "never";
  if (errorValue.test(written)) return "unclear";
  const unclosed = /[\p{L}\p{N}\p{So}]/u.test(written) ? written.replace(/[\s!.,;:]+$/, "") : written;
  const sign = exactly.get(written) ?? exactly.get(unclosed);
  if (sign) return sign;
  if (date.test(unclosed)) return isZeroDate(unclosed) ? "never" : "date";
  if (number.test(written)) return "number";
  const word = words.get(phraseKey(cell));
  if (!word) return findRefusalInText(cell);
  return doubt.test(written) && !refusing.has(word) ? "unclear" : word;
}

const refusing: ReadonlySet<Word> = new Set<Word>(["gone", "goneOrName", "notSubscribed"]);

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

function findRefusalInText(cell: string): CellMeaning {
  if (cell.length > maxTextLength) return "unclear";
  const rest = foldPhrase(cell.replace(dateWithin, " "))
    .split(" ")
    .filter((word) => !around.has(word));
  const word = words.get(rest.join(""));
  if (word === "gone" || word === "goneOrName") return "gone";
  const padded = ` ${foldPhrase(cell)} `;
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
  goneOrName: "refuses",
  notSubscribed: "refuses",
  empty: "refuses",
  never: "refuses",
  perhapsGone: "unclear",
  number: "unclear",
  unclear: "unclear",
  unknown: "unclear",
};
const none = { empty: "allows", never: "allows" } as const;
const always = Object.fromEntries(
  Object.keys(subscribed).map((meaning) => [meaning, meaning === "unknown" ? "unclear" : "refuses"]),
) as Record<CellMeaning, Answer>;

/** How a consent column speaks: what each meaning says of mail. */
export const answers = {
  /** Its cells say yes or no to mail, and an empty one is no yes. */
  subscribed,
  /** Its cells say yes or no to mail, and an empty one says nothing. */
  unlessRefused: { ...subscribed, ...none },
  /** Its cells are words for what has become of a person. */
  status: { ...subscribed, date: "unclear" },
  /** Its cells say yes or no to having left. */
  optedOut: { ...subscribed, ...none, yes: "refuses", active: "refuses", date: "refuses", no: "allows" },
  /** Any value of the cell speaks against mail. */
  evidence: { ...always, ...none },
  /** The column's presence does. */
  always,
} satisfies Record<string, Record<CellMeaning, Answer>>;

/** `marked`: the column is that of a rejects file. */
export type ConsentRule = keyof typeof answers | "marked";

const marks = { none: "allows", clear: "refuses", unclear: "unclear" } as const;

/**
 * Why a cell says that the person is not subscribed; undefined when it says that all is well. What cannot be
 * understood, and an empty cell where a yes is asked for, count as not subscribed.
 */
function findRefusal(column: ConsentColumn, cell = ""): ConsentRefusal | undefined {
  const { rule } = column;
  const unknown = findUnknown(cell);
  const isUnknown = unknown !== undefined;
  const answer = isUnknown
    ? "unclear"
    : rule === "marked"
      ? marks[readMarkCell(cell)]
      : answers[rule][readConsentCell(cell)];
  if (answer === "allows") return undefined;
  return { column, cell: unknown ?? cell.trim(), isUnclear: answer === "unclear", isUnknown };
}

/** Why a contact counts as not subscribed. */
export interface Mark {
  /** In the file's words, such as `Status: unsubscribed`. */
  reason: string;
  /** Some cell says so in words that are understood: only then is anybody unsubscribed because of it. */
  isClear: boolean;
  /** The cells that say so; empty where another row says it. */
  refusals: readonly ConsentRefusal[];
}

/** The mark of a row with these refusals; undefined where it has none. */
export function toMark(refusals: readonly ConsentRefusal[]): Mark | undefined {
  if (refusals.length === 0) return undefined;
  const reasons = refusals.map(({ column: { rule, name }, cell }) =>
    // A rejects file says the name of its input's own column.
    rule === "marked" ? cell : `${name}: ${cell === "" ? "(empty)" : cell}`,
  );
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
 * The mark of a row that is wrong by itself, where it is not in its cells for all to see: a column may be
 * known as one of consent by its values, in whatever rows they are.
 * @param other what other rows say of the addresses in its cells
 */
export function findHiddenMark(own: Mark | undefined, other: Mark | undefined): string | undefined {
  if (other) return formatMark(other);
  const isHidden = own?.refusals.some(
    ({ column: { rule }, cell, isUnknown }) =>
      isUnknown || cell === "" || rule === "status" || rule === "marked",
  );
  return own && isHidden ? formatMark(own) : undefined;
}

export interface ColumnTally {
  name: string;
  rule: ConsentRule;
  /** Rows that this column marks; those among them whose cell is not understood. */
  marked: number;
  unclear: number;
  /** What they say, as it is written first. Of very many different ones (dates) the first alone. */
  words: Map<string, { written: string; count: number; isUnclear: boolean }>;
}

const maxWordsCounted = 1000;
const maxUnclearCells = 5;

/** What the rows of a file say of consent, counted for the report. */
export class ConsentTally {
  readonly columns: readonly ColumnTally[];
  /** The first cells that are no word for yes or no. */
  readonly unclear: { line: number; column: string; cell: string }[] = [];
  unclearCount = 0;
  /** Rows with a mark that is understood. */
  clearlyMarked = 0;
  readonly #byColumn: ReadonlyMap<ConsentColumn, ColumnTally>;

  constructor(columns: readonly ConsentColumn[]) {
    this.#byColumn = new Map(
      columns.map((column) => [column, { ...column, marked: 0, unclear: 0, words: new Map() }]),
    );
    this.columns = [...this.#byColumn.values()];
  }

  /** Counts a row. */
  add(line: number, mark: Mark | undefined): void {
    if (mark?.isClear) this.clearlyMarked += 1;
    for (const { column, cell, isUnclear } of mark?.refusals ?? []) {
      const tally = this.#byColumn.get(column)!;
      tally.marked += 1;
      countWord(tally.words, cell, isUnclear);
      if (!isUnclear) continue;
      tally.unclear += 1;
      this.unclearCount += 1;
      if (this.unclear.length < maxUnclearCells) this.unclear.push({ line, column: column.name, cell });
    }
  }
}

function countWord(words: ColumnTally["words"], written: string, isUnclear: boolean): void {
  const word = words.get(written.toLowerCase());
  if (word) word.count++;
  else if (words.size < maxWordsCounted) words.set(written.toLowerCase(), { written, count: 1, isUnclear });
}
