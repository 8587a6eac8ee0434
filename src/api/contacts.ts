/** Contacts: options → request, answer → result (specification, Endpoints: /api/contact…). Pure. */
import { unreadableAnswerError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import { isObject } from "../json.ts";
import type {
  ApiAnswer,
  ApiRequest,
  Contact,
  ContactStatus,
  CreateContactBody,
  Criteria,
  Filter,
  IdRef,
  MutateBody,
  SearchAnswer,
  SearchBody,
} from "../wire.ts";
import { pathOf, readRecord, readRequest, writeRequest } from "./records.ts";

/** The names of a contact's status in a search's `source`. */
export const statusParts = ["contactStatus", "contactSubStatus"];

/**
 * Everything that a search can be asked for. The service knows these nine names and refuses a search that
 * holds any other (published reference): a contact's version is not among them.
 */
export const wholeContact = [
  "_id",
  "key",
  "fields",
  "lists",
  "tags",
  ...statusParts,
  "createdAt",
  "updatedAt",
];

export function createContactRequest(body: CreateContactBody): ApiRequest {
  return writeRequest("POST", "/api/contact", body);
}

export function getContactRequest(contactId: string): ApiRequest {
  return readRequest(pathOf("/api/contact", contactId));
}

export function mutateContactRequest(contactId: string, body: MutateBody): ApiRequest {
  return writeRequest("PUT", `${pathOf("/api/contact", contactId)}/mutate`, body);
}

/** Capitals as the service asks for them (published reference, PATCH /api/contact/{id}). */
export const unsubscribed: ContactStatus = { primary: "Inactive", secondary: "Unsubscribe" };

/** The status alone; the service makes no inactive contact active again. */
export function changeStatusRequest(contactId: string, status: ContactStatus): ApiRequest {
  return writeRequest("PATCH", pathOf("/api/contact", contactId), { status });
}

/** For good. The service answers with the contact as it was. */
export function deleteContactRequest(contactId: string): ApiRequest {
  return writeRequest("DELETE", pathOf("/api/contact", contactId));
}

export interface ContactQuery {
  structureId: string;
  filters: Filter[];
  /** Replaces `filters` when given: a `contactSpecification` as the caller wrote it. */
  specification?: SearchBody["contactSpecification"];
  /** Starts at 1. */
  page: number;
  pageSize: number;
  source: string[];
}

export function searchContactsRequest(query: ContactQuery): ApiRequest {
  const body: SearchBody = {
    contactStructureId: query.structureId,
    page: query.page,
    pageSize: query.pageSize,
    source: query.source,
    contactSpecification: query.specification ?? { filters: query.filters },
  };
  return { method: "POST", path: "/api/contact/search", body, effect: "read" };
}

/** The criteria that holds for any of these values. */
export function createEquals(
  columnToFilter: "KEY" | "LIST_ID" | "CONTACT_STATUS",
  values: string[],
): Criteria {
  return { columnToFilter, operator: "EQ", values };
}

/**
 * The filters of a search that all of these criterias must hold for; none: everybody. Always one filter: the
 * criterias of one must all hold, while separate filters are alternatives (published reference).
 */
export function createFilter(...criterias: Criteria[]): Filter[] {
  return criterias.length === 0 ? [] : [{ criterias }];
}

/** @throws UnreadableAnswerError when the answer is not a search result. */
export function readSearch(answer: ApiAnswer): SearchAnswer {
  const body = answer.body as Partial<SearchAnswer> | null;
  if (typeof body?.totalRecords !== "number" || !Array.isArray(body.contacts)) {
    throw unreadableAnswerError(
      "The answer to a search has no totalRecords and contacts",
      advise`Check the base URL with: ${ecm`doctor`}`,
      { status: answer.status },
    );
  }
  return { totalRecords: body.totalRecords, contacts: body.contacts };
}

/**
 * A contact's status, from the parts that a search tells or the object of a contact, each as a word or an
 * object, since its form in a search is not published; undefined when neither is there.
 */
export function findStatus(contact: Partial<Contact> | undefined): ContactStatus | undefined {
  if (!contact) return undefined;
  const { status, contactStatus, contactSubStatus }: Partial<Record<keyof Contact, unknown>> = contact;
  for (const told of [status, contactStatus]) {
    if (isObject(told) && typeof told.primary === "string") return told as unknown as ContactStatus;
    if (typeof told !== "string") continue;
    return typeof contactSubStatus === "string"
      ? { primary: told, secondary: contactSubStatus }
      : { primary: told };
  }
  return undefined;
}

/** `Active`, or `Inactive, Unsubscribe`: as a write sends it. */
export function formatStatus(status: ContactStatus | undefined): string | null {
  if (!status?.primary) return null;
  const primary = status.primary.charAt(0).toUpperCase() + status.primary.slice(1);
  return primary === "Active" || !status.secondary ? primary : `${primary}, ${status.secondary}`;
}

/** Whether the account holds the contact as inactive. The service's letter case varies. */
export function isInactive(found: Partial<Contact> | undefined): boolean {
  return findStatus(found)?.primary.toLowerCase() === "inactive";
}

/** Whether the contact is known to be active; one of unknown status is not. */
export function isActive(found: Partial<Contact> | undefined): boolean {
  return findStatus(found)?.primary.toLowerCase() === "active";
}

/** @throws UnreadableAnswerError when the answer is not a contact. */
export function readContact(answer: ApiAnswer): Contact {
  return readRecord(answer, "a contact");
}

/** Ids of references, also of bare id strings. */
export function toIdSet(references: readonly (IdRef | string)[]): Set<string> {
  return new Set(references.map((each) => (typeof each === "string" ? each : each._id)));
}
