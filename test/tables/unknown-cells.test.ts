/** Cells of a workbook that nobody knows the value of: formulas without a saved result, errors, dates beyond 9999. */
import { expect, it } from "vitest";
import { inputFile, readJson, startAccount } from "../kit.ts";
import { read } from "./reading.ts";
import { sheet, textCell } from "./workbooks.ts";

const formula = "<c><f>A1</f><v></v></c>";
const error = (text: string) => `<c t="e"><f>A1</f><v>${text}</v></c>`;
const date = '<c s="1"><v>2958466</v></c>';
const unknown = [formula, error("#N/A"), error("#REF!"), date];

/** A workbook of two columns: that of keys and this one. */
function book(name: string, rows: [key: string, cell: string][], isComputedOnOpening = false): Buffer {
  const cells = [["Email", textCell(name)], ...rows].map(
    ([key, cell]) => `<row>${textCell(key!)}${cell}</row>`,
  );
  return sheet(cells.join(""), { formats: ["yyyy-mm-dd"], isComputedOnOpening });
}

const people = unknown.map((cell, at): [string, string] => [`${"abcd"[at]}@example.com`, cell]);

it("an unknown cell of a field is missing, not empty, and a known one wins where rows are joined", async () => {
  const { rows } = await read(book("City", [...people, ["a@example.com", textCell("Oslo")]]));
  const cities = rows.map(({ fields }) => fields.get("f3"));
  expect(cities).toEqual([undefined, undefined, undefined, undefined, "Oslo"]);
});

it.each(["Unsubscribed", "Opt-in", "Status"])("unknown consent means not subscribed: %s", async (name) => {
  const known = textCell(name === "Unsubscribed" ? "no" : "subscribed");
  const { rows } = await read(book(name, [...people, ["e@example.com", known]]));
  expect(rows.map(({ mark }) => mark?.isClear)).toEqual([false, false, false, false, undefined]);
});

it("an unknown cell in all rows of a column that may be consent stops the import", async () => {
  await expect(read(book("Newsletter", people))).rejects.toThrow(/"Newsletter" looks like consent/);
  const { rows } = await read(book("Unsubscribed", people));
  expect(rows.every(({ mark }) => mark !== undefined)).toBe(true);
});

it("an unknown cell of the header is no name", async () => {
  const rows = [textCell("Email") + error("#REF!"), textCell("a@example.com") + textCell("x")];
  const book = sheet(rows.map((cells) => `<row>${cells}</row>`).join(""));
  await expect(read(book)).rejects.toThrow("column 2, which has no name");
});

it("an unknown cell of the key rejects its row", async () => {
  const rows = ["<c/>", ...unknown].map((cell, at) => `<row>${at === 0 ? textCell("Email") : cell}</row>`);
  const { all } = await read(sheet(rows.join(""), { formats: ["yyyy-mm-dd"] }));
  expect(all.map((row) => row.kind === "rejected" && row.code)).toEqual(unknown.map(() => "key_unknown"));
});

it.each(["#N/A", "#REF!", "#NAME?"])("%s as text in a consent column is not understood", async (cell) => {
  const { rows } = await read(`Email,Unsubscribed\na@example.com,${cell}\nb@example.com,no\n`);
  expect(rows.map(({ mark }) => mark?.reason)).toEqual([`Unsubscribed: ${cell}`, undefined]);
  expect(rows[0]?.mark?.isClear).toBe(false);
});

it("commands clear nothing, create nobody, and say once how many cells are unknown, also with -q", async () => {
  const contacts = [{ key: "a@example.com", fields: { City: "Rome" } }];
  const { ecm, run, fieldsOf } = await startAccount({ contents: { fields: ["City"], contacts } });
  const { rows, stderr } = await run(`import ${await inputFile(book("City", people))} --blank clear -q`);
  expect(rows).toMatchObject({ created: 3, unchanged: 1 });
  expect(stderr.match(/Column "City": 4 cells/g)).toHaveLength(1);
  expect(await fieldsOf("a@example.com")).toEqual({ City: "Rome" });
  const others = people.map(([key, cell]): [string, string] => [`new-${key}`, cell]);
  const marks = await inputFile(book("Unsubscribed", others));
  const marked = { rows: { created: 0 }, consent: { not_subscribed: 4 } };
  expect(await run(`import ${marks}`)).toMatchObject(marked);
  expect(await readJson(ecm, `suppressions add --keys ${marks} --marked-rows`)).toHaveLength(4);
});

it("commands do not create whom a formula marks that no program has computed, and say so", async () => {
  const { run, keys } = await startAccount();
  const cells = { gone: '<c><f>IF(TRUE,"yes","no")</f><v>0</v></c>', here: textCell("no") };
  const rows = Object.entries(cells).map(([name, cell]): [string, string] => [`${name}@example.com`, cell]);
  const result = await run(`import ${await inputFile(book("Unsubscribed", rows, true))}`);
  expect(result.stderr).toContain('warning: Column "Unsubscribed": 1 cell');
  expect(result).toMatchObject({ rows: { created: 1 }, consent: { not_subscribed: 1 } });
  expect(await keys()).toEqual(["here@example.com"]);
});

it("commands name what is odd before the price, once, and import it as it is", async () => {
  const { ecm, run } = await startAccount({ contents: { fields: ["City"] } });
  const file = await inputFile("Email,City\nann@gmial.com,01067\ninfo@example.com,4109\nb@x.org,10115\n");
  const result = await run(`import ${file}`);
  expect(result.stderr).toMatch(
    /1 address may be misspelled.*\n1 address of a role.*\n.* 4109 \(line 3\) may have lost a leading zero.*\nTo send:/,
  );
  expect(result.rows).toMatchObject({ created: 3, rejected: 0 });
  const named = await ecm(`contact unsubscribe --keys ${file} --dry-run`);
  expect(named.stderr).not.toContain("role");
});
