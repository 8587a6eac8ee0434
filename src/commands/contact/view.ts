/** How contacts are shown, with what it takes to name their lists and tags. */
import { findStatus, statusParts, wholeContact } from "../../api/contacts.ts";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { formatDayAndTime } from "../../moments.ts";
import type { Account, Naming } from "../../service/account.ts";
import { escapeControls } from "../../terminal/escape.ts";
import type { OutputOptions } from "../../terminal/format.ts";
import { checkColumns, chooseColumns, hasColumns } from "../../terminal/present.ts";
import { createStyle } from "../../terminal/style.ts";
import type { Contact, ContactStructure } from "../../wire.ts";
import {
  type ContactView,
  createContactColumnsView,
  createContactHeaders,
  toSearchView,
} from "../output/contact-columns.ts";

const idsOnly: ContactView = { columns: [], id: (contact) => contact._id ?? "" };

/** A contact that was read or written, to be shown; nothing is sent but what names need. */
export function toContactResult({ terminal, clock }: Context, account: Account, contact: Partial<Contact>) {
  const name = () => account.withRemembered("read", () => readNaming(account, contact));
  return {
    one: contact,
    async view(output: OutputOptions) {
      if (!hasColumns(output)) return idsOnly;
      const { structure, lists } = await name();
      return createContactColumnsView(structure, lists);
    },
    screen: async () => formatContact(contact, await name(), terminal, clock.now()),
  };
}

export async function readNaming(account: Account, contact: Partial<Contact>): Promise<Naming> {
  const structures = await account.structures();
  const own = structures.find(({ _id }) => _id === contact.contactStructureId);
  return account.naming(own ?? (await account.structure()), [contact]);
}

/** The name of each field, list and tag, by its id. */
export function listNames({ structure: { fields, tags = [] }, lists }: Naming): Map<string, string> {
  const labelled = [...fields, ...tags].map(({ _id, label }) => [_id, label] as const);
  return new Map([...labelled, ...lists.map(({ _id, name }) => [_id, name] as const)]);
}

/**
 * Plans the view for contacts that are yet to be read, and which parts of them are. Lists are named only when
 * one of the contacts is in any, if these are known. @param source what `--source` names
 */
export async function planContactView(
  account: Account,
  output: OutputOptions,
  structure: ContactStructure,
  source: string[] | undefined,
): Promise<{ source: string[]; view(contacts?: Partial<Contact>[]): Promise<ContactView> }> {
  if (!hasColumns(output)) {
    return { source: source ?? (output.format === "id" ? ["_id"] : wholeContact), view: async () => idsOnly };
  }
  const columns = chooseColumns(selectColumns(createContactColumnsView(structure), source), output.columns);
  const parts = columns.flatMap((column) => column.sources);
  const complete = parts.includes("tags") ? await account.complete(structure) : structure;
  return {
    source: source ?? [...new Set(["_id", ...parts])],
    async view(contacts) {
      const lists = contacts || !parts.includes("lists") ? [] : await account.readableLists(structure);
      const naming = contacts
        ? await account.naming(complete, contacts)
        : { structure: complete, lists: lists ?? [] };
      const view = createContactColumnsView(naming.structure, naming.lists);
      return { ...view, columns: selectColumns(view, source) };
    },
  };
}

/** With `--source`, a column for every part that it names and for no other. */
function selectColumns(view: ContactView, source: string[] | undefined): ContactView["columns"] {
  const { columns } = toSearchView(view);
  if (!source) return columns;
  return columns
    .filter((column) => column.sources.some((part) => source.includes(part)))
    .map((column) => ({ ...column, optional: false }));
}

/**
 * What `--source` names: parts of a contact, separated by commas; `status` means its two parts. The service
 * refuses a search that asks for anything else. @throws UsageError
 */
export function parseParts(text: string): string[] {
  const parts = text.split(",").flatMap((part) => (part.trim() === "status" ? statusParts : part.trim()));
  const unknown = parts.find((part) => !wholeContact.includes(part));
  if (unknown === undefined) return [...new Set(parts)];
  throw usageError(
    `--source: a search has no part named ${JSON.stringify(unknown)}`,
    advise`Parts: ${wholeContact.join(", ")}; ${ecm`contact get`} shows everything`,
  );
}

/** Before a write: a mistyped `--columns` must not fail after it. @throws UsageError */
export async function checkContactColumns(account: Account, output: OutputOptions): Promise<void> {
  if (output.columns && hasColumns(output))
    checkColumns(output, createContactColumnsView(await account.structure()));
}

/** One contact as people read it: who, then its values, then its dates and ids. */
async function formatContact(
  contact: Partial<Contact>,
  { structure, lists }: Naming,
  { columns, isColored }: Context["terminal"],
  now: number,
): Promise<string> {
  const { renderRecord } = await import("../../terminal/table.ts");
  const { bold, green, yellow } = createStyle(isColored.out);
  const headers = createContactHeaders(structure).fields;
  const values = new Map(contact.fields?.map(({ _id, value }) => [_id, String(value ?? "")]));
  const names = listNames({ structure, lists });
  const join = (refs: Contact["lists"] = []) => refs.map(({ _id }) => names.get(_id) ?? _id).join(", ");
  const formatTime = (time = "") => formatDayAndTime(time, new Date(now));
  const beside = (value: string, name: string, other: string) =>
    [value, other && `${name}  ${other}`].filter(Boolean).join("   ");
  const pairs: [name: string, value: string][] = [
    ...[...new Set([...headers.keys(), ...values.keys()])].map((id): [string, string] => [
      headers.get(id) ?? id,
      values.get(id) ?? "",
    ]),
    ["Lists", join(contact.lists)],
    ["Tags", join(contact.tags)],
    ["Created", beside(formatTime(contact.createdAt), "Updated", formatTime(contact.updatedAt))],
    ["Id", beside(contact._id ?? "", "Version", String(contact.__v ?? ""))],
  ];
  const status = findStatus(contact);
  const isActive = status?.primary.toLowerCase() === "active";
  const words = [status?.primary.toLowerCase(), isActive ? undefined : status?.secondary].filter(Boolean);
  const state = (isActive ? green : yellow)(escapeControls(words.join(", ")));
  const head = `${bold(escapeControls(contact.key ?? contact._id ?? ""))}   ${state}`.trimEnd();
  const filled = pairs.filter(([, value]) => value !== "");
  return `${head}\n\n${renderRecord(filled, columns, isColored.out)}`;
}
