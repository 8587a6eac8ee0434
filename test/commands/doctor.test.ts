import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Answerer, errorBody, inputFile, json, manyRows, startSandbox, startService } from "../kit.ts";
import { done, type Ecm, ecmWith, ends, temporaryHome } from "../support/ecm.ts";

type Finding = Record<"check" | "status" | "message", string>;

const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };

/** The exit code, and what was found by each check. */
async function examine(ecm: Ecm, env: Record<string, string> = {}) {
  const { code, stdout } = await ecm("doctor --json", { env, clock });
  const findings = JSON.parse(stdout) as Finding[];
  const by = Object.fromEntries(findings.map((finding) => [finding.check, finding]));
  return { code, by, findings };
}

const [pass, warn, fail] = [{ status: "pass" }, { status: "warn" }, { status: "fail" }];

describe("ecm doctor", () => {
  it("passes everything where all is well, and fails for a key that is refused at a good address", async () => {
    const { ecm } = await startSandbox();
    const { code, findings } = await examine(ecm);
    expect(code).toBe(0);
    expect(new Set(findings.map(({ status }) => status))).toEqual(new Set(["pass"]));
    const places = ["config folder", "state folder", "cache folder"];
    const checks = ["profile", "key", "address", "budget", "runs", ...places];
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(checks));
    const refused = await examine(ecm, { ECM_API_KEY: `ecm_us_${"x".repeat(43)}` });
    const key = { ...fail, message: "Invalid API key" };
    expect(refused).toMatchObject({ code: 1, by: { key, address: pass } });
  });

  it("fails without a profile", async () => {
    const ecm = ecmWith(await temporaryHome());
    expect(await examine(ecm)).toMatchObject({ code: 1, by: { profile: fail } });
    expect((await ecm("doctor")).stderr).toMatch(/^error: 1 of 6 checks failed: profile\n/);
  });

  const error = errorBody("E", "Out of order");
  it.each<[what: string, answer: Answerer, message: string]>([
    ["a service that hangs up", (_request, response) => response.socket!.destroy(), ""],
    ["a page in place of the service", (_request, response) => response.end("<html>"), ""],
    ["one out of order", (_request, response) => json(response, 500, error), "Out of order"],
  ])("fails for the address of %s", async (_what, answer, message) => {
    const { ecm } = await startService(answer);
    const address = { ...fail, message: expect.stringContaining(message) };
    expect(await examine(ecm)).toMatchObject({ code: 1, by: { address, key: pass } });
  });

  it("fails for an account without access, and not for its key", async () => {
    const { ecm, sandbox } = await startSandbox();
    sandbox.admin.account({ status: "suspended" });
    expect(await examine(ecm)).toMatchObject({ code: 1, by: { key: pass, address: pass, account: fail } });
  });

  it("warns of a clock that is off, and of a budget that runs low", async () => {
    const { ecm } = await startService((_request, response) => {
      response.sendDate = false;
      const date = new Date(Date.now() + 90_000).toUTCString();
      json(response, 200, [], { date, "x-monthly-limit": "100000", "x-monthly-remaining": "9876" });
    });
    const late = { ...warn, message: expect.stringMatching(/(89|90|91) s behind/) };
    const budget = { ...warn, message: "9,876 of 100,000 this month" };
    expect(await examine(ecm)).toMatchObject({ code: 0, by: { clock: late, budget, address: pass } });
  });

  it("says of a budget that is used up that it is, not the address", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 1 });
    await ecm("lists list");
    const hint = expect.stringMatching(/try again .*at \d\d:\d\d \(in 60 min\)/);
    const budget = { ...fail, message: "the hourly limit is used up", hint };
    expect(await examine(ecm)).toMatchObject({ code: 1, by: { address: pass, key: pass, budget } });
    await ends(ecm("doctor", { terminalColumns: 80 }), 1, /1 of \d+ checks failed: budget\n/);
  });

  it("warns of folders that others can read, and fails for one that cannot be used", async () => {
    const { env, ecm } = await startSandbox();
    await mkdir(env.ECM_STATE_DIR!, { recursive: true });
    await chmod(env.ECM_STATE_DIR!, 0o755);
    await mkdir(env.ECM_CACHE_DIR!, { recursive: true, mode: 0o700 });
    const loose = { "state folder": warn, "cache folder": pass };
    expect(await examine(ecm)).toMatchObject({ code: 0, by: loose });
    await chmod(env.ECM_STATE_DIR!, 0o700);
    await writeFile(env.ECM_CONFIG_DIR!, "a file where the folder should be");
    expect(await examine(ecm)).toMatchObject({ code: 1, by: { "config folder": fail } });
  });

  it("warns of a run that was stopped, until it is done", async () => {
    const { ecm } = await startSandbox();
    const file = await inputFile(manyRows(3));
    expect((await ecm(`import ${file} --max-requests 3`)).code).toBe(7);
    const runs = { ...warn, message: expect.stringMatching(/^1 unfinished/) };
    expect(await examine(ecm)).toMatchObject({ code: 0, by: { runs } });
    await done(ecm(`import ${file}`));
    expect((await examine(ecm)).by.runs).toMatchObject(pass);
  });

  it("fails where it cannot be told which runs there are, as their list does", async () => {
    const { ecm, env } = await startSandbox();
    await mkdir(env.ECM_STATE_DIR!, { recursive: true, mode: 0o700 });
    await symlink("runs", join(env.ECM_STATE_DIR!, "runs"));
    expect(await examine(ecm)).toMatchObject({ code: 1, by: { runs: fail } });
    expect(await ecm("runs list")).toMatchObject({ code: 1, stderr: expect.stringContaining("ELOOP") });
  });

  it("is readable at 60 columns: a mark, what was examined, and below it what to do", async () => {
    const { ecm, env } = await startSandbox();
    const atTerminal = (more = {}) =>
      done(ecm("doctor", { terminalColumns: 60, env: { NO_COLOR: "1", ...more } }));
    const text = await atTerminal();
    expect(text).toMatch(/^✓ profile {8}none: the environment/);
    expect(text).toContain("\nEverything is fine.\n");
    const others = text.split("\n").filter((line) => !line.includes(env.ECM_CONFIG_DIR!.slice(0, 10)));
    for (const line of others) expect(line.length, line).toBeLessThanOrEqual(60);
    expect(await atTerminal({ ACCESSIBLE: "1" })).toMatch(/^pass profile/);
  });
});
