/**
 * `decide` against the model, in random cases of every kind of work. `DECIDE_CASES=500000` tries more of them; a
 * failing case is printed whole. That the cases reach the rules is shown by breaking each rule on purpose.
 */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { asApproved, decide, seal, toBefore, toOperation } from "../../../src/bulk/decide.ts";
import type { Decision, Desired, DesiredValue, Operation, WrittenValue } from "../../../src/bulk/desired.ts";
import { isWrite } from "../../../src/bulk/plan/numbers.ts";
import { toRecreated, toRemoved, toRestored, toValues } from "../../../src/bulk/values.ts";
import { isObject } from "../../../src/json.ts";
import type { Contact } from "../../../src/wire.ts";
import {
  anyContact,
  anyWish,
  createRandom,
  fieldIds,
  hash,
  key,
  later,
  listIds,
  type Random,
  tagIds,
  type Wish,
} from "./cases.ts";
import * as model from "./model.ts";

const total = Number(process.env.DECIDE_CASES ?? 20_000);

/** A decision in the words of the model. */
function readDecision(decision: Decision): model.Expected {
  switch (decision.kind) {
    case "leave":
      return "unchanged";
    case "skip":
    case "reject":
      return `${decision.kind} ${decision.code}`;
    default:
      return readOperation(decision, decision.remark?.unmet?.map(({ what, id }) => `${what} ${id}`) ?? []);
  }
}

function readOperation(operation: Operation, unmet: string[]): model.Expected {
  switch (operation.kind) {
    case "create":
      return { create: readParts(operation.values), unmet };
    case "change": {
      const { id, version, values } = operation;
      return { change: id, set: readParts(values), ...(version !== undefined && { version }), unmet };
    }
    case "unsubscribe":
      return { unsubscribe: operation.id };
    case "delete":
      return { delete: operation.id };
  }
}

function readParts(values: readonly WrittenValue[]): model.Parts {
  return Object.fromEntries(values.map(({ what, id, to }) => [`${what} ${id}`, to]));
}

interface Case {
  name: string;
  input: unknown;
  desired: Desired;
  now: Partial<Contact> | undefined;
  expected: model.Expected;
}

const valuesOf = (wish: Wish) => toValues({ ...wish, fields: Object.entries(wish.fields) });
const anyMarked = (random: Random) => random.chance(30);
const anyMode = (random: Random) =>
  random.pick<model.ImportCase["mode"]>("upsert", "upsert", "create", "update");

type Kind = "import" | "mutate" | "unsubscribe" | "delete" | "removal";

interface Planned {
  desired: Desired;
  expect: (now: Partial<Contact> | undefined) => model.Expected;
  about: unknown;
}

/** What a job of this kind wants of one contact. */
function anyWork(random: Random, kind: Kind): Planned {
  const base = { values: [], present: "change", mayJoinLists: true } as const;
  const missing = { reject: { code: "not_found" } };
  switch (kind) {
    case "unsubscribe": {
      const desired: Desired = { ...base, end: kind, absent: missing };
      return { desired, expect: model.expectUnsubscription, about: kind };
    }
    case "delete": {
      const desired: Desired = { ...base, end: kind, absent: { skip: "missing" } };
      return { desired, expect: model.expectDeletion, about: kind };
    }
    case "removal": {
      const list = random.pick(...listIds);
      const desired: Desired = { ...base, values: toValues({ removeLists: [list] }), absent: "leave" };
      return { desired, expect: (now) => model.expectRemoval(list, now), about: list };
    }
    case "mutate": {
      const about = { isMarked: anyMarked(random), wish: anyWish(random, true) };
      const absent = about.isMarked ? { skip: "not_subscribed" } : missing;
      const desired = { ...base, values: valuesOf(about.wish), mayJoinLists: !about.isMarked, absent };
      return { desired, expect: (now) => model.expectMutate(about, now), about };
    }
    case "import": {
      const about = { isMarked: anyMarked(random), wish: anyWish(random, false), mode: anyMode(random) };
      const desired: Desired = {
        values: valuesOf(about.wish),
        mayJoinLists: !about.isMarked,
        absent: about.mode === "update" ? { skip: "missing" } : "create",
        present: about.mode === "create" ? { skip: "exists" } : "change",
      };
      return { desired, expect: (now) => model.expectImport(about, now), about };
    }
  }
}

const anyNow = (random: Random) => (random.chance(25) ? undefined : anyContact(random));
const kinds: readonly Kind[] = ["import", "mutate", "unsubscribe", "delete", "removal"];

function planCase(random: Random, kind: Kind): Case {
  const work = anyWork(random, kind);
  const now = anyNow(random);
  return { name: kind, input: work.about, desired: work.desired, now, expected: work.expect(now) };
}

/** A write that a plan holds: what was seen, what is desired, and what the line keeps. */
function anyWrite(random: Random) {
  for (;;) {
    const work = anyWork(random, random.pick(...kinds));
    const was = anyNow(random);
    const decision = decide(key, work.desired, was);
    if (!isWrite(decision)) continue;
    const { remark: _, ...operation } = decision;
    return { work, was, operation, before: toBefore(operation, was), planned: work.expect(was) };
  }
}

function secondLookCase(random: Random): Case {
  const { work, was, before } = anyWrite(random);
  const now = later(random, was);
  const expected = model.expectSecondLook(was, now, work.expect(now));
  const desired = seal(work.desired, before);
  return { name: "second look", input: [work.about, was], desired, now, expected };
}

function applyCase(random: Random): Case {
  const { work, was, before, planned } = anyWrite(random);
  const now = later(random, was);
  const expected = model.expectApproved(planned, was, now);
  const desired = asApproved(work.desired, before);
  return { name: "apply", input: [work.about, was], desired, now, expected };
}

function anyGone(random: Random): { gone: Set<string>; remaining: Parameters<typeof toRestored>[1] } {
  const gone = new Set<string>();
  const leave = (what: string, ids: readonly string[]) => {
    const left = new Set(random.some(ids, 80));
    for (const id of ids) if (!left.has(id)) gone.add(`${what} ${id}`);
    return left;
  };
  const remaining = {
    field: leave("field", fieldIds),
    list: leave("list", listIds),
    tag: leave("tag", tagIds),
  };
  return { gone, remaining };
}

function undoCase(random: Random): Case {
  const { operation, was, planned } = anyWrite(random);
  const { gone, remaining } = anyGone(random);
  if (operation.kind === "change" && typeof planned === "object" && "change" in planned) {
    const now = later(random, withParts(was!, planned.set));
    const desired = toRestored(operation, remaining);
    const expected = model.expectUndoneChange({ was: was!, set: planned.set, gone }, now);
    return { name: "undo of a change", input: [was, planned, [...gone]], desired, now, expected };
  }
  if (operation.kind === "create" && typeof planned === "object" && "create" in planned) {
    const made = { _id: "c1", key, fields: [], lists: [], tags: [], ...anyStamps(random) };
    const now = later(random, withParts(made, planned.create));
    const desired = toRemoved(operation, "c1");
    const expected = model.expectUndoneCreation({ create: planned.create, id: "c1" }, now);
    return { name: "undo of a creation", input: planned, desired, now, expected };
  }
  if (operation.kind === "delete") {
    const now = random.pick(undefined, anyContact(random, "c1"), anyContact(random, "c2"));
    const expected = model.expectUndoneDeletion({ was: was!, gone }, now);
    const desired = toRecreated(operation, remaining);
    return { name: "undo of a deletion", input: [was, [...gone]], desired, now, expected };
  }
  return undoCase(random);
}

function anyStamps(random: Random): Partial<Contact> {
  const { createdAt, updatedAt, __v } = anyContact(random);
  return { createdAt, updatedAt, __v, contactStatus: "Active" };
}

/** The contact after a write that has set these parts. */
function withParts(contact: Partial<Contact>, set: model.Parts): Partial<Contact> {
  const parts = { ...model.readParts(contact), ...set };
  const held = (what: string, ids: string[]) =>
    ids.filter((id) => parts[`${what} ${id}`] === true).map((_id) => ({ _id }));
  return {
    ...contact,
    fields: fieldIds.map((_id) => ({ _id, value: parts[`field ${_id}`] as string })),
    lists: held("list", listIds),
    tags: held("tag", tagIds),
  };
}

function anyCase(random: Random): Case {
  const what = random.below(12);
  if (what < 4) return planCase(random, random.pick(...kinds));
  if (what < 6) return secondLookCase(random);
  return what < 9 ? applyCase(random) : undoCase(random);
}

const isSame = (one: model.Expected, other: model.Expected) =>
  one === other || (typeof one === "object" && typeof other === "object" && print(one) === print(other));

/** The same for equal outcomes, whatever the order of their parts. */
const print = (expected: model.Expected) =>
  JSON.stringify(expected, (_name, value: unknown) =>
    Array.isArray(value)
      ? value.sort()
      : isObject(value)
        ? Object.fromEntries(Object.entries(value).sort())
        : value,
  );

describe("decide", () => {
  it(`is what the model says, in ${total.toLocaleString("en")} cases`, () => {
    const random = createRandom(20261123);
    const seen = new Set<number>();
    const outcomes: Record<string, Set<string>> = {};
    for (let i = 0; i < total; i++) {
      const each = anyCase(random);
      seen.add(hash(JSON.stringify([each.name, each.input, each.now])));
      const found = readDecision(decide(key, each.desired, each.now));
      if (!isSame(found, each.expected))
        expect.fail(`${JSON.stringify(each, null, 1)}\nbut: ${print(found)}`);
      outcomes[each.name] ??= new Set();
      outcomes[each.name]!.add(typeof found === "string" ? found : Object.keys(found)[0]!);
    }
    process.stdout.write(`decide: ${total} cases, ${seen.size} distinct\n`);
    expect(seen.size).toBeGreaterThan(total * 0.6);
    // Every kind of work was written, skipped or rejected, and left alone.
    const sorted = Object.entries(outcomes).map(([name, found]) => [name, [...found].sort().join(", ")]);
    expect(Object.fromEntries(sorted)).toEqual({
      import: "change, create, skip exists, skip missing, skip not_subscribed, unchanged",
      mutate: "change, reject not_found, skip not_subscribed, unchanged",
      unsubscribe: "reject not_found, unchanged, unsubscribe",
      delete: "delete, skip missing",
      removal: "change, unchanged",
      "second look": "change, create, delete, skip changed, skip exists, unchanged, unsubscribe",
      apply: "change, create, delete, skip changed, skip missing, unchanged, unsubscribe",
      "undo of a change": "change, reject changed_since, reject gone, unchanged",
      "undo of a creation": "delete, reject changed_since, unchanged",
      "undo of a deletion": "create, reject not_active, skip exists",
    });
  });

  it("derives the operation that was decided from what the line of a plan file holds, and nothing else", () => {
    const random = createRandom(7);
    for (let i = 0; i < total / 4; i++) {
      const { work, operation, before } = anyWrite(random);
      const line = JSON.parse(JSON.stringify({ desired: work.desired, before }));
      const derived = toOperation(key, line.desired, line.before);
      if (!isDeepStrictEqual(derived, operation)) expect(derived).toEqual(operation);
    }
  });

  const without =
    (...members: (keyof Desired)[]) =>
    (desired: Desired): Desired =>
      Object.fromEntries(
        Object.entries(desired).filter(([name]) => !members.includes(name as keyof Desired)),
      ) as unknown as Desired;
  const eachValue = (change: (value: DesiredValue) => DesiredValue) => (desired: Desired) => ({
    ...desired,
    values: desired.values.map(change),
  });
  const breaks: [string, (desired: Desired) => Desired][] = [
    ["writes to a contact that has left since it was approved", without("active")],
    ["unsubscribes a contact whose status has changed since it was approved", without("status")],
    ["deletes a contact that has changed since it was approved", without("whole")],
    ["takes another contact with the key for the one that is meant", without("who")],
    ["writes what a plan approved although the contact has changed", without("strict")],
    ["writes values that cannot be written", eachValue(({ lost: _, ...value }) => value as DesiredValue)],
    ["overwrites what others have set", eachValue(({ onlyIf: _, ...value }) => value as DesiredValue)],
    ["puts contacts that are marked into lists", (desired) => ({ ...desired, mayJoinLists: true })],
    ["creates contacts that the plan saw", (desired) => ({ ...desired, absent: "create" })],
    ["changes contacts that only may be created", (desired) => ({ ...desired, present: "change" })],
  ];
  it.each(breaks)("would be caught if it %s", (_name, broken) => {
    const random = createRandom(99);
    const isCaught = () => {
      const each = anyCase(random);
      const found = readDecision(decide(key, broken(each.desired), each.now));
      return !isSame(found, each.expected);
    };
    expect(Array.from({ length: total }).some(isCaught)).toBe(true);
  });
});
