/**
 * Reading: what the name of a column says of consent. A name is understood as a whole or not at all: which way round a yes is to be
 * read is never guessed from a part of it (`Keine Einwilligung`, `Consent withdrawn`).
 */
import { foldPhrase, isWithoutBlanks, nameForms, phraseKey } from "./consent-fold.ts";
import { entriesOf, type WordTable } from "./consent-words/languages.ts";
import { aroundWords, reasonWords } from "./consent-words/names-around.ts";
import { channelNames, channelWords, emailWords } from "./consent-words/names-channels.ts";
import { aloneHints, emailHints, hintWords, withEmailHints } from "./consent-words/names-hints.ts";
import { optInNames } from "./consent-words/names-opt-in.ts";
import { optOutNames } from "./consent-words/names-opt-out.ts";
import { otherNames } from "./consent-words/names-others.ts";
import { statusNames } from "./consent-words/names-status.ts";

/**
 * `optIn`: a yes means subscribed; `optOut`: a yes means gone; `status`: its cells speak for themselves. `unclear`: a word of consent is in
 * it, and nothing more is known. `otherChannel`: not about e-mail. `other`: a name or a place, whatever its cells are.
 */
export type ConsentName = "optIn" | "optOut" | "status" | "unclear" | "otherChannel" | "other";

type Understood = "optIn" | "optOut" | "status";

const phrases = new Map<string, Set<Understood>>();
for (const [kind, table] of [
  ["optIn", optInNames],
  ["optOut", optOutNames],
  ["status", statusNames],
] as [Understood, WordTable][]) {
  for (const phrase of entriesOf(table)) {
    const key = phraseKey(phrase);
    phrases.set(key, (phrases.get(key) ?? new Set()).add(kind));
  }
}

const keysOf = (words: readonly string[]) => new Set(words.map(phraseKey));
/** With their blanks: `person ne` is not the French `personne`. */
const phrasesOf = (entries: readonly string[]) => new Set(entries.map(foldPhrase));
const around = phrasesOf(entriesOf(aroundWords));
const aroundOptOut = new Set([...around, ...phrasesOf(entriesOf(reasonWords))]);
const channels = phrasesOf(entriesOf(channelWords));
const channelPhrases = keysOf(channelNames);
const email = phrasesOf(entriesOf(emailWords));
const others = phrasesOf(entriesOf(otherNames));
const alone = keysOf(entriesOf(aloneHints));
const beside = phrasesOf(withEmailHints);
const emailBeside = phrasesOf(emailHints);
/** These are also taken off a name that is written without blanks: `emailoptin`, `メール配信停止日`. */
const leastJoinedLength = 4;
const joinedAround = keysOf(
  entriesOf(aroundWords).filter(
    (word) => isWithoutBlanks(word) || (word.length >= leastJoinedLength && !word.includes(" ")),
  ),
);
const longestJoined = Math.max(...[...joinedAround].map((word) => word.length));
/** Shorter ones are looked for at the start of a word, not within it. */
const leastLengthWithin = 5;
const hintsWithin: string[] = [];
const hintsAtStart: string[] = [];
for (const hint of keysOf(entriesOf(hintWords))) {
  (isWithoutBlanks(hint) || hint.length >= leastLengthWithin ? hintsWithin : hintsAtStart).push(hint);
}
const consentPhrases = [...phrases].filter(([, kinds]) => !kinds.has("status")).map(([key]) => key);
const longPhrases = consentPhrases.filter(
  (key) => key.length >= 6 || (isWithoutBlanks(key) && key.length >= 2),
);
const shortPhrases = phrasesOf([...entriesOf(optInNames), ...entriesOf(optOutNames)]);

/** The most words that an entry of the tables of single words has. */
const mostWords = 3;

/** What a column's name says of consent; undefined when it says nothing. */
export function consentNameOf(name: string): ConsentName | undefined {
  const forms = nameForms(name);
  const understood = agreed(forms.map(understoodWhole));
  if (understood) return understood;
  if (forms.some(isOfOtherChannel)) return "otherChannel";
  if (hasHint(name)) return "unclear";
  return forms.some((words) => words.some((_, at) => startsWith(words, at, others) > 0))
    ? "other"
    : undefined;
}

/** Whether a word of consent is in a name. */
export function hasHint(name: string): boolean {
  return nameForms(name).some((words) => {
    const joined = words.join("");
    if (
      longPhrases.some((key) => joined.includes(key)) ||
      hintsWithin.some((hint) => joined.includes(hint))
    ) {
      return true;
    }
    if (words.some((_, at) => startsWith(words, at, shortPhrases) > 0)) return true;
    if (words.some((word) => hintsAtStart.some((hint) => word.startsWith(hint)))) return true;
    if (middles(words, around).some((middle) => alone.has(middle.join("")))) return true;
    const has = (set: ReadonlySet<string>) => words.some((_, at) => startsWith(words, at, set) > 0);
    return has(emailBeside) && has(beside);
  });
}

/** One answer, or none: two that differ are no answer. */
function agreed(found: (Understood | undefined)[]): Understood | undefined {
  const kinds = new Set(found.filter((kind) => kind !== undefined));
  return kinds.size === 1 ? [...kinds][0] : undefined;
}

/** The phrase that is the whole name but for words that say nothing. */
function understoodWhole(words: string[]): Understood | undefined {
  const whole = kindOf(words.join(""));
  if (whole) return whole;
  const found = middles(words, around).flatMap((middle) =>
    middle.length === 1 || isWithoutBlanks(middle.join(""))
      ? joinedKinds(middle.join(""))
      : (kindOf(middle.join("")) ?? []),
  );
  const reasons = middles(words, aroundOptOut).flatMap((middle) => kindOf(middle.join("")) ?? []);
  return agreed([...found, ...reasons.filter((kind) => kind === "optOut")]);
}

function kindOf(key: string): Understood | undefined {
  const kinds = phrases.get(key);
  return kinds?.size === 1 ? [...kinds][0] : undefined;
}

/** The kinds of a text without blanks, with and without the long words around it. */
function joinedKinds(key: string): Understood[] {
  const kind = kindOf(key);
  if (kind) return [kind];
  const found: Understood[] = [];
  for (let length = 1; length <= Math.min(longestJoined, key.length - 1); length++) {
    if (joinedAround.has(key.slice(0, length))) found.push(...joinedKinds(key.slice(length)));
    if (joinedAround.has(key.slice(-length))) found.push(...joinedKinds(key.slice(0, -length)));
  }
  return found;
}

/** What may be left of a name when words of the set, and numbers, are taken off its ends. */
function middles(words: readonly string[], set: ReadonlySet<string>): string[][] {
  const starts = reachable(words, set);
  const ends = reachable([...words].reverse(), set, true).map((taken) => words.length - taken);
  return starts.flatMap((start) => ends.filter((end) => end > start).map((end) => words.slice(start, end)));
}

/** How many words can be taken off the start. */
function reachable(words: readonly string[], set: ReadonlySet<string>, isReversed = false): number[] {
  const counts = new Set([0]);
  for (const count of counts) {
    if (/^\d+$/.test(words[count] ?? "")) counts.add(count + 1);
    for (let length = 1; length <= mostWords && count + length <= words.length; length++) {
      const part = words.slice(count, count + length);
      if (set.has((isReversed ? part.reverse() : part).join(" "))) counts.add(count + length);
    }
  }
  return [...counts];
}

/** How many words from here on are an entry of the set. */
function startsWith(words: readonly string[], at: number, set: ReadonlySet<string>): number {
  for (let length = Math.min(mostWords, words.length - at); length > 0; length--) {
    if (set.has(words.slice(at, at + length).join(" "))) return length;
  }
  return 0;
}

/** A phrase of consent, or a word such as marketing, beside a channel that is not e-mail; and nothing else. */
function isOfOtherChannel(words: string[]): boolean {
  if (channelPhrases.has(words.join(""))) return true;
  const joined = words.join("");
  if (isWithoutBlanks(joined)) return isOfOtherChannelWithoutBlanks(joined);
  const rest: string[] = [];
  for (let at = 0; at < words.length; ) {
    if (startsWith(words, at, email) > 0) return false;
    const length = startsWith(words, at, channels);
    if (length === 0) rest.push(words[at]!);
    at += length || 1;
  }
  if (rest.length === words.length || rest.length === 0) return false;
  const isTopic = middles(rest, around).length === 0 || reachable(rest, around).includes(rest.length);
  return understoodWhole(rest) !== undefined || (isTopic && hasHint(rest.join(" ")));
}

function isOfOtherChannelWithoutBlanks(joined: string): boolean {
  if ([...email].some((word) => isWithoutBlanks(word) && joined.includes(word))) return false;
  return [...channels].some((word) => {
    if (!isWithoutBlanks(word) || !joined.includes(word)) return false;
    const rest = joined.replace(word, "");
    return rest !== "" && agreed(joinedKinds(rest)) !== undefined;
  });
}
