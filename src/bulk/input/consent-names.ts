/** Reading: what the name of a column says of consent, in the words of many languages. */
import { type ConsentRule, foldWords } from "./consent.ts";
import { columnNames } from "./consent-words.ts";

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
export function formsOf(name: string): string[] {
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

/** Whether a name is of this kind. @param forms of the name */
export function is(kind: keyof typeof columnNames, forms: readonly string[]): boolean {
  return patterns[kind].some((pattern) => forms.some((form) => pattern.test(form)));
}
