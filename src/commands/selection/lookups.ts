/** The contact that a word on the command line means. */

import { resolve } from "node:path";
import type { Connection, Context } from "../../context.ts";
import { conflictError, type EcmError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import { readSearchPages } from "../../service/contact-pages.ts";
import { performOnContact } from "../../service/find-contact.ts";
import { fetchContact } from "../../service/mutate-contact.ts";
import type { Suppressions } from "../../suppressions/suppressions.ts";
import type { Contact, ContactList, ContactStructure, Filter } from "../../wire.ts";

/** Reads the contact that has this id or key. @throws NotFoundError */
export function resolveContact({ send, account }: Connection, idOrKey: string): Promise<Contact> {
  const structure = () => account.structure();
  return performOnContact({ send, structure }, idOrKey, (id) => fetchContact(send, id));
}

/** How many contacts a search finds; one request. */
export async function countContacts(
  { send, behaviors }: Connection,
  structureId: string,
  filters: Filter[] = [],
): Promise<number> {
  const read = readSearchPages(send, { structureId, filters, source: ["_id"] }, behaviors(structureId));
  return (await read(1, 1)).total ?? 0;
}

/** The lists by name, for a file that names them all; a service may tell them in a form that is not known. */
export async function readNamedLists(
  { terminal }: Context,
  account: Account,
  structure: ContactStructure,
): Promise<ContactList[]> {
  const lists = await account.readableLists(structure);
  if (!lists) terminal.warn("The service's lists cannot be read: they are named by their ids");
  return lists ?? [];
}

/**
 * Refuses keys that are on the suppression list.
 * @returns does it again, for when the write leaves: others change the list during a wait
 * @throws EcmError (exit 6); SuppressionsError when the list cannot be read
 */
export async function refuseSuppressed(context: Context, keys: readonly string[]): Promise<() => void> {
  const list = await openSuppressionList(context);
  const refuse = () => {
    const suppressed = keys.find((key) => list.hasNow(key));
    if (suppressed !== undefined) throw suppressedError(suppressed);
  };
  refuse();
  return refuse;
}

function suppressedError(key: string): EcmError {
  return conflictError(
    `${key} is on the suppression list; nothing was sent`,
    "This person asked not to be contacted, or was erased: leave the contact out",
    { type: "SuppressedError", field: "key", applied: "no" },
  );
}

// The suppression list of the account that is meant, for every command that creates contacts.

/**
 * Opens the list of `ECM_SUPPRESSIONS`, else the account's own. Sends no request and needs no key.
 * @param mayBeMissing of `ECM_SUPPRESSIONS`: for the command that makes it
 * @throws SuppressionsError when it cannot be read: then nobody may be created
 */
export async function openSuppressionList(
  context: Context,
  { mayBeMissing = false } = {},
): Promise<Suppressions> {
  const { Suppressions, toSuppressionsPath } = await import("../../suppressions/suppressions.ts");
  const configuredFile = context.settings.suppressions;
  if (configuredFile !== undefined) return new Suppressions(resolve(configuredFile), !mayBeMissing);
  const { accountAddress } = await context.profile();
  return new Suppressions(toSuppressionsPath(context.folders.state, accountAddress));
}
