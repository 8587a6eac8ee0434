/** Workbooks, JSON and gzip through the whole engine. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { textRow, workbook } from "../tables/workbooks.ts";
import { parseSummary, readContacts } from "./kit.ts";

async function writeFileIn(content: Buffer | string, name: string): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, content);
  return path;
}

/** A header and this many contacts. */
function people(count: number, name = "People") {
  const rows = Array.from({ length: count }, (_, at) =>
    textRow(at + 2, [`p${at}@example.com`, `First ${at}`]),
  );
  return { name, rows: textRow(1, ["Email", "First Name"]) + rows.join("") };
}

async function runsIn(env: Record<string, string>): Promise<string[]> {
  return readdir(join(env.ECM_STATE_DIR!, "runs"));
}

describe("a workbook", () => {
  it("imports, resumes after a stop, and leaves nothing unpacked behind", async () => {
    const service = await startSandbox();
    const path = await writeFileIn(workbook({ sheets: [people(9)] }), "people.csv");
    const stopped = parseSummary(await service.ecm(["import", path, "--max-requests", "6", "--json"]));
    expect(stopped).toMatchObject({ status: "stopped", rows: { read: 9 } });
    const resumed = parseSummary(await service.ecm(["runs", "resume", stopped.run!, "--json"]));
    expect(resumed).toMatchObject({ status: "completed", rows: { created: 9 } });
    expect((await runsIn(service.env)).filter((name) => name.startsWith(".unpacked"))).toEqual([]);
    expect((await readContacts(service)).get("p8@example.com")?.fields).toEqual({ "First Name": "First 8" });
    const again = parseSummary(await service.ecm(["import", path, "--json"]));
    expect(again.rows).toMatchObject({ unchanged: 9 });
  });

  it("gives rejected rows as CSV, with the numbers of its rows", async () => {
    const service = await startSandbox();
    const rows = textRow(1, ["Email", "First Name"]) + textRow(5, ["no address", "A, B"]);
    const path = await writeFileIn(workbook({ sheets: [{ name: "P", rows }] }), "people.xlsx");
    const { rejects } = parseSummary(await service.ecm(["import", path, "--json"]));
    const text = await readFile(rejects!, "utf8");
    expect(text).toMatch(/^Email,First Name,ecm_line,ecm_error,ecm_message\nno address,"A, B",5,key_/);
    const fixed = await writeFileIn(text.replace("no address", "a@example.com"), "fixed.csv");
    expect(parseSummary(await service.ecm(["import", fixed, "--json"])).rows).toMatchObject({ created: 1 });
  });

  it("through a pipe, packed, for lists sync and --keys too, with --sheet", async () => {
    const service = await startSandbox();
    const bytes = gzipSync(workbook({ sheets: [people(2, "One"), people(3, "Two")] }));
    const refused = await service.ecm(["import", "-"], { stdin: bytes });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('standard input has 2 sheets: "One", "Two"');
    const dollars = gzipSync(workbook({ sheets: [people(2, "US$ 1"), people(3, "Two")] }));
    const hinted = await service.ecm(["import", "-"], { stdin: dollars });
    expect(hinted.stderr).toContain("--sheet 'US$ 1', or its number");
    const imported = await service.ecm(["import", "-", "--sheet", "Two", "--json"], { stdin: bytes });
    expect(parseSummary(imported).rows).toMatchObject({ created: 3 });
    await service.ecm(["lists", "create", "L"]);
    const path = await writeFileIn(bytes, "people");
    const synced = await service.ecm(["lists", "sync", "L", path, "--sheet", "1", "--json"]);
    expect(parseSummary(synced)).toMatchObject({ rows: { updated: 2 } });
    const mutate = ["contact", "mutate", "--keys", path, "--sheet", "Two", "--set", "Last Name=X", "--json"];
    expect(parseSummary(await service.ecm(mutate)).rows).toMatchObject({ updated: 3 });
  });
});

it("JSON: a missing member changes nothing, a blank one clears when told to", async () => {
  const service = await startSandbox();
  const first = '[{"Email":"a@example.com","First Name":"Ada","Last Name":"L"}]';
  await service.ecm(["import", await writeFileIn(first, "people.json")]);
  const second = '{"Email":"a@example.com","First Name":""}\n{"Email":"b@example.com","Last Name":"M"}\n';
  const args = ["import", await writeFileIn(second, "people.ndjson"), "--blank", "clear", "--json"];
  expect(parseSummary(await service.ecm(args)).rows).toMatchObject({ updated: 1, created: 1 });
  expect((await readContacts(service)).get("a@example.com")?.fields).toMatchObject({ "Last Name": "L" });
  expect((await readContacts(service)).get("a@example.com")?.fields["First Name"] ?? "").toBe("");
});

it("JSON: a rejected element without a member stops no sync", async () => {
  const { ecm } = await startSandbox();
  const path = await writeFileIn(
    '{"Note":"x","Email":"a@example.com"}\n{"Note":"y","Email":"b@example.com"}\n{"Email":"nobody"}\n',
    "people.ndjson",
  );
  await ecm(["import", path, "--list", "L", "--create-missing", "--ignore-unmapped"]);
  const synced = await ecm(["lists", "sync", "L", path, "--json"]);
  expect(synced.code, synced.stderr).toBe(3);
  expect(parseSummary(synced).rows).toMatchObject({ read: 3, unchanged: 2, rejected: 1, pending: 0 });
});

describe("a rejects file", () => {
  const before =
    '[{"Email":"a@example.com","First Name":"Ada","Last Name":"L"},{"Email":"b@example.com","First Name":"Bob","Last Name":"M"}]';

  /** Imports a file of rejected rows, and its rejects file once it is fixed as told. */
  async function fixedAndImported(input: string, name: string, fix: (text: string) => string) {
    const service = await startSandbox();
    const { ecm } = service;
    await ecm(["import", await writeFileIn(before, "before.json")]);
    const path = await writeFileIn(input, name);
    const rejected = parseSummary(await ecm(["import", path, "--blank", "clear", "--json"]));
    const text = await readFile(rejected.rejects!, "utf8");
    const fixed = await writeFileIn(fix(text), "fixed.csv");
    const result = await ecm(["import", fixed, "--blank", "clear", "--json"]);
    expect(result.stdout, result.stderr).not.toBe("");
    const fields = new Map([...(await readContacts(service))].map(([key, contact]) => [key, contact.fields]));
    return { text, summary: parseSummary(result), fields };
  }

  const withAt = (text: string) => text.replaceAll("_example.com", "@example.com");

  it("of JSON keeps a missing member missing, and a blank one blank", async () => {
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

  it("of rows that are too short clears nothing, and takes what is filled in", async () => {
    const { text, summary, fields } = await fixedAndImported(
      "Email;First Name;Last Name\na_example.com;Anna\nb_example.com\n",
      "people.csv",
      (text) => withAt(text).replace("b@example.com;;;", "b@example.com;;N;"),
    );
    expect(text).toMatch(/^b_example\.com;;;3;key_\w+;.*;First Name,Last Name$/m);
    expect(summary.rows).toMatchObject({ updated: 2 });
    expect(fields.get("a@example.com")).toEqual({ "First Name": "Anna", "Last Name": "L" });
    expect(fields.get("b@example.com")).toEqual({ "First Name": "Bob", "Last Name": "N" });
  });

  it("clears nothing either without its other columns, in another order", async () => {
    const { summary, fields } = await fixedAndImported(
      "Email;First Name;Last Name\na_example.com;Anna\nb_example.com\n",
      "people.csv",
      (text) =>
        withAt(text).replaceAll(/^(.*?);(.*?);(.*?);.*?;.*?;.*;(.*)$/gm, (...cells: string[]) =>
          [4, 3, 1, 2].map((place) => cells[place]).join(";"),
        ),
    );
    expect(summary.rows).toMatchObject({ read: 2, updated: 1, unchanged: 1 });
    expect(fields.get("a@example.com")).toEqual({ "First Name": "Anna", "Last Name": "L" });
    expect(fields.get("b@example.com")).toMatchObject({ "First Name": "Bob" });
  });

  it("that is rejected again says the same again, with names of any kind", async () => {
    const { ecm } = await startSandbox();
    const path = await writeFileIn(
      '{"Email":"a_example.com","x, \\"y\\"":"1"}\n{"Email":"b_example.com","Zeta":"2"}\n',
      "people.ndjson",
    );
    const rejects = async (file: string) => {
      const result = await ecm(["import", file, "--ignore-unmapped", "--json"]);
      return readFile(parseSummary(result).rejects!, "utf8");
    };
    const first = await rejects(path);
    expect(first).toContain('"""x, """"y"""""""');
    const again = await rejects(await writeFileIn(first, "again.csv"));
    // The rows are on other lines now.
    const withoutLines = (text: string) => text.replaceAll(/,\d+,key_/g, ",key_");
    expect(withoutLines(again)).toBe(withoutLines(first));
  });

  it("has no further column where no row lacks a cell", async () => {
    const { text } = await fixedAndImported("Email,First Name\na_example.com,\n", "people.csv", withAt);
    expect(text).toMatch(/^Email,First Name,ecm_line,ecm_error,ecm_message\n/);
  });
});
