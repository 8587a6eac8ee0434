import { dirname } from "node:path";
import { expect, test } from "vitest";
import type { ReadOptions } from "../../src/tables/rows.ts";
import { requireUnderstood } from "../../src/tables/understand.ts";
import { inputFile } from "../bulk/kit.ts";
import { notesOf, outline, read, refuses, structure, toInputFile } from "./reading.ts";

const below = 'Notes:\n"Some emails are missing,\nwhich is known."\n\nEmail Address,City\na@x.org,London\n';
const skipped = 'a "broken\r\nEmail;x\rEmail;City\na@x.org;y\n';
const byName: Partial<ReadOptions> = { map: [["B", "key"]], ignoreUnmapped: true };
const byNumber: Partial<ReadOptions> = { hasNoHeader: true, map: [["2", "key"]], ignoreUnmapped: true };

test.each<[string, string, Partial<ReadOptions>, header: number, ...rows: string[]]>([
  ["below other lines", below, {}, 5, "6 a@x.org|London"],
  ["below sep=, which names the delimiter", "sep=^\r\nEmail^City\r\na@x.org^x;y\r\n", {}, 2, "3 a@x.org|x;y"],
  ["below --skip-lines, physical lines that are counted on", skipped, { skipLines: 2 }, 3, "4 a@x.org|y"],
  ["nowhere, with numbers", "Ada;a@x.org\n\nBob;b@x.org\n", byNumber, 1, "1 Ada|a@x.org", "3 Bob|b@x.org"],
  ["at the first of two names of a key", "Email\nEmail\n", {}, 1, "2 key_syntax Email"],
  ["at the wider of two, if it is later", "email\nEmail,City\na@x.org,x\n", {}, 2, "3 a@x.org|x"],
  ["where --map finds its columns", "Email\na,b\nx,a@x.org\n", byName, 2, "3 x|a@x.org"],
  ["not at a blank record", ",\u00a0\nEmail,City\na@x.org,x\n", {}, 2, "3 a@x.org|x"],
  ["with a typed delimiter", "Email^City\na@x.org^x,y\n", { delimiter: "^" }, 1, "2 a@x.org|x,y"],
  ["with a delimiter by its name", "Email\tCity\na@x.org\tx\n", { delimiter: "tab" }, 1, "2 a@x.org|x"],
  ["with delimiters at its end, which make no column", "Email,City,,\na@x.org,x,,\n", {}, 1, "2 a@x.org|x||"],
])("the header is found %s", async (_title, text, options, header, ...rows) => {
  const result = await read(text, options);
  expect(result.understood.reading.table.startLine).toBe(header);
  expect(outline(result)).toEqual(rows);
});

test.each(["ab", "constructor", "__proto__"])("%s is no delimiter", async (delimiter) => {
  await refuses(read("Email\n", { delimiter }), "is not a delimiter");
});

test("header names match without regard to case, form and invisible marks", async () => {
  const { understood } = await read("\u200bEMAIL\u00a0,\ufeffcity ,first\u00a0name\na@example.com,x,y\n");
  expect(understood.facts.columns.map(({ target }) => target)).toEqual([
    { kind: "key" },
    { kind: "field", fieldId: "f3", label: "City" },
    { kind: "field", fieldId: "f1", label: "First Name" },
  ]);
});

test("the structure's own name of the key goes before all others", async () => {
  const members = { ...structure, keyName: "Member", keyType: "text" };
  const { rows } = await read("Email,Member\na@example.com,17\n", { map: [["Email", "ignore"]] }, members);
  expect(rows[0]?.key.sent).toBe("17");
});

test("a trailing column without a name is like any other when it holds values", async () => {
  const text = "Email,City,,\na@example.com,x,,z\n";
  await refuses(read(text), "1 column does not match any field: column 4, which has no name");
  expect(outline(await read(text, { ignoreUnmapped: true }))).toEqual(["2 a@example.com|x||z"]);
});

test("a value that shows up late in a column without a name rejects its row", async () => {
  const many = Array.from({ length: 1200 }, (_, index) => `a${index}@example.com,no,`).join("\n");
  const { rows, rejected } = await read(`Email,Unsubscribed,\n${many}\nB@example.com,yes,y\n`);
  expect(rows).toHaveLength(1200);
  const marked = { identities: ["b@example.com"], mark: { isClear: true } };
  expect(rejected).toMatchObject([{ line: 1202, code: "unnamed_column", ...marked }]);
});

const people = "Name,Work,Home\nAda,,\nBob,b@example.com,\nCy,c@example.com,c2@example.com\n";
const ignored = { ignoreUnmapped: true };
const mapEach =
  /^Say which one: --map Work=key\nMap each with --map Name=FIELD or --map Name=ignore, or ignore them all/;
const several = { map: Object.entries({ Town: "Place", Zip: "Code", Email: "key", Street: "Road" }) };
test.each<[string, string, Partial<ReadOptions>, message: RegExp, hint?: RegExp]>([
  ["no header", "Ada,a@x.org\nBob,b@x.org\n", {}, /:1: there is no header: /, /--no-header --map 2=key/],
  ["an empty file", "", {}, /people\.csv is empty/, /header and rows/],
  ["blank lines alone", "\n \n\r\n", {}, /people\.csv is empty/, /header and rows/],
  ["a header below twenty lines", `${"x\n".repeat(20)}Email\na@x.org\n`, {}, /:1: /],
  ["nothing below --skip-lines", "a@x.org", { skipLines: 1 }, /has nothing after 1 skipped lines$/],
  ["no key, but addresses", people, ignored, /key/, /^Say which one: --map Work=key$/],
  ["no key, and columns without a field", people, {}, /key/, mapEach],
  ["two columns of addresses", "A,B\na@x.org,b@x.org\n", ignored, /key/, /^Say which one: --map A=key$/],
  ["two keys, one of them empty", "Mail,E-Mail\n,b@example.com\n", {}, /key/, /--map E-Mail=key/],
  ["no column", "Email,City\n", { map: [["Citi", "City"]] }, /"Citi"/, /Did you mean "City"\?/],
  ["a field", "Email,T\n", { map: [["T", "Citi"]] }, /there is no field "Citi"/, /^Did you mean "City"\?$/],
  ["no fields", "Email,Town,Zip,Street\n", several, /:1: there is no field "Place", "Code", "Road"$/],
])("said with the next step: %s", async (_name, text, options, message, hint) => {
  await refuses(read(text, options), message, hint);
});

test("a header without rows is said", async () => {
  const { all, understood } = await read("Email,City\n");
  expect(all).toEqual([]);
  expect(notesOf(understood)).toContain("The file has a header but no rows");
});

test("a missing file and a folder are named", async () => {
  const path = await inputFile("");
  const places = { [`${path}x`]: "there is no such file", [dirname(path)]: "is a folder" };
  for (const [file, message] of Object.entries(places))
    await refuses(requireUnderstood("contacts", toInputFile(file), { map: [] }, structure), message);
});

const readKeys = (text: string) => read(text, {}, structure, "keys");

test.each<[string, string, ...keys: string[]]>([
  ["a key a line", "a@x.org\n\nAda <b@x.org>\nnobody\n", "1 a@x.org", "3 b@x.org", "4 key_syntax"],
  ["a key a line, below a header", "Email\na@x.org\n", "2 a@x.org"],
  ["a key column beside others that do not matter", "Name;E-Mail;Shoe Size\nAda;a@x.org;39\n", "2 a@x.org"],
])("a file of contacts has %s", async (_what, text, ...keys) => {
  const { all } = await readKeys(text);
  expect(all.map((row) => `${row.line} ${row.kind === "row" ? row.key.sent : row.code}`)).toEqual(keys);
});

test("a file of contacts has a column of keys, or of ids, where it may", async () => {
  const { all } = await read("x\n_id\na@x.org\n", { takesIds: true }, structure, "keys");
  expect(all.map(({ line }) => line)).toEqual([3]);
});

test("a file of contacts has a key column, or is refused", async () => {
  await refuses(readKeys("Name;Size\nAda;39\n"), "no key column");
});
