/** Changes at a terminal: `~` changed (old → new), `+` added, `-` removed, `=` stays. */

import { escapeControls } from "../../terminal/escape.ts";
import type { OutputOptions } from "../../terminal/format.ts";
import { createStyle } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { wrap } from "../../terminal/text-width.ts";

export interface ChangeLine {
  mark: "+" | "~" | "-" | "=";
  text: string;
}

/** Whether changes are shown instead of the whole record: at a terminal, in the default format. */
export function showsChanges({ isStdoutTerminal }: Terminal, output: OutputOptions): boolean {
  const { format, columns } = output;
  return isStdoutTerminal && format === "table" && columns === undefined;
}

/** @param title of what was changed, such as a contact's key */
export function presentChanges(
  terminal: Terminal,
  lines: readonly ChangeLine[],
  title?: string,
): Promise<void> {
  const { bold, dim, green, yellow, red } = createStyle(terminal.isColored.out);
  const paint = { "+": green, "~": yellow, "-": red, "=": dim };
  const indent = title === undefined ? "" : "  ";
  const wrappedLines = lines.map(({ mark, text }) => {
    const room = Math.max(20, terminal.columns - indent.length - 2);
    return `${indent}${paint[mark](mark)} ${wrap(escapeControls(text), room).join(`\n${indent}  `)}`;
  });
  const head = title === undefined ? [] : [bold(escapeControls(title))];
  return terminal.write(`${[...head, ...wrappedLines].join("\n")}\n`);
}
