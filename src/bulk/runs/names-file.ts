/** The names of fields, lists and tags that a run speaks of, so that it can be shown without the account. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContactList, ContactStructure } from "../../wire.ts";
import { fileNames } from "./file-names.ts";

/** Id → name, each. */
export interface StoredNames {
  fields: Record<string, string>;
  lists: Record<string, string>;
  tags: Record<string, string>;
}

export function toStoredNames(structure: ContactStructure, lists: readonly ContactList[]): StoredNames {
  return {
    fields: Object.fromEntries(structure.fields.map(({ _id, label }) => [_id, label])),
    lists: Object.fromEntries(lists.map(({ _id, name }) => [_id, name])),
    tags: Object.fromEntries((structure.tags ?? []).map(({ _id, label }) => [_id, label])),
  };
}

/** Later names win. */
export function mergeNames(...names: Partial<StoredNames>[]): StoredNames {
  return {
    fields: Object.assign({}, ...names.map(({ fields }) => fields)),
    lists: Object.assign({}, ...names.map(({ lists }) => lists)),
    tags: Object.assign({}, ...names.map(({ tags }) => tags)),
  };
}

/**
 * Of a run of an earlier version. None where there is no file, or
 * a damaged one: then ids are shown as they are.
 */
export async function readStoredNames(folder: string): Promise<StoredNames> {
  const none: StoredNames = { fields: {}, lists: {}, tags: {} };
  try {
    return { ...none, ...(JSON.parse(await readFile(join(folder, fileNames.names), "utf8")) as StoredNames) };
  } catch {
    return none;
  }
}
