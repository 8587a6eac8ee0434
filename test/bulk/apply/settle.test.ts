/** Whether a write of which nobody knows the end turns out to have been applied. */
import { describe, expect, it } from "vitest";
import { wasApplied } from "../../../src/bulk/apply/settle.ts";

describe("settling a write that nobody knows the end of", () => {
  const body = {
    key: "a@x.org",
    contactStructureId: "s",
    fields: [{ _id: "f", value: "x" }],
    lists: [{ _id: "l" }],
  };
  const created = { _id: "c", key: "a@x.org", fields: [{ _id: "f", value: "x" }], lists: [{ _id: "l" }] };
  const at = Date.parse("2026-11-21T12:00:00Z");
  const intent = { key: "a@x.org", at, operation: { kind: "create" as const, body } };

  it("knows its own create by its values and its time", () => {
    const ours = { ...created, createdAt: "2026-11-21T12:00:00.400Z" };
    expect(wasApplied(intent, ours)).toBe(true);
    expect(wasApplied(intent, { ...ours, fields: [{ _id: "f", value: "y" }] })).toBe(false);
    expect(wasApplied(intent, { ...ours, lists: [] })).toBe(false);
    expect(wasApplied(intent, { ...ours, createdAt: "2026-11-20T12:00:00Z" })).toBe(false);
    expect(wasApplied(intent, undefined)).toBe(false);
  });

  it("knows its own change by nothing being left to change", () => {
    const change = {
      kind: "change" as const,
      id: "c",
      body: { updateFields: [{ _id: "f", value: "x" }], addLists: [{ _id: "l" }] },
      was: [],
    };
    expect(wasApplied({ ...intent, operation: change }, created)).toBe(true);
    expect(wasApplied({ ...intent, operation: change }, { ...created, lists: [] })).toBe(false);
  });

  it("knows its own deletion by nothing having that id any more, and its own unsubscription by the contact being inactive", () => {
    const deletion = { kind: "delete" as const, id: "c", contact: created };
    expect(wasApplied({ ...intent, operation: deletion }, undefined)).toBe(true);
    expect(wasApplied({ ...intent, operation: deletion }, { ...created, _id: "another" })).toBe(true);
    expect(wasApplied({ ...intent, operation: deletion }, { ...created, _id: "c" })).toBe(false);
    const unsubscription = { kind: "unsubscribe" as const, id: "c" };
    const inactive = { ...created, status: { primary: "Inactive" } };
    expect(wasApplied({ ...intent, operation: unsubscription }, inactive)).toBe(true);
    expect(wasApplied({ ...intent, operation: unsubscription }, created)).toBe(false);
    expect(wasApplied({ ...intent, operation: unsubscription }, undefined)).toBe(false);
  });

  it("takes more than was asked for as what was asked for", () => {
    const more = { tags: [{ _id: "automatic" }], fields: [...created.fields, { _id: "g", value: "auto" }] };
    expect(wasApplied(intent, { ...created, ...more })).toBe(true);
  });
});
