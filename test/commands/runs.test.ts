import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, manyRows, summaryOf } from "../bulk/kit.ts";
import { startSandbox } from "../support/sandbox.ts";

describe("ecm runs", () => {
  it("lists none where there are none, without a profile", async () => {
    const { ecm } = await startSandbox();
    const result = await ecm(["runs", "list", "--json"], { env: { ECM_BASE_URL: "", ECM_API_KEY: "" } });
    expect(result).toMatchObject({ code: 0, stdout: "[]\n" });
  });

  it("takes no run for an empty word, also where there is only one", async () => {
    const { ecm } = await startSandbox();
    await ecm(["import", await inputFile(manyRows(2))]);
    for (const verb of ["show", "undo", "resume", "rejects"]) {
      expect(await ecm(["runs", verb, ""]), verb).toMatchObject({
        code: 5,
        stdout: "",
        stderr: expect.stringContaining('There is no run ""'),
      });
    }
    expect(JSON.parse((await ecm(["runs", "list", "--json"])).stdout)).toHaveLength(1);
  });

  it("lists the newest first, shows one, and takes the beginning of an id for the whole", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile(manyRows(20));
    const stopped = summaryOf(await ecm(["import", path, "--max-requests", "8", "--json"]));
    const done = summaryOf(await ecm(["import", await inputFile(manyRows(2)), "--json"]));
    const listed = JSON.parse((await ecm(["runs", "list", "--json"])).stdout) as {
      run: string;
      status: string;
    }[];
    expect(listed.map(({ run, status }) => [run, status])).toEqual([
      [done.run, "completed"],
      [stopped.run, "stopped"],
    ]);
    const shown = JSON.parse((await ecm(["runs", "show", stopped.run!.slice(0, -1), "--json"])).stdout);
    expect(shown).toMatchObject({
      run: stopped.run,
      kind: "import",
      status: "stopped",
      stoppedBy: "max-requests",
      file: path,
      done: stopped.rows.created,
      rows: stopped.rows,
    });
    expect((await ecm(["runs", "show", "last", "--json"])).stdout).toContain(done.run!);
    expect((await ecm(["runs", "list"], { terminalColumns: 120 })).stdout).toContain("stopped");
  });

  it("keeps its folders to their owner", async () => {
    const { ecm, env } = await startSandbox();
    const { run } = summaryOf(await ecm(["import", await inputFile("Email\na@x.org\nwrong\n"), "--json"]));
    const folder = join(env.ECM_STATE_DIR!, "runs", run!);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const files = await readdir(folder);
    expect(files).toEqual(expect.arrayContaining(["manifest.json", "journal", "rejects.csv"]));
    for (const file of files) expect((await stat(join(folder, file))).mode & 0o777, file).toBe(0o600);
  });

  it("says which run it does not know, and which beginnings mean several", async () => {
    const { ecm } = await startSandbox();
    await ecm(["import", await inputFile("Email\na@x.org\n")]);
    await ecm(["import", await inputFile("Email\nb@x.org\n")]);
    expect((await ecm(["runs", "show", "nothing"])).code).toBe(5);
    const several = await ecm(["runs", "show", "2"]);
    expect(several).toMatchObject({ code: 2 });
    expect(several.stderr).toContain("matches several runs");
  });

  it("removes a run only when told, and only one that is named whole", async () => {
    const { ecm } = await startSandbox();
    const stopped = summaryOf(
      await ecm(["import", await inputFile(manyRows(20)), "--max-requests", "8", "--json"]),
    );
    const done = summaryOf(await ecm(["import", await inputFile(manyRows(2)), "--json"]));
    for (const run of [done.run!, stopped.run!]) {
      const asked = await ecm(["runs", "remove", run]);
      expect(asked.code).toBe(2);
      expect(asked.stderr).toContain("--yes");
    }
    for (const word of ["", " ", done.run!.slice(0, -1), "2"]) {
      const refused = await ecm(["runs", "remove", word, "--yes"]);
      expect(refused).toMatchObject({ code: 2 });
      expect(refused.stderr).toContain("not the full id");
    }
    expect(JSON.parse((await ecm(["runs", "list", "--json"])).stdout)).toHaveLength(2);
    expect((await ecm(["runs", "rm", done.run!, "--yes"])).code).toBe(0);
    const asked = await ecm(["runs", "remove", "last"], { terminalColumns: 200, typed: "y\r" });
    expect(asked.stderr).toContain("of 20 rows not attempted");
    expect(asked.code).toBe(0);
    expect((await ecm(["runs", "list", "--json"])).stdout).toBe("[]\n");
  });

  it("goes on only in the account that the run belongs to", async () => {
    const one = await startSandbox();
    const other = await startSandbox();
    const stopped = summaryOf(
      await one.ecm(["import", await inputFile(manyRows(20)), "--max-requests", "8", "--json"]),
    );
    const refused = await one.ecm(["runs", "resume", stopped.run!], {
      env: { ECM_BASE_URL: other.baseUrl, ECM_API_KEY: other.apiKey },
    });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`Run ${stopped.run} belongs to ${one.baseUrl}`);
    expect((await one.ecm(["runs", "resume", stopped.run!])).code).toBe(0);
    const again = await one.ecm(["runs", "resume", stopped.run!]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("is finished");
  });

  it("prints nothing for a run without rejects", async () => {
    const { ecm } = await startSandbox();
    await ecm(["import", await inputFile("Email\na@x.org\n")]);
    expect(await ecm(["runs", "rejects", "last"])).toMatchObject({ code: 0, stdout: "" });
  });
});
