/** Names that an account does not have, and what stands in for their ids. */
import { describe, expect, it } from "vitest";
import { toStandInId, toStandInName } from "../../../src/api/names.ts";
import { type Creation, mergeNames, nameOf, toStoredNames } from "../../../src/bulk/plan/names.ts";

describe("a stand-in", () => {
  it.each<Creation>([
    { what: "list", name: "News" },
    { what: "tag", name: "new list News" },
    { what: "field", name: "City" },
    { what: "list", name: " " },
  ])("of the $what $name is told from an id, and has its name", (creation) => {
    const id = toStandInId(creation);
    expect(id).toContain(" ");
    expect(toStandInName(id)).toBe(creation.name);
    expect(nameOf({ fields: {}, lists: {}, tags: {} }, creation.what, id)).toBe(creation.name);
  });

  it("is no id", () => {
    expect(toStandInName("65f0c0ffee")).toBeUndefined();
  });
});

it("keeps what ids are called; what was read later counts", () => {
  const structure = { _id: "s", keyType: "email", fields: [{ _id: "f", label: "City" }] };
  const stored = toStoredNames(structure as Parameters<typeof toStoredNames>[0], [
    { _id: "l", name: "News" },
  ]);
  expect(stored).toEqual({ fields: { f: "City" }, lists: { l: "News" }, tags: {} });
  expect(mergeNames(stored, { lists: { l: "Neues", m: "More" } }, {})).toEqual({
    fields: { f: "City" },
    lists: { l: "Neues", m: "More" },
    tags: {},
  });
});
