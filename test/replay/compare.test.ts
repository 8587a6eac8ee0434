/** How two answers are compared. */
import { expect, it } from "vitest";
import { type CompareOptions, compareAnswers } from "../../src/replay/compare.ts";

const ok = (answer: unknown) => ({ status: 200, answer });
const refused = (error: object, status = 400) => ({
  status,
  answer: { errors: [{ message: "…", ...error }] },
});
const people = (...ids: string[]) => ok({ contacts: ids.map((_id) => ({ _id })), totalRecords: ids.length });
const change: CompareOptions = { isChange: true };

it.each([
  ["the same", ok({ _id: "a", __v: 1 }), ok({ _id: "a", __v: 1 }), []],
  ["another status", { status: 201 }, { status: 200 }, ["status"]],
  ["a type of error", refused({ errorType: "AError" }), refused({ errorType: "BError" }), ["error"]],
  ["a field", refused({ field: "key" }), refused({ field: "lists" }), ["error"]],
  [
    "names that are pseudonyms",
    refused({ field: "text-0123456789" }),
    refused({ field: "member-01234567" }),
    [],
  ],
  ["a change that changes nothing", refused({ errorType: "AError" }), ok({}), ["no-op"], change],
  ["no body", { status: 200 }, ok({}), ["body"]],
  ["a body that was not seen", { status: 200, notJson: ["answer" as const] }, ok({}), []],
  ["members", ok({ a: 1 }), ok({ b: 1 }), ["members", "members"]],
  ["types", ok({ a: 1 }), ok({ a: "1" }), ["types"]],
  ["an array for an object", ok([]), ok({}), ["types"]],
  ["somebody else", people("a"), people("b"), ["records"]],
  ["another order", people("a", "b"), people("b", "a"), ["order"]],
  ["another order that is not known", people("a", "b"), people("b", "a"), [], { hasOrder: false }],
  ["a total", ok({ totalRecords: 1 }), ok({ totalRecords: 2 }), ["values"]],
  ["a total that is not known", ok({ totalRecords: 1 }), ok({ totalRecords: 2 }), [], { hasTotals: false }],
  ["members of one of several", ok([{ _id: "a", x: 1 }]), ok([{ _id: "a" }]), ["members"]],
  ["a feed", ok([{ type: "x" }]), ok([]), [], { hasRecords: false }],
  [
    "headers of limits",
    { status: 200, headers: { "x-ratelimit-limit": 3600, date: null } },
    { status: 200, headers: { "x-ratelimit-limit": 100 } },
    [],
  ],
  [
    "no headers of limits",
    { status: 200, headers: {} },
    { status: 200, headers: { "x-ratelimit-limit": 100 } },
    ["limits"],
  ],
] as const)("%s", (_, recorded, seen, rules, options: CompareOptions = {}) => {
  // biome-ignore lint/suspicious/noExplicitAny: the table has what a recording may hold
  const found = compareAnswers(recorded as any, seen as any, options);
  expect(found.map(({ rule }) => rule)).toEqual(rules);
});
