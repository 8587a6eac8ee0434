/**
 * Names → things. A name is accepted wherever an id is; one rule for lists, tags, fields and structures.
 * Pure.
 */

import { distance } from "fastest-levenshtein";
import { quote } from "../counts.ts";
import { notFoundError, usageError } from "../errors.ts";
import { advise, ecm, type Hint, type ShownCommand, toOperands } from "../hint.ts";
import type { ContactStructure, FieldDefinition, TagDefinition } from "../wire.ts";
import { trimEdges } from "./key-spelling.ts";

export interface WithId {
  _id: string;
}

/**
 * Finds the one thing that `wanted` means: by id, else by exact name, else by name without regard to case.
 * An id always wins, so that everything can be reached whatever other things are named.
 * @param kind in the reader's words, for messages: "list", "tag", "field", "structure"
 * @throws NotFoundError when nothing matches; UsageError (exit 2) naming the ids when two things do.
 */
export function resolveName<T extends WithId>(
  nameOrId: string,
  things: readonly T[],
  toName: (thing: T) => string,
  kind: string,
): T {
  const found = findByName(nameOrId, things, toName, kind);
  if (found) return found;
  throw notFoundError(
    `No ${kind} is named ${quote(nameOrId)}`,
    describeNames(nameOrId, things.map(toName), kind),
  );
}

export function resolveField(structure: ContactStructure, nameOrId: string): FieldDefinition {
  return resolveName(nameOrId, structure.fields, (field) => field.label, "field");
}

/** @param structure with its tags (`account.complete`) */
export function resolveTag(structure: ContactStructure, nameOrId: string): TagDefinition {
  if (structure.tags) return resolveName(nameOrId, structure.tags, (tag) => tag.label, "tag");
  if (isId(nameOrId)) return { _id: nameOrId, label: nameOrId };
  throw notFoundError(
    `The service did not say which tags there are, so ${JSON.stringify(nameOrId)} has no id`,
    "Name the tag by its id",
  );
}

/** Whether a word has the form of an id (published reference). */
export function isId(word: string): boolean {
  return /^[0-9a-f]{24}$/i.test(word);
}

/** How what a run creates is named until it has an id. No id holds a blank. */
export function toStandInId({ what, name }: { what: "list" | "tag" | "field"; name: string }): string {
  return `new ${what} ${name}`;
}

/** The name behind a stand-in; undefined for an id. */
export function toStandInName(id: string): string | undefined {
  return /^new (?:list|tag|field) (.*)$/s.exec(id)?.[1];
}

/**
 * The name that was likely meant, when one is close enough to be a typo.
 * @param folded what is compared of a name
 */
export function findClosest(
  typedName: string,
  names: readonly string[],
  folded = foldCase,
): string | undefined {
  const typed = folded(typedName);
  const tolerance = Math.max(1, Math.floor(typed.length / 3));
  const [best] = names
    .map((name) => ({ name, slips: countSlips(typed, folded(name)) }))
    .filter(({ slips }) => slips <= tolerance)
    .sort((one, other) => one.slips - other.slips);
  return best?.name;
}

/** The column, field or system that was likely meant, whatever its blanks, hyphens and dots. */
export function findNearestName(name: string, names: readonly string[]): string | undefined {
  return findClosest(name, names, toLooseName);
}

/** Letters to add, take away or change; two neighbours in the wrong order count once. */
export function countSlips(typedName: string, name: string): number {
  let minDistance = distance(typedName, name);
  if (minDistance < 2 || typedName.length !== name.length) return minDistance;
  for (let at = 0; at + 1 < typedName.length; at++) {
    const swapped = typedName.slice(0, at) + typedName[at + 1] + typedName[at] + typedName.slice(at + 2);
    minDistance = Math.min(minDistance, 1 + distance(swapped, name));
  }
  return minDistance;
}

/** As `resolveName`, but `undefined` when nothing matches. @throws UsageError when two things match. */
export function findByName<T extends WithId>(
  name: string,
  things: readonly T[],
  toName: (thing: T) => string,
  kind: string,
): T | undefined {
  const byId = things.find((thing) => thing._id === name);
  if (byId) return byId;
  const exact = things.filter((thing) => toName(thing) === name);
  const matches =
    exact.length > 0 ? exact : things.filter((thing) => foldCase(toName(thing)) === foldCase(name));
  if (matches.length > 1) {
    const ids = matches.map((thing) => `${thing._id} (${quote(toName(thing))})`).join(", ");
    throw usageError(
      `${quote(name)} matches ${matches.length} ${kind}s: ${ids}`,
      "Name the one you mean by its id",
      {
        type: "AmbiguousNameError",
      },
    );
  }
  return matches[0];
}

/**
 * How names are compared when no exact match exists: NFC, no blanks or invisible marks at the edges, case
 * folded.
 */
export function foldCase(name: string): string {
  return trimEdges(name.normalize("NFC")).toLowerCase();
}

/**
 * A name of a column or a field as such names are compared: NFC, no marks at the edges,
 * no regard to case or to how blanks are written.
 */
export function foldName(name: string): string {
  return trimEdges(name.normalize("NFC")).toLowerCase().replace(/\s+/g, " ");
}

/** As `foldName`, and without what writers of one name differ in: blanks, hyphens, underscores, dots. */
export function toLooseName(name: string): string {
  return foldName(name).replace(/[\s_.·-]+/g, "");
}

function describeNames(name: string, names: string[], kind: string): Hint {
  const parts = name.split(/[,;]/).map((part) => part.trim());
  if (parts.length > 1 && parts.every((part) => part !== ""))
    return `A comma does not separate ${kind}s: repeat the flag for each of ${parts.map(quote).join(", ")}`;
  const command = createCommands[kind];
  const create = command ? advise`; to create it: ${command(toOperands(name))}` : "";
  if (names.length === 0) return advise`There is no ${kind} yet${create}`;
  const likely = findClosest(name, names);
  if (likely) return `Did you mean ${quote(likely)}?`;
  const shownNames = names.slice(0, 10).map(quote).join(", ");
  return advise`Known ${kind}s: ${shownNames}${names.length > 10 ? `, and ${names.length - 10} more` : ""}${create}`;
}

/** How what is missing can be made. */
const createCommands: Record<string, ((name: string[]) => ShownCommand) | undefined> = {
  list: (name) => ecm`lists create ${name}`,
  tag: (name) => ecm`structure tag add ${name}`,
  field: (name) => ecm`structure field add ${name}`,
};
