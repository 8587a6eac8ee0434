/** Random cases for `decide`: what a contact was when it was planned, what it is now, and what is wanted of it. */
import type { Contact } from "../../../src/wire.ts";

/** xoshiro128**: its period is 2^128 - 1, so that no case comes back because the generator does. */
export function createRandom(seed: number) {
  const state = new Uint32Array([seed, 0x9e3779b9, 0x243f6a88, 0xb7e15162]);
  const turn = (value: number, by: number) => ((value << by) | (value >>> (32 - by))) >>> 0;
  const next = (): number => {
    const [a, b, c, d] = state as unknown as [number, number, number, number];
    const result = Math.imul(turn(Math.imul(b, 5), 7), 9) >>> 0;
    const [newC, newD] = [c ^ a, d ^ b];
    state.set([a ^ newD, b ^ newC, newC ^ (b << 9), turn(newD >>> 0, 11)]);
    return result;
  };
  for (let i = 0; i < 20; i++) next();
  const below = (end: number): number => next() % end;
  return {
    below,
    chance: (percent: number) => below(100) < percent,
    pick: <T>(...choices: T[]): T => choices[below(choices.length)]!,
    /** Each element with this probability. */
    some: <T>(elements: readonly T[], percent: number): T[] => elements.filter(() => below(100) < percent),
  };
}
export type Random = ReturnType<typeof createRandom>;

export const fieldIds = ["f1", "f2", "f3"];
export const listIds = ["l1", "l2"];
export const tagIds = ["t1", "t2"];
export const key = "ada@example.com";

const createdAt = "2026-01-01T00:00:00.000Z";

/** A contact as an answer tells it. */
export function anyContact(random: Random, id = "c1"): Partial<Contact> {
  const status = random.pick<Partial<Contact>>(
    {},
    { contactStatus: "Active" },
    { contactStatus: "active", contactSubStatus: "confirmed" },
    { status: { primary: "active", secondary: "confirmed" } },
    { contactStatus: "Inactive", contactSubStatus: "Unsubscribe" },
    { status: { primary: "inactive", secondary: "Bounce" } },
  );
  return {
    _id: id,
    key,
    fields: random.some(fieldIds, 60).map((_id) => ({ _id, value: anyText(random) })),
    ...(random.chance(90) && { lists: random.some(listIds, 40).map((_id) => ({ _id })) }),
    ...(random.chance(90) && { tags: random.some(tagIds, 40).map((_id) => ({ _id })) }),
    ...status,
    ...(random.chance(30) && { __v: random.below(3) }),
    ...random.pick(
      {},
      { createdAt, updatedAt: createdAt },
      { createdAt, updatedAt: "2026-01-01T00:00:01.000Z" },
      { createdAt, updatedAt: "2026-01-02T00:00:00.000Z" },
    ),
  };
}

function anyText(random: Random): string {
  return random.pick("", "a", "b");
}

/** The contact some time later: the same, changed a little, another one under its key, or gone. */
export function later(random: Random, contact: Partial<Contact> | undefined): Partial<Contact> | undefined {
  if (!contact) return random.chance(60) ? undefined : anyContact(random, random.pick("c1", "c2"));
  if (random.chance(10)) return undefined;
  if (random.chance(10)) return anyContact(random, "c2");
  if (random.chance(40)) return contact;
  const other = anyContact(random);
  const changed = { ...contact };
  for (const part of random.some(["fields", "lists", "tags", "__v"] as const, 35)) {
    if (other[part] === undefined) delete changed[part];
    else Object.assign(changed, { [part]: other[part] });
  }
  if (random.chance(30)) {
    delete changed.status;
    const status = random.pick(
      { contactStatus: "Inactive", contactSubStatus: "Unsubscribe" },
      { contactStatus: "Active", contactSubStatus: "Unconfirmed" },
    );
    Object.assign(changed, status);
  }
  return changed;
}

/** What a job's input wants. */
export interface Wish {
  fields: Record<string, string>;
  addLists: string[];
  removeLists: string[];
  addTags: string[];
  removeTags: string[];
}

export function anyWish(random: Random, removes: boolean): Wish {
  const split = (ids: readonly string[]) => {
    const chosen = random.some(ids, 50);
    const removed = removes ? random.some(chosen, 50) : [];
    return { add: chosen.filter((id) => !removed.includes(id)), remove: removed };
  };
  const [lists, tags] = [split(listIds), split(tagIds)];
  return {
    fields: Object.fromEntries(random.some(fieldIds, 50).map((id) => [id, anyText(random)])),
    addLists: lists.add,
    removeLists: lists.remove,
    addTags: tags.add,
    removeTags: tags.remove,
  };
}

/** 53 bits of a text: enough to count distinct cases by. */
export function hash(text: string): number {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return 4294967296 * (2097151 & two) + (one >>> 0);
}
