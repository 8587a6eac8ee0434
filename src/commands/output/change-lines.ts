/** Changes as people read them, a line each: `~` changed (old → new), `+` added, `-` removed, `=` stays. */

import { escapeControls } from "../../terminal/escape.ts";
import { createStyle } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { wrap } from "../../terminal/text-width.ts";

/**
 * @param lines each begins with its mark and a space
 * @param title of what was changed, such as a contact's key
 */
export function formatChanges(terminal: Terminal, lines: readonly string[], title?: string): string {
  const { bold, dim, green, yellow, red } = createStyle(terminal.isColored.out);
  const paint: Record<string, (text: string) => string> = { "+": green, "~": yellow, "-": red, "=": dim };
  const indent = title === undefined ? "" : "  ";
  const width = terminal.isStdoutTerminal ? terminal.columns : Number.POSITIVE_INFINITY;
  const room = Math.max(20, width - indent.length - 2);
  const wrappedLines = lines.map((line) => {
    const text = wrap(escapeControls(line.slice(2)), room).join(`\n${indent}  `);
    return `${indent}${paint[line[0]!]!(line[0]!)} ${text}\n`;
  });
  return `${title === undefined ? "" : `${bold(escapeControls(title))}\n`}${wrappedLines.join("")}`;
}
