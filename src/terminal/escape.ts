/**
 * Foreign text (from the service or a file) made safe to show: it can neither move the cursor nor colour
 * anything.
 */

// C0 and C1 controls, DEL, line and paragraph separators, and the marks that reorder or hide text.
const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
// A surrogate without its partner cannot be encoded.
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Shows control characters as `\n`, `\t`, `\r`, `\x1b` or `\u202e`. Printable text is returned as it is. */
export function escapeControls(text: string): string {
  return text.replace(unsafe, escapeCharacter).replace(loneSurrogate, escapeCharacter);
}

/** Escapes text of several lines, such as a help text or a hint: line breaks stay. */
export function escapeControlsInLines(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}

/** Escapes a line of JSON, where `\\u202e` is the escape of the character itself. */
export function escapeJson(json: string): string {
  return json.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Escapes what Markdown would take as markup, on one line. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~]/g, "\\$&").replace(/\s+/g, " ");
}

function escapeCharacter(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  if (character === "\r") return "\\r";
  const code = character.charCodeAt(0);
  return code <= 0xff
    ? `\\x${code.toString(16).padStart(2, "0")}`
    : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Flags that no command has, and after which people type a key all the same. */
const secretFlag = /^--?[\w-]*(?:api-?key|token|secret|password|credential)[\w-]*$/i;
const keyForm = /^[A-Za-z0-9]{2,4}_[A-Za-z0-9_-]{20,}$/;
/** A whole key inside a word: after dashes, a short flag, a variable's or a header's name. */
const keyInside = /[A-Za-z0-9]{2,4}_[A-Za-z0-9_-]{40,}/g;

/** Masks every API key that was typed on the command line. */
export function maskTypedKeys(text: string, words: readonly string[]): string {
  const secrets = words.flatMap((word, index) => {
    const at = word.startsWith("-") ? word.indexOf("=") : -1;
    const value = at < 0 ? word : word.slice(at + 1);
    const flag = at < 0 ? words[index - 1] : word.slice(0, at);
    const isSecret = keyForm.test(value) || (flag !== undefined && secretFlag.test(flag) && value !== flag);
    const isWhole = isSecret && value.length >= 8 && !value.startsWith("-");
    // What stands after a short flag may look like a part of the key.
    const rest = /^-[A-Za-z]/.test(word) ? word.slice(2) : word;
    return isWhole ? [value] : (rest.match(keyInside) ?? []);
  });
  return secrets.reduce((shown, secret) => maskSecret(shown, secret), text);
}

/** The key, and the beginning of it where a message was cut off in it. */
function maskSecret(text: string, secret: string): string {
  const whole = text.replaceAll(secret, toMask(secret));
  const isCut = (length: number) => whole.includes(`${secret.slice(0, length)}…`);
  for (let length = secret.length - 1; length >= 12; length--) {
    if (isCut(length)) return whole.replaceAll(`${secret.slice(0, length)}…`, toMask(secret));
  }
  return whole;
}

/** Enough to know which was meant: the prefix with the region, and the last four characters. */
function toMask(secret: string): string {
  return secret.length >= 40 ? `${secret.slice(0, 7)}…${secret.slice(-4)}` : "…";
}
