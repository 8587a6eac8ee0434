/**
 * Reading: how the cells of a consent column are read. In doubt a person is not subscribed, and nothing that looks like consent
 * is passed over without a word.
 */
import { cellWords, emptyWords } from "./consent-words.ts";

/**
 * How a consent column speaks. `subscribed`: its cells say yes or no to mail, and an empty one is no yes;
 * `unlessRefused`: so too, but an empty cell says nothing; `optedOut`: its cells say yes or no to having left;
 * `evidence`: any value of the cell speaks against mail; `always`: the column's presence does.
 */
export type ConsentRule = "subscribed" | "unlessRefused" | "optedOut" | "evidence" | "always";

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
export function foldWords(text: string): string {
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

export type Said = Meaning | "date" | "number" | "unclear";

/** What a cell says, whatever its column. */
export function saidIn(cell: string): Said {
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
