/** `runs rejects --pending`: rejected rows that were never imported again. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, parseSummary } from "../bulk/kit.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

const rows = "Email,First Name\nada@example.com,Ada\nnot an address,Bob\ncy@,Cy\n";

async function pendingLines({ ecm }: RunningSandbox): Promise<[line: number, name: string][]> {
  const shown = await ecm(["runs", "rejects", "--pending", "--json"]);
  expect(shown.code, shown.stderr).toBe(0);
  return JSON.parse(shown.stdout).map(({ line, row }: { line: number; row: Record<string, string> }) => [
    line,
    row["First Name"],
  ]);
}

describe("runs rejects --pending", () => {
  it("names rows until they are imported from a rejects file, also where nothing changes", {
    tags: "slow",
  }, async () => {
    const service = await startSandbox();
    const { ecm } = service;
    const rejects = parseSummary(await ecm(["import", await inputFile(rows), "--json"])).rejects!;
    expect(await pendingLines(service)).toEqual([
      [3, "Bob"],
      [4, "Cy"],
    ]);
    const text = await readFile(rejects, "utf8");
    await ecm(["contact", "create", "--key", "bob@example.com", "--set", "First Name=Bob"]);
    await writeFile(rejects, text.replace("not an address", "bob@example.com"));
    const retried = parseSummary(await ecm(["runs", "retry", "last", "--json"]));
    expect(retried.rows).toMatchObject({ unchanged: 1, rejected: 1 });
    // What was rejected again is pending once, as the later run has it.
    expect(await pendingLines(service)).toEqual([[3, "Cy"]]);
    // The first rejects file is mended as well as that of the later run.
    await writeFile(
      rejects,
      text.replace("not an address", "bob@example.com").replace("cy@,", "cy@example.com,"),
    );
    expect(parseSummary(await ecm(["import", rejects, "--json"])).rows).toMatchObject({ rejected: 0 });
    expect(await pendingLines(service)).toEqual([]);
  });

  it("names a row once however often it was rejected, and not where its key was written since", {
    tags: "slow",
  }, async () => {
    const service = await startSandbox({ contents: { contacts: [{ key: "a@old.example" }] } });
    const { ecm } = service;
    await ecm(["import", await inputFile(rows)]);
    await ecm(["import", await inputFile(rows, "again.csv")]);
    expect(await pendingLines(service)).toHaveLength(2);
    const twice = "Email,Old,First Name\nx@example.com,a@old.example,X\ny@example.com,a@old.example,Y\n";
    await ecm(["import", await inputFile(twice), "--map", "Old=old-key"]);
    expect(await pendingLines(service)).toHaveLength(4);
    await ecm(["import", await inputFile("Email,First Name\nx@example.com,X\n")]);
    expect((await pendingLines(service)).map(([, name]) => name)).toEqual(["Bob", "Cy", "Y"]);
  });

  it("tells rows of two files apart that are on one line and wrong in one way, and two structures", {
    tags: "slow",
  }, async () => {
    const service = await startSandbox();
    const { ecm } = service;
    await ecm(["import", await inputFile("Email,First Name\n,Ada\n", "one.csv")]);
    const second = await ecm(["import", await inputFile("Email,First Name\n,Bob\n", "two.csv"), "--json"]);
    const { rejects, run } = parseSummary(second);
    const text = await readFile(rejects!, "utf8");
    await writeFile(rejects!, text.replace(",Bob", "bob@example.com,Bob"));
    expect((await ecm(["runs", "retry", run!])).code).toBe(0);
    expect(await pendingLines(service)).toEqual([[2, "Ada"]]);

    await ecm(["import", await inputFile("Email,First Name\ndora@example.com,Dora,more\n")]);
    const dora = await ecm([
      "import",
      await inputFile("Email,First Name\ndora@example.com,Dora\n"),
      "--json",
    ]);
    expect(await pendingLines(service)).toHaveLength(1);
    const manifest = join(service.env.ECM_STATE_DIR!, "runs", parseSummary(dora).run!, "manifest.json");
    const written = await readFile(manifest, "utf8");
    await writeFile(manifest, written.replace(/"structureId": "\w+"/, '"structureId": "another"'));
    expect((await pendingLines(service)).map(([, name]) => name)).toEqual(["Ada", "Dora"]);
  });

  it("advises the command with the account of the run", { tags: "slow" }, async () => {
    const { ecm, env } = await startSandbox();
    const embedded = { ...env, ECM_BASE_URL: "", ECM_API_KEY: "" };
    await ecm(["-p", "sandbox", "import", await inputFile(rows)], { env: embedded });
    const shown = await ecm(["runs", "rejects", "--pending"], { env: embedded });
    expect(shown.stderr).toMatch(/ecm (?:-p|--profile) sandbox runs retry /);
  });

  it("takes no run; says so where nothing is pending", async () => {
    const { ecm } = await startSandbox();
    expect((await ecm(["runs", "rejects", "last", "--pending"])).code).toBe(2);
    const none = await ecm(["runs", "rejects", "--pending", "--json"]);
    expect(none.stdout.trim()).toBe("[]");
  });
});
