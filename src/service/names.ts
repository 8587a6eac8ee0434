/** Names → things. A name is accepted wherever an id is; one rule for lists, tags, fields and structures. Pure. */
import { distance } from "fastest-levenshtein";
import { NotFoundError, UsageError } from "../errors.ts";
import type { ContactStructure, FieldDefinition, TagDefinition } from "../wire.ts";

export interface Named {
  _id: string;
}

/**
 * Finds the one thing that `wanted` means: by id, else by exact name, else by name without regard to case.
 * An id always wins, so that everything can be reached whatever other things are named.
 * @param kind in the reader's words, for messages: "list", "tag", "field", "structure"
 * @throws NotFoundError when nothing matches; UsageError (exit 2) naming the ids when two things do.
 */
export function resolveName<T extends Named>(
  wanted: string,
  things: readonly T[],
  nameOf: (thing: T) => string,
  kind: string,
): T {
  const found = findByName(wanted, things, nameOf, kind);
  if (found) return found;
  throw new NotFoundError(
    `No ${kind} is named ${quote(wanted)}`,
    knownNames(wanted, things.map(nameOf), kind),
  );
}

export function resolveField(structure: ContactStructure, wanted: string): FieldDefinition {
  return resolveName(wanted, structure.fields, (field) => field.label, "field");
}

/** @param structure with its tags (`account.complete`) */
export function resolveTag(structure: ContactStructure, wanted: string): TagDefinition {
  if (structure.tags) return resolveName(wanted, structure.tags, (tag) => tag.label, "tag");
  if (isId(wanted)) return { _id: wanted, label: wanted };
  throw new NotFoundError(
    `The service did not say which tags there are, so ${JSON.stringify(wanted)} has no id`,
    "Name the tag by its id",
  );
}

/** Whether a word has the form of an id (published reference). */
export function isId(word: string): boolean {
  return /^[0-9a-f]{24}$/i.test(word);
}

/**
 * The name that was likely meant, when one is close enough to be a typo.
 * @param folded what is compared of a name
 */
export function closest(wanted: string, names: readonly string[], folded = fold): string | undefined {
  const typed = folded(wanted);
  const tolerance = Math.max(1, Math.floor(typed.length / 3));
  const [best] = names
    .map((name) => ({ name, slips: slipsBetween(typed, folded(name)) }))
    .filter(({ slips }) => slips <= tolerance)
    .sort((one, other) => one.slips - other.slips);
  return best?.name;
}

/** Letters to add, take away or change; two neighbours in the wrong order count once. */
function slipsBetween(wanted: string, name: string): number {
  let least = distance(wanted, name);
  if (least < 2 || wanted.length !== name.length) return least;
  for (let at = 0; at + 1 < wanted.length; at++) {
    const swapped = wanted.slice(0, at) + wanted[at + 1] + wanted[at] + wanted.slice(at + 2);
    least = Math.min(least, 1 + distance(swapped, name));
  }
  return least;
}

/** As `resolveName`, but `undefined` when nothing matches. @throws UsageError when two things match. */
export function findByName<T extends Named>(
  wanted: string,
  things: readonly T[],
  nameOf: (thing: T) => string,
  kind: string,
): T | undefined {
  const byId = things.find((thing) => thing._id === wanted);
  if (byId) return byId;
  const exact = things.filter((thing) => nameOf(thing) === wanted);
  const matches = exact.length > 0 ? exact : things.filter((thing) => fold(nameOf(thing)) === fold(wanted));
  if (matches.length > 1) {
    const ids = matches.map((thing) => `${thing._id} (${quote(nameOf(thing))})`).join(", ");
    throw new UsageError(
      `${quote(wanted)} matches ${matches.length} ${kind}s: ${ids}`,
      "Name the one you mean by its id",
      {
        type: "AmbiguousNameError",
      },
    );
  }
  return matches[0];
}

/** How names are compared when no exact match exists: NFC, edges trimmed, case folded. */
export function fold(name: string): string {
  return name.normalize("NFC").trim().toLowerCase();
}

function knownNames(wanted: string, names: string[], kind: string): string {
  if (names.length === 0) return `There is no ${kind} yet`;
  const likely = closest(wanted, names);
  if (likely) return `Did you mean ${quote(likely)}?`;
  const shown = names.slice(0, 10).map(quote).join(", ");
  return `Known ${kind}s: ${shown}${names.length > 10 ? `, and ${names.length - 10} more` : ""}`;
}

function quote(name: string): string {
  return JSON.stringify(name);
}
