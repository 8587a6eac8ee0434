import type { Terminal } from "../../terminal/terminal.ts";

/**
 * Says that a list is shown in part: to a person at a terminal, and as a warning to a script that did not ask
 * for a part, with `--quiet` too.
 * @param isRequested the command names the part, such as with `--page` or `--limit`
 */
export function announcePart(terminal: Terminal, text: string, isRequested: boolean): void {
  if (terminal.isStdoutClosed) return;
  if (isRequested) terminal.note(text);
  else if (terminal.isStdoutTerminal) terminal.note(text, "needed");
  else terminal.warn(text);
}
