/**
 * Reading: what the name of a column says of consent. A name is understood as a whole or not at all: which
 * way round a yes is to be read is never guessed from a part of it (`Keine Einwilligung`,
 * `Consent withdrawn`).
 */
import {
  type ConsentWords,
  foldPhrase,
  isWithoutBlanks,
  listNameWords,
  nameForms,
  phraseKey,
} from "./words.ts";

/** `optIn`: a yes means subscribed; `optOut`: a yes means gone; `status`: its cells speak for themselves. */
type NameMeaning = "optIn" | "optOut" | "status";

/**
 * `unclear`: a word of consent is in it, and nothing more is known. `otherChannel`: not about e-mail.
 * `other`: a name or a place, whatever its cells are.
 */
export type ConsentName = NameMeaning | "unclear" | "otherChannel" | "other";

type Line = (words: ConsentWords) => string | undefined;

const listKeys = (line: Line) => new Set(listNameWords(line).map(phraseKey));
/** With their blanks: `person ne` is not the French `personne`. */
const listPhrases = (line: Line) => new Set(listNameWords(line).map(foldPhrase));

const phrases = new Map<string, NameMeaning>();
for (const meaning of ["optIn", "optOut", "status"] as const) {
  for (const key of listKeys(({ names }) => names[meaning])) phrases.set(key, meaning);
}
const optPhrases = listPhrases(({ names }) => `${names.optIn},${names.optOut}`);
const around = listPhrases(({ names }) => names.around);
const aroundOptOut = new Set([...around, ...listPhrases(({ names }) => names.reasons)]);
const others = listPhrases(({ names }) => names.others);
const channels = listPhrases(({ channels }) => channels.words);
const channelPhrases = listKeys(({ channels }) => channels.phrases);
const email = listPhrases(({ channels }) => channels.email);
const alone = listKeys(({ hints }) => hints.alone);
const beside = listPhrases(({ hints }) => hints.besideEmail);
const emailBeside = listPhrases(({ hints }) => hints.email);
/** These are also taken off a name that is written without blanks: `emailoptin`, `メール配信停止日`. */
const joinedAround = new Set(
  listNameWords(({ names }) => names.around)
    .filter((word) => isWithoutBlanks(word) || /^[^ ]{4,}$/.test(word))
    .map(phraseKey),
);
const longestJoined = Math.max(...[...joinedAround].map((word) => word.length));

/** Short hints are looked for at the start of a word, not within it. */
const hints = [...listKeys(({ hints }) => hints.anywhere)];
const isLongHint = (hint: string) => isWithoutBlanks(hint) || hint.length >= 5;
const hintsAtStart = hints.filter((hint) => !isLongHint(hint));
const hintsWithin = [...phrases]
  .filter(([key, meaning]) => meaning !== "status" && key.length >= (isWithoutBlanks(key) ? 2 : 6))
  .map(([key]) => key)
  .concat(hints.filter(isLongHint));

/** What a column's name says of consent; undefined when it says nothing. */
export function findConsentName(name: string): ConsentName | undefined {
  const forms = nameForms(name);
  const understood = toAgreed(forms.flatMap((words) => understandWhole(words) ?? []));
  if (understood) return understood;
  if (forms.some(isOfOtherChannel)) return "otherChannel";
  if (hasHint(name)) return "unclear";
  return forms.some((words) => holdsAny(words, others)) ? "other" : undefined;
}

/** Whether a word of consent is in a name. */
export function hasHint(name: string): boolean {
  return nameForms(name).some((words) => {
    const joined = words.join("");
    return (
      hintsWithin.some((hint) => joined.includes(hint)) ||
      hintsAtStart.some((hint) => words.some((word) => word.startsWith(hint))) ||
      holdsAny(words, optPhrases) ||
      listMiddles(words, around).some((middle) => alone.has(middle.join(""))) ||
      (holdsAny(words, emailBeside) && holdsAny(words, beside))
    );
  });
}

/** One answer, or none: two that differ are no answer. */
function toAgreed(found: readonly NameMeaning[]): NameMeaning | undefined {
  return new Set(found).size === 1 ? found[0] : undefined;
}

/** The phrase that is the whole name but for words that say nothing. */
function understandWhole(words: string[]): NameMeaning | undefined {
  const whole = phrases.get(words.join(""));
  if (whole) return whole;
  const found = listMiddles(words, around).flatMap((middle) => {
    const key = middle.join("");
    return middle.length === 1 || isWithoutBlanks(key) ? findJoined(key) : (phrases.get(key) ?? []);
  });
  const reasons = listMiddles(words, aroundOptOut).map((middle) => phrases.get(middle.join("")));
  return toAgreed([...found, ...reasons.filter((meaning) => meaning === "optOut")]);
}

/** What a text without blanks means, with and without the long words around it. */
function findJoined(key: string): NameMeaning[] {
  const meaning = phrases.get(key);
  if (meaning) return [meaning];
  const found: NameMeaning[] = [];
  for (let length = 1; length <= Math.min(longestJoined, key.length - 1); length++) {
    if (joinedAround.has(key.slice(0, length))) found.push(...findJoined(key.slice(length)));
    if (joinedAround.has(key.slice(-length))) found.push(...findJoined(key.slice(0, -length)));
  }
  return found;
}

/** What may be left of a name when words of the set, and numbers, are taken off its ends. */
function listMiddles(words: readonly string[], set: ReadonlySet<string>): string[][] {
  const { starts, ends } = findEnds(words, set);
  return [...starts].flatMap((start) =>
    [...ends].filter((end) => end > start).map((end) => words.slice(start, end)),
  );
}

/** The most words that an entry of the tables of single words has. */
const maxWords = 3;

/** The places in a name up to which, and from which on, it is nothing but entries of the set and numbers. */
function findEnds(words: readonly string[], set: ReadonlySet<string>) {
  const isEntry = (from: number, to: number) => {
    const part = words.slice(from, to).join(" ");
    return set.has(part) || /^\d+$/.test(part);
  };
  const starts = new Set([0]);
  for (const start of starts) {
    for (let to = start + 1; to <= Math.min(start + maxWords, words.length); to++)
      if (isEntry(start, to)) starts.add(to);
  }
  const ends = new Set([words.length]);
  for (const end of ends) {
    for (let from = end - 1; from >= Math.max(end - maxWords, 0); from--)
      if (isEntry(from, end)) ends.add(from);
  }
  return { starts, ends };
}

/** How many words from here on are an entry of the set. */
function countEntry(words: readonly string[], at: number, set: ReadonlySet<string>): number {
  for (let length = Math.min(maxWords, words.length - at); length > 0; length--) {
    if (set.has(words.slice(at, at + length).join(" "))) return length;
  }
  return 0;
}

function holdsAny(words: readonly string[], set: ReadonlySet<string>): boolean {
  return words.some((_, at) => countEntry(words, at, set) > 0);
}

/** A phrase of consent, or a word such as marketing, beside a channel other than e-mail; nothing else. */
function isOfOtherChannel(words: string[]): boolean {
  const joined = words.join("");
  if (channelPhrases.has(joined)) return true;
  if (isWithoutBlanks(joined)) return isOfOtherChannelWithoutBlanks(joined);
  const rest: string[] = [];
  for (let at = 0; at < words.length; ) {
    if (countEntry(words, at, email) > 0) return false;
    const length = countEntry(words, at, channels);
    if (length === 0) rest.push(words[at]!);
    at += length || 1;
  }
  if (rest.length === words.length || rest.length === 0) return false;
  const isTopic = findEnds(rest, around).ends.has(0);
  return understandWhole(rest) !== undefined || (isTopic && hasHint(rest.join(" ")));
}

function isOfOtherChannelWithoutBlanks(joined: string): boolean {
  const holds = (word: string) => isWithoutBlanks(word) && joined.includes(word);
  if ([...email].some(holds)) return false;
  return [...channels].filter(holds).some((word) => toAgreed(findJoined(joined.replace(word, ""))));
}
