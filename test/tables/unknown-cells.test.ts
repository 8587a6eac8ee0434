/** Cells of a workbook that nobody knows the value of: formulas without a saved result, errors, dates beyond 9999. */
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { inputFile, parseSummary, readContacts } from "../bulk/kit.ts";
import { startSandbox } from "../support/sandbox.ts";
import { read } from "./reading.ts";
import { workbook } from "./workbooks.ts";

const formula = (at: string) => `<c r="${at}"><f>A1</f><v></v></c>`;
const error = (at: string, text: string) => `<c r="${at}" t="e"><f>A1</f><v>${text}</v></c>`;
const date = (at: string) => `<c r="${at}" s="1"><v>2958466</v></c>`;
const text = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;

/** Cells by row, the header first. */
function sheet(...rows: string[][]): Buffer {
  const xml = rows.map((cells, index) => `<row r="${index + 1}">${cells.join("")}</row>`).join("");
  return workbook({ sheets: [{ name: "A", rows: xml }], formats: ["yyyy-mm-dd"] });
}

const header = (...names: string[]) => names.map((name, index) => text(`${"ABCD"[index]}1`, name));
const people = (at: string) => [
  [text("A2", "a@example.com"), formula(`${at}2`)],
  [text("A3", "b@example.com"), error(`${at}3`, "#N/A")],
  [text("A4", "c@example.com"), error(`${at}4`, "#REF!")],
  [text("A5", "d@example.com"), date(`${at}5`)],
];

describe("an unknown cell", () => {
  it("of a field is missing, not empty, and a known one wins where rows are joined", async () => {
    const again = [text("A6", "a@example.com"), text("B6", "Oslo")];
    const { rows } = await read(sheet(header("Email", "City"), ...people("B"), again));
    expect(rows.map(({ fields }) => fields.get("f3"))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      "Oslo",
    ]);
  });

  it("of an empty text that a formula has saved is empty", async () => {
    const saved = '<c r="B2" t="str"><f>A1</f><v></v></c>';
    const { rows } = await read(sheet(header("Email", "City"), [text("A2", "a@example.com"), saved]));
    expect(rows.map(({ fields }) => [...fields.values()].join())).toEqual([""]);
  });

  it.each(["Unsubscribed", "Opt-in", "Status"])("of consent counts as not subscribed: %s", async (name) => {
    const known = [text("A6", "e@example.com"), text("B6", name === "Unsubscribed" ? "no" : "subscribed")];
    const { rows } = await read(sheet(header("Email", name), ...people("B"), known));
    expect(rows.map(({ mark }) => mark !== undefined)).toEqual([...[true, true, true, true], false]);
    expect(rows.some(({ mark }) => mark?.isClear)).toBe(false);
  });

  it("in all rows of a column that may be consent stops the import", async () => {
    await expect(read(sheet(header("Email", "Newsletter"), ...people("B")))).rejects.toThrow(
      /"Newsletter" looks like consent/,
    );
    const { rows } = await read(sheet(header("Email", "Unsubscribed"), ...people("B")));
    expect(rows.every(({ mark }) => mark !== undefined)).toBe(true);
  });

  it("of the key rejects its row", async () => {
    const rows = [formula("A2"), error("A3", "#N/A"), date("A4")].map((cell) => [cell]);
    const { rejected } = await read(sheet(header("Email"), ...rows));
    expect(rejected.map(({ code }) => code)).toEqual(["key_unknown", "key_unknown", "key_unknown"]);
  });
});

it.each(["#N/A", "#REF!", "#NAME?"])("%s as text in a consent column is not understood", async (cell) => {
  const { rows } = await read(`Email,Unsubscribed\na@example.com,${cell}\nb@example.com,no\n`);
  expect(rows.map(({ mark }) => mark?.reason)).toEqual([`Unsubscribed: ${cell}`, undefined]);
  expect(rows[0]?.mark?.isClear).toBe(false);
});

describe("commands", () => {
  it("clear nothing, create nobody, and say once how many cells are unknown, also with -q", async () => {
    const service = await startSandbox({
      contents: { fields: ["City"], contacts: [{ key: "a@example.com", fields: { City: "Rome" } }] },
    });
    const path = await inputFile("", "people.xlsx");
    await writeFile(path, sheet(header("Email", "City"), ...people("B")));
    const done = await service.ecm(["import", path, "--blank", "clear", "-q", "--json"]);
    expect(parseSummary(done).rows).toMatchObject({ created: 3, unchanged: 1 });
    expect(done.stderr.match(/Column "City": 4 cells/g)).toHaveLength(1);
    expect((await readContacts(service)).get("a@example.com")?.fields).toEqual({ City: "Rome" });
    await writeFile(path, sheet(header("Email", "Unsubscribed"), ...people("B")));
    const marked = parseSummary(await service.ecm(["import", path, "--json", "--fresh"]));
    expect(marked.rows).toMatchObject({ created: 0 });
  });

  it("suppressions add --marked-rows loses nobody", async () => {
    const service = await startSandbox();
    const path = await inputFile("", "people.xlsx");
    await writeFile(path, sheet(header("Email", "Unsubscribed"), ...people("B")));
    const added = await service.ecm(["suppressions", "add", "--keys", path, "--marked-rows", "--json"]);
    expect(JSON.parse(added.stdout)).toHaveLength(4);
  });
});

it("a column whose postcodes lost leading zeros is named once, before the price", async () => {
  const csv =
    "Email,City\na@example.com,01067\nb@example.com,4109\nc@example.com,10115\nd@example.com,4229\n";
  const service = await startSandbox({ contents: { fields: ["City"] } });
  const { stderr } = await service.ecm(["import", await inputFile(csv), "--dry-run"]);
  expect(stderr).toContain('Column "City": 2 cells such as 4109 (line 3) may have lost a leading zero');
  const plain = await inputFile("Email,City\na@example.com,1\nb@example.com,20\nc@example.com,03\n");
  expect((await service.ecm(["import", plain, "--dry-run"])).stderr).not.toContain("leading zero");
});

it("addresses that are odd are named before the price, and imported as they are", async () => {
  const service = await startSandbox();
  const file = await inputFile("Email\nann@gmial.com\ninfo@example.com\n");
  const result = await service.ecm(["import", file, "--json"]);
  expect(result.stderr).toMatch(/1 address may be misspelled.*\n1 address of a role.*\n(?:.*\n)*To send:/);
  expect(parseSummary(result).rows).toMatchObject({ created: 2, rejected: 0 });
  const named = await service.ecm(["contact", "unsubscribe", "--keys", file, "--dry-run"]);
  expect(named.stderr).not.toContain("role");
});

it("whom a formula marks that no program has computed is not created, and is said", async () => {
  const service = await startSandbox();
  const rows = [
    header("Email", "Unsubscribed").join(""),
    `${text("A2", "gone@example.com")}<c r="B2"><f>IF(TRUE,"yes","no")</f><v>0</v></c>`,
    `${text("A3", "here@example.com")}${text("B3", "no")}`,
  ].map((cells, index) => `<row r="${index + 1}">${cells}</row>`);
  const path = await inputFile("", "a.xlsx");
  const sheets = [{ name: "A", rows: rows.join("") }];
  await writeFile(path, workbook({ sheets, isComputedOnOpening: true }));
  const result = await service.ecm(["import", path, "--json"]);
  expect(result.stderr).toContain('warning: Column "Unsubscribed": 1 cell');
  expect(parseSummary(result)).toMatchObject({ rows: { created: 1 }, consent: { not_subscribed: 1 } });
  expect([...(await readContacts(service)).keys()]).toEqual(["here@example.com"]);
});

it("a date beyond 9999 is unknown, also where its program writes it out", async () => {
  const late = '<c r="B2" t="d"><v>+010000-01-01T00:00:00Z</v></c>';
  const { rows } = await read(sheet(header("Email", "City"), [text("A2", "a@example.com"), late]));
  expect(rows[0]?.fields.get("f3")).toBeUndefined();
});
