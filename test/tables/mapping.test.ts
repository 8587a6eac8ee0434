/** A mapping file: where columns go, how cells of tags are split, and what makes a mapping wrong. */
import { stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readMapping, writeMapping } from "../../src/tables/columns/mapping-file.ts";
import { inputFile, temporaryFolder } from "../kit.ts";
import { type ReadResult, read, refuses } from "./reading.ts";

/** The rows of a file by a mapping, as a person writes it. */
async function mapped(content: string, mapping: string, set?: [string, string][]): Promise<ReadResult> {
  return read(content, { map: await readMapping(await inputFile(mapping, "people.yaml")), set });
}

it.each([
  ["YAML", "Ort: City"],
  ["JSON with a byte order mark", '\ufeff{"Ort": "City"}'],
])("a column goes to the field that the mapping names, in %s", async (_format, mapping) => {
  const { rows } = await mapped("Email,Ort\na@x.org,Oslo\nb@x.org,01\n", mapping);
  expect(rows.map(({ fields }) => fields.get("f3"))).toEqual(["Oslo", "01"]);
});

it.each([
  [";", "a; b;;c", ["a", "b", "c"]],
  [" | ", "a | b|c", ["a", "b|c"]],
  ["::", "a::b:c", ["a", "b:c"]],
  [";", "a,b", ["a,b"]],
  [";", "", []],
])("a column of tags is split at %j: %j", async (split, cell, tags) => {
  const mapping = JSON.stringify({ Interests: { target: "tags", split } });
  const { rows } = await mapped(`Email,Interests\na@x.org,"${cell}"\n`, mapping);
  expect(rows[0]?.tags).toEqual(tags);
});

it("a column of lists is split too, or by the rules of the file", async () => {
  const csv = 'Email,A,B\na@example.com,x;y,"p, ""q, r"" ,,s"\nb@example.com,,"p, ""q, r"\n';
  const { rows } = await mapped(csv, "A: { target: lists, split: ; }\nB: { target: tags }");
  expect(rows[0]).toMatchObject({ lists: ["x", "y"], tags: ["p", "q, r", "s"] });
  expect(rows[1]?.tags).toEqual(["p", '"q', "r"]);
});

it("a column of consent is read as the mapping says, also where --set fills its field", async () => {
  const csv = "Email,Opt-in,City\na@example.com,no,no\nb@example.com,yes,yes\n";
  const marked = ({ rows }: ReadResult) => rows.map(({ mark }) => mark?.reason);
  expect(marked(await mapped(csv, "Opt-in: consent=opt-in"))).toEqual(["Opt-in: no", undefined]);
  expect(marked(await mapped(csv, "Opt-in: City\nCity: ignore"))).toEqual(["Opt-in: no", undefined]);
  const twice = await mapped(csv, "Opt-in: ignore\nCity: { target: consent=opt-out }");
  expect(marked(twice)).toEqual([undefined, "City: yes"]);
  const set = await mapped("Email,City\na@example.com,unsubscribed\n", "Email: key", [["City", "yes"]]);
  expect(marked(set)).toEqual(["City: unsubscribed"]);
  expect(set.rows[0]?.fields.get("f3")).toBe("yes");
});

it("a field that --set fills twice is refused, whatever it is called", async () => {
  const twice: [string, string][] = [
    ["City", "Oslo"],
    ["city", "Rome"],
  ];
  await refuses(mapped("Email\na@example.com\n", "Email: key", twice), /The field "City" is set twice/);
});

const csv = "Email,Full name\na@example.com,Ada\n";

it.each([
  ["Full name: Town", /there is no field "Town"/],
  ["Citty: City\nPLZ: ignore", /the mapping names columns that do not exist: "Citty", "PLZ"/],
  ["Email: key\nFull name: { value: row.x }", /people\.yaml:2: "Full name": unknown member "value"/],
  ["expect:\n  rows: { min: 3 }", /people\.yaml:1: "expect": unknown member "rows"/],
  ["Full name: { target: City, split: ; }", /only a column of tags or lists is split/],
  ["Full name: { target: tags, split: '' }", /"Full name": split is not text/],
  ["Full name: { split: ; }", /"Full name" has no target/],
  ["Full name: { target: { a: b } }", /"Full name": target is not text/],
  ["Full name: [City]", /the target of "Full name" is not text/],
  ["Full name:", /the target of "Full name" is not text/],
  ["Full name: City\nFull name: City", /people\.yaml:2: Map keys must be unique$/],
  ["- a", /is not a mapping of columns/],
  ["a: *b", /alias.*b/],
  ["a: [", /Flow sequence|flow/i],
  ["City: &a { target: City, map: *a }", /City/],
  ["&a { City: *a }", /unknown member/],
  [`City: ${"[".repeat(2000)}`, /people\.yaml/],
  [`City: ${"{ a: ".repeat(2000)}`, /people\.yaml/],
])("a mapping that is wrong: case %#", async (mapping, message) => {
  const failure = await refuses(mapped(csv, mapping), message);
  expect(failure.message.length).toBeLessThan(600);
});

it("is written as it is read, in its file's order, and never over what somebody else wrote", async () => {
  const file = join(await temporaryFolder(), "out.yaml");
  const source = await inputFile('Email: key\n"01": "no"\nT: { target: tags, split: ";" }\n"2": ignore\n');
  const mapping = await readMapping(source);
  const tags = { target: "tags", split: ";" };
  expect([...mapping]).toEqual(Array.of(["Email", "key"], ["01", "no"], ["T", tags], ["2", "ignore"]));
  expect(await writeMapping(file, mapping)).toBe(true);
  expect(await readMapping(file)).toEqual(mapping);
  expect(await writeMapping(file, mapping)).toBe(true);
  await writeFile(file, "Email: key\n");
  expect(await writeMapping(file, mapping)).toBe(false);
  // Larger than any text: nobody can say who wrote it.
  await truncate(file, 2 ** 32);
  await expect(writeMapping(file, mapping)).rejects.toThrow("Cannot write");
  expect((await stat(file)).size).toBe(2 ** 32);
});
