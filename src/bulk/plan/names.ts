/**
 * Lists, tags and fields that do not exist yet: how they are named
 * until they do, and how people are told of them.
 */

import { findClosest, foldCase } from "../../api/names.ts";
import { type NewField, parseNewFieldId, toNewFieldId } from "../../api/structures.ts";
import { NotFoundError } from "../../errors.ts";
import type { ContactList, ContactStructure } from "../../wire.ts";

/** A list, a tag or a field that does not exist yet. */
export interface Creation {
  what: "list" | "tag" | "field";
  name: string;
  dataType?: string;
}

/** A list or tag that the account does not have. */
export interface MissingName {
  name: string;
  /** One that the account has and whose name is nearly the same. */
  near?: string;
  /** What it would be if a semicolon or a bar in it separated several names. */
  parts?: string[];
}

export interface MissingNames {
  lists: MissingName[];
  tags: MissingName[];
  /** Fields that a person has agreed to create. */
  fields: readonly NewField[];
}

/** What is missing, where nobody has agreed to create it. */
export class MissingNamesError extends NotFoundError {
  readonly missing: MissingNames;

  constructor(missing: MissingNames) {
    const { lists, tags } = missing;
    const parts = [describePart("list", lists), describePart("tag", tags)].filter((part) => part !== "");
    const doubts = describeDoubts(missing).join("; ");
    const fix = "Fix the names, or create what is missing with --create-missing";
    const end = /[.?!]$/.test(doubts) ? "" : ".";
    super(`The account has no ${parts.join(", and no ")}`, doubts === "" ? fix : `${doubts}${end} ${fix}`);
    this.missing = missing;
  }
}

/** What is not made yet has a stand-in for its id. No id holds a blank. */
const newListPrefix = "new list ";
const newTagPrefix = "new tag ";

/** The name behind a stand-in; undefined for an id. */
export function toStandInName(id: string): string | undefined {
  for (const start of [newListPrefix, newTagPrefix]) if (id.startsWith(start)) return id.slice(start.length);
  return parseNewFieldId(id);
}

/** How operations name what does not exist yet. */
export function toStandInId({ what, name }: Creation): string {
  if (what === "field") return toNewFieldId(name);
  return `${what === "list" ? newListPrefix : newTagPrefix}${name}`;
}

export function findMissing(names: string[], existing: string[]): MissingName[] {
  return names.map((name) => {
    const near = findTypo(name, existing);
    const parts = name
      .split(/[;|]/)
      .map((part) => part.trim())
      .filter((part) => part !== "");
    return { name, ...(near !== undefined && { near }), ...(parts.length > 1 && { parts }) };
  });
}

function describePart(kind: string, names: MissingName[]): string {
  if (names.length === 0) return "";
  return `${kind}${names.length > 1 ? "s" : ""} ${names.map(({ name }) => JSON.stringify(name)).join(", ")}`;
}

/**
 * The name that was probably meant. Short names, and names that
 * differ in their numbers, are meant as they are.
 */
function findTypo(name: string, existing: string[]): string | undefined {
  if (name.length < 4) return undefined;
  const near = findClosest(name, existing);
  const letters = (text: string) => foldCase(text).replace(/\d+/g, "");
  return near !== undefined && letters(near) !== letters(name) ? near : undefined;
}

/** Names that may be misspelled, and cells that may hold several names, each in a sentence. */
export function describeDoubts({ lists, tags }: Pick<MissingNames, "lists" | "tags">): string[] {
  const doubts: string[] = [];
  for (const { name, near } of [...lists, ...tags]) {
    if (near !== undefined) doubts.push(`${JSON.stringify(name)}: did you mean ${JSON.stringify(near)}?`);
  }
  for (const { name, parts } of [...lists, ...tags]) {
    if (parts) {
      doubts.push(
        `${JSON.stringify(name)} is read as one name; several names in a cell are separated by commas: "${parts.join(", ")}"`,
      );
    }
  }
  return doubts.length > maxDoubtsShown
    ? [...doubts.slice(0, maxDoubtsShown), `and ${doubts.length - maxDoubtsShown} more`]
    : doubts;
}

const maxDoubtsShown = 10;

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
