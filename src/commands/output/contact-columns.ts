/**
 * Contacts in people's language: labels and names in place of ids. One set of columns for listings and
 * exports. Pure.
 */

import { findStatus, statusParts } from "../../api/contacts.ts";
import { foldCase, type WithId } from "../../api/names.ts";
import type { Column, View } from "../../terminal/present.ts";
import type { Contact, ContactList, ContactStructure } from "../../wire.ts";

interface ContactColumn extends Column<Partial<Contact>> {
  /**
   * The parts of a contact that it reads, as a search's `source` names them. None: a search does not tell it.
   */
  sources: readonly string[];
}

export interface ContactView extends View<Partial<Contact>> {
  columns: ContactColumn[];
}

/** The columns that every contact has, by their plain names. */
const builtInColumns = ["key", "lists", "tags", "status", "createdAt", "updatedAt", "_id", "__v"] as const;
type BuiltInColumn = (typeof builtInColumns)[number];

interface ContactHeaders {
  builtIn: Record<BuiltInColumn, string>;
  /** Field id → header. */
  fields: Map<string, string>;
}

/**
 * The header of every column, each one unlike all others. Where a field is labelled
 * like a built-in column, the built-in ones become `ecm:key`, `ecm:lists` and so on;
 * fields that share a label are headed by their ids.
 */
export function createContactHeaders(structure: Pick<ContactStructure, "fields">): ContactHeaders {
  const labels = structure.fields.map((field) => foldCase(field.label));
  const isColliding = builtInColumns.some((name) => labels.includes(foldCase(name)));
  const prefix = isColliding ? "ecm:" : "";
  const isTaken = (label: string) =>
    label === "" || label.startsWith("ecm:") || labels.indexOf(label) !== labels.lastIndexOf(label);
  return {
    builtIn: Object.fromEntries(builtInColumns.map((name) => [name, `${prefix}${name}`])) as Record<
      BuiltInColumn,
      string
    >,
    fields: new Map(
      structure.fields.map((field) => [field._id, isTaken(foldCase(field.label)) ? field._id : field.label]),
    ),
  };
}

/** How many fields, most often the names, stay where a table has no space for all. */
const maxFieldsInFront = 2;

/** The view without the columns that a search does not tell. */
export function toSearchView(view: ContactView): ContactView {
  return { ...view, columns: view.columns.filter((column) => column.sources.length > 0) };
}

/**
 * Key, fields, lists, tags, status and creation; ids and versions when they are asked for by name.
 * An id whose name is not known, or would be read as another's, is shown as it is.
 */
export function createContactColumnsView(
  structure: ContactStructure,
  lists: readonly ContactList[] = [],
): ContactView {
  const { builtIn, fields } = createContactHeaders(structure);
  const listNames = toCellNames(lists, (list) => list.name);
  const tagLabels = toCellNames(structure.tags ?? [], (tag) => tag.label);
  // Undefined where a field has this label.
  const findFreeTitle = (title: string) =>
    structure.fields.some(({ label }) => foldCase(label) === title) ? undefined : title;
  return {
    isImportable: true,
    empty: "No contact matches.",
    id: (contact) => contact._id ?? "",
    columns: [
      { name: builtIn.key, sources: ["key"], value: (contact) => contact.key, isWhole: true },
      ...[...fields].map(
        ([fieldId, name], place): ContactColumn => ({
          name,
          isAside: place >= maxFieldsInFront,
          sources: ["fields"],
          value: (contact) => contact.fields?.find((field) => field._id === fieldId)?.value,
        }),
      ),
      {
        name: builtIn.lists,
        sources: ["lists"],
        value: (contact) => contact.lists?.map(({ _id }) => listNames.get(_id) ?? _id),
      },
      {
        name: builtIn.tags,
        sources: ["tags"],
        value: (contact) => contact.tags?.map(({ _id }) => tagLabels.get(_id) ?? _id),
      },
      { name: builtIn.status, sources: statusParts, value: (contact) => findStatus(contact)?.primary },
      {
        name: builtIn.createdAt,
        title: findFreeTitle("created"),
        sources: ["createdAt"],
        value: (contact) => contact.createdAt,
        isTime: true,
      },
      {
        name: builtIn.updatedAt,
        title: findFreeTitle("updated"),
        sources: ["updatedAt"],
        value: (contact) => contact.updatedAt,
        optional: true,
        isTime: true,
      },
      { name: builtIn._id, sources: ["_id"], value: (contact) => contact._id, optional: true, isWhole: true },
      { name: builtIn.__v, sources: [], value: (contact) => contact.__v, optional: true },
    ],
  };
}

/**
 * Id → name, for those whose name alone leads back to them when a cell is imported: names are trimmed there,
 * and found as `findByName` does.
 */
function toCellNames<T extends WithId>(
  things: readonly T[],
  toName: (thing: T) => string,
): Map<string, string> {
  const ids = new Set(things.map(({ _id }) => _id));
  const exact = mapIdsByName(things, toName);
  const folded = mapIdsByName(things, (thing) => foldCase(toName(thing)));
  const names = new Map<string, string>();
  for (const thing of things) {
    const name = toName(thing);
    const read = name.trim();
    const found = exact.get(read) ?? folded.get(foldCase(read)) ?? [];
    if (read !== "" && !ids.has(read) && found.length === 1 && found[0] === thing._id)
      names.set(thing._id, name);
  }
  return names;
}

function mapIdsByName<T extends WithId>(
  things: readonly T[],
  toName: (thing: T) => string,
): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const thing of things) ids.set(toName(thing), [...(ids.get(toName(thing)) ?? []), thing._id]);
  return ids;
}
