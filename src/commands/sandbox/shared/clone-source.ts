/** Reading an account to copy it: how many requests it takes, and its contacts page by page. */

import { wholeContact } from "../../../api/contacts.ts";
import type { Connection } from "../../../context.ts";
import { askSearch } from "../../../service/contact-search.ts";
import { maxPageSize } from "../../../service/pages.ts";
import type { Contact, ContactList, ContactStructure, Filter } from "../../../wire.ts";

export interface CloneCost {
  contacts: number;
  requests: number;
  /** Lists whose members must be asked for, because the answers of a search do not name a contact's lists. */
  listsToAsk: ContactList[];
}

/** Reads one contact to learn how many requests the rest will take. */
export async function estimateCost(
  { send, behaviors }: Connection,
  structure: ContactStructure,
  lists: ContactList[],
): Promise<CloneCost> {
  const query = { structureId: structure._id, filters: [], source: wholeContact, page: 1, pageSize: 1 };
  const { totalRecords, contacts } = await askSearch(send, query, behaviors(structure._id));
  const tellsLists = contacts.every((contact) => contact.lists !== undefined);
  const listsToAsk = tellsLists ? [] : lists.filter((list) => list.totalContacts !== 0);
  const pages = [totalRecords, ...listsToAsk.map((list) => list.totalContacts ?? 1)].map((count) =>
    Math.ceil(count / maxPageSize),
  );
  return { contacts: totalRecords, requests: pages.reduce((sum, each) => sum + each, 0), listsToAsk };
}

/** Contacts in pieces of a page. */
export async function* readPages(
  { send, behaviors }: Connection,
  structure: ContactStructure,
  source: string[],
  filters: Filter[] = [],
): AsyncGenerator<Partial<Contact>[]> {
  const { exportContacts } = await import("../../../export/export.ts");
  let page: Partial<Contact>[] = [];
  for await (const contact of exportContacts(
    send,
    { structureId: structure._id, filters, source, readsStatus: source.includes("contactStatus") },
    { behavior: behaviors(structure._id) },
  )) {
    page.push(contact);
    if (page.length < maxPageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
