/** Whether a write of which nobody knows the end turns out to have been applied. */
import { expect, it } from "vitest";
import { wasApplied } from "../../../src/bulk/apply/settle.ts";
import type { Operation } from "../../../src/bulk/desired.ts";
import type { Contact } from "../../../src/wire.ts";

const at = Date.parse("2026-11-21T12:00:00Z");
const values = [
  { what: "field", id: "f", to: "x", was: null },
  { what: "list", id: "l", to: true, was: false },
] as const;
const contact: Partial<Contact> = { _id: "c", fields: [{ _id: "f", value: "x" }], lists: [{ _id: "l" }] };
const ours = { ...contact, createdAt: "2026-11-21T12:00:00.400Z" };
const more = { tags: [{ _id: "auto" }], fields: [...contact.fields!, { _id: "g", value: "auto" }] };

const create: Operation = { kind: "create", key: "a@x.org", values };
const change: Operation = { kind: "change", id: "c", values };
const deletion: Operation = { kind: "delete", id: "c", contact };
const unsubscription: Operation = { kind: "unsubscribe", id: "c" };

it.each<[string, Operation, Partial<Contact> | undefined, boolean]>([
  ["a create that holds our values, and is as new as the intent", create, ours, true],
  ["a create that does not say when it was", create, contact, true],
  ["a create that holds more than was asked for", create, { ...ours, ...more }, true],
  ["a create with another value", create, { ...ours, fields: [{ _id: "f", value: "y" }] }, false],
  ["a create that is in no list", create, { ...ours, lists: [] }, false],
  ["a create that is older", create, { ...ours, createdAt: "2026-11-20T12:00:00Z" }, false],
  ["a create of whom nobody knows", create, undefined, false],
  ["a change of which nothing is left to do", change, contact, true],
  ["a change of which something is left to do", change, { ...contact, lists: [] }, false],
  ["a deletion of whom nobody knows", deletion, undefined, true],
  ["a deletion where another contact has the key", deletion, { ...contact, _id: "another" }, true],
  ["a deletion of somebody who is there", deletion, contact, false],
  ["an unsubscription, when inactive", unsubscription, { ...contact, status: { primary: "Inactive" } }, true],
  ["an unsubscription of somebody else", unsubscription, contact, false],
  ["an unsubscription of whom nobody knows", unsubscription, undefined, false],
])("%s", (_what, operation, found, expected) => {
  expect(wasApplied({ key: "a@x.org", at, operation }, found)).toBe(expected);
});
