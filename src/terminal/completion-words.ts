/** Shell words → their values without quotes, and back. Pure. */

export interface TypedWords {
  /** Their values without quotes; the last word is incomplete. */
  words: string[];
  /** How a candidate for the last word is written on the command line; undefined when it does not fit. */
  onLine(candidate: string): string | undefined;
}

/** @param shell bash, zsh, fish, or another that passes words without quotes */
export function readTypedWords(shell: string, raw: readonly string[]): TypedWords {
  if (shell === "bash") return readBash(raw);
  if (shell === "fish") {
    // Only the incomplete word is passed with its quotes.
    const words = [...raw.slice(0, -1), unquote(raw.at(-1) ?? "", "fish").text];
    return { words, onLine: (candidate) => candidate };
  }
  if (shell !== "zsh") return { words: [...raw], onLine: (candidate) => candidate };
  const words = raw.map((word) => unquote(word).text);
  // The script has removed what precedes the value of `--flag=value`; zsh quotes the candidates itself.
  const aside = /^--[^=]+=/.exec(words.at(-1) ?? "")?.[0].length ?? 0;
  return { words, onLine: (candidate) => candidate.slice(aside) };
}

/** bash splits words at these too, and replaces only what follows the last of them. */
const cut = /^[=:@]+$/;

function readBash(raw: readonly string[]): TypedWords {
  const words: string[] = [];
  let head = "";
  let isGlued = false;
  for (const [index, token] of raw.entries()) {
    const isLast = index === raw.length - 1;
    const isCut = cut.test(token);
    // After a blank, the last word is empty.
    const joins = words.length > 0 && (isCut || isGlued) && !(isLast && token === "");
    const before = joins ? words.pop()! : "";
    const text = unquote(token).text;
    words.push(before + text);
    head = isCut && isLast ? before + text : before;
    isGlued = isCut;
  }
  const last = raw.at(-1) ?? "";
  const { quote, opensAt } = unquote(last);
  return {
    words,
    onLine(candidate) {
      if (quote !== "" && opensAt > 0) return undefined;
      if (fold(candidate.slice(0, head.length)) !== fold(head)) return undefined;
      return quoteForBash(candidate.slice(head.length), quote);
    },
  };
}

interface Unquoted {
  text: string;
  /** The quote that is open at the end. */
  quote: "" | "'" | '"';
  /** Where it was opened. */
  opensAt: number;
}

/** Removes quotes and backslashes from a shell word; nothing in it is evaluated. */
function unquote(word: string, shell?: "fish"): Unquoted {
  let text = "";
  let quote: Unquoted["quote"] = "";
  let opensAt = -1;
  for (let at = 0; at < word.length; at++) {
    const character = word[at]!;
    if (character === "\\" && isEscaped(word[at + 1], quote, shell)) {
      at++;
      text += word[at];
    } else if ((character === '"' || character === "'") && (quote === "" || quote === character)) {
      quote = quote === "" ? character : "";
      opensAt = at;
    } else text += character;
  }
  return { text, quote, opensAt };
}

/** Whether a backslash before this character stands for nothing itself. */
function isEscaped(next: string | undefined, quote: Unquoted["quote"], shell?: "fish"): boolean {
  if (next === undefined) return false;
  if (quote === '"') return /["\\$`]/.test(next);
  if (quote === "'") return shell === "fish" && /['\\]/.test(next);
  return true;
}

function quoteForBash(text: string, quote: Unquoted["quote"]): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  // Within double quotes ! cannot be escaped from history expansion.
  if (quote === '"') return text.replace(/["\\$`]/g, "\\$&").replaceAll("!", `"'!'"`);
  return text.replace(/[\s!"#$&'()*;<>?[\\\]^`{|}~]/g, "\\$&");
}

function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
