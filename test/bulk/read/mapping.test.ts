/**
 * Entries of a mapping file: values that are computed, looked up,
 * parted, and what makes a row or a mapping wrong.
 */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readMapping, writeMapping } from "../../../src/bulk/read/columns/mapping-file.ts";
import { temporaryFolder } from "../../support/ecm.ts";
import { firstQuick } from "../../support/first-quick.ts";
import { catchFailure, fileWith, type ReadResult, read, structure } from "./reading.ts";

const account = {
  ...structure,
  fields: [
    ...structure.fields,
    { _id: "f4", label: "Birthday", dataType: "text" },
    { _id: "f5", label: "Country", dataType: "text" },
    { _id: "f6", label: "Source", dataType: "text" },
  ],
};

/** The rows of a file by a mapping, as a person writes it. */
async function mapped(content: string | Uint8Array, mapping: string): Promise<ReadResult> {
  const { map, entries, expect: expected } = await readMapping(await fileWith(mapping, "people.yaml"));
  return read(content, { map, entries, expect: expected }, account);
}

/** Line by line the values of one field; a code for a row that is rejected. */
function listValues({ all }: ReadResult, fieldId: string): unknown[] {
  return all.map((row) => (row.kind === "rejected" ? row.code : row.fields.get(fieldId)));
}

const emails = (cells: string[], column: string) =>
  [`Email,${column}`, ...cells.map((cell, index) => `p${index}@example.com,${cell}`), ""].join("\n");

describe("an entry's value", () => {
  it("is computed from the cells of a row; a column that is read by one is used", {
    tags: "slow",
  }, async () => {
    const result = await mapped(
      "Email,Full name\na@example.com,Ada Lovelace\nb@example.com,Bob\n",
      [
        `First: { field: First name, value: 'row["Full name"].split(" ")[0]' }`,
        `Last: { field: Last Name, value: 'row["full name"].indexOf(" ") < 0 ? "" : row["Full name"].split(" ")[1]' }`,
      ].join("\n"),
    );
    expect(listValues(result, "f1")).toEqual(["Ada", "Bob"]);
    expect(listValues(result, "f2")).toEqual(["Lovelace", ""]);
  });

  it.each([
    ['row["City"]', "01", "01"],
    ["row.City + row.City", "01", "0101"],
    ["size(row.City)", "abc", "3"],
    ["int(row.City) + 1", "41", "42"],
    ['row.City == "x"', "x", "true"],
    ['row.City.replace("o", "0")', "Oslo", "Osl0"],
    ["row.City.replace('o', '0', 1)", "oo", "0o"],
    ["row.City.charAt(0).upperAscii() + row.City.substring(1)", "oslo", "Oslo"],
    ["row.City.reverse()", "ab", "ba"],
    ['"%s is %d".format([row.City, size(row.City)])', "Oslo", "Oslo is 4"],
    ['row.City.split("-").map(x, x.trim()).filter(x, x != "").join("/")', "a - b--c", "a/b/c"],
    ['row.City.matches("^O") ? "yes" : "no"', "Oslo", "yes"],
    ['timestamp(row.City + "T00:00:00Z")', "2026-01-02", "2026-01-02T00:00:00Z"],
    ["null", "x", ""],
  ])("%s of %j is %j", async (value, cell, made) => {
    const result = await mapped(emails([cell], "City"), JSON.stringify({ City: { value } }));
    expect(listValues(result, "f3")).toEqual([made]);
  });

  it("rejects its row alone where it fails, with the column and what is wrong", async () => {
    const result = await mapped(
      emails(["a b", "a", "a b"], "City"),
      `City: { value: 'row["City"].split(" ")[1]' }`,
    );
    expect(listValues(result, "f3")).toEqual(["b", "compute", "b"]);
    expect(result.rejected).toMatchObject([
      { line: 3, code: "compute", message: "City: No such key: index out of bounds, index 1 >= size 1" },
    ]);
  });

  it("is missing where a row has none of the cells that it reads", async () => {
    const result = await mapped(
      '[{"Email":"a@example.com","City":"Oslo"},{"Email":"b@example.com"}]',
      `City: { value: 'row.City + "!"' }`,
    );
    expect(listValues(result, "f3")).toEqual(["Oslo!", undefined]);
  });

  it("takes an empty text for no number", async () => {
    const result = await mapped(emails(["", "7"], "City"), "City: { value: 'int(row.City) + 1' }");
    expect(listValues(result, "f3")).toEqual(["compute", "8"]);
  });

  it("is never cut within a character", async () => {
    const result = await mapped(emails(["👍x"], "City"), "City: { value: 'row.City.substring(0, 1)' }");
    expect(listValues(result, "f3")).toEqual(["compute"]);
  });
});

describe("a date", () => {
  it.each([
    ["DD.MM.YYYY", "31.12.1980", "1980-12-31"],
    ["DD.MM.YYYY", " 31.12.1980 ", "1980-12-31"],
    ["DD.MM.YYYY", "31.02.1980", "compute"],
    ["DD.MM.YYYY", "29.02.2023", "compute"],
    ["DD.MM.YYYY", "29.02.2024", "2024-02-29"],
    ["DD.MM.YYYY", "1.2.1980", "compute"],
    ["DD.MM.YYYY", "01.02.80", "compute"],
    ["DD.MM.YYYY", "1980-02-01", "compute"],
    ["DD.MM.YYYY", "01.02.1980x", "compute"],
    ["DD.MM.YYYY", "", ""],
    ["D.M.YYYY", "1.2.1980", "1980-02-01"],
    ["D.M.YYYY", "01.02.1980", "1980-02-01"],
    ["M/D/YY", "11/1/16", "2016-11-01"],
    ["DD.MM.YY", "01.02.69", "2069-02-01"],
    ["DD.MM.YY", "01.02.70", "1970-02-01"],
    ["D MMM YYYY", "3 May 2024", "2024-05-03"],
    ["YYYYMMDD", "20240503", "2024-05-03"],
    ["DD.MM.YYYY HH:mm", "31.03.2024 02:30", "2024-03-31T02:30:00"],
    ["DD.MM.YYYY HH:mm", "31.03.2024 24:00", "compute"],
    ["MM/DD/YYYY hh:mm A", "03/31/2024 12:05 AM", "2024-03-31T00:05:00"],
    ["YYYY-MM-DDTHH:mm:ss[Z]", "2024-03-31T12:05:06Z", "2024-03-31T12:05:06"],
    ["DD.MM.YYYY", "04.11.2018", "2018-11-04"],
  ])("%s reads %j as %j", async (format, cell, made) => {
    const result = await mapped(emails([cell], "Born"), `Born: { field: Birthday, date: "${format}" }`);
    expect(listValues(result, "f4")).toEqual([made]);
  });

  it("takes the first of several formats that fits, and a workbook's own dates", async () => {
    const mapping = "Born: { field: Birthday, date: [DD.MM.YYYY, M/D/YYYY] }";
    const text = await mapped(emails(["31.12.1980", "12/31/1980", "1980-12-31"], "Born"), mapping);
    expect(listValues(text, "f4")).toEqual(["1980-12-31", "1980-12-31", "compute"]);
    expect(text.rejected[0]?.message).toBe('Born: "1980-12-31" is not a date in DD.MM.YYYY or M/D/YYYY');
    const json = await mapped('[{"Email":"a@example.com","Born":"1980-12-31"}]', mapping);
    expect(listValues(json, "f4")).toEqual(["1980-12-31"]);
  });

  it.each(["dd.mm.yyyy", "DD.MM", "YYYY", "", "DD.MM.YYYY DD", "hh:mm", "DD.MM.YYYY hh:mm", "Q YYYY M D"])(
    "refuses the format %j",
    async (format) => {
      const failure = await catchFailure(mapped(emails([""], "Born"), `\nBorn: { date: "${format}" }`));
      expect(failure).toMatchObject({ exitCode: 2 });
      expect(failure.message).toMatch(/people\.yaml:2: "Born": .* is not a date format/);
    },
  );

  it("proposes the format that was meant", async () => {
    const failure = await catchFailure(mapped(emails([""], "Born"), "Born: { date: dd.mm.yyyy }"));
    expect(failure.hint).toBe("Did you mean DD.MM.YYYY?");
  });
});

describe("a table of values", () => {
  const cells = ["DE", "de", " AT ", "CH", "", "NO"];
  const table = "map: { DE: Germany, AT: Austria, NO: Norway }";

  it.each([
    ["", ["Germany", "Germany", "Austria", "CH", "", "Norway"]],
    [", else: keep", ["Germany", "Germany", "Austria", "CH", "", "Norway"]],
    [", else: blank", ["Germany", "Germany", "Austria", "", "", "Norway"]],
    [", else: reject", ["Germany", "Germany", "Austria", "compute", "", "Norway"]],
  ])("with %j", async (rest, made) => {
    const result = await mapped(emails(cells, "Land"), `Land: { field: Country, ${table}${rest} }`);
    expect(listValues(result, "f5")).toEqual(made);
  });

  it("keeps texts that look like numbers or words of YAML", async () => {
    const mapping = "City: { map: { 01: one, 1: other, no: Norway, ~: tilde } }";
    const result = await mapped(emails(["01", "1", "no", "~", "001"], "City"), mapping);
    expect(listValues(result, "f3")).toEqual(["one", "other", "Norway", "tilde", "001"]);
  });

  it("can fill a blank cell", async () => {
    const result = await mapped(emails(["", "x"], "City"), 'City: { map: { "": Unknown } }');
    expect(listValues(result, "f3")).toEqual(["Unknown", "x"]);
  });
});

describe("where an entry goes", () => {
  it("parts a cell into tags at the separator, and looks each up", async () => {
    const result = await mapped(
      emails(["a; b;;c", ""], "Interests"),
      'Interests: { tags: true, split: ";", map: { a: Apples } }',
    );
    expect(result.rows.map(({ tags }) => tags)).toEqual([["Apples", "b", "c"], []]);
  });

  it("takes a list for tags and lists, and not for a field", async () => {
    const csv = emails(["x y"], "Words");
    const result = await mapped(csv, `Words: { lists: true, value: 'row.Words.split(" ")' }`);
    expect(result.rows[0]?.lists).toEqual(["x", "y"]);
    const failure = await catchFailure(mapped(csv, `Words: { field: City, value: 'row.Words.split(" ")' }`));
    expect(failure.message).toMatch(
      /people\.yaml:1: "Words": the value is a list, and a field takes one text/,
    );
  });

  it("writes a constant for every row, without a column of its name", async () => {
    const result = await mapped(
      "Email\na@example.com\n",
      "Source: { constant: 007 }\nVip: { tags: true, constant: 'a, b' }",
    );
    expect(listValues(result, "f6")).toEqual(["007"]);
    expect(result.rows[0]?.tags).toEqual(["a, b"]);
  });

  it("takes the place of the column of its name, and the field that it fills from others", async () => {
    const result = await mapped(
      "Email,City\na@example.com,oslo\n",
      "City: { value: 'row.City.upperAscii()' }\nStadt: { field: Country, constant: x }",
    );
    expect(listValues(result, "f3")).toEqual(["OSLO"]);
    const failure = await catchFailure(
      mapped("Email,City\na@example.com,oslo\n", "Stadt: { field: City, constant: x }"),
    );
    expect(failure.message).toContain('1 column does not match any field: "City"');
  });

  it("says that two of them fill one field; the later value counts unless it is blank", async () => {
    const result = await mapped(
      "Email,A,B\na@example.com,1,2\nb@example.com,3,\n",
      "A: { field: City, map: { x: y } }\nB: { field: City, map: { x: y } }",
    );
    expect(result.understood.facts.notes).toContain(
      '"A", "B" all fill "City"; the last non-blank value is used',
    );
    expect(listValues(result, "f3")).toEqual(["2", "3"]);
  });

  it("never touches what the file's own cells say of consent", async () => {
    const csv = "Email,Opt-in,Note\na@example.com,no,x\nb@example.com,yes,x\n";
    const result = await mapped(
      csv,
      'Opt-in: { field: City, constant: "yes" }\nNote: { field: Source, value: \'"yes" + row["Opt-in"]\' }',
    );
    expect(result.rows.map(({ notSubscribed }) => notSubscribed)).toEqual(["Opt-in: no", undefined]);
    expect(listValues(result, "f3")).toEqual(["yes", "yes"]);
    expect(listValues(result, "f6")).toEqual(["yesno", "yesyes"]);
  });

  it("marks whom a row names that cannot be made", async () => {
    const result = await mapped(
      "Email,Unsubscribed,Born\nada@example.com,yes,never\n",
      "Born: { field: Birthday, date: DD.MM.YYYY }",
    );
    expect(result.rejected).toMatchObject([
      { code: "compute", mark: { identities: ["ada@example.com"], isMarkClear: true } },
    ]);
  });
});

describe("a mapping that is wrong", () => {
  const csv = "Email,Full name\na@example.com,Ada\n";

  it.each([
    [
      `A: { value: 'row["Ful name"]' }`,
      /^.*people\.yaml:1: "A": the file has no column "Ful name" \(at character 5: "Ful name"\]\)$/,
    ],
    [
      `A: { value: 'row["Full name"] + 1' }`,
      /people\.yaml:1: "A": no such overload: string \+ int \(at character 1: row/,
    ],
    [`A: { value: 'rows["x"]' }`, /"A": Unknown variable: rows \(at character 1/],
    ["A: { value: 'row[' }", /"A": .*\(at/],
    ["A: { value: 'row' }", /row is used without the name of a column \(at character 1: row\)/],
    [`A: { value: 'row[row["Full name"]]' }`, /row is used without the name of a column/],
    ["A: { value: '{\"a\": 1}' }", /the value is of the type map<string, int>, not text/],
    ["A: { value: 'b\"x\"' }", /the value is of the type bytes, not text/],
    ["Born: { field: City, date: DD.MM.YYYY }", /"Born": the file has no column "Born"/],
    ["Full name: { field: Town, blank: clear }", /"Full name": there is no field "Town"/],
    ["Full name: { field: City, blank: never }", /"never" is none of keep, clear, only-if-empty/],
    ["Full name: { field: City, maps: { a: b } }", /unknown rule "maps"/],
    ["Full name: { key: true }", /unknown rule "key"/],
    ["Full name: { consent: opt-in }", /unknown rule "consent"/],
    ["Full name: { field: City, tags: true }", /has field and tags/],
    ["Full name: { tags: yes }", /tags is not true/],
    ["Full name: { field: City, split: ; }", /has split, and a field takes one value/],
    ["Full name: { field: City, else: reject }", /has else without map/],
    ["Full name: { field: City, date: DD.MM.YYYY, map: { a: b } }", /has date and map/],
    ["A: { field: City, constant: x, value: row.A }", /has value and constant/],
    ["A: { field: City, constant: x, date: DD.MM.YYYY }", /a constant is not changed any further/],
    ["Full name: { field: City, map: [a] }", /map is not a table of values/],
    ["Full name: { field: City, map: { a: { b: c } } }", /the value of "a" is not text/],
    ["Full name: [City]", /the target of "Full name" is not text/],
    ["Full name:", /the target of "Full name" is not text/],
    ["Full name: City\nFull name: City", /people\.yaml:2: "Full name" is written twice/],
    ["- a", /is not a mapping of columns/],
    ["a: *b", /names an anchor that does not exist|Unresolved alias/],
    ["a: [", /Flow sequence|flow/i],
  ])("%j", async (mapping, message) => {
    const failure = await catchFailure(mapped(csv, mapping));
    expect(failure.exitCode).toBe(2);
    expect(failure.message).toMatch(message);
  });

  it("may share a table by an alias, and be JSON with a byte order mark", async () => {
    const aliased = await mapped(
      "Email,A,City\na@example.com,DE,AT\n",
      "A: { field: Country, map: &lands { DE: Germany, AT: Austria } }\nCity: { map: *lands }",
    );
    expect([listValues(aliased, "f5"), listValues(aliased, "f3")]).toEqual([["Germany"], ["Austria"]]);
    const json = '\ufeff{"City": {"map": {"x": null, "y": "null"}}}';
    expect(listValues(await mapped(emails(["x", "y"], "City"), json), "f3")).toEqual(["", "null"]);
  });

  it("is written as it is read", async () => {
    const file = join(await temporaryFolder(), "out.yaml");
    const source = join(await temporaryFolder(), "in.yaml");
    await writeFile(
      source,
      'Email: key\nLand: { field: Country, map: { "01": "no", DE: "1" }, else: reject }\nT: { tags: true, split: ";" }\nBorn: { field: Birthday, date: DD.MM.YYYY, blank: only-if-empty }',
    );
    const plain = ({ map, entries }: Awaited<ReturnType<typeof readMapping>>) => ({
      map: [...map],
      entries: entries.map(({ place: _place, ...entry }) => entry),
    });
    const first = await readMapping(source);
    await writeMapping(file, first);
    expect(plain(await readMapping(file))).toEqual(plain(first));
  });
});

describe("a hostile mapping is refused", () => {
  const csv = "Email,City\na@example.com,x\n";
  const value = (text: string) => JSON.stringify({ City: { value: text } });
  const many = (text: string, times: number) => text.repeat(times);

  firstQuick(2)([
    ["a deep expression", value(`${many("(", 10_000)}1${many(")", 10_000)}`)],
    ["a deep expression within the length", value(`${many("(", 2000)}1${many(")", 2000)}`)],
    ["many signs", value(`${many("!", 4900)}true`)],
    ["a long sum", value(`row.City${many(" + row.City", 600)}`)],
    ["loops within loops", value("[1,2].map(a, [1,2].map(b, [1,2].map(c, c))).size()")],
    ["loops after loops", value(`["x"]${many(".map(x, x + x)", 5)}`)],
    ["lists that double", value("[[1]].map(x, x + x).size()")],
    ["names that double", value('cel.bind(x, "a", x + x)')],
    ["dyn", value("dyn(row.City)")],
    ["a pattern of a cell", value("row.City.matches(row.City)")],
    ["a pattern that is wrong", value('row.City.matches("(")')],
    ["a pattern that is long", value(`row.City.matches("${many("a", 2000)}")`)],
    ["a pattern that repeats", value('row.City.matches("((a{100}){100}){100}")')],
    ["a pattern that is large", value(`row.City.matches("${many("a{1000}", 100)}")`)],
    ["a pattern that repeats often", value('row.City.matches("a{1000}")')],
    [
      "many patterns",
      JSON.stringify(
        Object.fromEntries(
          Array.from({ length: 101 }, (_, n) => [`A${n}`, { value: `row.City.matches("${n}")` }]),
        ),
      ),
    ],
    [
      "many expectations",
      JSON.stringify({
        expect: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`A${n}`, { matches: "a" }])),
      }),
    ],
    ["a cycle of anchors", "City: &a { field: City, map: *a }"],
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

  it("matches in linear time", { tags: "slow" }, async () => {
    const cell = `${"a".repeat(30_000)}!`;
    const result = await mapped(emails([cell], "City"), value('row.City.matches("^(a+)+$") ? "y" : "n"'));
    expect(listValues(result, "f3")).toEqual(["n"]);
  });

  it.each([
    ["a text that grows", 'row.City.replace("", row.City)'],
    ["a text that is too long", "row.City + row.City"],
  ])("rejects the row of %s", async (_what, text) => {
    const result = await mapped(emails(["a".repeat(60_000)], "City"), value(text));
    expect(listValues(result, "f3")).toEqual(["compute"]);
  });
});
