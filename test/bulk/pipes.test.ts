/** Input that can be read only once: standard input, FIFOs, process substitution. */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { spawnEcm, temporaryFolder, temporaryHome, waitForResult } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { manyRows, parseSummary, readContacts, summaryOf } from "./kit.ts";

async function fifo(): Promise<string> {
  const path = join(await temporaryFolder(), "pipe");
  execFileSync("mkfifo", [path]);
  return path;
}

describe.skipIf(process.platform === "win32")("a FIFO", () => {
  it("is read like standard input: import, contact mutate --keys, lists sync", async () => {
    const service = await startSandbox();
    const path = await fifo();
    const importFromPipe = async (text: string, args: string[]) => {
      const [result] = await Promise.all([service.ecm(args), writeFile(path, text)]);
      expect(result.stderr).not.toMatch(/error/);
      return parseSummary(result).rows;
    };
    expect(await importFromPipe(manyRows(3), ["import", path, "--json"])).toMatchObject({
      read: 3,
      created: 3,
    });
    await service.ecm("lists create L");
    const keys = "p0@example.com\np1@example.com\n";
    const mutate = ["contact", "mutate", "--keys", path, "--set", "First Name=New", "--json"];
    expect(await importFromPipe(keys, mutate)).toMatchObject({ read: 2, updated: 2 });
    expect(await importFromPipe(keys, ["lists", "sync", "L", path, "--json"])).toMatchObject({
      read: 2,
      updated: 2,
    });
    expect((await readContacts(service)).get("p0@example.com")?.lists).toHaveLength(1);
  });

  it("can be resumed after the pipe is gone", async () => {
    const service = await startSandbox();
    const path = await fifo();
    const args = ["import", path, "--max-requests", "5", "--json"];
    const [stopped] = await Promise.all([service.ecm(args), writeFile(path, manyRows(9))]);
    const { run, rows } = parseSummary(stopped);
    expect(rows.pending).toBeGreaterThan(0);
    const resumed = await summaryOf(service.ecm, `runs resume ${run}`);
    expect(resumed.rows).toMatchObject({ read: 9, created: 9 });
  });
});

it.skipIf(process.platform === "win32")("can be interrupted while it waits for a writer", async () => {
  const home = await temporaryHome();
  const child = spawnEcm(["--profile", "sandbox", "import", await fifo()], home);
  child.stderr?.once("data", () => child.kill("SIGINT"));
  expect(await waitForResult(child)).toMatchObject({ code: 130 });
});

it("messages about standard input call it so", async () => {
  const service = await startSandbox();
  const result = await service.ecm("import -", { stdin: 'Email\n"a@example.com\n' });
  expect(result.code).toBe(2);
  expect(result.stderr).toContain("error: standard input:2: a quote opens here");
  const nameless = await service.ecm("import -", { stdin: "Name\nAda\n" });
  expect(nameless.stderr).toContain("error: standard input:1: no key column");
});
