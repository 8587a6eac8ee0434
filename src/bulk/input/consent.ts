/**
 * Reading: what a file says of consent. Which columns speak of it, how their cells are read, and what is said of it. In doubt
 * a person is not subscribed, and nothing that looks like consent is passed over without a word.
 */
import { cellWords, columnNames, emptyWords } from "./consent-words.ts";

/**
 * How a consent column speaks. `subscribed`: its cells say yes or no to mail, and an empty one is no yes;
 * `unlessRefused`: so too, but an empty cell says nothing; `optedOut`: its cells say yes or no to having left;
 * `evidence`: any value of the cell speaks against mail; `always`: the column's presence does.
 */
export type ConsentRule = "subscribed" | "unlessRefused" | "optedOut" | "evidence" | "always";

/** What a column's name says. `perhaps`: only if every cell is an answer. `both`: it can be read either way. */
export type ConsentName =
  | "optIn"
  | "optOut"
  | "both"
  | "evidence"
  | "perhapsOptIn"
  | "perhapsOptOut"
  | "detail"
  | "status"
  | "otherChannel"
  | "other";

export interface ConsentColumn {
  index: number;
  name: string;
  rule: ConsentRule;
}

/** A cell that keeps a person from being mailed. */
export interface Refusal {
  /** The column's. */
  index: number;
  /** As the file has it. */
  said: string;
  /** It is no word for yes or no: the person counts as not subscribed all the same. */
  isUnclear: boolean;
}

/** Without case, accents on Latin letters, and what words are joined and quoted with. */
function foldWords(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s_.,:;!/\\|()[\]{}"'’‘“”«»`´-]+/g, " ")
    .trim();
}

type Meaning = "yes" | "no" | "subscribed" | "gone" | "notSubscribed" | "empty";

/** Later entries win: what speaks for itself is stronger than yes and no. */
const meanings = (() => {
  const found = new Map<string, Meaning>();
  const add = (words: string, meaning: Meaning) => {
    for (const word of words.split(",")) {
      const folded = foldWords(word) || word.trim();
      if (folded !== "") found.set(folded, meaning);
    }
  };
  for (const meaning of ["yes", "no", "subscribed", "notSubscribed", "gone"] as const) {
    for (const words of Object.values(cellWords)) add(words[meaning], meaning);
  }
  add(emptyWords, "empty");
  return found;
})();

/** Long enough to mean one thing in a longer text: "user unsubscribed on 3 May" is gone, "Baja California" is not. */
const leastLengthWithin = 7;
const longestText = 60;
const goneWords = [...meanings]
  .filter(([word, meaning]) => meaning === "gone" && word.length >= leastLengthWithin)
  .map(([word]) => ` ${word} `);
const negation =
  / (?:not|never|no|nicht|nie|kein|keine|pas|jamais|ne|non|nunca|mai|niet|geen|inte|ikke|ei|не) /;

function isGoneWithin(words: string): boolean {
  if (words.length > longestText) return false;
  const padded = ` ${words} `;
  return goneWords.some((word) => padded.includes(word) && !negation.test(padded.replace(word, "  ")));
}

const emptyDate = /^0{1,4}[-/.]0{1,2}[-/.]0{1,4}(?:[ T].*)?$/;
const date =
  /^(?:\d{4}[-/.年]\s?\d{1,2}[-/.月]\s?\d{1,2}日?|\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?\d{2,4}|\d{8}|\d{10}|\d{13}|\d{1,2}\.? \p{L}{3,9}\.?,? \d{4}|\p{L}{3,9}\.? \d{1,2},? \d{4})(?:[T ,].*)?$/u;
const number = /^\d+(?:[.,]\d+)?\s?%?$/;

type Said = Meaning | "date" | "number" | "unclear";

function saidIn(cell: string): Said {
  const written = cell.replace(/^=(?=")/, "").replace(/^[\s'"’\u200b\ufeff]+|[\s'"’\u200b\ufeff]+$/g, "");
  if (written === "" || emptyDate.test(written)) return "empty";
  const word = foldWords(written) || written;
  const meaning = meanings.get(word);
  if (meaning) return meaning;
  if (date.test(written)) return "date";
  if (number.test(written)) return "number";
  return isGoneWithin(word) ? "gone" : "unclear";
}

/** Whether a cell lets a person be mailed; `unclear` counts as refusing. */
function answerIn(rule: ConsentRule, cell: string): "allows" | "refuses" | "unclear" {
  if (rule === "always") return "refuses";
  const said = saidIn(cell);
  if (rule === "evidence") return said === "empty" ? "allows" : "refuses";
  if (said === "empty") return rule === "subscribed" ? "refuses" : "allows";
  if (said === "subscribed") return "allows";
  if (said === "gone" || said === "notSubscribed") return "refuses";
  const isOptOut = rule === "optedOut";
  if (said === "yes" || said === "date") return isOptOut ? "refuses" : "allows";
  if (said === "no") return isOptOut ? "allows" : "refuses";
  if (said === "number" && isOptOut) return /^[0.,]+\s?%?$/.test(cell.trim()) ? "allows" : "refuses";
  return isOptOut && said === "unclear" ? "refuses" : "unclear";
}

/**
 * Why a cell says that the person is not subscribed; undefined when it says that all is well. What cannot be understood, and
 * an empty cell where a yes is asked for, count as not subscribed.
 *
 * @param cell undefined when the row has no such cell
 */
export function refusalIn({ rule, index }: ConsentColumn, cell: string | undefined): Refusal | undefined {
  const answer = answerIn(rule, cell ?? "");
  if (answer === "allows") return undefined;
  return { index, said: cell?.trim() ?? "", isUnclear: answer === "unclear" };
}

/** Refusals in the file's words, such as `Status: unsubscribed`. */
export function wordsOf(refusals: readonly Refusal[], columns: readonly ConsentColumn[]): string {
  return refusals
    .map(({ index, said }) => {
      const column = columns.find((each) => each.index === index);
      return `${column?.name ?? index + 1}: ${said === "" ? "(empty)" : said}`;
    })
    .join("; ");
}

const patterns = Object.fromEntries(
  Object.entries(columnNames).map(([kind, lines]) => [
    kind,
    lines
      .flatMap((line) => line.split(","))
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
      .map(patternOf),
  ]),
) as Record<keyof typeof columnNames, RegExp[]>;

function patternOf(entry: string): RegExp {
  const isWithoutBlanks = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(entry);
  const words = entry
    .split("*")
    .map((part) => foldNameWords(part).replace(/[+?^$]/g, "\\$&"))
    .join("[^ ]*");
  // A single sign, such as 市, is a name and no part of one.
  if (isWithoutBlanks) return new RegExp(entry.length === 1 ? `^ ${words} $` : words, "u");
  return new RegExp(`(?<= )${words}(?= )`, "u");
}

/** The name as words, and as words where capitals begin one too. */
function formsOf(name: string): string[] {
  const parted = name.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2");
  return [...new Set([name, parted])].map((form) => ` ${foldNameWords(form)} `);
}

/** As `foldWords`, with one way to write e-mail. */
function foldNameWords(name: string): string {
  return foldWords(name).replace(/(^| )e mail/g, "$1email");
}

/** What a column's name says of consent; undefined when it says nothing. */
export function consentNameOf(name: string): ConsentName | undefined {
  const forms = formsOf(name);
  const isA = (kind: keyof typeof columnNames) => is(kind, forms);
  const isOptOut = isA("optOut");
  // "Not subscribed" is one word: what is left of the name may name the other way too.
  const rest = forms.map((form) =>
    patterns.optOut.reduce((left, pattern) => left.replaceAll(new RegExp(pattern, "gu"), "-"), form),
  );
  const isOptIn = patterns.optIn.some((pattern) => rest.some((form) => pattern.test(form)));
  const isEither = forms.some((form) => / opt in (?:or |and )?out /.test(form));
  const kind = isEither ? "both" : polarityOf(isOptIn, isOptOut, isA);
  if (kind === undefined) return isA("other") ? "other" : undefined;
  if (isA("otherChannels") && !isA("email")) return "otherChannel";
  if (kind === "status") return kind;
  if (isA("evidence") && (kind === "optOut" || kind === "perhapsOptOut")) return "evidence";
  return isA("detail") ? "detail" : kind;
}

function polarityOf(
  isOptIn: boolean,
  isOptOut: boolean,
  is: (kind: "perhapsOptIn" | "perhapsOptOut" | "status") => boolean,
): ConsentName | undefined {
  if (isOptIn && isOptOut) return "both";
  if (isOptOut) return "optOut";
  if (isOptIn) return "optIn";
  if (is("perhapsOptOut")) return "perhapsOptOut";
  if (is("status")) return "status";
  return is("perhapsOptIn") ? "perhapsOptIn" : undefined;
}

/** How a column that was named as consent is read: by its name, else as one that says who is subscribed. */
export function ruleByName(name: string): ConsentRule {
  const kind = consentNameOf(name);
  if (kind === "evidence") return "evidence";
  if (kind === "optOut" || kind === "perhapsOptOut") return "optedOut";
  // Of an opt-out's reason, link or source: its name is still that of an opt-out.
  return kind === "detail" && is("optOut", formsOf(name)) ? "optedOut" : "subscribed";
}

function is(kind: keyof typeof columnNames, forms: readonly string[]): boolean {
  return patterns[kind].some((pattern) => forms.some((form) => pattern.test(form)));
}

/** What was found of a column over the whole file. */
interface Tally {
  index: number;
  kind: ConsentName | undefined;
  hasContent: boolean;
  /** Some cell is gone beyond doubt. */
  hasGone: boolean;
  /** Some cell is an answer. */
  hasAnswer: boolean;
  /** Some cell needs the name to know what its yes or no means. */
  needsPolarity: boolean;
  /** Some cell says that a person is not mailed, or is a plain no. */
  hasNo: boolean;
  /** A cell that is no answer, and its line. */
  unclear?: { cell: string; line: number };
}

export interface FoundConsent {
  index: number;
  /**
   * `unreadable`: it looks like consent, and nobody can tell what it says. `noAnswers`: its name may mean something else,
   * and so its cells do.
   */
  outcome: "consent" | "unreadable" | "otherChannel" | "empty" | "noAnswers";
  rule: ConsentRule;
  unclear?: { cell: string; line: number };
}

/**
 * Finds the columns that speak of consent, by their names and values. Reads the rows once, and no
 * further than until every column is settled.
 *
 * @param names one for each column
 * @param isSettled columns of which the answer is known
 * @param rows without the header
 */
export async function findConsent(
  names: readonly string[],
  isSettled: (index: number) => boolean,
  rows: AsyncIterable<{ line: number; cells: readonly string[] }>,
): Promise<FoundConsent[]> {
  const tallies = names.flatMap((name, index): Tally[] => {
    const kind = isSettled(index) ? "other" : consentNameOf(name);
    if (kind === "other") return [];
    const nothing = {
      hasContent: false,
      hasGone: false,
      hasAnswer: false,
      needsPolarity: false,
      hasNo: false,
    };
    return [{ index, kind, ...nothing }];
  });
  let open = tallies.filter(isOpen);
  if (open.length > 0) {
    for await (const { line, cells } of rows) {
      let isAnySettled = false;
      for (const tally of open) {
        const cell = cells[tally.index];
        if (cell === undefined || cell === "") continue;
        take(tally, cell, line);
        isAnySettled ||= !isOpen(tally);
      }
      if (isAnySettled) open = open.filter(isOpen);
      if (open.length === 0) break;
    }
  }
  return tallies.flatMap((tally) => outcomeOf(tally, names[tally.index]!) ?? []);
}

/** Whether a further cell can change what becomes of the column. */
function isOpen({ kind, hasContent, hasAnswer, hasGone, hasNo, needsPolarity, unclear }: Tally): boolean {
  switch (kind) {
    case "otherChannel":
      return false;
    case "evidence":
      return !hasContent;
    case "optIn":
    case "optOut":
      return !hasAnswer;
    case "both":
      return !needsPolarity;
    case "status":
      return !hasGone;
    case "perhapsOptIn":
    case "perhapsOptOut":
      return !hasNo;
    default:
      return unclear === undefined;
  }
}

function take(tally: Tally, cell: string, line: number): void {
  const said = saidIn(cell);
  if (said === "empty") return;
  tally.hasContent = true;
  if (said === "gone") tally.hasGone = true;
  if (said === "no" || said === "gone") tally.hasNo = true;
  if (isAnswer(tally.kind, said)) tally.hasAnswer = true;
  else tally.unclear ??= { cell: cell.trim(), line };
  if (said === "yes" || said === "no" || said === "date" || said === "number") tally.needsPolarity = true;
}

/** Whether a cell can be understood in a column of such a name. */
function isAnswer(kind: ConsentName | undefined, said: Said): boolean {
  if (said === "unclear") return kind === "optOut";
  if (said === "number") return kind === "optOut" || kind === "perhapsOptOut";
  if (said === "date") return kind !== undefined && kind !== "detail" && kind !== "status";
  return true;
}

function outcomeOf(tally: Tally, name: string): FoundConsent | undefined {
  const { index, kind, hasContent, hasGone, hasNo, hasAnswer, needsPolarity, unclear } = tally;
  const found = (rule: ConsentRule, outcome: FoundConsent["outcome"] = "consent") => ({
    index,
    outcome,
    rule,
    unclear,
  });
  if (kind === "otherChannel") return found("subscribed", "otherChannel");
  if (!hasContent) {
    const isNamed = kind === "optIn" || kind === "optOut" || kind === "both" || kind === "evidence";
    return isNamed ? found("subscribed", "empty") : undefined;
  }
  switch (kind) {
    case "evidence":
      return found("evidence");
    case "optOut":
      return found("optedOut");
    case "optIn":
      return found("subscribed", hasAnswer ? "consent" : "unreadable");
    case "both":
      return found("subscribed", needsPolarity || !hasAnswer ? "unreadable" : "consent");
    case "status":
      // A subscription of yes and no is one to mail; one of active and inactive may be to anything.
      return hasGone || (hasNo && is("perhapsOptIn", formsOf(name))) ? found("subscribed") : undefined;
    case "perhapsOptOut":
      return found("optedOut", unclear && !hasNo ? "noAnswers" : "consent");
    case "perhapsOptIn":
      return found("subscribed", unclear && !hasNo ? "noAnswers" : "consent");
    case "detail":
      return found(ruleByName(name), unclear || !(hasGone || needsPolarity) ? "noAnswers" : "consent");
    default:
      return unclear === undefined && hasGone ? found("subscribed") : undefined;
  }
}
