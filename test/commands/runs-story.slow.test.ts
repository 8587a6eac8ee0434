/** What `runs list` and `runs show` say at a terminal: what each run did, where, and what can be done now. */
import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Manifest } from "../../src/bulk/runs/folder.ts";
import type { RunView } from "../../src/bulk/runs/stored-runs.ts";
import type { Clock } from "../../src/wire.ts";
import { inputFile, manyRows, startSandbox, summaryOf } from "../kit.ts";
import { done, type Ecm, ends, readJson, spawnEcm, waitForResult } from "../support/ecm.ts";

const at = (terminalColumns: number) => ({ terminalColumns, env: { NO_COLOR: "1" } });
const withUpdate = "Email,First Name\np0@example.com,Other\nnew@example.com,New\nwrong,W\n";

/** What a person reads of a run, whatever the width. */
const shown = async (ecm: Ecm) => (await done(ecm("runs show last", at(80)))).replace(/\s+/g, " ");

const imported = async (ecm: Ecm, text: string, name?: string, flags = "") =>
  (await summaryOf(ecm, `import ${await inputFile(text, name)} ${flags}`)).run!;

/** One run of two creates; one of a create, an update and a rejection. */
async function twoRuns() {
  const sandbox = await startSandbox();
  const { ecm } = sandbox;
  const first = await imported(ecm, manyRows(2), "first.csv");
  return { ...sandbox, first, second: await imported(ecm, withUpdate, "second.csv") };
}

it("runs list tells at a terminal what each run did, of which file, and when to the minute; elsewhere all", async () => {
  const { ecm, first, second } = await twoRuns();
  const stdout = await done(ecm("runs list", at(160)));
  const [header, newest, oldest] = stdout.split("\n").map((line) => line.trim().split(/\s{2,}/));
  expect(header).toEqual("run started kind file status created updated rejected account".split(" "));
  const today = expect.stringMatching(/^today, \d\d:\d\d$/);
  const account = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
  expect(newest).toEqual([second, today, "import", "second.csv", "completed", "1", "1", "1", account]);
  expect(oldest).toEqual(expect.arrayContaining([first, "first.csv", account]));
  const rows = "created,updated,deleted,unchanged,skipped,rejected,pending,done";
  const columns = `run,started,kind,file,status,${rows},account`;
  expect((await done(ecm("runs list -o csv"))).split("\n")[0]).toBe(columns);
  expect(await done(ecm("runs list -o csv --columns created,folder"))).toMatch(/^created,folder\n/);
});

describe("runs show at a terminal", () => {
  it("ends with the last lines of the run, and an undo of all of it, which says how to delete what it left", async () => {
    const { ecm, second } = await twoRuns();
    const text = await shown(ecm);
    expect(text).toMatch(/3 rows.* 1 created.* 1 updated.* 1 rejected/);
    expect(text).toContain("Rejected rows (fix and import again): ");
    expect(text).toContain(`Fix them, then: ecm runs retry ${second}`);
    expect(text).toContain(`Undo: ecm runs undo ${second} --delete-created`);
    const toDelete = `To delete what the run created: ecm runs undo ${second} --delete-created`;
    await ends(ecm("runs undo last --yes", at(100)), 3, toDelete);
    await ends(ecm("runs undo last --dry-run"), 0, `was itself an undo, of run ${second}`);
  });

  it("of a run that stopped says why, and how to resume it", async () => {
    const { ecm } = await startSandbox();
    const run = await imported(ecm, manyRows(20), "people.csv", "--max-requests 8");
    const text = await shown(ecm);
    expect(text).toMatch(/Stopped by max-requests: \d+ contacts done/);
    expect(text).toContain(`Resume with: ecm runs resume ${run}`);
  });

  it("of a run that was killed says what is unknown", async () => {
    const { ecm, env } = await startSandbox();
    const run = await imported(ecm, manyRows(2));
    const folder = join(env.ECM_STATE_DIR!, "runs", run);
    const journal = join(folder, "journal");
    // As a kill leaves it: the last outcome and the end are missing, and no summary was written.
    const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
    const lastDone = lines.findLastIndex((line) => line.includes('"kind":"done"'));
    await writeFile(journal, `${lines.slice(0, lastDone).join("\n")}\n`);
    await utimes(journal, new Date(), new Date());
    const whole = JSON.parse(await readFile(join(folder, "run.json"), "utf8")) as Manifest;
    const { summary: _summary, ...manifest } = whole;
    await writeFile(join(folder, "run.json"), JSON.stringify(manifest));
    const text = await shown(ecm);
    expect(text).toContain("Stopped without a word, perhaps killed: 1 contact done");
    expect(text).toContain("It is unknown whether 1 request arrived; resuming finds out");
    expect(text).toContain(`Resume with: ecm runs resume ${run}`);
  });
});

describe("a run that waits for the hour", () => {
  it("is listed and shown with the time at which it resumes, as long as it is at work", async () => {
    const { ecm, env } = await startSandbox({ hourlyLimit: 6, windowSeconds: 1800 });
    const job = spawnEcm(["import", await inputFile(manyRows(20)), "-q"], env);
    const ended = waitForResult(job);
    const listed = async () => ((await readJson(ecm, "runs list")) as RunView[])[0];
    await expect.poll(async () => (await listed())?.waiting, { timeout: 60_000, interval: 300 }).toBeTruthy();
    const { waiting, status } = (await listed())!;
    expect(status).toBe("unfinished");
    expect(waiting).toEqual({ until: expect.any(String), why: "hourly limit reached" });
    const left = Date.parse(waiting!.until) - Date.now();
    expect(left).toBeGreaterThan(60_000);
    // The window's end in whole seconds of the service, and a moment more.
    expect(left).toBeLessThan(1810_000);
    expect(await done(ecm("runs list", at(140)))).toMatch(/waiting until \d\d:\d\d/);
    const text = await shown(ecm);
    expect(text).toMatch(/Waiting until \d\d:\d\d \(hourly limit reached\); it resumes by itself/);
    expect(text).not.toContain("Resume with");
    job.kill("SIGKILL");
    await ended;
    expect(await listed()).toMatchObject({ status: "unfinished", waiting: null });
    expect(await shown(ecm)).toMatch(/Stopped without a word, perhaps killed.* Resume with: ecm runs resume/);
  });

  it("is told of no wait that is over", async () => {
    const { ecm, env, sandbox } = await startSandbox({ hourlyLimit: 6 });
    let slept = 0;
    const clock: Clock = {
      now: () => Date.now() + slept,
      // The service's clock goes with ours.
      async sleep(milliseconds) {
        slept += milliseconds;
        sandbox.admin.clock({ advance: `${Math.ceil(milliseconds / 1000)}s` });
      },
    };
    const { run } = await summaryOf(ecm, `import ${await inputFile(manyRows(8))}`, { clock });
    expect(slept).toBeGreaterThan(60_000);
    expect(await readdir(join(env.ECM_STATE_DIR!, "runs", run!))).not.toContain("wait.json");
    expect(await readJson(ecm, "runs show last")).toMatchObject({ status: "completed", waiting: null });
  });
});
