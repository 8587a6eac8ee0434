/** What the bulk engine and the reader of tables say, in words. */

import { isAbsolute, relative } from "node:path";
import type {
  CodedReason,
  Creation,
  MarkedAre,
  PlanLine,
  Price,
  RunEvent,
  RunRemark,
  Summary,
} from "../../bulk/index.ts";
import { formatCount, formatCounted, formatQuotedNames, quote } from "../../counts.ts";
import { type EcmError, notFoundError } from "../../errors.ts";
import { advise, ecm, formatHint, quoteShellWord } from "../../hint.ts";
import { formatDuration } from "../../moments.ts";
import type { ColumnTally, ConsentTally, Note, RowsNote, Warning } from "../../tables/index.ts";

/** A sentence for each code. */
type Words<Coded extends { code: string }> = {
  [Code in Coded["code"]]: (coded: Extract<Coded, { code: Code }>) => string;
};

function say<Coded extends { code: string }>(words: Words<Coded>, coded: Coded): string {
  return (words[coded.code as Coded["code"]] as (coded: Coded) => string)(coded);
}

// What is said of a run.

const remarks: Words<RunRemark> = {
  cut_off: () =>
    "warning: The file seems to be cut off in its last row: nobody is taken out of the list, since those that came after it are not known",
  input_changed: ({ file }) =>
    `${file} has changed since the run began: the run carries out its plan, which was made of the earlier file`,
  account_changed: () =>
    "The account changed while it was read; contacts that were added or removed in the meantime may be missing",
  run_unreadable: ({ failure }) => `warning: ${failure.message}`,
  took_over: ({ whose }) => `Took over the run from ${whose}`,
  recreates: () => "Recreated contacts get new ids; their history and date of creation are lost",
  no_rejects_file: ({ failure }) => `No rejects file: ${failure.message}`,
  rejects_in_run_only: ({ folder, failure }) =>
    `Rejected rows are in the run's folder alone: ${failure?.message ?? (folder ? `nothing can be written to ${folder}` : "standard input has no folder")}`,
};

export function describeRemark(remark: RunRemark): string {
  return say(remarks, remark);
}

/** Nothing to be warned of: `--quiet` leaves it out. */
export function isAside(remark: RunRemark): boolean {
  if (remark.code === "rejects_in_run_only") return remark.failure === undefined;
  return remark.code === "took_over" || remark.code === "recreates";
}

// Why contacts were not written.

/** Codes of skipped and rejected rows, described; a code of the service is shown as it is. */
const codeWords = new Map(
  Object.entries({
    duplicate: "repeated in the file",
    exists: "already exists",
    exists_hidden: "exists, but no search shows it",
    missing: "does not exist",
    not_found: "does not exist",
    not_selected: "outside the selection",
    not_subscribed: "not subscribed",
    suppressed: "on the suppression list",
    changed: "changed since the plan",
    changed_since: "changed since",
    created: "created by the run, not deleted",
    not_active: "not active when deleted",
    unsubscribed: "unsubscribed people stay unsubscribed",
    gone: "no longer exists",
    keeps_changing: "keeps changing",
    unproven: "it is unknown whether this was applied",
    key_missing: "no email address",
    key_syntax: "invalid email address",
    key_placeholder: "placeholder instead of an address",
    key_several_addresses: "several addresses in one cell",
    key_too_long: "address too long",
    key_invisible_character: "invisible character in the address",
    key_quoted_local: "quotes in the address",
    key_address_literal: "number instead of a domain",
    key_non_ascii_local: "accented letters before the @",
    too_many_cells: "more cells than columns",
    unnamed_column: "value in a column without a name",
    text_after_quote: "text after a closing quote",
    truncated: "cut off at the end of the file",
  }),
);

/** In words; a code that has none as it is. */
export function describeCode(code: string): string {
  return codeWords.get(code) ?? code;
}

/** `invalid email address (2), no email address (1)`; empty for none. */
export function formatReasons(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([code, number]) => `${describeCode(code)} (${formatCount(number)})`)
    .join(", ");
}

/** A line of what a run did, with what its code means. */
export function withReason(line: PlanLine): PlanLine {
  return line.code === "unproven" ? { ...line, message: describeReason({ code: line.code }) } : line;
}

/** Why a contact was not written, or not in all. Plans, journals and rejects files keep these sentences. */
export function describeReason({ code, parts, line }: CodedReason): string {
  if (parts) {
    const named = parts.map(({ what, id, name }) => `${what} ${name === id ? id : quote(name)}`);
    return `not restored: ${named.join(", ")}`;
  }
  if (line !== undefined) return `the contact is on line ${line} too`;
  if (code === "not_found") return "no contact has this key or id";
  return codeWords.get(code) ?? "";
}

/** More of a value is cut off where people read it. */
const maxCharacters = 60;

export function shortenValue(value: string): string {
  return value.length > maxCharacters ? `${value.slice(0, maxCharacters - 1)}…` : value;
}

// Names that a run creates.

/** `fields "A", "B", list "C"`; in brief `2 fields, the list "C"`. */
export function listCreated(created: readonly { what: string; name: string }[], isBrief = false): string {
  const kinds = [...new Set(created.map(({ what }) => what))];
  return kinds
    .map((kind) => {
      const names = created.filter(({ what }) => what === kind).map(({ name }) => quote(name));
      if (isBrief) return names.length > 1 ? formatCounted(names.length, kind) : `the ${kind} ${names[0]}`;
      return `${kind}${names.length > 1 ? "s" : ""} ${names.join(", ")}`;
    })
    .join(", ");
}

/** The error for lists and tags that the account does not have, and that nobody has agreed to create. */
export function missingNamesError(missing: readonly Creation[]): EcmError {
  const kinds = (["list", "tag"] as const).map((kind) => missing.filter(({ what }) => what === kind));
  const named = kinds.filter(({ length }) => length > 0).map((names) => listCreated(names));
  return notFoundError(
    `The account has no ${named.join(", and no ")}`,
    "Fix the names, or create what is missing with --create-missing",
  );
}

// Prices and places.

/**
 * `868 requests (about 22 s, 0.9 % of what is left this month)`; the share is rounded up to a tenth.
 * @param all that the month pays for
 */
export function formatCost(requests: number, seconds: number, monthLeft = 0, all = requests): string {
  const percent = (all / monthLeft) * 100;
  const share = percent < 0.1 ? "under 0.1" : String(Math.ceil(percent * 10) / 10);
  const isKnown = all > 0 && all <= monthLeft;
  const month = isKnown ? `, ${share} % of what is left this month` : "";
  const duration = `${seconds < 1 ? "" : "about "}${formatDuration(seconds)}`;
  return `${formatCounted(requests, "request")} (${duration}${month})`;
}

export function formatPrice({ estimate, left, monthLeft }: Price): string {
  return `To send: ${formatCost(left, estimate.seconds, monthLeft)}`;
}

/** A path below this folder, as somebody in it would type it; any other whole. */
export function shortPath(path: string): string {
  const below = relative(".", path);
  return below === "" || below.startsWith("..") || isAbsolute(below) ? path : below;
}

// How a file was read.

const delimiterNames: Record<string, string> = { ";": "semicolons", "\t": "tabs", "|": "pipes" };

const notes: Words<Note> = {
  sheet: ({ sheet }) => `Read the sheet ${quote(sheet)} of a workbook`,
  hidden_rows: ({ count }) =>
    `${formatCounted(count, "row is", "rows are")} hidden in the workbook; read like the others`,
  merged_ranges: ({ count }) =>
    `${formatCounted(count, "merged range")} in the workbook: each of their cells is read with the value of the range`,
  counted_elements: () => "Rows are counted as elements of the array, from 1",
  delimiter: ({ delimiter }) =>
    `Cells are separated by ${delimiterNames[delimiter] ?? quote(delimiter)} (detected; override with --delimiter)`,
  header: ({ line }) => `The header is on line ${line}`,
  encoding({ encoding, isGuess, firstForeign }) {
    const how = isGuess ? " (detected; override with --encoding)" : "";
    const sample = firstForeign
      ? `; the first line that is not plain ASCII is line ${firstForeign.line}: ${firstForeign.text}`
      : "";
    return `Read as ${encoding}${how}${sample}`;
  },
  system: ({ system }) => `Read as ${system}`,
  system_without_consent: ({ system }) =>
    `${system} says nothing about consent: make sure that these people agreed to receive email`,
  columns_gone: ({ columns }) => `Not in this file any more: ${formatQuotedNames(columns)}`,
  no_rows: () => "The file has a header but no rows",
  system_columns: ({ system, columns }) => `Ignored columns of ${system}: ${columns.join(", ")}`,
  unmapped: ({ columns }) => `Ignored columns that do not match any field: ${formatQuotedNames(columns)}`,
  consent_ignored: ({ column }) =>
    `${quote(column)} looks like consent but is ignored, because of --map ${quoteShellWord(`${column}=ignore`)}`,
  consent_of_other_channel: ({ column }) =>
    `${quote(column)} is about another channel than email; not read as consent`,
  consent_empty: ({ column }) => `${quote(column)} is empty in every row; not read as consent`,
  consent_is_field: ({ column }) => `${quote(column)} is a field of the account; not read as consent`,
};

export function describeNote(note: Note): string {
  return say(notes, note);
}

const consequences: Record<Exclude<RowsNote["code"], Warning>, string> = {
  unknown_value: ": the workbook has no value there; open it in a spreadsheet, correct the cells and save it",
  lost_zeros: " may have lost a leading zero: format the column as text where the file comes from",
  formatted_amount:
    ": a decimal point and thousands commas, whatever your spreadsheet shows; to have them as shown, save the sheet as CSV",
};

/** Each with a place. */
export function describeRowsNote({ code, column = "", count, cell, line }: RowsNote): string {
  const such = `such as ${cell} (line ${line})`;
  const addresses = formatCounted(count, "address", "addresses");
  switch (code) {
    case "likely_typo":
      return `${addresses} may be misspelled, ${such}`;
    case "role_address":
      return `${addresses} of a role, not of a person, ${such}`;
    case "first_of_several":
      return `${formatCounted(count, "row")} with several addresses, of which the first one is the key, ${such}`;
    default:
      return `Column ${quote(column)}: ${formatCounted(count, "cell")} ${such}${consequences[code]}`;
  }
}

type Surveyed = Extract<RunEvent, { kind: "surveyed" }>;

/** What becomes of the rows of one contact, by `--duplicates`. */
const fates: Record<Surveyed["joined"]["how"], string> = {
  merge: "merged",
  first: "the first line counts",
  last: "the last line counts",
  reject: "the first line counts, the others are rejected",
};
const maxGroupsNamed = 5;

/** Says what looks odd, which rows are one contact, and what was read of consent. */
export function noteSurvey(
  { survey: { notes, consent, read }, joined, notSubscribedAre, unclearAre }: Surveyed,
  note: (line: string, kind?: "needed") => void,
): void {
  for (const each of notes) {
    if (each.code === "unknown_value") note(`warning: ${describeRowsNote(each)}`, "needed");
    else note(describeRowsNote(each));
  }
  if (joined.passedOver > 0) {
    const groups = [...joined.groups.values()];
    const named = groups.slice(0, maxGroupsNamed).map(({ lines }) => formatLines(lines.slice(0, 10)));
    const more = groups.length - named.length;
    if (more > 0) named.push(`and ${formatCount(more)} more`);
    note(
      `${formatCounted(groups.length, "contact appears", "contacts appear")} on several lines (${named.join("; ")}); ${fates[joined.how]}`,
    );
  }
  const become = { marked: markedAre[notSubscribedAre], unclear: unclearAre && markedAre[unclearAre] };
  for (const line of formatConsent(consent, read, become)) {
    note(line, consent.unclearCount > 0 ? "needed" : undefined);
  }
}

function formatLines(lines: readonly number[]): string {
  return `${lines.slice(0, -1).join(", ")} and ${lines.at(-1)}`;
}

// What a file says of consent.

/** What becomes of people that a file marks as not subscribed. */
const markedAre: Readonly<Record<MarkedAre, string>> = {
  imported: "imported like any other (--include-unsubscribed)",
  added: "added like any other (--include-unsubscribed)",
  added_to_no_list: "added to no list",
  not_created: "not created",
  not_added: "not added to the list",
  not_added_nor_created: "not added to the list, and not created",
  chosen: "chosen",
  not_chosen: "not chosen",
};

/** @param unclear what becomes of contacts whose cell is not understood, where that is something else */
interface Become {
  marked: string;
  unclear?: string;
}

/** A line for each consent column, and one for each of the first cells that could not be understood. */
function formatConsent(consent: ConsentTally, rows: number, become: Become): string[] {
  const more = consent.unclearCount - consent.unclear.length;
  return [
    ...consent.columns.map((column) => formatColumn(column, rows, become)),
    ...consent.unclear.map(
      ({ line, column, cell }) =>
        `Line ${line}: ${column} says ${quoteWord(cell)}, which cannot be understood; ${become.unclear ?? "counted as not subscribed"}`,
    ),
    ...(more > 0 ? [`${formatCounted(more, "more cell")} like these`] : []),
  ];
}

const maxWordsListed = 4;

/** `Newsletter: 12 of 40 rows say "no" (10), nothing (2): not created`. */
function formatColumn({ name, rule, ...tally }: ColumnTally, rows: number, become: Become): string {
  const title = name.trim() === "" ? "The column without a name" : name;
  // A line for each unclear cell says what becomes of it, where that is something else.
  const marked = tally.marked - (become.unclear ? tally.unclear : 0);
  const share = `${formatCount(marked)} of ${formatCounted(rows, "row")}`;
  if (marked === 0) return `${title}: read as consent; no row is marked as not subscribed`;
  if (rule === "always") return `${title}: an export of unsubscribed people; ${share}: ${become.marked}`;
  const words = [...tally.words.values()]
    .filter(({ isUnclear }) => !(become.unclear && isUnclear))
    .sort((one, other) => other.count - one.count);
  const listed = words.slice(0, maxWordsListed).map(({ written, count }) => {
    const word = written === "" ? "nothing" : quoteWord(written);
    return words.length === 1 ? word : `${word} (${formatCount(count)})`;
  });
  const more = words.length > maxWordsListed ? " and others" : "";
  return `${title}: ${share} ${marked === 1 ? "says" : "say"} ${listed.join(", ")}${more}: ${become.marked}`;
}

export type MarkedEvent = Extract<RunEvent, { kind: "marked" }>;

/** Kinds of runs whose input is a file that may mark its people. */
const kindsOfFiles = ["import", "sync", "mutate"];

/** Names contacts that the file marks as not subscribed and the account held as active. */
export function formatMarked(
  { contacts, total }: MarkedEvent,
  { kind, file }: Pick<Summary, "kind" | "file">,
): string[] {
  const more = total - contacts.length;
  const unsubscribe = ecm`contact unsubscribe --marked-rows --keys ${file}`;
  return [
    `${formatCounted(total, "contact is", "contacts are")} active in the account although the file says not subscribed; added to no list:`,
    ...contacts.map(({ line, key }) => `  ${key} (line ${line})`),
    ...(more > 0 ? [`  and ${formatCount(more)} more`] : []),
    ...(kindsOfFiles.includes(kind) ? [formatHint(advise`Unsubscribe them with: ${unsubscribe}`)] : []),
  ];
}

function quoteWord(word: string): string {
  return quote(word.length > 40 ? `${word.slice(0, 39)}…` : word);
}
