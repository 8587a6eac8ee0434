import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, manyContacts, manyRows, parseSummary } from "../bulk/kit.ts";
import type { Ecm } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

/** Imports these rows. @returns its summary */
const imports = async (ecm: Ecm, rows: string, flags = "") =>
  parseSummary(await ecm(`import ${await inputFile(rows)} --json ${flags}`));

describe("ecm runs", () => {
  it("lists none where there are none, without a profile", async () => {
    const { ecm } = await startSandbox();
    const result = await ecm("runs list --json", { env: { ECM_BASE_URL: "", ECM_API_KEY: "" } });
    expect(result).toMatchObject({ code: 0, stdout: "[]\n" });
  });

  it("says of last that there is none yet", async () => {
    const { ecm } = await startSandbox();
    expect(await ecm("runs show last")).toMatchObject({
      code: 5,
      stdout: "",
      stderr: expect.stringContaining("There is no run yet"),
    });
  });

  it("takes no run for an empty word, also where there is only one", async () => {
    const { ecm } = await startSandbox();
    await imports(ecm, manyRows(2));
    for (const verb of ["show", "undo", "resume", "rejects"]) {
      expect(await ecm(["runs", verb, ""]), verb).toMatchObject({
        code: 5,
        stdout: "",
        stderr: expect.stringContaining('There is no run ""'),
      });
    }
    expect(JSON.parse((await ecm("runs list --json")).stdout)).toHaveLength(1);
  });

  it("lists the newest first, shows one, and takes the beginning of an id for the whole", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile(manyRows(20));
    const stopped = parseSummary(await ecm(`import ${path} --max-requests 8 --json`));
    const done = await imports(ecm, manyRows(2));
    const listed = JSON.parse((await ecm("runs list --json")).stdout) as {
      run: string;
      status: string;
    }[];
    expect(listed.map(({ run, status }) => [run, status])).toEqual([
      [done.run, "completed"],
      [stopped.run, "stopped"],
    ]);
    const output = JSON.parse((await ecm(["runs", "show", stopped.run!.slice(0, -1), "--json"])).stdout);
    expect(output).toMatchObject({
      run: stopped.run,
      kind: "import",
      status: "stopped",
      stoppedBy: "max-requests",
      file: path,
      done: stopped.rows.created,
      rows: stopped.rows,
    });
    expect((await ecm("runs show last --json")).stdout).toContain(done.run!);
    expect((await ecm("runs list", { terminalColumns: 120 })).stdout).toContain("stopped");
  });

  it("keeps its folders to their owner", async () => {
    const { ecm, env } = await startSandbox();
    const { run } = await imports(ecm, "Email\na@x.org\nwrong\n");
    const folder = join(env.ECM_STATE_DIR!, "runs", run!);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const files = await readdir(folder);
    expect(files).toEqual(expect.arrayContaining(["run.json", "journal", "rejects.csv"]));
    for (const file of files) expect((await stat(join(folder, file))).mode & 0o777, file).toBe(0o600);
  });

  it("says which run it does not know, and which beginnings mean several", async () => {
    const { ecm } = await startSandbox();
    await imports(ecm, "Email\na@x.org\n");
    await imports(ecm, "Email\nb@x.org\n");
    expect((await ecm("runs show nothing")).code).toBe(5);
    const several = await ecm("runs show 2");
    expect(several).toMatchObject({ code: 2 });
    expect(several.stderr).toContain("matches several runs");
  });

  it("removes a run only when told, and only one that is named whole", async () => {
    const { ecm } = await startSandbox();
    const stopped = await imports(ecm, manyRows(20), "--max-requests 8");
    const done = await imports(ecm, manyRows(2));
    for (const run of [done.run!, stopped.run!]) {
      const dialog = await ecm(["runs", "remove", run]);
      expect(dialog.code).toBe(2);
      expect(dialog.stderr).toContain("--yes");
    }
    for (const word of ["", " ", done.run!.slice(0, -1), "2"]) {
      const refused = await ecm(["runs", "remove", word, "--yes"]);
      expect(refused).toMatchObject({ code: 2 });
      expect(refused.stderr).toContain("not the full id");
    }
    expect(JSON.parse((await ecm("runs list --json")).stdout)).toHaveLength(2);
    expect((await ecm(`runs rm ${done.run!} --yes`)).code).toBe(0);
    const dialog = await ecm("runs remove last", { terminalColumns: 200, typed: "y\r" });
    expect(dialog.stderr).toContain(", unfinished)");
    expect(dialog.code).toBe(0);
    expect((await ecm("runs list --json")).stdout).toBe("[]\n");
  });

  it("resume goes on with the plan of a file that has changed since, and says so", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile(manyRows(20));
    const flags = ["--max-requests", "8", "--json"];
    const stopped = parseSummary(await ecm(["import", path, ...flags]));
    const same = await ecm(["runs", "resume", stopped.run!, ...flags]);
    expect(same.stderr).not.toContain("has changed");
    await writeFile(path, manyRows(3));
    const resumed = await ecm(`runs resume ${stopped.run!} --json`);
    expect(resumed.stderr).toContain(
      "people.csv has changed since the run began: the run carries out its plan",
    );
    expect(parseSummary(resumed).rows).toMatchObject({ read: 20, created: 20 });
  });

  it("goes on only in the account that the run belongs to", async () => {
    const one = await startSandbox();
    const other = await startSandbox();
    const stopped = parseSummary(
      await one.ecm(["import", await inputFile(manyRows(20)), "--max-requests", "8", "--json"]),
    );
    const refused = await one.ecm(`runs resume ${stopped.run!}`, {
      env: { ECM_BASE_URL: other.baseUrl, ECM_API_KEY: other.apiKey },
    });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`Run ${stopped.run} belongs to ${one.baseUrl}`);
    expect((await one.ecm(`runs resume ${stopped.run!}`)).code).toBe(0);
    const again = await one.ecm(`runs resume ${stopped.run!}`);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("is finished");
  });

  it("prints nothing for a run without rejects", async () => {
    const { ecm } = await startSandbox();
    await imports(ecm, "Email\na@x.org\n");
    expect(await ecm("runs rejects last")).toMatchObject({ code: 0, stdout: "" });
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

  it.each(foreign)("is not taken for a run where its folder has no run's name: %s", async (manifest) => {
    const { ecm, run, put } = await withRun();
    for (const name of ["zzz-app", "0-app"]) {
      const folder = await put(name, manifest);
      const output = await ecm("runs show last --json");
      expect(JSON.parse(output.stdout).run).toBe(run);
      const listed = await ecm("runs list --json");
      expect(JSON.parse(listed.stdout)).toHaveLength(1);
      const undone = await ecm("runs undo last --dry-run --json");
      expect(parseSummary(undone).file).toBe(run);
      expect(await ecm("runs resume last")).toMatchObject({ code: 2 });
      expect((await ecm("runs rejects last")).code).toBe(0);
      expect((await ecm("contact erase p0@example.com --dry-run")).code).toBe(0);
      await rm(folder, { recursive: true });
    }
  });

  it("keeps last from meaning an older run where the last one may be damaged, also of the same minute", async () => {
    const { ecm, run, put, root } = await withRun();
    const before = (await ecm("contact search --count")).stdout;
    for (const name of ["20991231-2359-abcdef", `${run.slice(0, -6)}000000`]) {
      for (const manifest of [...foreign, '{"version":2,"fingerprint":"x"}']) {
        await put(name, manifest);
        for (const verb of ["undo", "resume", "show", "remove", "rejects"]) {
          const refused = await ecm(["runs", verb, "last", "--yes"]);
          expect(refused, `${verb} ${manifest}`).toMatchObject({ code: 1, stdout: "" });
          expect(refused.stderr).toContain(`Cannot read run ${name}`);
        }
      }
      // Who names the run means it.
      expect((await ecm(["runs", "show", run])).code).toBe(0);
      await rm(join(root, name), { recursive: true });
    }
    expect((await ecm("contact search --count")).stdout).toBe(before);
    expect((await ecm("runs show last")).code).toBe(0);
  });

  it("does not let a damaged run that is older keep the last one", async () => {
    const { ecm, run, put } = await withRun();
    await put("20200101-0000-abcdef", "not JSON");
    const undone = await ecm("runs undo last --dry-run --json");
    expect(undone.code).toBe(3);
    expect(parseSummary(undone).file).toBe(run);
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
  const day = 86_400_000;
  /** As if nothing had been written to the run's folder for so many days. */
  async function age(stateFolder: string, run: string, days: number): Promise<void> {
    const folder = join(stateFolder, "runs", run);
    const manifest = join(folder, "run.json");
    const at = new Date(Date.now() - days * day);
    const text = await readFile(manifest, "utf8");
    await writeFile(manifest, text.replace(/"startedAt": "[^"]+"/, `"startedAt": "${at.toISOString()}"`));
    for (const name of await readdir(folder)) await utimes(join(folder, name), at, at);
  }

  /** An old finished run, an old unfinished one, and a new one. */
  async function threeRuns() {
    const service = await startSandbox();
    const { ecm, env } = service;
    const state = env.ECM_STATE_DIR!;
    const old = (await imports(ecm, manyRows(2))).run!;
    const open = (await imports(ecm, manyRows(20), "--max-requests 8")).run!;
    const recent = (await imports(ecm, manyRows(3))).run!;
    await age(state, old, 100);
    await age(state, open, 100);
    return { ...service, state, old, open, recent };
  }

  it("removes old runs and leaves unfinished ones", async () => {
    const { ecm, state, old, open, recent } = await threeRuns();
    const folders = async () =>
      (await readdir(join(state, "runs"))).filter((name) => /^\d/.test(name)).sort();

    expect((await ecm("runs remove --older 30d")).code).toBe(2);
    expect((await ecm(["runs", "remove", old, "--older", "30d", "--yes"])).code).toBe(2);
    for (const wrong of ["90", "soon", "-1d"]) {
      const { code, stderr } = await ecm(["runs", "remove", `--older=${wrong}`, "--yes"]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("--older") });
    }
    expect(await folders()).toEqual([old, open, recent].sort());

    const done = await ecm("runs remove --older 30d --yes");
    expect(done).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining(`Removed run ${old}`),
    });
    expect(await folders()).toEqual([open, recent].sort());
    const none = await ecm("runs remove --older 30d");
    expect(none).toMatchObject({ code: 0, stderr: expect.stringContaining("No finished run is that old") });
    await ecm("runs remove --older 0m --yes");
    expect(await folders()).toEqual([open]);
  });

  it("keeps a run that an unfinished undo reads", async () => {
    const { ecm, env } = await startSandbox();
    const { run } = await imports(ecm, manyRows(20));
    await ecm(`runs undo ${run!} --delete-created --yes --max-requests 8`);
    await age(env.ECM_STATE_DIR!, run!, 100);
    expect((await ecm("runs remove --older 30d --yes")).code).toBe(0);
    expect((await ecm(`runs show ${run!}`)).code).toBe(0);
  });

  it("says before the yes how many deletions can no longer be undone", async () => {
    const { ecm } = await startSandbox({ contents: { contacts: manyContacts(3) } });
    const deleted = ["contact", "delete", "--key", "p0@example.com", "--key", "p1@example.com", "--yes"];
    const { run } = parseSummary(await ecm([...deleted, "--json"]));
    const terminal = { typed: "n\r", terminalColumns: 200, env: { TERM: "xterm" } };
    for (const words of [[run!], ["--older", "0m"]]) {
      const { code, stderr } = await ecm(["runs", "remove", ...words], terminal);
      expect(code).toBe(1);
      expect(stderr.replace(/\s+/g, " ")).toContain("2 deletions can then no longer be undone");
    }
  });
});
