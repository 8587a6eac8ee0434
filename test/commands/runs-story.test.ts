/** What `runs list` and `runs show` say at a terminal: what each run did, where, and what can be done now. */
import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Manifest } from "../../src/bulk/runs/folder.ts";
import type { RunView } from "../../src/bulk/runs/stored-runs.ts";
import { inputFile, manyRows, parseSummary } from "../bulk/kit.ts";
import { spawnEcm, waitForResult } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const at = (terminalColumns: number) => ({ terminalColumns, env: { NO_COLOR: "1" } });
const withUpdate = "Email,First Name\np0@example.com,Other\nnew@example.com,New\nwrong,W\n";

/** One run of two creates; one of a create, an update and a rejection. */
async function twoRuns() {
  const sandbox = await startSandbox();
  const { ecm } = sandbox;
  const first = parseSummary(await ecm(["import", await inputFile(manyRows(2), "first.csv"), "--json"]));
  const second = parseSummary(await ecm(["import", await inputFile(withUpdate, "second.csv"), "--json"]));
  return { ...sandbox, first: first.run!, second: second.run! };
}

function cellsIn(line = ""): string[] {
  return line.trim().split(/\s{2,}/);
}

describe("runs list at a terminal", () => {
  it("tells what each run did, by the name of its file, and when to the minute", async () => {
    const { ecm, first, second } = await twoRuns();
    const { stdout } = await ecm("runs list", at(160));
    const [header, newest, oldest] = stdout.split("\n").map(cellsIn);
    const columns = "run started kind file status created updated rejected account";
    expect(header).toEqual(columns.split(" "));
    const today = expect.stringMatching(/^today, \d\d:\d\d$/);
    const counts = ["1", "1", "1"];
    expect(newest!.slice(0, -1)).toEqual([second, today, "import", "second.csv", "completed", ...counts]);
    expect(oldest).toContain(first);
    expect(oldest).toContain("first.csv");
    expect(oldest!.at(-1)).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it("has the columns that it had where no terminal is", async () => {
    const { ecm } = await twoRuns();
    const { stdout } = await ecm("runs list -o csv");
    expect(stdout.split("\n")[0]).toBe(
      "run,started,kind,file,status,created,updated,deleted,unchanged,skipped,rejected,pending,done,account",
    );
    const chosen = await ecm("runs list -o csv --columns created,folder");
    expect(chosen.stdout.split("\n")[0]).toBe("created,folder");
  });
});

describe("runs show at a terminal", () => {
  it("ends with the last lines of the run, and an undo of all of it", async () => {
    const { ecm, second } = await twoRuns();
    const { stdout } = await ecm("runs show last", at(80));
    const text = stdout.replace(/\s+/g, " ");
    expect(text).toContain("3 rows");
    expect(text).toMatch(/1 created.* 1 updated.* 1 rejected/);
    expect(text).toContain("Rejected rows (fix and import again): ");
    expect(text).toContain(`Fix them, then: ecm runs retry ${second}`);
    expect(text).toContain(`Undo: ecm runs undo ${second} --delete-created`);
  });

  it("of a run that stopped says why, and how to resume it", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile(manyRows(20));
    const { run } = parseSummary(await ecm(`import ${path} --max-requests 8 --json`));
    const { stdout } = await ecm("runs show last", at(80));
    expect(stdout).toMatch(/Stopped by max-requests: \d+ contacts done/);
    expect(stdout).toContain(`Resume with: ecm runs resume ${run}`);
  });

  it("of a run that was killed says what is unknown", async () => {
    const { ecm, env } = await startSandbox();
    const { run } = parseSummary(await ecm(["import", await inputFile(manyRows(2)), "--json"]));
    const folder = join(env.ECM_STATE_DIR!, "runs", run!);
    const journal = join(folder, "journal");
    // As a kill leaves it: the last outcome and the end are missing, and no summary was written.
    const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
    const lastDone = lines.findLastIndex((line) => line.includes('"kind":"done"'));
    await writeFile(journal, `${lines.slice(0, lastDone).join("\n")}\n`);
    await utimes(journal, new Date(), new Date());
    const { summary: _summary, ...manifest } = JSON.parse(
      await readFile(join(folder, "run.json"), "utf8"),
    ) as Manifest;
    await writeFile(join(folder, "run.json"), JSON.stringify(manifest));
    const { stdout } = await ecm("runs show last", at(80));
    const text = stdout.replace(/\s+/g, " ");
    expect(text).toContain("Stopped without a word, perhaps killed: 1 contact done");
    expect(text).toContain("It is unknown whether 1 request arrived; resuming finds out");
    expect(text).toContain(`Resume with: ecm runs resume ${run}`);
  });

  it("is not undone in another account, and the command for its own is named", async () => {
    const { ecm, baseUrl, apiKey, second } = await twoRuns();
    const other = await startSandbox();
    const elsewhere = { ECM_BASE_URL: other.baseUrl, ECM_API_KEY: other.apiKey };
    const undo = async () => {
      const { code, stderr } = await ecm(`runs undo ${second}`, { env: elsewhere });
      expect(code).toBe(2);
      return stderr;
    };
    expect(await undo()).toContain(`Select that account: ecm --base-url ${baseUrl} runs undo ${second}`);
    const login = ["auth", "login", "--profile", "first", "--base-url", baseUrl, "--no-verify"];
    const own = { stdin: `${apiKey}\n`, env: { ECM_BASE_URL: "", ECM_API_KEY: "" } };
    const saved = await ecm([...login, "--api-key-stdin"], own);
    expect(saved.code, saved.stderr).toBe(0);
    expect(await undo()).toContain(`Select that account: ecm --profile first runs undo ${second}`);
  });
});

describe("a run that waits for the hour", () => {
  it("is listed and shown with the time at which it resumes, as long as it is at work", async () => {
    const { ecm, env } = await startSandbox({ hourlyLimit: 6, windowSeconds: 1800 });
    const job = spawnEcm(["import", await inputFile(manyRows(20)), "-q"], env);
    const ended = waitForResult(job);
    const listed = async () => {
      const [run] = JSON.parse((await ecm("runs list --json")).stdout) as RunView[];
      return run;
    };
    await expect.poll(async () => (await listed())?.waiting, { timeout: 60_000 }).toBeTruthy();
    const { waiting, status } = (await listed())!;
    expect([status, waiting]).toEqual([
      "unfinished",
      { until: expect.any(String), why: "hourly limit reached" },
    ]);
    const left = Date.parse(waiting!.until) - Date.now();
    expect(left).toBeGreaterThan(60_000);
    // The window's end in whole seconds of the service, and a moment more.
    expect(left).toBeLessThan(1810_000);
    const list = await ecm("runs list", at(140));
    expect(list.stdout).toMatch(/waiting until \d\d:\d\d/);
    const show = async () => (await ecm("runs show last", at(100))).stdout;
    const shown = await show();
    expect(shown).toMatch(/Waiting until \d\d:\d\d \(hourly limit reached\); it resumes by itself/);
    expect(shown).not.toContain("Resume with");
    job.kill("SIGKILL");
    await ended;
    expect(await listed()).toMatchObject({ status: "unfinished", waiting: null });
    expect(await show()).toMatch(/Stopped without a word, perhaps killed.*\n.*Resume with: ecm runs resume/s);
  });

  it("is told of no wait that is over", async () => {
    const { ecm, env } = await startSandbox({ hourlyLimit: 6, windowSeconds: 8 });
    const { run } = parseSummary(await ecm(["import", await inputFile(manyRows(8)), "--json"]));
    expect(await readdir(join(env.ECM_STATE_DIR!, "runs", run!))).not.toContain("wait.json");
    const shown = JSON.parse((await ecm("runs show last --json")).stdout) as RunView;
    expect(shown).toMatchObject({ status: "completed", waiting: null });
  });
});

describe("runs undo", () => {
  it("says how to delete what it left, and when the last run was an undo itself", async () => {
    const { ecm, second } = await twoRuns();
    const undo = await ecm("runs undo last --yes", at(100));
    expect(undo.stderr).toContain(`To delete what the run created: ecm runs undo ${second} --delete-created`);
    const again = await ecm("runs undo last --dry-run");
    expect(again.stderr).toContain(`was itself an undo, of run ${second}`);
  });
});
