/**
 * Reading: what the name of a column says of consent. A name is understood as a whole
 * or not at all: which way round a yes is to be read is never guessed from a part of
 * it (`Keine Einwilligung`, `Consent withdrawn`).
 */
import { foldPhrase, isWithoutBlanks, listNameWords, nameForms, phraseKey } from "./words.ts";

/**
 * `optIn`: a yes means subscribed; `optOut`: a yes means gone; `status`: its cells speak for themselves.
 * `unclear`: a word of consent is in it, and nothing more is known. `otherChannel`: not about e-mail.
 * `other`: a name or a place, whatever its cells are.
 */
export type ConsentName = "optIn" | "optOut" | "status" | "unclear" | "otherChannel" | "other";

type NameMeaning = "optIn" | "optOut" | "status";

const phrases = new Map<string, Set<NameMeaning>>();
for (const kind of ["optIn", "optOut", "status"] as const) {
  for (const phrase of listNameWords(({ names }) => names[kind])) {
    const key = phraseKey(phrase);
    phrases.set(key, (phrases.get(key) ?? new Set()).add(kind));
  }
}

const toPhraseKeys = (words: readonly string[]) => new Set(words.map(phraseKey));
/** With their blanks: `person ne` is not the French `personne`. */
const toPhrases = (entries: readonly string[]) => new Set(entries.map(foldPhrase));
const around = toPhrases(listNameWords(({ names }) => names.around));
const aroundOptOut = new Set([...around, ...toPhrases(listNameWords(({ names }) => names.reasons))]);
const channels = toPhrases(listNameWords(({ channels }) => channels.words));
const channelPhrases = toPhraseKeys(listNameWords(({ channels }) => channels.phrases));
const email = toPhrases(listNameWords(({ channels }) => channels.email));
const others = toPhrases(listNameWords(({ names }) => names.others));
const alone = toPhraseKeys(listNameWords(({ hints }) => hints.alone));
const beside = toPhrases(listNameWords(({ hints }) => hints.besideEmail));
const emailBeside = toPhrases(listNameWords(({ hints }) => hints.email));
/** These are also taken off a name that is written without blanks: `emailoptin`, `メール配信停止日`. */
const minJoinedLength = 4;
const joinedAround = toPhraseKeys(
  listNameWords(({ names }) => names.around).filter(
    (word) => isWithoutBlanks(word) || (word.length >= minJoinedLength && !word.includes(" ")),
  ),
);
const maxJoinedLength = Math.max(...[...joinedAround].map((word) => word.length));
/** Shorter ones are looked for at the start of a word, not within it. */
const minLengthWithin = 5;
const hintsWithin: string[] = [];
const hintsAtStart: string[] = [];
for (const hint of toPhraseKeys(listNameWords(({ hints }) => hints.anywhere))) {
  (isWithoutBlanks(hint) || hint.length >= minLengthWithin ? hintsWithin : hintsAtStart).push(hint);
}
const consentPhrases = [...phrases].filter(([, kinds]) => !kinds.has("status")).map(([key]) => key);
const longPhrases = consentPhrases.filter(
  (key) => key.length >= 6 || (isWithoutBlanks(key) && key.length >= 2),
);
const shortPhrases = toPhrases([
  ...listNameWords(({ names }) => names.optIn),
  ...listNameWords(({ names }) => names.optOut),
]);

/** The most words that an entry of the tables of single words has. */
const maxWords = 3;

/** What a column's name says of consent; undefined when it says nothing. */
export function findConsentName(name: string): ConsentName | undefined {
  const forms = nameForms(name);
  const understood = toAgreed(forms.map(understandWhole));
  if (understood) return understood;
  if (forms.some(isOfOtherChannel)) return "otherChannel";
  if (hasHint(name)) return "unclear";
  return forms.some((words) => words.some((_, at) => countStart(words, at, others) > 0))
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
    if (words.some((_, at) => countStart(words, at, shortPhrases) > 0)) return true;
    if (words.some((word) => hintsAtStart.some((hint) => word.startsWith(hint)))) return true;
    if (listMiddles(words, around).some((middle) => alone.has(middle.join("")))) return true;
    const hasAny = (set: ReadonlySet<string>) => words.some((_, at) => countStart(words, at, set) > 0);
    return hasAny(emailBeside) && hasAny(beside);
  });
}

/** One answer, or none: two that differ are no answer. */
function toAgreed(found: (NameMeaning | undefined)[]): NameMeaning | undefined {
  const kinds = new Set(found.filter((kind) => kind !== undefined));
  return kinds.size === 1 ? [...kinds][0] : undefined;
}

/** The phrase that is the whole name but for words that say nothing. */
function understandWhole(words: string[]): NameMeaning | undefined {
  const whole = findKind(words.join(""));
  if (whole) return whole;
  const found = listMiddles(words, around).flatMap((middle) =>
    middle.length === 1 || isWithoutBlanks(middle.join(""))
      ? findJoinedKinds(middle.join(""))
      : (findKind(middle.join("")) ?? []),
  );
  const reasons = listMiddles(words, aroundOptOut).flatMap((middle) => findKind(middle.join("")) ?? []);
  return toAgreed([...found, ...reasons.filter((kind) => kind === "optOut")]);
}

function findKind(key: string): NameMeaning | undefined {
  const kinds = phrases.get(key);
  return kinds?.size === 1 ? [...kinds][0] : undefined;
}

/** The kinds of a text without blanks, with and without the long words around it. */
function findJoinedKinds(key: string): NameMeaning[] {
  const kind = findKind(key);
  if (kind) return [kind];
  const found: NameMeaning[] = [];
  for (let length = 1; length <= Math.min(maxJoinedLength, key.length - 1); length++) {
    if (joinedAround.has(key.slice(0, length))) found.push(...findJoinedKinds(key.slice(length)));
    if (joinedAround.has(key.slice(-length))) found.push(...findJoinedKinds(key.slice(0, -length)));
  }
  return found;
}

/** What may be left of a name when words of the set, and numbers, are taken off its ends. */
function listMiddles(words: readonly string[], set: ReadonlySet<string>): string[][] {
  const starts = countReachable(words, set);
  const ends = countReachable([...words].reverse(), set, true).map((wordsTaken) => words.length - wordsTaken);
  return starts.flatMap((start) => ends.filter((end) => end > start).map((end) => words.slice(start, end)));
}

/** How many words can be taken off the start. */
function countReachable(words: readonly string[], set: ReadonlySet<string>, isReversed = false): number[] {
  const counts = new Set([0]);
  for (const count of counts) {
    if (/^\d+$/.test(words[count] ?? "")) counts.add(count + 1);
    for (let length = 1; length <= maxWords && count + length <= words.length; length++) {
      const part = words.slice(count, count + length);
      if (set.has((isReversed ? part.reverse() : part).join(" "))) counts.add(count + length);
    }
  }
  return [...counts];
}

/** How many words from here on are an entry of the set. */
function countStart(words: readonly string[], at: number, set: ReadonlySet<string>): number {
  for (let length = Math.min(maxWords, words.length - at); length > 0; length--) {
    if (set.has(words.slice(at, at + length).join(" "))) return length;
  }
  return 0;
}

/**
 * A phrase of consent, or a word such as marketing, beside a channel that is not e-mail; and nothing else.
 */
function isOfOtherChannel(words: string[]): boolean {
  if (channelPhrases.has(words.join(""))) return true;
  const joined = words.join("");
  if (isWithoutBlanks(joined)) return isOfOtherChannelWithoutBlanks(joined);
  const rest: string[] = [];
  for (let at = 0; at < words.length; ) {
    if (countStart(words, at, email) > 0) return false;
    const length = countStart(words, at, channels);
    if (length === 0) rest.push(words[at]!);
    at += length || 1;
  }
  if (rest.length === words.length || rest.length === 0) return false;
  const isTopic =
    listMiddles(rest, around).length === 0 || countReachable(rest, around).includes(rest.length);
  return understandWhole(rest) !== undefined || (isTopic && hasHint(rest.join(" ")));
}

function isOfOtherChannelWithoutBlanks(joined: string): boolean {
  if ([...email].some((word) => isWithoutBlanks(word) && joined.includes(word))) return false;
  return [...channels].some((word) => {
    if (!isWithoutBlanks(word) || !joined.includes(word)) return false;
    const rest = joined.replace(word, "");
    return rest !== "" && toAgreed(findJoinedKinds(rest)) !== undefined;
  });
}
