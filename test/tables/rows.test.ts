import fc from "fast-check";
import { expect, test } from "vitest";
import { createContactColumnsView } from "../../src/commands/output/contact-columns.ts";
import { formatCsvLine, formatTsvLine } from "../../src/delimited-lines.ts";
import { runs } from "../support/runs.ts";
import { outline, read, structure } from "./reading.ts";

test("columns named like the key and the fields map themselves", async () => {
  const { rows, understood } = await read("E-Mail, first name ,CITY\nada@example.com,Ada,London\n");
  expect(rows).toEqual([
    {
      kind: "row",
      line: 2,
      cells: ["ada@example.com", "Ada", "London"],
      key: { written: "ada@example.com", sent: "ada@example.com", identity: "ada@example.com" },
      fields: new Map(Object.entries({ f1: "Ada", f3: "London" })),
      lists: [],
      tags: [],
      warnings: [],
    },
  ]);
  expect(understood.facts).toMatchObject({ form: { encoding: "utf-8" }, delimiter: ",", bytes: 52 });
  expect(understood.reading.table).toMatchObject({ startLine: 1, headerLines: 1 });
  expect(understood.facts.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(understood.facts.sample).toEqual(rows.map(({ cells }) => cells));
});

test.each([";", "\t", "|", ","])("the delimiter %j is found", async (delimiter) => {
  const text = ["Email,Last Name,City", "a@example.com,Smith,Ghent"].join("\r\n").replaceAll(",", delimiter);
  const { rows, understood } = await read(text);
  expect(understood.facts.delimiter).toBe(delimiter);
  expect([...rows[0]!.fields.values()]).toEqual(["Smith", "Ghent"]);
});

test("a missing cell is absent; one of blanks, no-break spaces or invisible marks is empty", async () => {
  const lines = ["a@example.com", "b@example.com,", "c@example.com, \u00a0\u200b\t\ufeff,\u00a0é", ""];
  const { rows } = await read(`Email,City,Last Name\n${lines.join("\n")}`);
  const found = rows.map(({ fields }) => Object.fromEntries(fields));
  expect(found).toEqual([{}, { f3: "" }, { f3: "", f2: "\u00a0é" }]);
});

test.each([
  ['="01067"', "01067"],
  ['"=""01 09"""', "01 09"],
  ['="a ""b"""', 'a "b"'],
  ['=""', ""],
  ['="a"&"b"', '="a"&"b"'],
  ["=1", "=1"],
])("a cell %s is read as %j", async (cell, text) => {
  const { rows } = await read(`Email,City\na@example.com,${cell}\n`);
  expect(rows[0]?.fields.get("f3")).toBe(text);
});

test('the text in ="01067" is written as it was, and is no other in our own exports', async () => {
  const { rows } = await read('Email,City\na@example.com,="01067"\n');
  expect(rows[0]?.cells[1]).toBe('="01067"');
  const own = await read('key,City,lists,tags,status,createdAt\na@example.com,"=""x""",,,active,\n');
  expect(own.rows[0]?.fields.get("f3")).toBe('="x"');
});

const header = "key\tCity\tlists\ttags\tstatus\tcreatedAt";
const row = 'a@example.com\t"C:\\\\new"\\t\\n\\\\\t\t\tactive\t';

test("our own tsv is read without its escapes, and quotes are text", async () => {
  const { rows } = await read(`${header}\n${row}\n`);
  expect(rows[0]?.fields.get("f3")).toBe('"C:\\new"\t\n\\');
  expect(rows[0]?.cells[1]).toBe('"C:\\new"\t\n\\');
});

test("our own tsv saved again by a spreadsheet, its quotes are quotes", async () => {
  const { rows } = await read(`${header}\r\na@example.com\t"Rome, ""Italy"" \\\\"\t\t\tactive\t\r\n`);
  expect(rows[0]?.fields.get("f3")).toBe('Rome, "Italy" \\');
});

test("our own tsv is read again, whatever its labels and values are", async () => {
  const pieces = ['"', "\t", ";", ",", "|", "\n", "\\", "a", "email", "key", " "];
  const text = fc.string({ unit: fc.constantFrom(...pieces) });
  const labels = fc.uniqueArray(text, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(labels, text, async (names, value) => {
      const fields = names.map((label, index) => ({ _id: `g${index}`, label, dataType: "text" }));
      const own = { ...structure, fields };
      const values = fields.map(({ _id }) => ({ _id, value: `x${value}x` }));
      const columns = createContactColumnsView(own, []).columns.filter(({ optional }) => !optional);
      const person = { _id: "1", key: "a@example.com", status: { primary: "Active" } };
      const contact = { ...person, fields: values, lists: [], tags: [] } as never;
      const cells = columns.map((column) => String(column.value(contact) ?? ""));
      const lines = [columns.map(({ name }) => name), cells].map((each) => `${formatTsvLine(each)}\n`);
      const { all, rows } = await read(lines.join(""), {}, own);
      expect(all).toHaveLength(1);
      expect(rows[0]?.cells).toEqual(cells);
      expect(rows[0]?.fields).toEqual(new Map(values.map((each) => [each._id, each.value])));
    }),
    { numRuns: runs(15) },
  );
});

test("our csv with tabs is none: its cells are quoted, and nothing is escaped", async () => {
  const cells = ["a@example.com", '"C:\\new"\\t\tx', "", "", "active", ""];
  const lines = [header.split("\t"), cells].map((each) => `${formatCsvLine(each, "\t")}\n`);
  const { all, rows } = await read(lines.join(""));
  expect(all).toHaveLength(1);
  expect(rows[0]?.cells).toEqual(cells);
});

test("a tsv by others keeps its backslashes", async () => {
  const { rows } = await read("Email\tCity\na@example.com\tC:\\new\\\\x\n");
  expect(rows[0]?.fields.get("f3")).toBe("C:\\new\\\\x");
});

const unclear = 'Email,City\na@x.org,"x"y\nb@x.org,z\n';
test.each<[title: string, text: string, ...rows: string[]]>([
  ["has its line", 'Email,"City",\n"a@x.org","x",\nb@x.org,z,\n', "2 a@x.org|x|", "3 b@x.org|z|"],
  ["has its line below a header with a line break", '"E-Mail\r\n",City\r\na@x.org,x\r\n', "3 a@x.org|x"],
  ["may have delimiters beyond the header", "Email,City\na@x.org,x,,\n", "2 a@x.org|x||"],
  ["with a cell beyond it is rejected", "Email,City\nb@x.org,x,y\n", "2 too_many_cells b@x.org|x|y"],
  ["with text behind a quote is rejected alone", unclear, '2 text_after_quote a@x.org|"x"y', "3 b@x.org|z"],
  ["is rejected where the file ends in it", "Email,First Name,City\nb@x.org,Bo", "2 truncated b@x.org|Bo"],
  ["with too few cells is whole where a line end follows", "Email,City,Zip\nb@x.org,y\n", "2 b@x.org|y"],
  ["without a line end is whole where it has all cells", "Email,City\nb@x.org,", "2 b@x.org|"],
])("a row %s", async (_title, text, ...rows) => {
  expect(outline(await read(text, { ignoreUnmapped: true }))).toEqual(rows);
});

test.each([
  ["in one column", 'Email\n"a@example.com"\nb"@example.com\n"c@example.com"\n'],
  ["in several", 'Email;City\n"a@example.com";"x"\nb@example.com;5" pipe\n"c@example.com";x\n'],
  ["below a title", 'Our 5" people\nEmail;City\n"a@example.com";"x"\nb@example.com;y\nc@example.com;z\n'],
  ["with one delimiter told", 'Email|City\na@example.com|5" pipe\nb@example.com|x\nc@example.com|y\n'],
])("a row with a quote in the middle of a cell opens none: %s", async (_name, text) => {
  expect((await read(text)).all).toHaveLength(3);
});

test("--map and --ignore-unmapped settle what names cannot", async () => {
  const { rows } = await read("Mail,Work Mail,Town,Size\na@example.com,b@example.com,Rome,42\n", {
    map: Object.entries({ "Work Mail": "key", town: "f3" }),
    ignoreUnmapped: true,
  });
  expect(rows[0]).toMatchObject({ key: { sent: "b@example.com" }, fields: new Map([["f3", "Rome"]]) });
});
