/** Wraps messages between words at the width of a terminal. What a person copies is never broken. */

/**
 * What is never broken: a command to its end, with the mark behind it; a flag and its value; a name in
 * quotes; a number and its percent sign; else a word.
 */
const piece =
  /\becm (?:'[^']*'|"[^"]*"|[^\s'";,(]|[;,](?! )| (?![(·]))+[;,]?|--[\w-]+ [\w%]+\S*|"[^"]{1,60}"\S*|\d[\d.,]* %\S*|\S+/g;

/**
 * Wraps the lines of a message. Continuation lines are indented by two more than their line, or by `hang`.
 * @param text escaped; may hold our colours
 * @param hang columns by which the lines after the first begin, for text behind a title such as `error: `
 */
export function fitMessage(text: string, columns: number, hang?: number): string {
  return text
    .split("\n")
    .map((line) => (estimateWidth(line) <= columns ? line : breakLine(line, columns, hang)))
    .join("\n");
}

function breakLine(line: string, columns: number, hang: number | undefined): string {
  const indent = " ".repeat(hang ?? /^ */.exec(line)![0].length + 2);
  const lines: string[] = [];
  let current = "";
  let end = 0;
  for (const { 0: whole, index } of line.matchAll(piece)) {
    const between = line.slice(end, index);
    end = index + whole.length;
    const isFirst = current.trim() === "";
    if (isFirst || estimateWidth(current + between + whole) <= columns) current += between + whole;
    else {
      lines.push(current);
      current = indent + whole;
    }
  }
  return [...lines, current].join("\n");
}

/** Our colours. */
const invisible = /\u001b\[[\d;]*m/g;

/**
 * An upper bound of the width on a screen: the exact tables are slow to load, and every command has messages.
 */
function estimateWidth(text: string): number {
  let width = 0;
  for (const character of text.replace(invisible, "")) {
    const code = character.codePointAt(0)!;
    width += code < 0x1100 || (code >= 0x2000 && code < 0x2300) || (code >= 0x2500 && code < 0x2600) ? 1 : 2;
  }
  return width;
}
