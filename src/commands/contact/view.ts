/** The columns that a command shows contacts in, with what it takes to name lists and tags. */
import type { Account } from "../../service/account.ts";
import { type ContactView, contactView } from "../../service/contact-columns.ts";
import { chooseColumns, type OutputOptions } from "../../terminal/present.ts";
import type { Contact, ContactStructure } from "../../wire.ts";

const idsOnly: ContactView = { columns: [], id: (contact) => contact._id ?? "" };

/** Whether this format shows labels and names; the others need neither structure nor lists. */
export function showsNames(output: OutputOptions): boolean {
  return output.format === "table" || output.format === "csv" || output.format === "tsv";
}

/**
 * The view for one contact: asks for the lists' names only when it is in any.
 * @throws UsageError when `--columns` names a column that does not exist.
 */
export async function viewOf(
  account: Account,
  output: OutputOptions,
  contact: Partial<Contact>,
): Promise<ContactView> {
  if (!showsNames(output)) return idsOnly;
  const structure = await structureOf(account, contact);
  return contactView(structure, contact.lists?.length ? await account.lists(structure) : []);
}

/** The view for contacts that are yet to be read. */
export async function viewFor(
  account: Account,
  output: OutputOptions,
  structure: ContactStructure,
): Promise<ContactView> {
  if (!showsNames(output)) return idsOnly;
  const shown = chooseColumns(contactView(structure).columns, output.columns).map((column) => column.source);
  const complete = shown.includes("tags") ? await account.complete(structure) : structure;
  return contactView(complete, shown.includes("lists") ? await account.lists(structure) : []);
}

async function structureOf(account: Account, contact: Partial<Contact>): Promise<ContactStructure> {
  const structures = await account.structures();
  const own = structures.find((structure) => structure._id === contact.contactStructureId);
  const structure = own ?? (await account.structure());
  return contact.tags?.length ? account.complete(structure) : structure;
}
