/** Which field or tag of a structure an entry of a file means, renames solved as a whole. Pure. */

import { foldCase } from "../api/names.ts";
import { usageError } from "../errors.ts";
import type { TagSpec } from "./file.ts";

interface LabelledPart {
  _id: string;
  label: string;
}

/**
 * The entry that each thing is matched to. An id is taken first. An entry that says what it was (`was`) is
 * that thing under another label; any other entry is the thing of its own label, without regard to case where
 * none is exactly so. Renames form chains, `A` to `B` to `C`: of their labels just one must be free. Those
 * before it are to be renamed, those behind it were renamed before. In a cycle all are renamed.
 * @returns what is matched to nothing is new
 * @throws UsageError when an entry means nothing, or may mean two things
 */
export function matchEntries<T extends LabelledPart, W extends TagSpec>(
  part: string,
  things: readonly T[],
  entries: readonly W[],
): Map<T, W> {
  const matches = new Map<T, W>();
  const byId = new Map(things.map((thing) => [thing._id, thing]));
  for (const entry of entries) {
    if (entry.id === undefined) continue;
    const thing = byId.get(entry.id);
    if (!thing) {
      throw usageError(
        `The structure has no ${part} with the id ${entry.id} (${JSON.stringify(entry.label)})`,
      );
    }
    matches.set(thing, entry);
  }
  const find = createFinder(
    part,
    things.filter((thing) => !matches.has(thing)),
  );
  const match = (thing: T, entry: W) => {
    const other = matches.get(thing);
    if (other) throw usageError(`${describeConflict(part, entry, other)} both mean ${quote(thing.label)}`);
    matches.set(thing, entry);
  };
  const withoutId = entries.filter(({ id }) => id === undefined);
  const isRename = ({ was }: W) => was !== undefined;
  for (const chain of findChains(part, withoutId.filter(isRename), withoutId)) {
    for (const [thing, entry] of solveChains(part, chain, find)) match(thing, entry);
  }
  for (const entry of withoutId) {
    const thing = isRename(entry) ? undefined : find(entry.label);
    if (thing) match(thing, entry);
  }
  return matches;
}

interface Chain<W> {
  /** In order: each was what the one before is named. */
  renames: W[];
  isCycle: boolean;
}

function findChains<W extends TagSpec>(
  part: string,
  renames: readonly W[],
  entries: readonly W[],
): Chain<W>[] {
  const byWas = new Map<string, W>();
  for (const entry of renames) {
    const other = byWas.get(foldCase(entry.was!));
    if (other) throw usageError(`${describeConflict(part, other, entry)} both were ${quote(entry.was!)}`);
    byWas.set(foldCase(entry.was!), entry);
  }
  const staying = entries.find((entry) => entry.was === undefined && byWas.has(foldCase(entry.label)));
  if (staying) {
    const renamed = byWas.get(foldCase(staying.label))!;
    throw usageError(
      `The ${part} ${quote(renamed.label)} was ${quote(renamed.was!)}, but the file also has ${quote(staying.label)}`,
      `Take out \`was: ${renamed.was}\`, or the other entry`,
    );
  }
  const labels = new Set(renames.map(({ label }) => foldCase(label)));
  const open = new Set(renames);
  const follow = (first: W): W[] => {
    const chain: W[] = [];
    for (let next: W | undefined = first; next && open.delete(next); next = byWas.get(foldCase(next.label))) {
      chain.push(next);
    }
    return chain;
  };
  const chains = renames
    .filter(({ was }) => !labels.has(foldCase(was!)))
    .map((first) => ({ renames: follow(first), isCycle: false }));
  // What no beginning leads to goes round.
  const cycles = renames
    .filter((entry) => open.has(entry))
    .map((first) => ({ renames: follow(first), isCycle: true }));
  return [...chains, ...cycles.filter((cycle) => cycle.renames.length > 0)];
}

function solveChains<T extends LabelledPart, W extends TagSpec>(
  part: string,
  { renames, isCycle }: Chain<W>,
  find: (label: string) => T | undefined,
): [T, W][] {
  const before = renames.map(({ was }) => find(was!));
  if (isCycle) {
    return renames.map((entry, at) => [before[at] ?? requireMatch(part, entry), entry]);
  }
  const labels = [...before, find(renames.at(-1)!.label)];
  const free = labels.indexOf(undefined);
  if (free === -1) {
    const { label, was } = renames[0]!;
    throw usageError(
      `The ${part} ${quote(label)} was ${quote(was!)}, but the account has both`,
      `Take out \`was: ${was}\` to keep both, or remove or rename one of them first`,
    );
  }
  return renames.map((entry, at) => {
    const thing = labels[at < free ? at : at + 1];
    return [thing ?? requireMatch(part, entry), entry];
  });
}

function requireMatch(part: string, { label, was }: TagSpec): never {
  throw usageError(
    `The ${part} ${quote(label)} was ${quote(was!)}, but the account has neither`,
    `Take out \`was: ${was}\` to add ${quote(label)} as a new ${part}, or correct it`,
  );
}

/** By exact label, else without regard to case. @throws UsageError when it means two */
function createFinder<T extends LabelledPart>(
  part: string,
  things: readonly T[],
): (label: string) => T | undefined {
  const byName = new Map<string, T[]>();
  for (const thing of things) {
    const alike = byName.get(foldCase(thing.label));
    if (alike) alike.push(thing);
    else byName.set(foldCase(thing.label), [thing]);
  }
  return (label) => {
    const alike = byName.get(foldCase(label)) ?? [];
    const exact = alike.filter((thing) => thing.label === label);
    const found = exact.length > 0 ? exact : alike;
    if (found.length < 2) return found[0];
    const ids = found.map((thing) => `${thing._id} (${quote(thing.label)})`).join(", ");
    throw usageError(
      `${quote(label)} matches ${found.length} ${part}s: ${ids}`,
      "Add the id of the one you mean to the entry",
      { type: "AmbiguousNameError" },
    );
  };
}

function describeConflict(part: string, one: TagSpec, other: TagSpec): string {
  return `The ${part}s ${quote(one.label)} and ${quote(other.label)}`;
}

function quote(name: string): string {
  return JSON.stringify(name);
}
