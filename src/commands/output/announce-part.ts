import type { Context } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import { isJson } from "../../terminal/format.ts";

interface ShownPart {
  shown: number;
  total?: number;
  /** Flags that show what follows, such as `--page 2`. */
  more: readonly string[];
}

/**
 * Says that a list is shown in part: to a person at a terminal, and as a warning to a script that did not ask
 * for a part, with `--quiet` too. Whoever reads JSON gets a line of it besides, not with `--quiet`.
 * A client of `ecm mcp` sees it in the answer.
 * @param isRequested the command names the part, such as with `--page` or `--limit`
 */
export function announcePart(context: Context, text: string, isRequested: boolean, part: ShownPart): void {
  const { terminal, observer } = context;
  if (terminal.isStdoutClosed) return;
  if (isRequested || observer?.page) terminal.note(text);
  else if (terminal.isStdoutTerminal) terminal.note(text, "needed");
  else terminal.warn(text);
  if (isJson(context.output().format) && !terminal.isStderrTerminal && !observer)
    terminal.note(JSON.stringify({ part }));
}

/** Says that a page is not the last one. @param typedPage undefined for the first one, which nobody named */
export function announcePage(
  context: Context,
  things: string,
  { shown, total }: { shown: number; total?: number },
  typedPage: number | undefined,
): void {
  const of = total === undefined ? "" : ` of ${formatCount(total)}`;
  const next = (typedPage ?? 1) + 1;
  const text = `${shown}${of} ${things} · all: --all · next page: --page ${next}`;
  announcePart(context, text, typedPage !== undefined, { shown, total, more: ["--page", String(next)] });
}
