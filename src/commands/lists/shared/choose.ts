/** Which lists are meant, where the command does not say; and what is said of them before they go. */

import { createEquals, createFilter } from "../../../api/contacts.ts";
import type { Connection, Context } from "../../../context.ts";
import { formatCounted } from "../../../counts.ts";
import { ecm } from "../../../hint.ts";
import type { Account } from "../../../service/account.ts";
import { readSearchPages } from "../../../service/contact-pages.ts";
import type { ContactList, ContactStructure } from "../../../wire.ts";
import { type MissingArgument, requireChoice, requireChoices, toChoices } from "../../flags/questions.ts";

/** The word that was given, else the id of the list that a person chooses. @param verb of the command */
export function requireList(context: Context, typedList: string | undefined, verb: string): Promise<string> {
  return requireChoice(context, typedList, createMissingList(verb), () => readListChoices(context));
}

/** The same for several lists. */
export function requireLists(context: Context, typedLists: string[], verb: string): Promise<string[]> {
  return requireChoices(context, typedLists, createMissingList(verb), () => readListChoices(context));
}

/**
 * Each list once, whatever it was called; all of them are found before anything is done to one.
 * @throws NotFoundError, UsageError
 */
export async function resolveLists(
  account: Account,
  structure: ContactStructure,
  namesOrIds: readonly string[],
): Promise<ContactList[]> {
  const found = new Map<string, ContactList>();
  for (const each of namesOrIds) {
    const list = await account.list(structure, each);
    found.set(list._id, list);
  }
  return [...found.values()];
}

/** Such as `"Leads" (1,204 contacts)`. */
export function describeList({ name, totalContacts }: ContactList): string {
  const count =
    totalContacts === undefined ? "number of contacts unknown" : formatCounted(totalContacts, "contact");
  return `${JSON.stringify(name)} (${count})`;
}

/** The list with the number of its contacts; counted with one search where the listing has none. */
export async function describeListWithCount(
  { send, behaviors }: Pick<Connection, "send" | "behaviors">,
  structureId: string,
  list: ContactList,
): Promise<ContactList> {
  if (list.totalContacts !== undefined) return list;
  const filters = createFilter(createEquals("LIST_ID", [list._id]));
  const read = readSearchPages(send, { structureId, filters, source: ["_id"] }, behaviors(structureId));
  return { ...list, totalContacts: (await read(1, 1)).total };
}

function createMissingList(verb: string): MissingArgument {
  return {
    question: `List to ${verb}`,
    what: "the list",
    usage: ecm`lists ${verb} LIST ${verb === "rename" ? ["NAME"] : []}`,
  };
}

async function readListChoices(context: Context) {
  const { account } = await context.connect();
  return toChoices(await account.lists(await account.structure()), (list) => list.name);
}
