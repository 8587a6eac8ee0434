/** `--status`: the words of the service's documents, and those that people use, in any letter case. Pure. */

import { findClosest } from "../api/names.ts";
import { usageError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";

export interface StatusFilter {
  /** What the service is asked for: only primary statuses are shown as values of `CONTACT_STATUS`. */
  primary: "active" | "inactive";
  /** In lower case. Decided here. */
  secondary?: string;
}

/** Word → status. The documented words come first. */
const statusFilters: Record<string, StatusFilter> = {
  active: { primary: "active" },
  inactive: { primary: "inactive" },
  confirmed: { primary: "active", secondary: "confirmed" },
  unsubscribe: { primary: "inactive", secondary: "unsubscribe" },
  bounce: { primary: "inactive", secondary: "bounce" },
  "complaint-fbl": { primary: "inactive", secondary: "complaint-fbl" },
  unsubscribed: { primary: "inactive", secondary: "unsubscribe" },
  bounced: { primary: "inactive", secondary: "bounce" },
  complained: { primary: "inactive", secondary: "complaint-fbl" },
  complaint: { primary: "inactive", secondary: "complaint-fbl" },
  subscribed: { primary: "active" },
};

/** The secondary status that a word means, such as `bounce` for `bounced`; any other word as it is. */
export function toSecondaryStatus(word: string): string {
  return (Object.hasOwn(statusFilters, word) && statusFilters[word]!.secondary) || word;
}

/** The statuses of contacts, as the documents name them. */
export const primaryStatuses: readonly string[] = ["active", "inactive"];

/** @throws UsageError that names the words there are */
export function parseStatus(text: string): StatusFilter {
  const word = text.trim().toLowerCase();
  if (Object.hasOwn(statusFilters, word)) return statusFilters[word]!;
  const likely = findClosest(word, Object.keys(statusFilters));
  throw usageError(
    `--status: there is no status ${JSON.stringify(text)}`,
    advise`${likely === undefined ? "" : `Did you mean ${likely}? `}Statuses: ${Object.keys(statusFilters).join(", ")}. To ask the service for another: ${ecm`contact search --filter ${"CONTACT_STATUS EQ STATUS"}`}`,
  );
}
