/** What happened to contacts: options → request, answer → result (published reference, contact events). */
import { unreadableAnswerError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import { isObject } from "../json.ts";
import type { ApiAnswer, ApiRequest } from "../wire.ts";
import { findRecords, pathOf, type Records, readRequest } from "./records.ts";

/** One record of a feed; members that are not listed here are kept. */
export interface ContactEvent {
  /** Not published; taken where it comes. */
  _id?: string;
  /** RFC 3339. */
  timestamp: string;
  type: string;
  contactId?: string;
  source?: string;
  importId?: string;
  importOriginalFileName?: string;
  triggeredBy?: { type?: string; userId?: string };
  emailTo?: string;
  emailSubject?: string;
  emailCampaignId?: string;
  emailCampaignName?: string;
  emailBounceType?: string;
  emailBounceSubType?: string;
  emailBounceDiagCode?: string;
  emailComplaintFeedbackType?: string;
  emailDelayType?: string;
  emailRejectReason?: string;
  emailSmtpResponse?: string;
  emailLinkId?: string;
  emailTargetUrl?: string;
}

/** The account's feed goes back this far, in days. */
export const maxDays = 90;
export const dayMilliseconds = 86_400_000;

export interface EventQuery {
  /** One contact's feed, which knows no days. Absent: the account's. */
  contactId?: string;
  /** As the service names them; none: all. */
  types: readonly string[];
  /** 1 to 90; of the account's feed. */
  pastDays: number;
}

export function createEventsRequest(
  { contactId, types, pastDays }: EventQuery,
  page: number,
  size: number,
): ApiRequest {
  const query: [string, string][] = [];
  if (types.length > 0) query.push(["types", types.join(",")]);
  if (contactId === undefined) query.push(["pastDays", String(pastDays)]);
  query.push(["page", String(page)], ["size", String(size)]);
  const path = contactId === undefined ? "/api/contact" : pathOf("/api/contact", contactId);
  return readRequest(`${path}/events`, query);
}

/** A page of a feed. @throws UnreadableAnswerError */
export function readEvents({ body, status }: ApiAnswer): Records<ContactEvent> {
  const page = findRecords(body);
  if (page?.items.every(isObject)) return page as unknown as Records<ContactEvent>;
  throw unreadableAnswerError(
    "The answer is not a list of events",
    advise`Check the base URL with: ${ecm`doctor`}`,
    { status },
  );
}
