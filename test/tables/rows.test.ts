import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createContactColumnsView } from "../../src/commands/output/contact-columns.ts";
import { formatCsvLine, formatTsvLine } from "../../src/delimited-lines.ts";
import { runs } from "../support/runs.ts";
import { catchFailure, read, structure } from "./reading.ts";

test("columns named like the key and the fields map themselves", async () => {
  const { rows, understood } = await read("E-Mail, first name ,CITY\nada@example.com,Ada,London\n");
  expect(rows).toEqual([
    {
      kind: "row",
      line: 2,
      cells: ["ada@example.com", "Ada", "London"],
      key: { written: "ada@example.com", sent: "ada@example.com", identity: "ada@example.com" },
      fields: new Map([
        ["f1", "Ada"],
        ["f3", "London"],
      ]),
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
  const text = [
    ["Email", "Last Name", "City"],
    ["a@example.com", "Smith", "Ghent"],
  ]
    .map((cells) => cells.join(delimiter))
    .join("\r\n");
  const { rows, understood } = await read(text);
  expect(understood.facts.delimiter).toBe(delimiter);
  expect(rows[0]?.fields).toEqual(
    new Map([
      ["f2", "Smith"],
      ["f3", "Ghent"],
    ]),
  );
});

test("a record is named by the physical line on which it starts", async () => {
  const text =
    'Email,City\r\n"a@example.com","one\ntwo\r\nthree\rfour"\n\n\rb@example.com,x\rc@example.com,y';
  const { rows } = await read(text);
  expect(rows.map((row) => [row.line, row.key.sent])).toEqual([
    [2, "a@example.com"],
    [8, "b@example.com"],
    [9, "c@example.com"],
  ]);
});

test("a missing cell is absent, a blank one is empty", async () => {
  const { rows } = await read("Email,City,Last Name\na@example.com\nb@example.com,\n");
  expect(rows.map((row) => row.fields)).toEqual([new Map(), new Map([["f3", ""]])]);
});

test("a cell of blanks, no-break spaces or invisible marks is blank", async () => {
  const { rows } = await read("Email,City,Last Name\na@example.com, \u00a0\u200b\t,  x\n");
  expect(rows[0]?.fields).toEqual(
    new Map([
      ["f3", ""],
      ["f2", "  x"],
    ]),
  );
});

test('a cell such as ="01067" is read as the text inside, but not in our own exports', async () => {
  const { rows } = await read(
    'Email,City\na@example.com,="01067"\nb@example.com,"=""01 09"""\nc@example.com,y\n',
  );
  expect(rows.map(({ fields }) => fields.get("f3"))).toEqual(["01067", "01 09", "y"]);
  expect(rows[0]?.cells[1]).toBe('="01067"');
  const own = await read('key,City,lists,tags,status,createdAt\na@example.com,"=""x""",,,active,\n');
  expect(own.rows[0]?.fields.get("f3")).toBe('="x"');
});

describe("our own tsv", () => {
  const header = "key\tCity\tlists\ttags\tstatus\tcreatedAt";
  const row = 'a@example.com\t"C:\\\\new"\\t\\n\\\\\t\t\tactive\t';

  test("is read without its escapes, and quotes are text", async () => {
    const { rows } = await read(`${header}\n${row}\n`);
    expect(rows[0]?.fields.get("f3")).toBe('"C:\\new"\t\n\\');
    expect(rows[0]?.cells[1]).toBe('"C:\\new"\t\n\\');
  });

  test("saved again by a spreadsheet, its quotes are quotes", async () => {
    const { rows } = await read(`${header}\r\na@example.com\t"Rome, ""Italy"" \\\\"\t\t\tactive\t\r\n`);
    expect(rows[0]?.fields.get("f3")).toBe('Rome, "Italy" \\');
  });

  test("is read again, whatever its labels and values are", async () => {
    const text = fc.string({
      unit: fc.constantFrom('"', "\t", ";", ",", "|", "\n", "\\", "a", "email", "key", " "),
    });
    const labels = fc.uniqueArray(text, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(labels, text, async (names, value) => {
        const fields = names.map((label, index) => ({ _id: `g${index}`, label, dataType: "text" }));
        const own = { ...structure, fields };
        const values = fields.map(({ _id }) => ({ _id, value: `x${value}x` }));
        const columns = createContactColumnsView(own, []).columns.filter(({ optional }) => !optional);
        const contact = { _id: "1", key: "a@example.com", fields: values, lists: [], tags: [] } as never;
        const lines = [
          columns.map(({ name }) => name),
          columns.map((column) => String(column.value(contact) ?? "")),
        ];
        const { all, rows } = await read(lines.map((cells) => `${formatTsvLine(cells)}\n`).join(""), {}, own);
        expect(all).toHaveLength(1);
        expect(rows[0]?.cells).toEqual(lines[1]);
        expect(rows[0]?.fields).toEqual(new Map(values.map((each) => [each._id, each.value])));
      }),
      { numRuns: runs(15) },
    );
  });

  test("our csv with tabs is none: its cells are quoted, and nothing is escaped", async () => {
    const cells = ["a@example.com", '"C:\\new"\\t\tx', "", "", "active", ""];
    const { all, rows } = await read(
      [header.split("\t"), cells].map((each) => `${formatCsvLine(each, "\t")}\n`).join(""),
    );
    expect(all).toHaveLength(1);
    expect(rows[0]?.cells).toEqual(cells);
  });

  test("a tsv by others keeps its backslashes", async () => {
    const { rows } = await read("Email\tCity\na@example.com\tC:\\new\\\\x\n");
    expect(rows[0]?.fields.get("f3")).toBe("C:\\new\\\\x");
  });
});

test("cells beyond the header reject the row when they hold something", async () => {
  const { all } = await read("Email,City\na@example.com,x,,\nb@example.com,x,y\n");
  expect(all).toMatchObject([
    { kind: "row", line: 2 },
    { kind: "rejected", line: 3, code: "too_many_cells", cells: ["b@example.com", "x", "y"] },
  ]);
});

test("text after a closing quote rejects the row alone", async () => {
  const text = 'Email,City\na@example.com,"New" York\nb@example.com,"""Paris"" sur"\nc@example.com,5" pipe\n';
  const { all } = await read(text);
  expect(all).toMatchObject([
    { kind: "rejected", line: 2, code: "text_after_quote" },
    { kind: "row", line: 3, cells: ["b@example.com", '"Paris" sur'] },
    { kind: "row", line: 4, cells: ["c@example.com", '5" pipe'] },
  ]);
});

test.each([
  ["in one column", 'Email\n"a@example.com"\nb"@example.com\n"c@example.com"\n'],
  ["in several", 'Email;City\n"a@example.com";"x"\nb@example.com;5" pipe\n"c@example.com";x\n'],
  ["below a title", 'Our 5" people\nEmail;City\n"a@example.com";"x"\nb@example.com;y\nc@example.com;z\n'],
  ["with one delimiter told", 'Email|City\na@example.com|5" pipe\nb@example.com|x\nc@example.com|y\n'],
])("a quote in the middle of a cell is open nowhere: %s", async (_name, text) => {
  expect((await read(text, { map: new Map() })).all).toHaveLength(3);
});

test("blanks around a quoted cell belong to nothing", async () => {
  const { all } = await read(
    'Email, "City" ,Last Name\n"a@example.com" ,"Rome, Italy"\t, "Li""li"\nb@example.com, plain ,5" pipe\n"c@example.com" , "a" b,\n',
  );
  expect(all.map((row) => [row.line, row.cells])).toEqual([
    [2, ["a@example.com", "Rome, Italy", 'Li"li']],
    [3, ["b@example.com", " plain ", '5" pipe']],
    [4, ["c@example.com", ' "a" b', ""]],
  ]);
});

test("a quote after a blank is text, unless it may open a cell: then the row is rejected alone", async () => {
  const { all } = await read(
    'Email,City,Last Name\n"a@example.com" , "a" b, "Rome, Italy"\n"b@example.com" ,5" a, "a b\n',
  );
  expect(all).toMatchObject([
    { kind: "row", line: 2, cells: ["a@example.com", ' "a" b', "Rome, Italy"] },
    { kind: "rejected", line: 3, code: "text_after_quote" },
  ]);
});

test("rows below a header of several lines keep their lines", async () => {
  const { all } = await read('Email,"City",\n"a@example.com","x\ny",\nb@example.com,z,\n');
  expect(all.map(({ line }) => line)).toEqual([2, 4]);
  const { all: others } = await read('"E-Mail\r\n",City\r\na@example.com,x\r\nb@example.com,z\r\n');
  expect(others.map(({ line }) => line)).toEqual([3, 4]);
});

test("a quoted cell of several lines may have blanks after its quote", async () => {
  const { all } = await read('Email,City\na@example.com,"one\ntwo" \nb@example.com,x\n');
  expect(all).toMatchObject([
    { line: 2, cells: ["a@example.com", "one\ntwo"] },
    { line: 4, cells: ["b@example.com", "x"] },
  ]);
});

test("a row over 1 MiB refuses the file, with its line", async () => {
  const long = `"${'line "" and more\n'.repeat(100_000)}"`;
  await expect(read(`Email,City\na@example.com,x\nb@example.com,${long}\n`)).rejects.toThrow(
    /people\.csv:3: the row that starts here is longer than 1 MiB/,
  );
});

test("a last line that was cut in the middle is rejected", async () => {
  const text = "Email,First Name,City\na@example.com,Ada,x\nb@example.com,Bo";
  expect((await read(text)).all).toMatchObject([
    { kind: "row", line: 2 },
    { kind: "rejected", line: 3, code: "truncated", cells: ["b@example.com", "Bo"] },
  ]);
  expect((await read(`${text}\n`)).rejected).toEqual([]);
  expect((await read(`${text},`)).rejected).toEqual([]);
  expect((await read(`${text}\n\n`)).rejected).toEqual([]);
});

test("a quote that is never closed refuses the file and names the line where it opened", async () => {
  const failure = await catchFailure(
    read('Email,City\na@example.com,x\nb@example.com,"oops\nc@example.com,y\n'),
  );
  expect(failure.message).toMatch(/people\.csv:3: a quote opens here and is never closed/);
  expect(failure.exitCode).toBe(2);
});

test("a quote that swallows rows refuses the file, since nobody knows which rows it took", async () => {
  const text = 'Email,City\nb@example.com,"oops\nc@example.com,y\nd@example.com,"Rome"\n';
  const failure = await catchFailure(read(text));
  expect(failure.message).toMatch(/people\.csv:2: a quote opens here and closes on line 4/);
});

test("--map and --ignore-unmapped settle what names cannot", async () => {
  const { rows } = await read("Mail,Work Mail,Town,Size\na@example.com,b@example.com,Rome,42\n", {
    map: new Map([
      ["Work Mail", "key"],
      ["town", "f3"],
    ]),
    ignoreUnmapped: true,
  });
  expect(rows[0]?.key.sent).toBe("b@example.com");
  expect(rows[0]?.fields).toEqual(new Map([["f3", "Rome"]]));
});
