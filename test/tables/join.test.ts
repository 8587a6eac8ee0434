/** Rows of one contact: which of them represents it, with what values, and how it is marked. */
import { expect, test } from "vitest";
import type { Row } from "../../src/tables/rows.ts";
import { type Duplicates, findRole, joinRows } from "../../src/tables/survey.ts";
import { TextIndex } from "../../src/text-index.ts";

function row(line: number, identity: string, values: Partial<Row> & { city?: string } = {}): Row {
  const { city, ...rest } = values;
  return {
    kind: "row",
    line,
    cells: [`${identity} as written`],
    key: { written: identity, sent: identity, identity },
    fields: new Map(city === undefined ? [] : [["city", city]]),
    lists: [],
    tags: [],
    warnings: [],
    ...rest,
  };
}

const rows = [
  row(2, "ada", {
    city: "Oslo",
    tags: ["a"],
    mark: { reason: "Status: bounced", isClear: true, refusals: [] },
  }),
  row(3, "bob", { city: "Rome" }),
  row(4, "ada", { city: "Bergen", tags: ["b", "a"] }),
  row(5, "ada", { city: "", lists: ["News"] }),
];

async function join(duplicates: Duplicates) {
  const identities = new TextIndex();
  for (const { key } of rows) identities.add(key.identity);
  async function* batches() {
    yield rows.slice(0, 2);
    yield rows.slice(2);
  }
  return joinRows(batches(), identities, duplicates);
}

test.each([
  ["merge", { line: 2, city: "Bergen", lists: ["News"], tags: ["a", "b"] }],
  ["first", { line: 2, city: "Oslo", lists: [], tags: ["a"] }],
  ["last", { line: 5, city: "", lists: ["News"], tags: [] }],
  ["reject", { line: 2, city: "Oslo", lists: [], tags: ["a"] }],
] as const)(
  "%s: one row represents the contact, and a mark on any row is its mark",
  async (how, expected) => {
    const joined = await join(how);
    expect([...joined.groups.keys()]).toEqual(["ada"]);
    expect(joined.passedOver).toBe(2);
    const { line, fields, lists, tags, mark, cells } = joined.groups.get("ada")!.row;
    expect({ line, city: fields.get("city"), lists, tags }).toEqual(expected);
    expect(mark).toEqual({ reason: "Status: bounced", isClear: true, refusals: [] });
    // They are read again when they are needed.
    expect(cells).toEqual([]);
  },
);

test("each row is its contact's, or is passed over for the line that is", async () => {
  const joined = await join("merge");
  expect(rows.map((each) => findRole(each, joined))).toEqual([
    { representative: joined.groups.get("ada")!.row },
    { representative: rows[1] },
    { passedOverFor: 2 },
    { passedOverFor: 2 },
  ]);
});

test("the rows themselves are not changed", async () => {
  await join("merge");
  expect([...rows[0]!.fields.values(), ...rows[0]!.tags]).toEqual(["Oslo", "a"]);
});
