/**
 * Wraps messages between words at the width of a terminal. What a person copies is never broken; a command
 * that is wider than the screen continues on the next line as a shell reads it.
 */
import { platform } from "node:os";

/**
 * What is never broken: a command to its end, a flag with its value, a name in quotes, a path behind a colon
 * that has blanks in it; else a word.
 */
const piece =
  /(?:[A-Z_]+=\S+ )*\becm (?:'[^']*'|"[^"]*"|\\.|[^\s'";,(]|[;,](?! )| (?![(·]))+|--[\w-]+[ =](?:(?:'[^']*'|\\')+|"[^"]*"|[A-Z][\w|-]*)|"[^"]{1,60}"[^\s"]*|(?<=: )(?:[/~]|\.{1,2}\/|[A-Z]:\\).+|\S+/g;

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
  for (const match of line.matchAll(piece)) {
    const between = line.slice(end, match.index);
    end = match.index + match[0].length;
    const isFirst = current.trim() === "";
    const whole = continueCommand(match[0], columns, indent);
    if (isFirst || estimateWidth(current) + between.length + estimateWidth(whole) <= columns) {
      current += between + whole;
    } else {
      lines.push(current);
      current = indent + whole;
    }
  }
  return [...lines, current].join("\n");
}

const command = /^(?:[A-Z_]+=\S+ )*ecm /;
/** A word as a shell reads it; a flag with its value. */
const shellWord =
  /--[\w-]+ (?!-|&&)(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+|(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+|\S/g;

/** A command that is wider than the screen, with a backslash where it continues on the next line. */
function continueCommand(text: string, columns: number, indent: string): string {
  const isFitting = indent.length + estimateWidth(text) <= columns;
  // Other shells do not read a backslash so.
  if (isFitting || !command.test(text) || platform() === "win32") return text;
  const lines: string[] = [];
  for (const [word] of text.matchAll(shellWord)) {
    const last = lines.at(-1);
    const longer = `${last} ${word}`;
    const hang = lines.length > 1 ? indent.length + 2 : indent.length;
    if (last !== undefined && hang + estimateWidth(longer) + " \\".length <= columns) {
      lines[lines.length - 1] = longer;
    } else lines.push(word);
  }
  return lines.join(` \\\n${indent}  `);
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
