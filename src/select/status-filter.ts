/** `--status`: the words of the service's documents, and those that people use, in any letter case. Pure. */

import { findStatus, statusParts } from "../api/contacts.ts";
import { findClosest } from "../api/names.ts";
import { EcmError, exitCodes, UsageError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import type { Contact } from "../wire.ts";
import type { LocalCondition } from "./conditions.ts";

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

/** What a word that people use means; undefined for a word of the service's documents, and for any other. */
export function findMeantStatus(word: string): StatusFilter | undefined {
  const meant = Object.hasOwn(statusFilters, word) ? statusFilters[word] : undefined;
  return meant === undefined || word === meant.primary || word === meant.secondary ? undefined : meant;
}

/** Of contacts, as the documents name them. */
export const primaryStatuses: readonly string[] = ["active", "inactive"];
export const secondaryStatuses: readonly string[] = ["confirmed", "unsubscribe", "bounce", "complaint-fbl"];

/** @throws UsageError that names the words there are */
export function parseStatus(text: string): StatusFilter {
  const word = text.trim().toLowerCase();
  if (Object.hasOwn(statusFilters, word)) return statusFilters[word]!;
  const likely = findClosest(word, Object.keys(statusFilters));
  throw new UsageError(
    `--status: there is no status ${JSON.stringify(text)}`,
    advise`${likely === undefined ? "" : `Did you mean ${likely}? `}Statuses: ${Object.keys(statusFilters).join(", ")}. To ask the service for another: ${ecm`contact search --filter ${"CONTACT_STATUS EQ STATUS"}`}`,
  );
}

/**
 * Whether a contact has the secondary status; undefined when the service decides on the primary one alone.
 */
export function createSecondaryCondition({ primary, secondary }: StatusFilter): LocalCondition | undefined {
  if (secondary === undefined) return undefined;
  return {
    needs: statusParts,
    wanted: { primary, secondary },
    holds(contact: Partial<Contact>) {
      const status = findStatus(contact);
      if (!status) {
        throw new EcmError(exitCodes.failed, "The service did not tell the status of the contacts", {
          type: "UnreadableAnswerError",
          hint: "Select by the primary status, active or inactive",
        });
      }
      // A service may tell of active contacts that they are active, and no more.
      const actual = status.secondary?.toLowerCase() ?? (primary === "active" ? secondary : undefined);
      return status.primary.toLowerCase() === primary && actual === secondary;
    },
  };
}
