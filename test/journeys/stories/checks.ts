/** What holds after each command, whatever it was. */
import { expect } from "vitest";
import type { People, StoryAccount } from "./account.ts";
import type { Command, Counts } from "./oracle.ts";
import { markedIn } from "./oracle-import.ts";

export type Ran = Awaited<ReturnType<StoryAccount["run"]>>;

export interface Summary {
  run: string | null;
  status: string;
  rows: Counts & { read: number; pending: number };
  codes: { skipped: Record<string, number> };
  requests: { total: number };
  /** Of an undo: restored in part. */
  partial?: number;
}

export function readSummary({ stdout, stderr }: Ran): Summary {
  expect(stdout, stderr).not.toBe("");
  return JSON.parse(stdout) as Summary;
}

/** The requests that change something, whether or not they were carried out. */
export const findWrites = ({ sent }: Ran) =>
  sent.filter(({ method, path }) => method !== "GET" && !path.startsWith("/api/contact/search"));

/** People without their ids, in one order. */
export const show = (people: People, without = new Set<string>()): string =>
  [...people]
    .filter(([key]) => !without.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { status, facets }]) => `${key} ${status} ${JSON.stringify(facets)}`)
    .join("\n");

/**
 * What a summary says is the difference of the account.
 * @param unproven contacts that may have been created, and of which no search shows that
 */
export function compareDifference(before: People, after: People, rows: Counts, unproven = 0): void {
  const ids = (people: People) => new Map([...people.values()].map((person) => [person.id, person]));
  const [old, made] = [ids(before), ids(after)];
  const created = [...made.keys()].filter((id) => !old.has(id)).length;
  const deleted = [...old.keys()].filter((id) => !made.has(id)).length;
  const updated = [...old].filter(([id, person]) => {
    const now = made.get(id);
    return now && JSON.stringify([now.status, now.facets]) !== JSON.stringify([person.status, person.facets]);
  }).length;
  expect(rows, "the difference").toMatchObject({ deleted, updated });
  expect(created, "contacts created").toBeGreaterThanOrEqual(rows.created);
  expect(created, "contacts created").toBeLessThanOrEqual(rows.created + unproven);
}

/**
 * Nobody comes back, and nobody is created who is marked or suppressed.
 * @param seen the account before the command, and after what others did meanwhile
 */
export function checkConsent(command: Command, seen: People[], after: People, suppressed: Set<string>): void {
  const known = seen.flatMap((people) => [...people.values()]);
  for (const [key, { id, status }] of after) {
    const same = known.filter((person) => person.id === id);
    if (same.some((person) => person.status !== "Active")) expect(status, key).not.toBe("Active");
    if (same.length > 0 || command.kind !== "import") continue;
    if (!command.includeSuppressed) expect(suppressed.has(key), `${key} is suppressed`).toBe(false);
    if (command.marked !== "include") expect(markedIn(command).has(key), `${key} is marked`).toBe(false);
  }
}

/**
 * Of somebody whom others changed meanwhile, who left stays away, and each facet is as one of the two wanted it.
 * @param theirs the account after the act of others
 * @param either what the account may be, by the one and by the others
 */
export function checkTouched(key: string, now: People, theirs: People, either: People[]): void {
  const person = now.get(key);
  if (!person) return;
  const last = theirs.get(key);
  if (last?.id === person.id && last.status !== "Active") expect(person.status, key).toBe(last.status);
  const held = either.map((people) => people.get(key)?.facets ?? {});
  for (const name of new Set([person.facets, ...held].flatMap((facets) => Object.keys(facets)))) {
    const values = held.map((facets) => facets[name] ?? "");
    expect(values, `${name} of ${key}`).toContain(person.facets[name] ?? "");
  }
}
