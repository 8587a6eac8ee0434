/** Durations, reasons and paths in the messages of bulk runs. */
import { isAbsolute, relative } from "node:path";
import { formatCount } from "../../counts.ts";
import { formatDuration } from "../../moments.ts";

/** `about 22 s`, `under 1 s`. */
export function formatAboutDuration(seconds: number): string {
  return seconds < 1 ? formatDuration(seconds) : `about ${formatDuration(seconds)}`;
}

/** Codes of skipped and rejected rows, described; a code of the service is shown as it is. */
const reasons = new Map(
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
    .map(([code, number]) => `${describeReason(code)} (${formatCount(number)})`)
    .join(", ");
}

/** In words; a code that has none as it is. */
export function describeReason(code: string): string {
  return reasons.get(code) ?? code;
}

/** A path below this folder, as somebody in it would type it; any other whole. */
export function shortPath(path: string): string {
  const below = relative(".", path);
  return below === "" || below.startsWith("..") || isAbsolute(below) ? path : below;
}

/** A message from a fragment of one: it starts with a capital letter. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
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
      const names = created.filter(({ what }) => what === kind).map(({ name }) => JSON.stringify(name));
      return `${kind}${names.length > 1 ? "s" : ""} ${names.join(", ")}`;
    })
    .join(", ");
}
