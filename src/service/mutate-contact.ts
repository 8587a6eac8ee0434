/** One contact's change, sent and settled: what it is afterwards, and whether anything changed. */

import { getContactRequest, readContact } from "../api/contacts.ts";
import { hasStatus, isKind, isServiceError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import type { ApiAnswer, ApiRequest, Contact, MutateBody, Send } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { mayBeElements, mayMeanUnchanged, setElementForm, wouldChange } from "./contact-changes.ts";

export interface MutatedContact {
  contact: Contact;
  isChanged: boolean;
}

/**
 * Sends a mutate. A refusal that may mean "nothing to change" (specification, mutate, rule 5) is settled by
 * reading the contact: it is final unless the contact is as wanted already.
 */
export async function mutateContact(
  send: Send,
  id: string,
  request: ApiRequest,
  behavior?: Behavior,
): Promise<MutatedContact> {
  try {
    const { body } = await sendMutate(send, request, behavior);
    const isAsSent = (contact: Contact) => !wouldChange(contact, request.body as MutateBody);
    return { contact: await readChanged(send, id, body, isAsSent), isChanged: true };
  } catch (error) {
    if (isAppliedWithoutWords(error)) return { contact: await fetchContact(send, id), isChanged: true };
    if (isServiceError(error) && error.type === "ConcurrencyError") {
      error.details.hint ??= advise`It was changed in the meantime; see it with: ${ecm`contact get ${id}`}`;
    }
    if (!mayMeanUnchanged(error)) throw error;
    const contact = await fetchContact(send, id);
    if (wouldChange(contact, request.body as MutateBody)) throw error;
    return { contact, isChanged: false };
  }
}

/**
 * References as the service takes them: `{ _id }`, else tried once as bare ids. A body that was typed goes as
 * it is.
 */
async function sendMutate(
  send: Send,
  request: ApiRequest,
  behavior: Behavior | undefined,
): Promise<ApiAnswer<Partial<Contact> | null | undefined>> {
  if (request.rawBody !== undefined) return send(request);
  const body = request.body as MutateBody;
  const knownForm = behavior?.get("mutateElements");
  try {
    return await send({ ...request, body: setElementForm(body, knownForm) });
  } catch (error) {
    if (knownForm !== undefined || !mayBeElements(error, body)) throw error;
    const answer = await send<Partial<Contact> | null>({
      ...request,
      body: setElementForm(body, "id"),
    }).catch(() => {
      // The first refusal speaks of what was asked for.
      throw error;
    });
    behavior?.learn("mutateElements", "id");
    return answer;
  }
}

/** A 2xx whose body is empty or no JSON: the change was made. */
function isAppliedWithoutWords(error: unknown): boolean {
  return isKind(error, "unreadable answer") && error.details.applied === "yes";
}

export async function fetchContact(send: Send, id: string): Promise<Contact> {
  return readContact(await send(getContactRequest(id)));
}

/** Undefined for a contact that is gone. */
export function fetchContactIfThere(send: Send, id: string): Promise<Contact | undefined> {
  return fetchContact(send, id).catch((error: unknown) => {
    if (!hasStatus(error, 404)) throw error;
    return undefined;
  });
}

/**
 * The contact after a write. The body of the answer is not specified: where it is no contact, or does not
 * hold what was sent, the contact is read.
 */
export async function readChanged(
  send: Send,
  id: string,
  body: Partial<Contact> | null | undefined,
  isAsSent: (contact: Contact) => boolean,
): Promise<Contact> {
  const isContact = typeof body?._id === "string" && typeof body.key === "string";
  return isContact && isAsSent(body as Contact) ? (body as Contact) : fetchContact(send, id);
}
