/** JSON and gzip: recognised by content, read as tables. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { outline, read, refuses } from "./reading.ts";
import { sheet, textRow } from "./workbooks.ts";

const objects =
  '{"Email":"a@example.com","City":12345678901234567890}\n\n{"Last Name":"x","Email":"b@example.com","City":null}\r\n{"Email":"c@example.com","City":"","extra":1.10}';

test("JSON: one object on each line: a missing member is missing, numbers keep their digits", async () => {
  const { rows, understood } = await read(objects, { map: [["extra", "Last Name"]], ignoreUnmapped: true });
  expect(rows.map((row) => [row.line, row.key.sent, Object.fromEntries(row.fields)])).toEqual([
    [1, "a@example.com", { f3: "12345678901234567890" }],
    [3, "b@example.com", { f3: "" }],
    [4, "c@example.com", { f3: "", f2: "1.10" }],
  ]);
  expect(understood.facts.bytes).toBe(Buffer.byteLength(objects));
  expect(understood.reading.table.headerLines).toBe(0);
});

test.each([
  ["by its line, which a mark does not move", '\ufeff{"Email":"a@x.org"}\n\n{"Email":"b@x.org"}', 3],
  ["by the first of its lines", '{\n"Email":"a@x.org"}\n\n{"Email":\n"b@x.org"}', 4],
])("JSON: an object is named %s", async (_what, text, line) => {
  expect(outline(await read(text))).toEqual(["1 a@x.org", `${line} b@x.org`]);
});

test("JSON: an array, pretty or not, in any chunks", async () => {
  const people = [
    { Email: "a@example.com", City: 'q"{}[]\\ , é漢😀\n\t' },
    { Email: "b@example.com", tags: ["x,y", "z"], City: true },
  ];
  const pretty = `\ufeff${JSON.stringify(people, null, 1)}\n`;
  for (const text of [JSON.stringify(people), JSON.stringify(people, null, 2), pretty]) {
    const { rows } = await read(text);
    expect(rows.map((row) => [row.line, row.key.sent, row.fields.get("f3"), row.tags])).toEqual([
      [1, "a@example.com", people[0]!.City, []],
      [2, "b@example.com", "true", ["x,y", "z"]],
    ]);
  }
  const many = Array.from({ length: 600 }, (_, at) => ({ Email: `a${at}@example.com`, City: "é漢😀" }));
  const { rows } = await read(JSON.stringify(many));
  expect(rows.at(-1)).toMatchObject({ line: 600, fields: new Map([["f3", "é漢😀"]]) });
});

const around = '{"total":1,"records":[{"Email":"a@example.com"}]}';
const twice = '{"Email":"a@x.org","Unsub":{"Unsub":"yes"},"\\u0055nsub":"no"}';
test.each([
  ["a nested object", '{"Email":"a@x.org"}\n{"Email":"b@x.org","a":{"b":1}}', /:2: "a" is an object/],
  ["one that begins above", '{"Email":"a@x.org"}\n{\n"a":{}\n}', /:2: "a" is an object/],
  ["no JSON", '{"Email":"a@example.com"}\n{"Email":b}\n', /:2: this is not JSON/],
  ["no JSON behind a mark", '\ufeff{"Email":"a@example.com"}\r\n\r\nx\n', /:3: this is not JSON/],
  ["no JSON in an array", '[\n{"Email":"a@example.com"},\n{"Email" 1}]', /:3: this is not JSON/],
  ["a member that an object has twice", `[{"Email":"b@x.org"}, ${twice}]`, /element 2: the object has a/],
  ["the same on a line", `{"Email":"b@x.org"}\n${twice}\n`, /:2: the object has a member twice/],
  ["an array in an array", '[{"Email":"a@example.com"}, [3]]', /element 2: expected an object/],
  ["an empty array", "[]", /contains no objects/],
  ["text behind an array", '[]{"Email":"a@example.com"', /:1: this is not JSON/],
  ["deep nesting", `{"a":${"[".repeat(100_000)}`, /ends in the middle/],
  ["an endless text", `{"a":"${"x".repeat(3_000_000)}`, /longer than 1 MiB/],
  ["cut short", '[{"Email":"a@example.com"},{"Em', /ends in the middle/],
  ["cut behind a text", '["a@example.com","b@example.com"', /ends in the middle/],
  ["cut behind an object", '[{"Email":"a@example.com"}', /ends in the middle/],
  ["cut behind a comma", '["a@example.com",\n', /ends in the middle/],
  ["lines that are cut short", '{"Email":"a@example.com"}\n{"Email":"b@exa', /ends in the middle/],
  ["an object around an array", around, /:1: "records" is an array, but a cell has a single value/],
  ["Latin-1", Buffer.from('{"Email":"a@example.com","City":"K\xf6ln"}', "latin1"), /not in UTF-8/],
])("JSON: what is no table of objects says why: %s", async (_name, content, message) => {
  await refuses(read(content), message);
});

test("gzip of several members is one text, and nothing behind them is passed over", async () => {
  const people = gzipSync("Email\na@example.com\n");
  const more = gzipSync("b@example.com\n");
  const rowsIn = async (...parts: Buffer[]) => (await read(Buffer.concat(parts))).rows.length;
  expect(await rowsIn(people, more)).toBe(2);
  const zeros = Buffer.alloc(512);
  const [letter, byte] = [Buffer.from("x"), Buffer.from([0x1f])];
  for (const end of [[zeros], [letter], [byte], [more.subarray(0, 15)], [zeros.subarray(0, 4), more]])
    await refuses(rowsIn(people, ...end), "cannot be unpacked");
});

const text = "Email,City\na@example.com,Köln\n";
test.each([
  ["CSV", text],
  ["Windows CSV", Buffer.from(text, "latin1")],
  ["a workbook", sheet(textRow(1, ["Email", "City"]) + textRow(2, ["a@example.com", "Köln"]))],
  ["ndjson", '{"Email":"a@example.com","City":"Köln"}\n'],
])("gzip of %s", async (_name, content) => {
  const { rows } = await read(gzipSync(content));
  expect(rows).toMatchObject([{ key: { sent: "a@example.com" }, fields: new Map([["f3", "Köln"]]) }]);
});

test.each([
  ["cut short", gzipSync(text).subarray(0, 20), /cannot be unpacked/],
  ["twice", gzipSync(gzipSync(text)), /a zero byte/],
  ["a bomb", gzipSync(Buffer.alloc(65 * 1024 ** 2, 97), { level: 1 }), /unpacks to far more/],
  ["empty", gzipSync(""), /is empty/],
])("gzip that cannot be read says why: %s", async (_name, content, message) => {
  await refuses(read(content), message);
});
