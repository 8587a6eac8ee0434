/** Describes the consent columns of a file, before anything is sent. */

import type { RunEvent, Summary } from "../../bulk/index.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { advise, ecm, formatHint } from "../../hint.ts";
import type { ColumnTally, ConsentTally } from "../../tables/index.ts";

/**
 * One line for each consent column, and one for each cell that could not be understood.
 * @param total rows of the file
 * @param become what becomes of the rows that are marked, such as `not created`; and, where it is something
 *   else, of those whose cell is not understood
 */
export function formatConsent(
  consent: ConsentTally,
  total: number,
  become: { marked: string; unclear?: string },
): string[] {
  const { unclear = "counted as not subscribed" } = become;
  const areApart = become.unclear !== undefined;
  const lines = consent.columns.map((column) =>
    formatColumn(areApart ? leaveOutUnclear(column) : column, total, become.marked),
  );
  for (const { line, column, said: word } of consent.unclear) {
    lines.push(`Line ${line}: ${column} says ${quoteWord(word)}, which cannot be understood; ${unclear}`);
  }
  const more = consent.unclearCount - consent.unclear.length;
  if (more > 0) lines.push(`${formatCounted(more, "more cell")} like these`);
  return lines;
}

function leaveOutUnclear(column: ColumnTally): ColumnTally {
  const words = new Map([...column.words].filter(([, { isUnclear }]) => !isUnclear));
  return { ...column, marked: column.marked - column.unclear, unclear: 0, words };
}

/** A word that is said by many is named; of many different ones, such as dates, one is. */
const maxWordsListed = 4;

function formatColumn({ name, marked, words, rule }: ColumnTally, total: number, become: string): string {
  const title = name.trim() === "" ? "The column without a name" : name;
  const rows = `${formatCount(marked)} of ${formatCounted(total, "row")}`;
  if (marked === 0) return `${title}: read as consent; no row is marked as not subscribed`;
  if (rule === "always") return `${title}: an export of unsubscribed people; ${rows}: ${become}`;
  const sortedWords = [...words.values()].sort((one, other) => other.count - one.count);
  if (sortedWords.length > maxWordsListed) {
    return `${title}: ${rows} ${marked === 1 ? "says" : "say"} that the person is not subscribed, such as ${quoteWord(sortedWords[0]!.said)}: ${become}`;
  }
  const parts = sortedWords.map((word) => {
    const what = word.said === "" ? "nothing" : quoteWord(word.said);
    return sortedWords.length === 1 ? what : `${what} (${formatCount(word.count)})`;
  });
  const list = parts.length === 1 ? parts[0]! : `${parts.slice(0, -1).join(", ")} or ${parts.at(-1)}`;
  return `${title}: ${rows} ${marked === 1 ? "says" : "say"} ${list}: ${become}`;
}

export type MarkedEvent = Extract<RunEvent, { kind: "marked" }>;

/** Names whom the file marks as not subscribed and the account held as active. */
export function formatMarked(
  { contacts, total }: MarkedEvent,
  { kind, file }: Pick<Summary, "kind" | "file">,
): string[] {
  const who = formatCounted(total, "contact");
  const isOne = total === 1;
  const lines = [
    `${who} ${isOne ? "is" : "are"} active in the account although the file says not subscribed; added to no list:`,
  ];
  for (const { line, key } of contacts) lines.push(`  ${key} (line ${line})`);
  if (total > contacts.length) lines.push(`  and ${formatCount(total - contacts.length)} more`);
  const unsubscribe = ecm`contact unsubscribe --marked-rows --keys ${file}`;
  if (kind === "import") lines.push(formatHint(advise`Unsubscribe them with: ${unsubscribe}`));
  return lines;
}

function quoteWord(word: string): string {
  return JSON.stringify(word.length > 40 ? `${word.slice(0, 39)}…` : word);
}
