/** Workbooks, JSON and gzip through the whole engine. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { textRow, workbook } from "./input/workbooks.ts";
import { contactsIn, summaryOf } from "./kit.ts";

async function fileOf(content: Buffer | string, name: string): Promise<string> {
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
    const path = await fileOf(workbook({ sheets: [people(9)] }), "people.csv");
    const stopped = summaryOf(await service.ecm(["import", path, "--max-requests", "6", "--json"]));
    expect(stopped).toMatchObject({ status: "stopped", rows: { read: 9 } });
    const resumed = summaryOf(await service.ecm(["runs", "resume", stopped.run!, "--json"]));
    expect(resumed).toMatchObject({ status: "completed", rows: { created: 9 } });
    expect((await runsIn(service.env)).filter((name) => name.startsWith(".unpacked"))).toEqual([]);
    expect((await contactsIn(service)).get("p8@example.com")?.fields).toEqual({ "First Name": "First 8" });
    const again = summaryOf(await service.ecm(["import", path, "--json"]));
    expect(again.rows).toMatchObject({ unchanged: 9 });
  });

  it("gives rejected rows as CSV, with the numbers of its rows", async () => {
    const service = await startSandbox();
    const rows = textRow(1, ["Email", "First Name"]) + textRow(5, ["no address", "A, B"]);
    const path = await fileOf(workbook({ sheets: [{ name: "P", rows }] }), "people.xlsx");
    const { rejects } = summaryOf(await service.ecm(["import", path, "--json"]));
    const text = await readFile(rejects!, "utf8");
    expect(text).toMatch(/^Email,First Name,ecm_line,ecm_error,ecm_message\nno address,"A, B",5,key_/);
    const fixed = await fileOf(text.replace("no address", "a@example.com"), "fixed.csv");
    expect(summaryOf(await service.ecm(["import", fixed, "--json"])).rows).toMatchObject({ created: 1 });
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
    expect(summaryOf(imported).rows).toMatchObject({ created: 3 });
    await service.ecm(["lists", "create", "L"]);
    const path = await fileOf(bytes, "people");
    const synced = await service.ecm(["lists", "sync", "L", path, "--sheet", "1", "--json"]);
    expect(summaryOf(synced)).toMatchObject({ rows: { updated: 2 } });
    const mutate = ["contact", "mutate", "--keys", path, "--sheet", "Two", "--set", "Last Name=X", "--json"];
    expect(summaryOf(await service.ecm(mutate)).rows).toMatchObject({ updated: 3 });
  });
});

it("JSON: a missing member changes nothing, a blank one clears when told to", async () => {
  const service = await startSandbox();
  const first = '[{"Email":"a@example.com","First Name":"Ada","Last Name":"L"}]';
  await service.ecm(["import", await fileOf(first, "people.json")]);
  const second = '{"Email":"a@example.com","First Name":""}\n{"Email":"b@example.com","Last Name":"M"}\n';
  const args = ["import", await fileOf(second, "people.ndjson"), "--blank", "clear", "--json"];
  expect(summaryOf(await service.ecm(args)).rows).toMatchObject({ updated: 1, created: 1 });
  expect((await contactsIn(service)).get("a@example.com")?.fields).toMatchObject({ "Last Name": "L" });
  expect((await contactsIn(service)).get("a@example.com")?.fields["First Name"] ?? "").toBe("");
});
