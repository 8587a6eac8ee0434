/** Names that an account does not have: what is probably meant, and what stands in for their ids. */
import { describe, expect, it } from "vitest";
import {
  type Creation,
  findMissing,
  mergeNames,
  nameOf,
  toStandInId,
  toStandInName,
  toStoredNames,
} from "../../../src/bulk/plan/names.ts";
import { describeDoubts } from "../../../src/commands/bulk/words.ts";

describe("a missing name", () => {
  it.each<[name: string, existing: string[], near: string | undefined]>([
    ["Newslettr", ["Newsletter", "Kunden"], "Newsletter"],
    ["newsleter", ["Newsletter"], "Newsletter"],
    ["Newsletter", [], undefined],
    ["Customers", ["Newsletter"], undefined],
    // Short names are meant as they are.
    ["VIP", ["VIPs"], undefined],
    // So are those that differ in their numbers alone.
    ["Batch 12", ["Batch 13"], undefined],
    ["Batsh 12", ["Batch 12"], "Batch 12"],
    ["2025", ["2026"], undefined],
  ])("%s, where there are %j: meant is %s", (name, existing, near) => {
    expect(findMissing([name], existing)).toEqual([near === undefined ? { name } : { name, near }]);
  });

  it.each<[name: string, parts: string[] | undefined]>([
    ["red; blue", ["red", "blue"]],
    ["red|blue|green", ["red", "blue", "green"]],
    ["red, blue", undefined],
    ["red;", undefined],
    [";;", undefined],
  ])("%s may be several: %j", (name, parts) => {
    expect(findMissing([name], [])).toEqual([parts ? { name, parts } : { name }]);
  });
});

describe("doubts", () => {
  const missing = (names: string[], existing: string[] = []) => findMissing(names, existing);

  it("name what was probably meant first, then cells of several names", () => {
    const lists = missing(["red; blue", "Newslettr"], ["Newsletter"]);
    expect(describeDoubts({ lists, tags: [] })).toEqual([
      '"Newslettr": did you mean "Newsletter"?',
      '"red; blue" is read as one name; several names in a cell are separated by commas: "red, blue"',
    ]);
  });

  it.each([
    [10, 10, undefined],
    [11, 11, "and 1 more"],
    [40, 11, "and 30 more"],
  ])("of %i say ten, and how many more there are", (count, said, last) => {
    const tags = missing(Array.from({ length: count }, (_, place) => `a${place}; b`));
    const doubts = describeDoubts({ lists: [], tags });
    expect(doubts).toHaveLength(said);
    if (last !== undefined) expect(doubts.at(-1)).toBe(last);
  });
});

describe("a stand-in", () => {
  it.each<Creation>([
    { what: "list", name: "News" },
    { what: "tag", name: "new list News" },
    { what: "field", name: "City", dataType: "text" },
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
