/** `--status`: the words of the service's documents, and those that people use, in any letter case. Pure. */
import { EcmError, exitCodes, UsageError } from "../errors.ts";
import type { Contact } from "../wire.ts";
import type { LocalCondition } from "./conditions.ts";
import { statusOf, statusParts } from "./contacts.ts";

export interface WantedStatus {
  /** What the service is asked for: only primary statuses are shown as values of `CONTACT_STATUS`. */
  primary: "active" | "inactive";
  /** In lower case. Decided here. */
  secondary?: string;
}

/** Word → status. The documented words come first. */
const statuses: Record<string, WantedStatus> = {
  active: { primary: "active" },
  inactive: { primary: "inactive" },
  confirmed: { primary: "active", secondary: "confirmed" },
  unsubscribe: { primary: "inactive", secondary: "unsubscribe" },
  bounce: { primary: "inactive", secondary: "bounce" },
  "complaint-fbl": { primary: "inactive", secondary: "complaint-fbl" },
  unsubscribed: { primary: "inactive", secondary: "unsubscribe" },
  bounced: { primary: "inactive", secondary: "bounce" },
  complained: { primary: "inactive", secondary: "complaint-fbl" },
};

/** @throws UsageError that names the words there are */
export function parseStatus(text: string): WantedStatus {
  const word = text.trim().toLowerCase();
  if (Object.hasOwn(statuses, word)) return statuses[word]!;
  throw new UsageError(
    `--status: there is no status ${JSON.stringify(text)}`,
    `Statuses: ${Object.keys(statuses).join(", ")}. To ask the service for another: ecm contact search --filter "CONTACT_STATUS EQ STATUS"`,
  );
}

/** Whether a contact has the secondary status; undefined when the service decides on the primary one alone. */
export function secondaryCondition({ primary, secondary }: WantedStatus): LocalCondition | undefined {
  if (secondary === undefined) return undefined;
  return {
    needs: statusParts,
    wanted: { primary, secondary },
    holds(contact: Partial<Contact>) {
      const status = statusOf(contact);
      if (!status) {
        throw new EcmError(exitCodes.failed, "The service did not tell the status of the contacts", {
          type: "UnreadableAnswerError",
          hint: "Select by the primary status, active or inactive",
        });
      }
      // A service may tell of active contacts that they are active, and no more.
      const told = status.secondary?.toLowerCase() ?? (primary === "active" ? secondary : undefined);
      return status.primary.toLowerCase() === primary && told === secondary;
    },
  };
}
