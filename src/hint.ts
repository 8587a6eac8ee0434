/** What a reader can do next: words for people, in which commands stand as arrays of words. */

/** A command as it can be typed. A word in capitals stands for what the reader puts there. */
export interface ShownCommand {
  /** Without `ecm`. */
  readonly words: readonly string[];
}

/** What differs where the API key comes from the environment: no login replaces it there. */
interface KeyDependent {
  readonly withOwnKey: Hint;
  readonly withEnvironmentKey: Hint;
}

export type Hint = string | ShownCommand | KeyDependent | readonly Hint[];

type Part = string | ShownCommand;

/** A sentence with commands in it: `` advise`See them with: ${ecm`lists list`}` ``. */
export function advise(texts: TemplateStringsArray, ...values: readonly (Hint | number)[]): Hint {
  return texts.flatMap((text, at) => {
    const value = values[at];
    return value === undefined ? [text] : [text, typeof value === "number" ? String(value) : value];
  });
}

/**
 * A command: `` ecm`lists show ${name}` ``. A value is one word, however many blanks it has; an array is
 * several.
 */
export function ecm(
  texts: TemplateStringsArray,
  ...values: readonly (string | readonly string[])[]
): ShownCommand {
  const left = [...values];
  // A blank within a value ends no word.
  const pieces = texts
    .join("\0")
    .split(" ")
    .filter((piece) => piece !== "");
  const words = pieces.flatMap((piece) => {
    if (piece === "\0" && typeof left[0] !== "string") return left.shift()!;
    return piece.replaceAll("\0", () => String(left.shift()));
  });
  return { words };
}

/** To log in once more; where the key comes from the environment, it is set there. */
export function logInAgain(login = ecm`auth login`): KeyDependent {
  return { withOwnKey: advise`log in again: ${login}`, withEnvironmentKey: "set ECM_API_KEY to it" };
}

/**
 * The last words of a command, none of which is a flag: one that looks like a flag needs `--` before them.
 */
export function toOperands(...words: string[]): string[] {
  return words.some((word) => /^-./.test(word)) ? ["--", ...words] : words;
}

/** `KEY`, `ID-OR-KEY`, `FIELD=VALUE`, `LIST…`: a word for what the reader puts there. */
function isPlaceholder(word: string): boolean {
  return /^[A-Z][A-Z-]*(?:=[A-Z]+)?…?$/.test(word);
}

/** One hint after the other, each on a line of its own. @returns undefined where there is none */
export function joinHints(...hints: (Hint | undefined)[]): Hint | undefined {
  const known = hints.filter((hint) => hint !== undefined);
  return known.length === 0 ? undefined : known.flatMap((hint, at) => (at === 0 ? [hint] : ["\n", hint]));
}

/** The hint with each of its commands replaced. */
export function mapCommands(hint: Hint, replace: (command: ShownCommand) => Hint): Hint {
  return listParts(hint).map((part) => (isCommand(part) ? replace(part) : part));
}

/** The hint for a key that comes from the environment. */
export function forEnvironmentKey(hint: Hint): Hint {
  return listParts(hint, true);
}

/**
 * As a person reads it.
 * @param format changes each text
 */
export function formatHint(hint: Hint, format: (text: string) => string = (text) => text): string {
  return listParts(hint)
    .map((part) => format(isCommand(part) ? formatCommand(part) : part))
    .join("");
}

/** As a shell takes it, `ecm` included. */
export function formatCommand({ words }: ShownCommand): string {
  return ["ecm", ...words.map((word) => (isPlaceholder(word) ? word : quoteShellWord(word)))].join(" ");
}

function isCommand(part: Part): part is ShownCommand {
  return typeof part !== "string" && "words" in part;
}

function listParts(hint: Hint, isEnvironmentKey = false): Part[] {
  if (typeof hint === "string" || "words" in hint) return [hint];
  if ("withOwnKey" in hint) {
    return listParts(isEnvironmentKey ? hint.withEnvironmentKey : hint.withOwnKey, isEnvironmentKey);
  }
  return hint.flatMap((part) => listParts(part, isEnvironmentKey));
}

/** A word as a POSIX shell takes it. */
export function quoteShellWord(word: string): string {
  return /^[\w=.@:/%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
