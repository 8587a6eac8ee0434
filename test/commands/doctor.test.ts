import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Ecm, ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { errorBody, json, startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";

interface Finding {
  check: string;
  status: string;
  message: string;
  hint?: string;
}

async function examine(ecm: Ecm, env = {}): Promise<{ code: number; by: Record<string, Finding> }> {
  const { code, stdout } = await ecm("doctor --json", { env });
  const findings = JSON.parse(stdout) as Finding[];
  return { code, by: Object.fromEntries(findings.map((finding) => [finding.check, finding])) };
}

const readStatuses = (by: Record<string, Finding>) =>
  Object.fromEntries(Object.values(by).map(({ check, status }) => [check, status]));

describe("ecm doctor", () => {
  it("passes everything where all is well", async () => {
    const { ecm } = await startSandbox();
    const { code, by } = await examine(ecm);
    expect(code).toBe(0);
    expect(new Set(Object.values(readStatuses(by)))).toEqual(new Set(["pass"]));
    const places = ["config folder", "state folder", "cache folder"];
    const checks = ["profile", "key", "address", "budget", ...places];
    expect(Object.keys(by)).toEqual(expect.arrayContaining(checks));
  });

  it("fails without a profile", async () => {
    const ecm = ecmWith(await temporaryHome());
    const { code, by } = await examine(ecm);
    expect(code).toBe(1);
    expect(by.profile!.status).toBe("fail");
    expect((await ecm("doctor")).stderr).toMatch(/^error: 1 of 6 checks failed: profile\n/);
  });

  it("fails for a refused key, at an address that is good", async () => {
    const { ecm } = await startSandbox();
    const { code, by } = await examine(ecm, { ECM_API_KEY: `ecm_us_${"x".repeat(43)}` });
    expect(code).toBe(1);
    expect(by.key!).toMatchObject({ status: "fail", message: "Invalid API key" });
    expect(by.address!.status).toBe("pass");
  });

  it("fails for a dead port, and for a page in place of the service", async () => {
    const key = { ECM_API_KEY: `ecm_us_${"x".repeat(43)}` };
    const home = await temporaryHome();
    const dead = await examine(ecmWith({ ...home, ...key, ECM_BASE_URL: "http://127.0.0.1:1" }));
    expect(dead).toMatchObject({ code: 1, by: { address: { status: "fail" }, key: { status: "pass" } } });
    const page = await startHttpServer((_request, response) => response.end("<html>"));
    const foreign = await examine(ecmWith({ ...home, ...key, ECM_BASE_URL: page.baseUrl }));
    expect(foreign).toMatchObject({ code: 1, by: { address: { status: "fail" } } });
    const broken = await startHttpServer((_request, response) =>
      json(response, 500, errorBody("E", "Out of order")),
    );
    const failing = await examine(ecmWith({ ...home, ...key, ECM_BASE_URL: broken.baseUrl }));
    expect(failing.by.address!.message).toContain("Out of order");
  });

  it("warns of a clock that is off, and of a budget that runs low", async () => {
    const server = await startHttpServer((_request, response) => {
      response.sendDate = false;
      const date = new Date(Date.now() + 90_000).toUTCString();
      json(response, 200, [], { date, "x-monthly-limit": "100000", "x-monthly-remaining": "9876" });
    });
    const env = { ECM_BASE_URL: server.baseUrl, ECM_API_KEY: "an-unusual-key" };
    const { code, by } = await examine(ecmWith({ ...(await temporaryHome()), ...env }));
    expect(code).toBe(0);
    expect(by.clock!.message).toMatch(/(89|90|91) s behind/);
    expect(by.budget!.message).toBe("9,876 of 100,000 this month");
    expect(readStatuses(by)).toMatchObject({ clock: "warn", budget: "warn", address: "pass" });
  });

  it("warns of folders that others can read, and fails for one that cannot be used", async () => {
    const { env, ecm } = await startSandbox();
    await mkdir(env.ECM_STATE_DIR!, { recursive: true });
    await chmod(env.ECM_STATE_DIR!, 0o755);
    await mkdir(env.ECM_CACHE_DIR!, { recursive: true, mode: 0o700 });
    const loose = await examine(ecm);
    expect(loose.code).toBe(0);
    expect(readStatuses(loose.by)).toMatchObject({ "state folder": "warn", "cache folder": "pass" });
    await chmod(env.ECM_STATE_DIR!, 0o700);
    await writeFile(env.ECM_CONFIG_DIR!, "a file where the folder should be");
    const blocked = await examine(ecm);
    expect(blocked.code).toBe(1);
    expect(blocked.by["config folder"]!.status).toBe("fail");
  });

  it("warns of a run that was stopped, until it is done", async () => {
    const { ecm } = await startSandbox();
    expect((await examine(ecm)).by.runs).toMatchObject({ status: "pass" });
    const file = join(await temporaryFolder(), "people.csv");
    await writeFile(file, "Email\na@example.com\nb@example.com\nc@example.com\n");
    expect((await ecm(`import ${file} --max-requests 3`)).code).toBe(7);
    const stopped = await examine(ecm);
    expect(stopped.code).toBe(0);
    expect(stopped.by.runs).toMatchObject({
      status: "warn",
      message: expect.stringMatching(/^1 unfinished/),
    });
    expect((await ecm(`import ${file}`)).code).toBe(0);
    expect((await examine(ecm)).by.runs).toMatchObject({ status: "pass" });
  });
});

describe("what is used up", () => {
  it("is the budget's fault, not the address's", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 1 });
    await ecm("lists list");
    const { code, by } = await examine(ecm);
    expect(code).toBe(1);
    expect(readStatuses(by)).toMatchObject({ address: "pass", key: "pass", budget: "fail" });
    expect(by.budget).toMatchObject({
      message: "the hourly limit is used up",
      hint: expect.stringMatching(/try again .*at \d\d:\d\d \(in 60 min\)/),
    });
    const shown = await ecm("doctor", { terminalColumns: 80 });
    expect(shown.code).toBe(1);
    expect(shown.stderr).toMatch(/1 of \d+ checks failed: budget\n/);
  });
});

describe("at a terminal", () => {
  it("is readable at 60 columns: a mark, what was examined, and below it what to do", async () => {
    const { ecm, env } = await startSandbox();
    const { code, stdout } = await ecm("doctor", { terminalColumns: 60, env: { NO_COLOR: "1" } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ profile {8}none: the environment/);
    expect(stdout).toContain("\nEverything is fine.\n");
    const path = env.ECM_CONFIG_DIR!;
    for (const line of stdout.split("\n")) {
      if (!line.includes(path.slice(0, 10))) expect(line.length, line).toBeLessThanOrEqual(60);
    }
    const read = await ecm("doctor", { terminalColumns: 60, env: { NO_COLOR: "1", ACCESSIBLE: "1" } });
    expect(read.stdout).toMatch(/^pass profile/);
  });
});
