/** Which field or tag of a structure an entry of a file means. Pure. */

import { findByName, foldCase } from "../api/names.ts";
import { usageError } from "../errors.ts";
import type { TagSpec } from "./file.ts";

interface LabelledPart {
  _id: string;
  label: string;
}

/**
 * The entry that each thing is matched to: by id; by what it was (`was`), or is already; else by its label.
 * @returns what is matched to nothing is new
 * @throws UsageError when an entry means nothing, or may mean two things
 */
export function matchEntries<T extends LabelledPart, W extends TagSpec>(
  part: string,
  things: readonly T[],
  entries: readonly W[],
): Map<T, W> {
  requireSingleRenames(part, entries);
  const ids = new Set(entries.map(({ id }) => id));
  const others = things.filter(({ _id }) => !ids.has(_id));
  const matches = new Map<T, W>();
  for (const entry of entries) {
    const thing = entry.id === undefined ? findByLabels(part, others, entry) : findById(part, things, entry);
    if (!thing) continue;
    const other = matches.get(thing);
    if (other) {
      const both = `The ${part}s ${quote(entry.label)} and ${quote(other.label)}`;
      throw usageError(`${both} both mean ${quote(thing.label)}`);
    }
    matches.set(thing, entry);
  }
  return matches;
}

/** In a chain of renames, what is done already cannot be told from what is to be done. */
function requireSingleRenames(part: string, entries: readonly TagSpec[]): void {
  for (const { label, was } of entries) {
    if (was === undefined) continue;
    const other = entries.find((each) => each.label !== label && foldCase(each.label) === foldCase(was));
    if (!other) continue;
    throw usageError(
      `The ${part} ${quote(label)} was ${quote(was)}, but the file also has ${quote(other.label)}`,
      `Take out \`was: ${was}\`, or the other entry; renames that follow each other are applied one after the other`,
    );
  }
}

function findById<T extends LabelledPart>(part: string, things: readonly T[], { id, label }: TagSpec): T {
  const thing = things.find(({ _id }) => _id === id);
  if (thing) return thing;
  throw usageError(`The structure has no ${part} with the id ${id} (${quote(label)})`);
}

function findByLabels<T extends LabelledPart>(
  part: string,
  things: readonly T[],
  { label, was }: TagSpec,
): T | undefined {
  const find = (name: string) => findByName(name, things, (thing) => thing.label, part);
  const [before, now] = [was === undefined ? undefined : find(was), find(label)];
  if (was === undefined || (before && before === now)) return now;
  if (before && now) {
    throw usageError(
      `The ${part} ${quote(label)} was ${quote(was)}, but the account has both`,
      `Take out \`was: ${was}\` to keep both, or remove or rename one of them first`,
    );
  }
  if (before || now) return before ?? now;
  throw usageError(
    `The ${part} ${quote(label)} was ${quote(was)}, but the account has neither`,
    `Take out \`was: ${was}\` to add ${quote(label)} as a new ${part}, or correct it`,
  );
}

function quote(name: string): string {
  return JSON.stringify(name);
}
