import type { Context } from "../../context.ts";
import type { Account } from "../../service/account.ts";
import type { ContactList, ContactStructure } from "../../wire.ts";

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
