/** A mapping file: where columns go, how cells of tags are split, and what makes a mapping wrong. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readMapping, writeMapping } from "../../src/tables/columns/mapping-file.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { catchFailure, fileWith, type ReadResult, read } from "./reading.ts";

/** The rows of a file by a mapping, as a person writes it. */
async function mapped(
  content: string | Uint8Array,
  mapping: string,
  set?: [string, string][],
): Promise<ReadResult> {
  const { map, splits } = await readMapping(await fileWith(mapping, "people.yaml"));
  return read(content, { map, splits: [...splits], set });
}

const emails = (cells: string[], column: string) =>
  [`Email,${column}`, ...cells.map((cell, index) => `p${index}@example.com,${cell}`), ""].join("\n");

describe("a column", () => {
  it("goes to the field that the mapping names", async () => {
    const { rows } = await mapped(emails(["Oslo", "01"], "Ort"), "Ort: City");
    expect(rows.map(({ fields }) => fields.get("f3"))).toEqual(["Oslo", "01"]);
  });

  it.each([
    [";", "a; b;;c", ["a", "b", "c"]],
    [" | ", "a | b|c", ["a", "b|c"]],
    ["::", "a::b:c", ["a", "b:c"]],
    [";", "a,b", ["a,b"]],
    [";", "", []],
  ])("of tags is split at %j: %j", async (split, cell, tags) => {
    const mapping = JSON.stringify({ Interests: { target: "tags", split } });
    const { rows } = await mapped(emails([`"${cell}"`], "Interests"), mapping);
    expect(rows[0]?.tags).toEqual(tags);
  });

  it("of lists is split too, or by the rules of the file", async () => {
    const csv = 'Email,A,B\na@example.com,x;y,"p,q"\n';
    const { rows } = await mapped(csv, "A: { target: lists, split: ; }\nB: { target: tags }");
    expect(rows[0]).toMatchObject({ lists: ["x", "y"], tags: ["p", "q"] });
  });

  it("of consent is read as the mapping says, also where --set fills its field", async () => {
    const csv = "Email,Opt-in,City\na@example.com,no,no\nb@example.com,yes,yes\n";
    const marked = ({ rows }: ReadResult) => rows.map(({ notSubscribed }) => notSubscribed);
    expect(marked(await mapped(csv, "Opt-in: consent=opt-in"))).toEqual(["Opt-in: no", undefined]);
    expect(marked(await mapped(csv, "Opt-in: City\nCity: ignore"))).toEqual(["Opt-in: no", undefined]);
    const twice = await mapped(csv, "Opt-in: ignore\nCity: { target: consent=opt-out }");
    expect(marked(twice)).toEqual([undefined, "City: yes"]);
    const set = await mapped("Email,City\na@example.com,unsubscribed\n", "Email: key", [["City", "yes"]]);
    expect(marked(set)).toEqual(["City: unsubscribed"]);
    expect(set.rows[0]?.fields.get("f3")).toBe("yes");
  });
});

describe("a mapping that is wrong", () => {
  const csv = "Email,Full name\na@example.com,Ada\n";

  it.each([
    ["Full name: Town", /there is no field "Town"/],
    ["Full name: { target: City, blank: clear }", /people\.yaml:1: "Full name": unknown member "blank"/],
    ["Email: key\nFull name: { value: row.x }", /people\.yaml:2: "Full name": unknown member "value"/],
    ["Full name: { field: City }", /unknown member "field"/],
    ["expect:\n  rows: { min: 3 }", /people\.yaml:2: "expect": unknown member "rows"/],
    ["Full name: { target: City, split: ; }", /only a column of tags or lists is split/],
    ["Full name: { target: tags, split: '' }", /"Full name": split is not text/],
    ["Full name: { split: ; }", /"Full name" has no target/],
    ["Full name: {}", /"Full name" has no target/],
    ["Full name: { target: { a: b } }", /"Full name": target is not text/],
    ["Full name: [City]", /the target of "Full name" is not text/],
    ["Full name:", /the target of "Full name" is not text/],
    ["Full name: ~", /the target of "Full name" is not text/],
    ["Full name: City\nFull name: City", /people\.yaml:2: "Full name" is written twice/],
    ["- a", /is not a mapping of columns/],
    ["a: *b", /the target of "a" is not text/],
    ["a: &x City\nb: *x", /people\.yaml:2: the target of "b" is not text/],
    ["a: [", /Flow sequence|flow/i],
  ])("%j", async (mapping, message) => {
    const failure = await catchFailure(mapped(csv, mapping));
    expect(failure.exitCode).toBe(2);
    expect(failure.message).toMatch(message);
  });

  it("may be JSON with a byte order mark", async () => {
    const { rows } = await mapped(emails(["x"], "Ort"), '\ufeff{"Ort": "City"}');
    expect(rows[0]?.fields.get("f3")).toBe("x");
  });

  it("is written as it is read", async () => {
    const file = join(await temporaryFolder(), "out.yaml");
    const source = join(await temporaryFolder(), "in.yaml");
    await writeFile(source, 'Email: key\n"01": "no"\nT: { target: tags, split: ";" }\n"2": ignore\n');
    const plain = ({ map, splits }: Awaited<ReturnType<typeof readMapping>>) => [[...map], [...splits]];
    const first = await readMapping(source);
    await writeMapping(file, first);
    expect(plain(await readMapping(file))).toEqual(plain(first));
    expect(plain(first)).toEqual([
      [
        ["Email", "key"],
        ["01", "no"],
        ["T", "tags"],
        ["2", "ignore"],
      ],
      [["T", ";"]],
    ]);
  });
});

describe("a hostile mapping is refused", () => {
  const csv = "Email,City\na@example.com,x\n";
  const many = (text: string, times: number) => text.repeat(times);

  it.each([
    ["a cycle of anchors", "City: &a { target: City, map: *a }"],
    ["a cycle at the top", "&a { City: *a }"],
    ["laughs", `a: &a { x: y }\n${Array.from({ length: 200 }, (_, index) => `c${index}: *a`).join("\n")}`],
    ["deep lists", `City: ${many("[", 100_000)}`],
    ["deep maps", `City: ${many("{ a: ", 20_000)}`],
    ["many keys of one name", many("City: x\n", 50_000)],
    ["a file that is too large", `City: ${many("x", 2_000_000)}`],
  ])("%s", async (_what, mapping) => {
    const failure = await catchFailure(mapped(csv, mapping));
    expect(failure.exitCode).toBe(2);
    expect(failure.message.length).toBeLessThan(600);
  });
});
