/** Input that can be read only once: standard input, FIFOs, process substitution. */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refused, spawnEcm, temporaryFolder, temporaryHome, waitForResult } from "../support/ecm.ts";
import { manyRows, readContacts, startAccount } from "./kit.ts";

async function fifo(): Promise<string> {
  const path = join(await temporaryFolder(), "pipe");
  execFileSync("mkfifo", [path]);
  return path;
}

describe.skipIf(process.platform === "win32")("a FIFO", () => {
  it("is read like standard input: import, contact mutate --keys, lists sync", async () => {
    const { run, service } = await startAccount({ contents: { lists: ["L"] } });
    const path = await fifo();
    const rowsOf = async (text: string, command: string) => {
      const [result] = await Promise.all([run(command), writeFile(path, text)]);
      expect(result.stderr).not.toMatch(/error/);
      return result.rows;
    };
    expect(await rowsOf(manyRows(3), `import ${path}`)).toMatchObject({ read: 3, created: 3 });
    const keys = "p0@example.com\np1@example.com\n";
    for (const command of [`contact mutate --keys ${path} --set 'First Name=New'`, `lists sync L ${path}`])
      expect(await rowsOf(keys, command)).toMatchObject({ read: 2, updated: 2 });
    expect((await readContacts(service)).get("p0@example.com")?.lists).toHaveLength(1);
  });

  it("can be resumed after the pipe is gone", async () => {
    const { run } = await startAccount();
    const path = await fifo();
    const importing = run(`import ${path} --max-requests 5`);
    const [stopped] = await Promise.all([importing, writeFile(path, manyRows(9))]);
    expect(stopped.rows.pending).toBeGreaterThan(0);
    const resumed = await run(`runs resume ${stopped.run}`);
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
  const { ecm } = await startAccount();
  const stdin = 'Email\n"a@example.com\n';
  await refused(ecm("import -", { stdin }), 2, "error: standard input:2: a quote opens here");
  await refused(ecm("import -", { stdin: "Name\nAda\n" }), 2, "error: standard input:1: no key column");
});
