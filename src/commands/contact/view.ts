/** The columns that a command shows contacts in, with what it takes to name lists and tags. */
import { UsageError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import { type ContactView, contactView } from "../../service/contact-columns.ts";
import { wholeContact } from "../../service/contacts.ts";
import type { OutputOptions } from "../../terminal/format.ts";
import { checkColumns, chooseColumns, hasColumns } from "../../terminal/present.ts";
import type { Contact, ContactStructure } from "../../wire.ts";

const idsOnly: ContactView = { columns: [], id: (contact) => contact._id ?? "" };

/**
 * The view for one contact: asks for the lists' names only when it is in any.
 * @throws UsageError when `--columns` names a column that does not exist.
 */
export async function viewOf(
  account: Account,
  output: OutputOptions,
  contact: Partial<Contact>,
): Promise<ContactView> {
  if (!hasColumns(output)) return idsOnly;
  const structure = await structureOf(account, contact);
  return contactView(structure, contact.lists?.length ? await account.lists(structure) : []);
}

/** A view for contacts that are yet to be read. */
export interface PlannedView {
  /** The parts of a contact that it takes. */
  source: string[];
  /** The view itself. Where the contacts are known, the lists' names are asked for only when one of them is in any. */
  view(contacts?: Partial<Contact>[]): Promise<ContactView>;
}

/**
 * Plans the view for contacts that are yet to be read.
 * @param source the parts that `--source` names, in place of what the view takes
 */
export async function viewFor(
  account: Account,
  output: OutputOptions,
  structure: ContactStructure,
  source?: string[],
): Promise<PlannedView> {
  if (!hasColumns(output)) {
    return {
      source: source ?? (output.format === "id" ? ["_id"] : wholeContact),
      view: () => Promise.resolve(idsOnly),
    };
  }
  const shown = chooseColumns(columnsFor(contactView(structure), source), output.columns);
  const parts = shown.map((column) => column.source);
  const complete = parts.includes("tags") ? await account.complete(structure) : structure;
  return {
    source: source ?? [...new Set(["_id", ...parts])],
    async view(contacts) {
      const takesLists = parts.includes("lists") && (contacts?.some((each) => each.lists?.length) ?? true);
      const view = contactView(complete, takesLists ? await account.lists(structure) : []);
      return { ...view, columns: columnsFor(view, source) };
    },
  };
}

/** With `--source`, a column for every part that it names and for no other. */
function columnsFor(view: ContactView, source: string[] | undefined): ContactView["columns"] {
  if (!source) return view.columns;
  return view.columns
    .filter((column) => source.includes(column.source))
    .map((column) => ({ ...column, optional: false }));
}

/** What `--source` names: parts of a contact, separated by commas. @throws UsageError */
export function partsOf(wanted: string): string[] {
  const parts = wanted.split(",").map((part) => part.trim());
  if (parts.every((part) => part !== "")) return parts;
  throw new UsageError(
    `--source: ${JSON.stringify(wanted)} names no part`,
    `parts: ${wholeContact.join(", ")}`,
  );
}

/** Before a write: a mistyped `--columns` must not fail after it. @throws UsageError */
export async function checkContactColumns(account: Account, output: OutputOptions): Promise<void> {
  if (output.columns && hasColumns(output)) checkColumns(output, contactView(await account.structure()));
}

async function structureOf(account: Account, contact: Partial<Contact>): Promise<ContactStructure> {
  const structures = await account.structures();
  const own = structures.find((structure) => structure._id === contact.contactStructureId);
  const structure = own ?? (await account.structure());
  return contact.tags?.length ? account.complete(structure) : structure;
}
