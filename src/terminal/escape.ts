/**
 * Foreign text (from the service or a file) made safe to show: it
 * can neither move the cursor nor colour anything.
 */

// C0 and C1 controls, DEL, line and paragraph separators, and the marks that reorder or hide text.
const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
// A surrogate without its partner cannot be encoded.
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Shows control characters as `\n`, `\t`, `\r`, `\x1b` or `\u202e`. Printable text is returned as it is. */
export function escapeControls(text: string): string {
  return text.replace(unsafe, escapeCharacter).replace(loneSurrogate, escapeCharacter);
}

/** The same for text of several lines, such as a help text or a hint: line breaks stay. */
export function escapeControlsInLines(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}

/** The same for a line of JSON, where `\\u202e` is the escape of the character itself. */
export function escapeJson(json: string): string {
  return json.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
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
