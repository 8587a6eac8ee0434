/** Workbooks, JSON and gzip through the whole engine. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { inputFile, readContacts, refused, startAccount } from "../kit.ts";
import { textRow, workbook } from "../tables/workbooks.ts";

/** A header and this many contacts. */
function people(count: number, name = "People") {
  const rows = Array.from({ length: count }, (_, at) =>
    textRow(at + 2, [`p${at}@example.com`, `First ${at}`]),
  );
  return { name, rows: textRow(1, ["Email", "First Name"]) + rows.join("") };
}

it("a workbook imports, resumes after a stop, and leaves nothing unpacked behind", async () => {
  const { run, fieldsOf, env } = await startAccount();
  const command = `import ${await inputFile(workbook({ sheets: [people(9)] }), "people.csv")}`;
  const stopped = await run(`${command} --max-requests 6`);
  expect(stopped).toMatchObject({ status: "stopped", rows: { read: 9 } });
  const resumed = await run(`runs resume ${stopped.run}`);
  expect(resumed).toMatchObject({ status: "completed", rows: { created: 9 } });
  const runs = await readdir(join(env.ECM_STATE_DIR!, "runs"));
  expect(runs.filter((name) => name.startsWith(".unpacked"))).toEqual([]);
  expect(await fieldsOf("p8@example.com")).toEqual({ "First Name": "First 8" });
  expect((await run(command)).rows).toMatchObject({ unchanged: 9 });
});

it("a workbook gives rejected rows as CSV, with the numbers of its rows", async () => {
  const { run } = await startAccount();
  const rows = textRow(1, ["Email", "First Name"]) + textRow(5, ["no address", "A, B"]);
  const path = await inputFile(workbook({ sheets: [{ name: "P", rows }] }), "people.xlsx");
  const text = await readFile((await run(`import ${path}`)).rejects!, "utf8");
  expect(text).toMatch(/^Email,First Name,ecm_line,ecm_error,ecm_message\nno address,"A, B",5,key_/);
  const fixed = await inputFile(text.replace("no address", "a@example.com"), "fixed.csv");
  expect((await run(`import ${fixed}`)).rows).toMatchObject({ created: 1 });
});

it("a workbook through a pipe, packed, for lists sync too, with --sheet", async () => {
  const { ecm, run } = await startAccount({ contents: { lists: ["L"] } });
  const bytes = gzipSync(workbook({ sheets: [people(2, "US$ 1"), people(3, "Two")] }));
  const sheets = 'standard input has 2 sheets: "US$ 1", "Two"';
  await refused(ecm("import -", { stdin: bytes }), 2, sheets, "--sheet 'US$ 1', or its number");
  const imported = await run("import - --sheet Two", { stdin: bytes });
  expect(imported.rows).toMatchObject({ created: 3 });
  const path = await inputFile(bytes, "people");
  expect((await run(`lists sync L ${path} --sheet 1`)).rows).toMatchObject({ updated: 2 });
});

it("in JSON a rejected element without a member stops no sync", async () => {
  const { ecm, run } = await startAccount();
  const path = await inputFile(
    '{"Note":"x","Email":"a@example.com"}\n{"Note":"y","Email":"b@example.com"}\n{"Email":"nobody"}\n',
    "people.ndjson",
  );
  await ecm(`import ${path} --list L --create-missing --ignore-unmapped`);
  const rows = { read: 3, unchanged: 2, rejected: 1, pending: 0 };
  expect(await run(`lists sync L ${path}`)).toMatchObject({ code: 3, rows });
});

const before = "Email,First Name,Last Name\na@example.com,Ada,L\nb@example.com,Bob,M\n";

/** Imports a file of rejected rows, and its rejects file once it is fixed as told. */
async function fixedAndImported(input: string, name: string, fix: (text: string) => string) {
  const { run, service } = await startAccount();
  await run(`import ${await inputFile(before)}`);
  const rejected = await run(`import ${await inputFile(input, name)} --blank clear`);
  const text = await readFile(rejected.rejects!, "utf8");
  const summary = await run(`import ${await inputFile(fix(text), "fixed.csv")} --blank clear`);
  const fields = new Map([...(await readContacts(service))].map(([key, contact]) => [key, contact.fields]));
  return { text, summary, fields };
}

const withAt = (text: string) => text.replaceAll("_example.com", "@example.com");
const short = "Email;First Name;Last Name\na_example.com;Anna\nb_example.com\n";

it("a rejects file of JSON keeps a missing member missing, and a blank one blank", async () => {
  const { text, summary, fields } = await fixedAndImported(
    '{"Email":"a_example.com","First Name":""}\n{"Email":"b_example.com","Last Name":"N"}\n',
    "people.ndjson",
    (text) => text.replaceAll(/([ab])_example\.com,/g, "$1@example.com,"),
  );
  expect(text).toMatch(/^Email,First Name,Last Name,ecm_line,ecm_error,ecm_message,ecm_missing\n/);
  expect(text).toMatch(/^a_example\.com,,,1,key_\w+,.*,Last Name$/m);
  expect(text).toMatch(/^b_example\.com,,N,2,key_\w+,.*,First Name$/m);
  expect(summary.rows).toMatchObject({ read: 2, updated: 2 });
  expect(fields.get("a@example.com")).toMatchObject({ "Last Name": "L" });
  expect(fields.get("a@example.com")!["First Name"] ?? "").toBe("");
  expect(fields.get("b@example.com")).toEqual({ "First Name": "Bob", "Last Name": "N" });
});

it("a rejects file of rows that are too short clears nothing, and takes what is filled in", async () => {
  const { text, summary, fields } = await fixedAndImported(short, "people.csv", (text) =>
    withAt(text).replace("b@example.com;;;", "b@example.com;;N;"),
  );
  expect(text).toMatch(/^b_example\.com;;;3;key_\w+;.*;First Name,Last Name$/m);
  expect(summary.rows).toMatchObject({ updated: 2 });
  expect(fields.get("a@example.com")).toEqual({ "First Name": "Anna", "Last Name": "L" });
  expect(fields.get("b@example.com")).toEqual({ "First Name": "Bob", "Last Name": "N" });
});

it("a rejects file clears nothing either without its other columns, in another order", async () => {
  const { summary, fields } = await fixedAndImported(short, "people.csv", (text) =>
    withAt(text).replaceAll(/^(.*?);(.*?);(.*?);.*?;.*?;.*;(.*)$/gm, "$4;$3;$1;$2"),
  );
  expect(summary.rows).toMatchObject({ read: 2, updated: 1, unchanged: 1 });
  expect(fields.get("a@example.com")).toEqual({ "First Name": "Anna", "Last Name": "L" });
  expect(fields.get("b@example.com")).toMatchObject({ "First Name": "Bob" });
});

it("a rejects file that is rejected again says the same again, with names of any kind", async () => {
  const { run } = await startAccount();
  const path = await inputFile(
    '{"Email":"a_example.com","x, \\"y\\"":"1"}\n{"Email":"b_example.com","Zeta":"2"}\n',
    "people.ndjson",
  );
  const rejects = async (file: string) =>
    readFile((await run(`import ${file} --ignore-unmapped`)).rejects!, "utf8");
  const first = await rejects(path);
  expect(first).toContain('"""x, """"y"""""""');
  const again = await rejects(await inputFile(first, "again.csv"));
  // The rows are on other lines now.
  const withoutLines = (text: string) => text.replaceAll(/,\d+,key_/g, ",key_");
  expect(withoutLines(again)).toBe(withoutLines(first));
});
