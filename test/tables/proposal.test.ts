/** Where the columns of a file could go: what is proposed to a person. */
import { expect, it } from "vitest";
import type { Proposal } from "../../src/tables/columns/proposal.ts";
import { readUnclear, structure } from "./reading.ts";

const labels = { f4: "Company", f6: "key" };
const more = Object.entries(labels).map(([_id, label]) => ({ _id, label, dataType: "text" }));
const account = { ...structure, fields: [...structure.fields, ...more] };

async function propose(content: string, map: [string, string][] = []): Promise<Proposal> {
  return (await readUnclear(content, { map: new Map(map), isReviewed: true }, account)).propose();
}

/** Column by column its target; `+` for a field that is to be created. */
async function targets(content: string): Promise<Record<string, string>> {
  const { columns } = await propose(content);
  return Object.fromEntries(columns.map(({ name, target, isNew }) => [name, isNew ? `+${target}` : target]));
}

it.each([
  ["Vorname", "First Name"],
  ["Schuhgröße", "+Schuhgröße"],
  // Words that mean another thing as a target.
  ["ignore", "+ignore 2"],
  ["a = b", "+a b"],
  ["", "+Column 2"],
  ["key", "f6"],
])("a proposal sends %j to %s", async (name, expected) => {
  expect((await targets(`Email,${name}\na@x.org,value\n`))[name]).toBe(expected);
});

it("a proposal gives no two columns one label, and leaves out what has no value in the whole file", async () => {
  const rows = Array.from({ length: 1500 }, (_, at) => `p${at}@x.org,${at === 1400 ? "late" : ""}, ,1,2\n`);
  const expected = { Email: "key", Late: "+Late", Blank: "ignore", Note: "+Note", note: "+note 2" };
  expect(await targets(`Email,Late,Blank,Note,note\n${rows.join("")}`)).toEqual(expected);
});

it("a proposal says how full a column is, and asks nobody to confirm what flags and names say", async () => {
  const text = "Email,Ort,Opt-In,Note\na@x.org,Oslo,ja,x\nb@x.org,,nein,\nc@x.org,Rom,,\n";
  const { columns, rows } = await propose(text, [["ort", "Company"]]);
  expect(rows).toBe(3);
  expect(columns).toMatchObject([
    { target: "key", filled: 3, addresses: 3, isSure: true },
    { target: "Company", filled: 2, addresses: 0, samples: ["Oslo", "Rom"], isSure: true },
    { target: "consent", filled: 2, isSure: true },
    { target: "Note", filled: 1, isNew: true, isSure: false },
  ]);
});
