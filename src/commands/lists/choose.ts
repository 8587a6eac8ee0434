/** Which lists are meant, where the command does not say; and what is said of them before they go. */
import type { Connection, Context } from "../../context.ts";
import type { Account } from "../../service/account.ts";
import { searchPages } from "../../service/contact-pages.ts";
import { allOf, equals } from "../../service/contacts.ts";
import type { ContactList, ContactStructure } from "../../wire.ts";
import { choiceOr, choicesOf, choicesOr, type Missing } from "../questions.ts";

/** The word that was given, else the id of the list that a person chooses. @param verb of the command */
export function listOr(context: Context, given: string | undefined, verb: string): Promise<string> {
  return choiceOr(context, given, missingList(verb), () => listChoices(context));
}

/** The same for several lists. */
export function listsOr(context: Context, given: string[], verb: string): Promise<string[]> {
  return choicesOr(context, given, missingList(verb), () => listChoices(context));
}

/**
 * Each list once, whatever it was called; all of them are found before anything is done to one.
 * @throws NotFoundError, UsageError
 */
export async function resolveLists(
  account: Account,
  structure: ContactStructure,
  wanted: readonly string[],
): Promise<ContactList[]> {
  const found = new Map<string, ContactList>();
  for (const each of wanted) {
    const list = await account.list(structure, each);
    found.set(list._id, list);
  }
  return [...found.values()];
}

/** Such as `"Leads" (1,204 contacts)`. */
export function described({ name, totalContacts }: ContactList): string {
  const count =
    totalContacts === undefined
      ? "number of contacts unknown"
      : `${totalContacts.toLocaleString("en-US")} ${totalContacts === 1 ? "contact" : "contacts"}`;
  return `${JSON.stringify(name)} (${count})`;
}

/** The list with the number of its contacts; counted with one search where the listing has none. */
export async function withCount(
  { send, behaviors }: Pick<Connection, "send" | "behaviors">,
  structureId: string,
  list: ContactList,
): Promise<ContactList> {
  if (list.totalContacts !== undefined) return list;
  const filters = allOf(equals("LIST_ID", [list._id]));
  const read = searchPages(send, { structureId, filters, source: ["_id"] }, behaviors(structureId));
  return { ...list, totalContacts: (await read(1, 1)).total };
}

function missingList(verb: string): Missing {
  return {
    question: `List to ${verb}`,
    what: "the list",
    usage: `ecm lists ${verb} LIST${verb === "rename" ? " NAME" : ""}`,
  };
}

async function listChoices(context: Context) {
  const { account } = await context.connect();
  return choicesOf(await account.lists(await account.structure()), (list) => list.name);
}
