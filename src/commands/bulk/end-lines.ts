/** What is said of a run when it has ended. */
import type { Reject, Summary } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatHint, type Hint } from "../../hint.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { createStyle } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { addAccountFlags } from "../help/command-line.ts";
import { formatMarked, type MarkedEvent } from "./consent-lines.ts";
import { resultLines } from "./result-lines.ts";
import { formatSummary, type RunFacts, toRejectsTitle } from "./summary-lines.ts";

export interface EndDetails extends RunFacts {
  /** Lines about what was changed, where there are few. */
  changes: readonly string[];
  /** Contacts that a file marks as unsubscribed. */
  marked: readonly MarkedEvent[];
  firstRejects: readonly Reject[];
}

/** What became of the run. A quiet one still says what was rejected. */
export function noteEnd(
  { terminal, settings }: Pick<Context, "terminal" | "settings">,
  summary: Summary,
  { changes, marked, firstRejects, ...facts }: EndDetails,
): void {
  const isShort = terminal.isStderrTerminal;
  const lines = formatSummary(summary, isShort, facts);
  const withAccount = (line: Hint) => addAccountFlags(line, settings);
  const [counts = "", ...rest] = lines.map(withAccount);
  const mark = toMark(terminal, summary);
  const { stderrColumns: columns, isAccessible, isColored } = terminal;
  const screen = { columns, isAccessible, isColored: isColored.err };
  const shown = isShort
    ? resultLines(screen, summary, { seconds: facts.seconds, firstRejects })
    : [escapeControls(formatHint(counts))];
  for (const [at, line] of shown.entries()) {
    terminal.note(`${at === 0 ? mark : ""}${formatHint(withAccount(line))}`, "painted");
  }
  for (const line of changes) terminal.note(line, "painted");
  for (const line of rest) terminal.note(formatHint(line));
  if (terminal.quiet && summary.rows.rejected > 0) {
    terminal.note(
      [counts, ...rest]
        .map((line) => formatHint(line))
        .filter((line, at) => at === 0 || line.startsWith(toRejectsTitle(summary)))
        .join("\n"),
      "needed",
    );
  }
  for (const group of marked) {
    for (const line of formatMarked(group, summary)) terminal.note(line, "needed");
  }
}

/** A tick for what is done, where marks are drawn; none where all were passed over. */
function toMark(terminal: Terminal, { status, rows }: Summary): string {
  if (!terminal.isStderrTerminal || terminal.isAccessible || status !== "completed") return "";
  const { green, yellow } = createStyle(terminal.isColored.err);
  const isDone = rows.rejected === 0 && (rows.skipped === 0 || rows.skipped < rows.read);
  return !isDone ? `${yellow("!")} ` : `${green("✓")} `;
}
