import { mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, manyContacts, manyRows, startSandbox, summaryOf } from "../kit.ts";
import { done, type Ecm, ends, readJson, refused } from "../support/ecm.ts";

/** Imports these rows. @returns its summary */
const imports = async (ecm: Ecm, rows: string, flags = "") =>
  summaryOf(ecm, `import ${await inputFile(rows)} ${flags}`);

describe("ecm runs", () => {
  it("lists none where there are none, without a profile, and says of last that there is none yet", async () => {
    const { ecm } = await startSandbox();
    const env = { ECM_BASE_URL: "", ECM_API_KEY: "" };
    expect(await readJson(ecm, "runs list", { env })).toEqual([]);
    await refused(ecm("runs show last"), 5, "There is no run yet");
  });

  it("lists the newest first, shows one, and takes the beginning of an id for the whole", async () => {
    const { ecm } = await startSandbox();
    const { run, rows, file } = await imports(ecm, manyRows(20), "--max-requests 8");
    const last = await imports(ecm, manyRows(2));
    const stopped = { run, status: "stopped" };
    expect(await readJson(ecm, "runs list")).toMatchObject([{ run: last.run, status: "completed" }, stopped]);
    const told = { ...stopped, kind: "import", stoppedBy: "max-requests", file, done: rows.created, rows };
    expect(await readJson(ecm, `runs show ${run!.slice(0, -1)}`)).toMatchObject(told);
    expect((await readJson(ecm, "runs show last")).run).toBe(last.run);
    expect(await done(ecm("runs list", { terminalColumns: 120 }))).toContain("stopped");
  });

  it("says which run it does not know, and which beginnings mean several; an empty word means none", async () => {
    const { ecm } = await startSandbox();
    await imports(ecm, manyRows(1));
    for (const verb of ["show", "undo", "resume", "rejects"])
      await refused(ecm(["runs", verb, ""]), 5, 'There is no run ""');
    await imports(ecm, manyRows(2));
    await refused(ecm("runs show nothing"), 5);
    await refused(ecm("runs show 2"), 2, "matches several runs");
    // One without rejected rows has none to print.
    expect(await done(ecm("runs rejects last"))).toBe("");
  });

  it("removes a run only when told, and only one that is named whole", async () => {
    const { ecm } = await startSandbox();
    const { run: stopped } = await imports(ecm, manyRows(20), "--max-requests 8");
    const { run } = await imports(ecm, manyRows(2));
    for (const each of [run!, stopped!]) await refused(ecm(`runs remove ${each}`), 2, "--yes");
    for (const word of ["", " ", run!.slice(0, -1), "2"])
      await refused(ecm(["runs", "remove", word, "--yes"]), 2, "not the full id");
    expect(await readJson(ecm, "runs list")).toHaveLength(2);
    await done(ecm(`runs rm ${run} --yes`));
    const dialog = ecm("runs remove last", { terminalColumns: 200, typed: "y\r" });
    await ends(dialog, 0, ", unfinished)");
    expect(await readJson(ecm, "runs list")).toEqual([]);
  });

  it("resume goes on with the plan of a file that has changed since, and says so", async () => {
    const { ecm } = await startSandbox();
    const { run, file } = await imports(ecm, manyRows(20), "--max-requests 8");
    const same = await ecm(`runs resume ${run} --max-requests 8`);
    expect(same.stderr).not.toContain("has changed");
    await writeFile(file!, manyRows(3));
    const { rows, stderr } = await summaryOf(ecm, `runs resume ${run}`);
    expect(stderr).toContain("people.csv has changed since the run began: the run carries out its plan");
    expect(rows).toMatchObject({ read: 20, created: 20 });
  });

  it("goes on only in the account that the run belongs to", async () => {
    const [{ ecm, baseUrl, apiKey }, other] = [await startSandbox(), await startSandbox()];
    const { run } = await imports(ecm, manyRows(20), "--max-requests 8");
    const env = { ECM_BASE_URL: other.baseUrl, ECM_API_KEY: other.apiKey };
    const elsewhere = async (flags: string) => {
      for (const verb of ["resume", "undo"]) {
        const own = `Select that account: ecm ${flags} runs ${verb} ${run}`;
        await refused(ecm(`runs ${verb} ${run}`, { env }), 2, `Run ${run} belongs to ${baseUrl}`, own);
      }
    };
    await elsewhere(`--base-url ${baseUrl}`);
    // A profile that has the account by another of its names is one of the account too.
    const login = `auth login --profile home --base-url ${baseUrl.replace("127.0.0.1", "localhost")} --no-verify`;
    const bare = { ECM_BASE_URL: "", ECM_API_KEY: "" };
    await done(ecm(`${login} --api-key-stdin`, { stdin: `${apiKey}\n`, env: bare }));
    await elsewhere("--profile home");
    await done(ecm(`runs resume ${run}`));
    await refused(ecm(`runs resume ${run}`), 2, "is finished");
  });
});

describe("what lies among the runs and is none", () => {
  const foreign = ['{"name":"app","version":3}', '{"version":1,"id":"zzz"}', "not JSON", "[]", "null"];

  async function withRun() {
    const service = await startSandbox();
    const { ecm, env } = service;
    const { run } = await imports(ecm, manyRows(2));
    const root = join(env.ECM_STATE_DIR!, "runs");
    const put = async (name: string, manifest: string) => {
      await mkdir(join(root, name), { recursive: true });
      await writeFile(join(root, name, "run.json"), manifest);
      return join(root, name);
    };
    return { ...service, run: run!, root, put };
  }

  it("is not taken for a run where its folder has no run's name", async () => {
    const { ecm, run, put } = await withRun();
    for (const manifest of foreign) {
      for (const name of ["zzz-app", "0-app"]) await put(name, manifest);
      expect(await readJson(ecm, "runs list"), manifest).toMatchObject([{ run }]);
      expect(await readJson(ecm, "runs show last"), manifest).toMatchObject({ run });
    }
    expect((await summaryOf(ecm, "runs undo last --dry-run")).file).toBe(run);
    await refused(ecm("runs resume last"), 2);
    await done(ecm("runs rejects last"));
    await done(ecm("contact erase p0@example.com --dry-run"));
  });

  it("keeps last from meaning an older run where the last one may be damaged, also of the same minute", async () => {
    const { ecm, run, put, root } = await withRun();
    for (const name of ["20991231-2359-abcdef", `${run.slice(0, -6)}000000`]) {
      const refuses = (verb: string) => refused(ecm(`runs ${verb} last --yes`), 1, `Cannot read run ${name}`);
      for (const manifest of [...foreign, '{"version":2,"fingerprint":"x"}']) {
        await put(name, manifest);
        await refuses("show");
      }
      for (const verb of ["undo", "resume", "remove", "rejects"]) await refuses(verb);
      // Who names the run means it.
      await done(ecm(`runs show ${run}`));
      await rm(join(root, name), { recursive: true });
    }
    expect(await done(ecm("contact search --count"))).toBe("2\n");
    await done(ecm("runs show last"));
  });

  it("is not swept away, as what never became a run is", async () => {
    const { ecm, root } = await withRun();
    const long = new Date(Date.now() - 3 * 86_400_000);
    // The last one is of an invocation that still writes.
    const names = ["notes", ".git", ".plan-0123456789ab", "20200101-0000-abcdef", "20200101-0000-abcdee"];
    for (const name of names) {
      const file = join(root, name, "a file");
      await mkdir(join(root, name));
      await writeFile(file, "text");
      if (name !== names.at(-1)) await utimes(file, long, long);
      await utimes(join(root, name), long, long);
    }
    // What is no folder stops nobody.
    await writeFile(join(root, "20200101-0000-abcded"), "text");
    await imports(ecm, manyRows(1));
    const left = await readdir(root);
    expect(names.filter((name) => left.includes(name))).toEqual(["notes", ".git", names.at(-1)]);
  });
});

describe("ecm runs remove --older", () => {
  /** As if nothing had been written to the run's folder for a hundred days. */
  async function age(stateFolder: string, run: string): Promise<void> {
    const folder = join(stateFolder, "runs", run);
    const manifest = join(folder, "run.json");
    const at = new Date(Date.now() - 100 * 86_400_000);
    const text = await readFile(manifest, "utf8");
    await writeFile(manifest, text.replace(/"startedAt": "[^"]+"/, `"startedAt": "${at.toISOString()}"`));
    for (const name of await readdir(folder)) await utimes(join(folder, name), at, at);
  }

  it("removes old runs and leaves unfinished ones", async () => {
    const { ecm, env } = await startSandbox();
    const state = env.ECM_STATE_DIR!;
    const old = (await imports(ecm, manyRows(2))).run!;
    const open = (await imports(ecm, manyRows(20), "--max-requests 8")).run!;
    const recent = (await imports(ecm, manyRows(3))).run!;
    for (const run of [old, open]) await age(state, run);
    const folders = async () =>
      (await readdir(join(state, "runs"))).filter((name) => /^\d/.test(name)).sort();
    await refused(ecm("runs remove --older 30d"), 2, "--yes");
    for (const flags of [`${old} --older 30d`, "--older=90", "--older=soon", "--older=-1d"])
      await refused(ecm(`runs remove ${flags} --yes`), 2, "--older");
    expect(await folders()).toEqual([old, open, recent].sort());

    const said = (words: string) => ({ code: 0, stdout: "", stderr: expect.stringContaining(words) });
    expect(await ecm("runs remove --older 30d --yes")).toMatchObject(said(`Removed run ${old}`));
    expect(await folders()).toEqual([open, recent].sort());
    expect(await ecm("runs remove --older 30d")).toMatchObject(said("No finished run is that old"));
    await ecm("runs remove --older 0m --yes");
    expect(await folders()).toEqual([open]);
  });

  it("keeps a run that an unfinished undo reads", async () => {
    const { ecm, env } = await startSandbox();
    const { run } = await imports(ecm, manyRows(20));
    await ecm(`runs undo ${run} --delete-created --yes --max-requests 8`);
    await age(env.ECM_STATE_DIR!, run!);
    await done(ecm("runs remove --older 30d --yes"));
    await done(ecm(`runs show ${run}`));
  });

  it("says before the yes how many deletions can no longer be undone", async () => {
    const { ecm } = await startSandbox({ contents: { contacts: manyContacts(3) } });
    const { run } = await summaryOf(ecm, "contact delete --key p0@example.com --key p1@example.com --yes");
    const terminal = { typed: "n\r", terminalColumns: 200, env: { TERM: "xterm" } };
    for (const flags of [run!, "--older 0m"])
      await refused(ecm(`runs remove ${flags}`, terminal), 1, /2 deletions can then no longer\s+be\s+undone/);
  });
});
