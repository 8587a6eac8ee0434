/** Refusals: every error answer of the service (specification, Errors). */
import type { WireError } from "../../wire.ts";
import type { StoredContact } from "../store/contacts.ts";
import type { StoredList, StoredMail, StoredStructure } from "../store/documents.ts";
import type { Store } from "../store/index.ts";

/** Thrown by a rule; becomes the answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly error: WireError;
  readonly headers: Record<string, string>;

  constructor(status: number, error: WireError, headers: Record<string, string> = {}) {
    super(error.message);
    this.status = status;
    this.error = error;
    this.headers = headers;
  }
}

/** 400: the input named by `at` is missing or not acceptable. */
export function invalid(message: string, at: { field?: string; fieldId?: string } = {}): Refusal {
  return new Refusal(400, { errorType: "ValidationError", message, ...at });
}

/** 400: something that must be unique exists already. */
export function duplicate(message: string, field: string): Refusal {
  return new Refusal(400, { errorType: "DuplicateFieldError", message, field });
}

/** 400: the supplied `__v` is not the stored one. */
export function stale(what: string): Refusal {
  return new Refusal(400, {
    errorType: "ConcurrencyError",
    message: `The ${what} has been changed since this version`,
    field: "__v",
  });
}

export function unauthorized(message: string): Refusal {
  return new Refusal(401, { errorType: "UnauthorizedError", message });
}

export function forbidden(message: string): Refusal {
  return new Refusal(403, { errorType: "ForbiddenError", message });
}

/** @param why added for tests; the service says nothing more */
export function notFound(what: string, why?: string): Refusal {
  const message = `${what} not found${why === undefined ? "" : `: ${why}`}`;
  return new Refusal(404, { errorType: "RecordNotFound", message });
}

export function tooMany(
  message: string,
  retryAfterSeconds: number,
  headers: Record<string, string> = {},
): Refusal {
  return new Refusal(
    429,
    { errorType: "TooManyRequestsError", message },
    { "Retry-After": String(retryAfterSeconds), ...headers },
  );
}

/** @returns `contacts[3].key` for the place `contacts[3]` and the member `key` */
export function joinPlace(place: string, member: unknown): string {
  if (typeof member === "number") return `${place}[${member}]`;
  return place === "" ? String(member) : `${place}.${String(member)}`;
}

// What the ids in a path name; where there is nothing, the request is refused.

/** @throws Refusal 404 */
export function requireContact(store: Store, id: string): StoredContact {
  const contact = store.contacts.get(id);
  if (!contact) throw notFound("Contact");
  return contact;
}

/** @throws Refusal 404 */
export function requireStructure(store: Store, id: string): StoredStructure {
  const structure = store.structures.get(id);
  if (!structure) throw notFound("Contact structure");
  return structure;
}

/** The structure that a body names. @throws Refusal 400 */
export function requireNamedStructure(store: Store, contactStructureId: string): StoredStructure {
  const structure = store.structures.get(contactStructureId);
  if (structure) return structure;
  const message = "contactStructureId is not a contact structure of this account";
  throw invalid(message, { field: "contactStructureId" });
}

/** @throws Refusal 404 */
export function requireList(store: Store, structureId: string, id: string): StoredList {
  const list = store.lists.get(requireStructure(store, structureId)._id, id);
  if (!list) throw notFound("List");
  return list;
}

/** @throws Refusal 404 */
export function requireCampaign(store: Store, id: string): StoredMail {
  const campaign = store.campaigns.get(id);
  if (!campaign) throw notFound("Campaign");
  return campaign;
}
