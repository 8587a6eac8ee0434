/** What the bulk engine says, in words. */

import { isAbsolute, relative } from "node:path";
import type {
  CodedReason,
  Creation,
  MarkedAre,
  PlanLine,
  Price,
  Reject,
  RunEvent,
  RunRemark,
  Summary,
} from "../../bulk/index.ts";
import { formatCount, formatCounted, formatQuotedNames } from "../../counts.ts";
import { type EcmError, notFoundError } from "../../errors.ts";
import { advise, ecm, formatHint, quoteShellWord } from "../../hint.ts";
import { formatDuration } from "../../moments.ts";
import type { ColumnTally, ConsentTally, Note, RowsNote, Warning } from "../../tables/index.ts";

export function describeRemark(remark: RunRemark): string {
  switch (remark.code) {
    case "would_be_refused":
      return describeRefusal(remark.failure);
    case "cut_off":
      return "warning: The file seems to be cut off in its last row: nobody is taken out of the list, since those that came after it are not known";
    case "input_changed":
      return `${remark.file} has changed since the run began: the run carries out its plan, which was made of the earlier file`;
    case "account_changed":
      return "The account changed while it was read; contacts that were added or removed in the meantime may be missing";
    case "run_unreadable":
      return `warning: ${remark.failure.message}`;
    case "took_over":
      return `Took over the run from ${remark.whose}`;
    case "recreates":
      return "Recreated contacts get new ids; their history and date of creation are lost";
    case "no_rejects_file":
      return `No rejects file: ${remark.failure.message}`;
    case "rejects_file_elsewhere":
      return `--rejects: ${remark.file} cannot be written`;
    case "rejects_in_run_only":
      return `Rejected rows are in the run's folder alone: ${describeWhyAlone(remark)}`;
  }
}

function describeWhyAlone({ folder, failure }: Extract<RunRemark, { code: "rejects_in_run_only" }>): string {
  if (failure) return failure.message;
  return folder === undefined ? "standard input has no folder" : `nothing can be written to ${folder}`;
}

/** How a dry run says that the real run would be refused. */
export function describeRefusal({ message }: Error): string {
  return `A real run would be refused: ${message}`;
}

/** Nothing to be warned of: `--quiet` leaves it out. */
export function isAside(remark: RunRemark): boolean {
  if (remark.code === "rejects_in_run_only") return remark.failure === undefined;
  return remark.code === "took_over" || remark.code === "recreates";
}

/** What becomes of those whom a file marks as not subscribed. */
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

const reasons: Readonly<Record<string, string>> = {
  not_found: "no contact has this key",
  gone: "the contact no longer exists",
  created: "the run created this contact; it stays without --delete-created",
  changed_since: "the run created this contact, and it was changed since; it stays",
  not_active: "the contact was not active when it was deleted; it is not recreated",
  unsubscribed: "contacts cannot be reactivated through the API",
  keeps_changing: "the contact keeps changing while it is being written",
};

/** Why a contact was not written, or not all of it. Plans, journals and rejects files keep these sentences. */
export function describeReason({ code, takesIds, parts, line }: CodedReason): string {
  if (parts) return `not restored: ${parts.map(formatPart).join(", ")}`;
  if (line !== undefined) return `the contact is on line ${line} too`;
  if (takesIds) return "no contact has this key or id";
  return reasons[code] ?? "";
}

/** `field "City"`, or its id where the name is not known. */
function formatPart({ what, id, name }: NonNullable<CodedReason["parts"]>[number]): string {
  return `${what} ${name === id ? id : JSON.stringify(name)}`;
}

/** Of lists and tags that the account does not have, and that nobody has agreed to create. */
export function missingNamesError(missing: readonly Creation[]): EcmError {
  const parts = (["list", "tag"] as const).flatMap((kind) => {
    const names = missing.filter(({ what }) => what === kind);
    return names.length > 0 ? [listNames(kind, names)] : [];
  });
  return notFoundError(
    `The account has no ${parts.join(", and no ")}`,
    "Fix the names, or create what is missing with --create-missing",
  );
}

/** More of a value is cut off where people read it. */
const maxCharacters = 60;

/** A rejected row as people read it: where, what stood there, and why. */
export interface ShownReject {
  line: number;
  value: string;
  code: string;
  why: string;
}

export function toShownReject({ line, value, code, message }: Omit<Reject, "row">): ShownReject {
  const isLong = value.length > maxCharacters;
  return {
    line,
    value: isLong ? `${value.slice(0, maxCharacters - 1)}…` : value,
    code,
    why: withoutEnd(message, `: ${value}`),
  };
}

/** What is beside it already is not said twice. */
function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}

// Durations, reasons and paths in the messages of bulk runs.

/** `about 22 s`, `under 1 s`. */
export function formatAboutDuration(seconds: number): string {
  return seconds < 1 ? formatDuration(seconds) : `about ${formatDuration(seconds)}`;
}

/** Codes of skipped and rejected rows, described; a code of the service is shown as it is. */
const codeWords = new Map(
  Object.entries({
    duplicate: "repeated in the file",
    exists: "already exists",
    exists_hidden: "exists, but no search shows it",
    exists_not_visible: "exists, but no search shows it yet",
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
    too_long: "too long",
    truncated: "cut off at the end of the file",
  }),
);

/** `invalid email address (2), no key (1)`; empty for none. */
export function formatReasons(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([code, number]) => `${describeCode(code)} (${formatCount(number)})`)
    .join(", ");
}

/** In words; a code that has none as it is. */
export function describeCode(code: string): string {
  return codeWords.get(code) ?? code;
}

/** A path below this folder, as somebody in it would type it; any other whole. */
export function shortPath(path: string): string {
  const below = relative(".", path);
  return below === "" || below.startsWith("..") || isAbsolute(below) ? path : below;
}

/** `, 1.1 % of what is left this month`, rounded up to a tenth; nothing where the month is not known or used up. */
export function formatShare(requests: number, monthLeft = 0): string {
  if (monthLeft <= 0 || requests > monthLeft) return "";
  const percent = (requests / monthLeft) * 100;
  const share = percent > 0 && percent < 0.1 ? "under 0.1" : String(Math.ceil(percent * 10) / 10);
  return `, ${share} % of what is left this month`;
}

/** `fields "A", "B", list "C"` */
export function listCreated(created: readonly { what: string; name: string }[]): string {
  const kinds = [...new Set(created.map(({ what }) => what))];
  return kinds
    .map((kind) => {
      return listNames(
        kind,
        created.filter(({ what }) => what === kind),
      );
    })
    .join(", ");
}

/** `lists "A", "B"`. */
function listNames(kind: string, names: readonly { name: string }[]): string {
  return `${kind}${names.length > 1 ? "s" : ""} ${names.map(({ name }) => quote(name)).join(", ")}`;
}

// How a file was read and what looks odd in its rows, in sentences.

export function describeNote(note: Note): string {
  switch (note.code) {
    case "sheet":
      return `Read the sheet ${quote(note.sheet)} of a workbook`;
    case "hidden_rows":
      return `${formatCounted(note.count, "row is", "rows are")} hidden in the workbook; read like the others`;
    case "merged_ranges":
      return `${formatCounted(note.count, "merged range")} in the workbook: each of their cells is read with the value of the range`;
    case "counted_elements":
      return "Rows are counted as elements of the array, from 1";
    case "encoding":
      return describeEncoding(note);
    case "system":
      return `Read as ${note.system}`;
    case "system_without_consent":
      return `${note.system} says nothing about consent: make sure that these people agreed to receive email`;
    case "no_rows":
      return "The file has a header but no rows";
    default:
      return describeColumnNote(note);
  }
}

type NoteOf<Code extends Note["code"]> = Extract<Note, { code: Code }>;

function describeEncoding({ encoding, isGuess, firstForeign }: NoteOf<"encoding">): string {
  const how = isGuess ? " (detected; override with --encoding)" : "";
  const sample = firstForeign
    ? `; the first line that is not plain ASCII is line ${firstForeign.line}: ${firstForeign.text}`
    : "";
  return `Read as ${encoding}${how}${sample}`;
}

function describeColumnNote(
  note: Extract<Note, { column: string } | { columns: readonly string[] }>,
): string {
  switch (note.code) {
    case "system_columns":
      return `Ignored columns of ${note.system}: ${note.columns.join(", ")}`;
    case "unmapped":
      return `Ignored columns that do not match any field: ${formatQuotedNames(note.columns)}`;
    case "consent_ignored":
      return `${quote(note.column)} looks like consent but is ignored, because of --map ${quoteShellWord(`${note.column}=ignore`)}`;
    case "consent_of_other_channel":
      return `${quote(note.column)} is about another channel than email; not read as consent`;
    case "consent_empty":
      return `${quote(note.column)} is empty in every row; not read as consent`;
    case "consent_is_field":
      return `${quote(note.column)} is a field of the account; not read as consent`;
  }
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

function quote(name: string): string {
  return JSON.stringify(name);
}

// What is said before a run's first write: names that it creates, rows of one contact, its price.

type Surveyed = Pick<
  Extract<RunEvent, { kind: "surveyed" }>,
  "survey" | "joined" | "notSubscribedAre" | "unclearAre"
>;
type JoinedRows = Extract<RunEvent, { kind: "surveyed" }>["joined"];

/** What becomes of the rows of one contact, by `--duplicates`. */
const fates: Record<JoinedRows["how"], string> = {
  merge: "merged",
  first: "the first line counts",
  last: "the last line counts",
  reject: "the first line counts, the others are rejected",
};

/** Says what looks odd, which rows are one contact, and what was read of consent. */
export function noteSurvey(
  { survey: { notes, consent, read }, joined, notSubscribedAre: marked, unclearAre: unclear }: Surveyed,
  note: (line: string, kind?: "needed") => void,
): void {
  const become = { marked: markedAre[marked], unclear: unclear && markedAre[unclear] };
  for (const each of notes) {
    if (each.code === "unknown_value") note(`warning: ${describeRowsNote(each)}`, "needed");
    else note(describeRowsNote(each));
  }
  if (joined.passedOver > 0) note(describeJoinedRows({ joined }));
  for (const line of formatConsent(consent, read, become)) {
    note(line, consent.unclearCount > 0 ? "needed" : undefined);
  }
}

function describeJoinedRows({ joined }: { joined: JoinedRows }): string {
  const examples = [...joined.groups.values()]
    .slice(0, 5)
    .map(({ lines }) => formatLines(lines.slice(0, 10)));
  const { size } = joined.groups;
  const more = size > examples.length ? `; and ${formatCount(size - examples.length)} more` : "";
  return `${formatCounted(size, "contact")} ${size === 1 ? "appears" : "appear"} on several lines (${examples.join("; ")}${more}); ${fates[joined.how]}`;
}

function formatLines(lines: readonly number[]): string {
  return `${lines.slice(0, -1).join(", ")} and ${lines.at(-1)}`;
}

export function formatPrice({ estimate, left, monthLeft }: Price): string {
  const requests = formatCounted(left, "request");
  return `To send: ${requests} (${formatAboutDuration(estimate.seconds)}${formatShare(left, monthLeft)})`;
}

// Describes the consent columns of a file, before anything is sent.

/**
 * One line for each consent column, and one for each cell that could not be understood.
 * @param total rows of the file
 * @param become what becomes of the rows that are marked, such as `not created`; and, where it is something
 *   else, of those whose cell is not understood
 */
function formatConsent(
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

/** Whether a plan line changes something in the account. */
export function isChange({ action }: PlanLine): boolean {
  return action === "create" || action === "update" || action === "delete";
}
