import { describe, expect, test } from "vitest";
import { readRows } from "../../src/tables/read-rows.ts";
import type { ReadOptions, ReadRow } from "../../src/tables/rows.ts";
import { requireUnderstood } from "../../src/tables/understand.ts";
import { catchFailure, fileWith, notesOf, outline, read, structure, toInputFile } from "./reading.ts";

test.each<[title: string, text: string, options: Partial<ReadOptions>, header: number, ...rows: string[]]>([
  [
    "below other lines",
    'Notes:\n"Some emails are missing,\nwhich is known."\n\nEmail Address,City\na@x.org,London\n',
    {},
    5,
    "6 a@x.org|London",
  ],
  ["below sep=, which names the delimiter", "sep=^\r\nEmail^City\r\na@x.org^x;y\r\n", {}, 2, "3 a@x.org|x;y"],
  [
    "below --skip-lines, which skips physical lines and keeps counting them",
    'a "broken\r\nEmail;x\rEmail;City\na@x.org;y\n',
    { skipLines: 2 },
    3,
    "4 a@x.org|y",
  ],
  [
    "nowhere with --no-header, where columns have numbers",
    "Ada;a@x.org\n\nBob;b@x.org\n",
    { hasNoHeader: true, map: [["2", "key"]] },
    1,
    "1 Ada|a@x.org",
    "3 Bob|b@x.org",
  ],
  ["with a typed delimiter", "Email^City\na@x.org^x,y\n", { delimiter: "^" }, 1, "2 a@x.org|x,y"],
  ["with a delimiter by its name", "Email\tCity\na@x.org\tx\n", { delimiter: "tab" }, 1, "2 a@x.org|x"],
  [
    "with a delimiter at its end, which makes no column",
    "Email,City,,\na@x.org,x,,\n",
    {},
    1,
    "2 a@x.org|x||",
  ],
])("the header is found %s", async (_title, text, options, header, ...rows) => {
  const result = await read(text, { ignoreUnmapped: options.hasNoHeader, ...options });
  expect(result.understood.reading.table.startLine).toBe(header);
  expect(outline(result)).toEqual(rows);
});

test.each(["ab", "constructor", "__proto__"])("%s is no delimiter", async (delimiter) => {
  expect((await catchFailure(read("Email\n", { delimiter }))).message).toContain("is not a delimiter");
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
  const { rows } = await read(
    "Email,Member\na@example.com,17\n",
    { map: new Map([["Email", "ignore"]]) },
    { ...structure, keyName: "Member", keyType: "text" },
  );
  expect(rows[0]?.key.sent).toBe("17");
});

test("a trailing column without a name is like any other when it holds values", async () => {
  const text = "Email,City,,\na@example.com,x,,z\n";
  expect((await catchFailure(read(text))).message).toContain(
    "1 column does not match any field: column 4, which has no name",
  );
  const { rows } = await read(text, { ignoreUnmapped: true });
  expect(rows).toMatchObject([{ cells: ["a@example.com", "x", "", "z"] }]);
});

test("a value that shows up late in a column without a name rejects its row", async () => {
  const many = Array.from({ length: 1200 }, (_, index) => `a${index}@example.com,x,`).join("\n");
  const { rows, rejected } = await read(`Email,City,\n${many}\nb@example.com,x,y\n`);
  expect(rows).toHaveLength(1200);
  expect(rejected).toMatchObject([{ line: 1202, code: "unnamed_column" }]);
});

test("without a key column the hint names the column that holds addresses", async () => {
  const text = "Name,Work,Home\nAda,,\nBob,b@example.com,\nCy,c@example.com,c2@example.com\n";
  expect((await catchFailure(read(text, { ignoreUnmapped: true }))).hint).toBe(
    "Say which one: --map Work=key",
  );
  expect((await catchFailure(read(text))).hint).toBe(
    "Say which one: --map Work=key\nMap each with --map Name=FIELD or --map Name=ignore, or ignore them all with --ignore-unmapped",
  );
  const both = await catchFailure(read("Mail,E-Mail-Adresse\n,b@example.com\n"));
  expect(both.hint).toContain("--map E-Mail-Adresse=key");
});

describe("what cannot be mapped is said with the next step", () => {
  test.each([
    [
      "no header",
      "Ada,ada@example.com\nBob,bob@example.com\n",
      /:1: there is no header: the first row already/,
      /--no-header --map 2=key/,
    ],
    ["an empty file", "", /people\.csv is empty/, /header and rows/],
    ["blank lines alone", "\n \n\r\n", /people\.csv is empty/, /header and rows/],
  ])("%s", async (_name, text, message, hint) => {
    const failure = await catchFailure(read(text));
    expect(failure.message).toMatch(message);
    expect(failure.hint).toMatch(hint);
    expect(failure.exitCode).toBe(2);
  });

  test("a column or field that --map names and that does not exist", async () => {
    const wrongColumn = catchFailure(read("Email,City\n", { map: new Map([["Citi", "City"]]) }));
    expect((await wrongColumn).hint).toContain('Did you mean "City"?');
    const wrongField = catchFailure(read("Email,Town\n", { map: new Map([["Town", "Citi"]]) }));
    expect((await wrongField).message).toContain('there is no field "Citi"');
    expect((await wrongField).hint).toBe('Did you mean "City"?');
    const map = new Map(Object.entries({ Town: "Place", Zip: "Code", Email: "key", Street: "Road" }));
    const several = catchFailure(read("Email,Town,Zip,Street\n", { map }));
    expect((await several).message).toMatch(/:1: there is no field "Place", "Code", "Road"$/);
  });
});

test("a header without rows is said", async () => {
  const { all, understood } = await read("Email,City\n");
  expect(all).toEqual([]);
  expect(notesOf(understood)).toContain("The file has a header but no rows");
});

test("what is left of a file below --skip-lines is said, where nothing is", async () => {
  const failure = await catchFailure(read("a@example.com", { skipLines: 1 }));
  expect(failure.message).toMatch(/has nothing after 1 skipped lines$/);
});

test("a missing file and a folder are named", async () => {
  const path = await fileWith("");
  const messageOf = async (file: string) =>
    (await catchFailure(requireUnderstood("contacts", toInputFile(file), { map: new Map() }, structure)))
      .message;
  expect(await messageOf(`${path}x`)).toMatch(/there is no such file/);
  expect(await messageOf(path.replace(/\/people\.csv$/, ""))).toMatch(/is a folder/);
});

describe("files that name contacts", () => {
  async function keysIn(text: string): Promise<string[]> {
    const understood = await requireUnderstood(
      "keys",
      toInputFile(await fileWith(text)),
      { map: new Map() },
      structure,
    );
    const rows: ReadRow[] = [];
    for await (const row of readRows(understood)) rows.push(row);
    return rows.map((row) => `${row.line} ${row.kind === "row" ? row.key.sent : row.code}`);
  }

  test("one key for each line", async () => {
    expect(await keysIn("a@example.com\n\nAda <b@example.com>\nnobody\n")).toEqual([
      "1 a@example.com",
      "3 b@example.com",
      "4 key_syntax",
    ]);
  });

  test("one key for each line, below a header", async () => {
    expect(await keysIn("Email\na@example.com\n")).toEqual(["2 a@example.com"]);
  });

  test("a table with a key column, whose other columns do not matter", async () => {
    expect(await keysIn("Name;E-Mail;Shoe Size\nAda;a@example.com;39\n")).toEqual(["2 a@example.com"]);
  });

  test("a table without a key column is refused", async () => {
    expect((await catchFailure(keysIn("Name;Size\nAda;39\n"))).message).toMatch(/no key column/);
  });
});
