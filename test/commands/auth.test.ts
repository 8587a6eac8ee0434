import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { done, ecmWith, ends, readJson, refused, startSandbox, startService, temporaryHome } from "../kit.ts";
import { errorBody, json, startHttpServer } from "../support/http-server.ts";

/** The embedded service behind a port, and an `ecm` that knows nothing of it yet. */
async function fresh() {
  const { baseUrl, apiKey } = await startSandbox();
  const home = await temporaryHome();
  const ecm = ecmWith(home);
  const login = (profile: string, flags = "", key = apiKey) => {
    const line = `auth login --profile ${profile} --base-url ${baseUrl} --api-key-stdin ${flags}`;
    return ecm(line, { stdin: `${key}\n` });
  };
  const readProfiles = () => readFile(join(home.ECM_CONFIG_DIR!, "profiles.json"), "utf8");
  const list = () => readJson(ecm, "auth list");
  return { baseUrl, apiKey, home, ecm, login, readProfiles, list };
}

const wrongKey = `ecm_us_${"x".repeat(43)}`;

describe("ecm auth login", () => {
  it("keeps a key that works, and the first login becomes the current profile", async () => {
    const { ecm, login, baseUrl, apiKey, home, readProfiles } = await fresh();
    const { code, stdout, stderr } = await login("work", "-o json");
    const profile = { profile: "work", baseUrl, region: "us", current: true, verified: true };
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining(profile)]);
    expect(stdout + stderr).not.toContain(apiKey);
    expect((await stat(join(home.ECM_CONFIG_DIR!, "profiles.json"))).mode & 0o777).toBe(0o600);
    expect(await readProfiles()).toContain(apiKey);

    expect((await login("other")).stderr).toContain("ecm auth use other");
    const listed = await done(ecm("auth list -o csv"));
    expect(listed).toMatch(/^profile,current,.*\nwork,yes,.*\nother,,.*\nsandbox,,.*\n$/);
    expect(listed).not.toContain(apiKey);
    await done(ecm("structure list -o id"));
  });

  it("keeps nothing when the service refuses the key", async () => {
    const { ecm, login } = await fresh();
    const said = await refused(login("default", "--json", wrongKey), 4);
    const hint = expect.stringMatching(/Nothing was saved.*API Keys page/);
    const error = { type: "UnauthorizedError", status: 401, exitCode: 4, hint };
    expect(JSON.parse(said).error).toMatchObject(error);
    expect(said).not.toContain(wrongKey);
    expect(await done(ecm("auth list -o id"))).toBe("sandbox\n");
  });

  it("says what to do where the address is wrong", async () => {
    const ecm = ecmWith(await temporaryHome());
    const server = await startHttpServer((_request, response) => response.end("<html>"));
    const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };
    for (const baseUrl of [server.baseUrl, "http://127.0.0.1:9"]) {
      const line = `auth login --base-url ${baseUrl} --api-key-stdin`;
      const { stderr } = await ecm(line, { stdin: "k".repeat(50), clock });
      expect(stderr).toMatch(/hint: Nothing was saved\. Check --base-url/);
    }
  });

  it("asks a person before it replaces a profile, and a script not", async () => {
    const { ecm, login, baseUrl, apiKey } = await fresh();
    await login("default");
    const again = (answer: string) => {
      const typed = Object.entries({ "already exists": `${answer}\r`, "API key": `${apiKey}\r` });
      return ecm(`auth login --base-url ${baseUrl}`, { terminalColumns: 200, typed });
    };
    await refused(again("n"), 1, "Cancelled; nothing changed", `ecm_us_…${apiKey.slice(-4)}`);
    await done(again("y"));
    await done(login("default"));
  });

  it("keeps a key untried with --no-verify, without a request", async () => {
    const server = await startHttpServer((_request, response) => json(response, 500, {}));
    const ecm = ecmWith(await temporaryHome());
    const line = `auth login --base-url ${server.baseUrl} --api-key-stdin --no-verify`;
    const warning = "warning: The key does not look like an API key";
    const kept = await ends(ecm(line, { stdin: "short-key" }), 0, warning);
    expect(kept.stdout).toBe("");
    expect(server.requests).toEqual([]);
  });

  it("keeps a command in place of the key, and runs it when a key is needed", async () => {
    const { ecm, baseUrl, apiKey, readProfiles, list } = await fresh();
    const env = { THE_KEY: apiKey };
    const login = (command: string) =>
      ecm(["auth", "login", "--base-url", baseUrl, "--api-key-command", command], { env });
    expect((await login("exit 1")).code).toBe(4);
    await done(login(`echo ${apiKey}`));
    const listed = await list();
    expect(listed[0]).toMatchObject({ name: "default", hasKeyCommand: true });
    expect(JSON.stringify(listed)).not.toContain(apiKey);
    await done(login(`printf '%s\\n' "$THE_KEY"`));
    expect(await readProfiles()).not.toContain(apiKey);
    await done(ecm("auth status", { env }));
    expect((await ecm("auth status")).code).toBe(4);
  });

  it("asks a person at a terminal for the key, and does not show it", async () => {
    const { ecm, baseUrl, apiKey, readProfiles } = await fresh();
    for (const flag of ["", "--api-key-stdin"]) {
      const line = `auth login --base-url ${baseUrl} ${flag}`;
      const login = ecm(line, { typed: `${apiKey}\r`, terminalColumns: 80 });
      const { stdout, stderr } = await ends(login, 0, "API key");
      expect(stdout + stderr).not.toContain(apiKey);
      expect(await readProfiles()).toContain(apiKey);
      await ecm("auth logout");
    }
  });

  it("keeps a structure by its id, and a ban on writing, also when only the key is new", async () => {
    const { ecm, login, list } = await fresh();
    expect((await login("work", "--structure Nowhere")).code).toBe(5);
    await done(login("work", "--structure default --read-only"));
    const [before] = await list();
    expect(before).toMatchObject({ readOnly: true, structure: expect.stringMatching(/^[0-9a-f]{24}$/) });
    expect((await readJson(ecm, "auth status")).sources.structure).toBe("profile");
    await refused(ecm("api POST /api/contact --data -", { stdin: "{}" }), 2, "read-only");
    await done(login("work"));
    await done(login("work", "--no-verify"));
    expect((await list())[0]).toEqual(before);

    const elsewhere = "auth login --profile work --base-url https://api.example.com";
    await done(ecm(`${elsewhere} --api-key-stdin --no-verify`, { stdin: "short-key" }));
    const [other] = await list();
    expect(other).toMatchObject({ baseUrl: "https://api.example.com", readOnly: false });
    expect(other).not.toHaveProperty("structure");
  });

  it.each([
    ["no address", "--api-key-stdin", "k"],
    ["no key, and nobody to ask", "--base-url https://api.example.com", undefined],
    ["an unsafe address", "--base-url http://api.example.com --api-key-stdin", "k"],
    ["a key of two words", "--base-url https://api.example.com --api-key-stdin", "two words"],
    ["no key at all", "--base-url https://api.example.com --api-key-stdin", "\n"],
    ["two keys", "--base-url https://api.example.com --api-key-stdin --api-key-command x", "k"],
    ["the sandbox's name", "--profile sandbox --base-url https://x.example --api-key-stdin", "k"],
  ])("is a usage error with %s", async (_name, flags, stdin) => {
    const ecm = ecmWith(await temporaryHome());
    expect(await refused(ecm(`auth login ${flags}`, { stdin }), 2)).not.toContain("two words");
  });
});

describe("ecm auth status", () => {
  it("names profile, address, masked key, region, and where each comes from", async () => {
    const { ecm, login, baseUrl, apiKey } = await fresh();
    await login("work");
    expect(await readJson(ecm, "auth status")).toEqual({
      profile: "work",
      baseUrl,
      apiKey: `ecm_us_…${apiKey.slice(-4)}`,
      region: "us",
      structure: null,
      readOnly: false,
      works: true,
      sources: { profile: "default", baseUrl: "profile", apiKey: "profile" },
    });
  });

  it("has exit code 4 for a key that is refused, and sends to a login or the variable, not to itself", async () => {
    const { ecm, login, baseUrl } = await fresh();
    await login("work", "--no-verify", wrongKey);
    const again = "log in again: ecm --profile work auth login";
    await ends(ecm("lists list"), 4, again);
    expect((await ends(ecm("auth status"), 4, again)).stderr).not.toContain("ecm auth status");

    const env = { ECM_BASE_URL: baseUrl, ECM_API_KEY: `ecm_us_${"y".repeat(43)}` };
    expect((await ecm("lists list", { env })).stderr).toContain("set ECM_API_KEY to it");
    const { stdout, stderr } = await ends(ecm("auth status --json", { env }), 4);
    expect(JSON.parse(stdout)).toMatchObject({ works: false, sources: { apiKey: "environment" } });
    expect(stdout + stderr).not.toContain(env.ECM_API_KEY);
    expect(JSON.parse(stderr.trim().split("\n").at(-1)!).error.hint).toContain("set ECM_API_KEY");
  });

  it("does not call a key refused that could not be tried", async () => {
    const { ecm } = await startService((_request, response) => response.end("<html>"));
    const { code, stdout } = await ecm("auth status --json");
    expect([code, JSON.parse(stdout).works]).toEqual([1, null]);
  });
});

describe("ecm auth use and logout", () => {
  it("say that the profile sandbox is no account of the service: it has no address and no key", async () => {
    const ecm = ecmWith(await temporaryHome());
    const said = 'Selected profile "sandbox": the embedded sandbox, which reaches no real account\n';
    expect(await ecm("auth use sandbox")).toMatchObject({ code: 0, stderr: said });
    const status = { profile: "sandbox", baseUrl: null, apiKey: null, works: true };
    expect(await readJson(ecm, "auth status")).toMatchObject(status);
  });

  it("choose and forget profiles", async () => {
    const { ecm, login } = await fresh();
    await login("work");
    await login("home");
    expect(await ecm("auth use home")).toMatchObject({ code: 0, stderr: 'Selected profile "home"\n' });
    expect((await readJson(ecm, "auth status")).profile).toBe("home");
    const next = expect.stringContaining("No profile selected. Select one with: ecm auth use work");
    expect(await ecm("auth logout")).toMatchObject({ code: 0, stdout: "", stderr: next });
    const none = await refused(ecm("auth status"), 4, "No profile is selected");
    expect(none).not.toContain("not logged in");
    await done(ecm("auth logout work"));
    expect(await done(ecm("auth list -o id"))).toBe("sandbox\n");
  });

  it("warn where a variable chooses another account than the one that was selected", async () => {
    const { ecm, login } = await fresh();
    await login("work");
    await login("home");
    const use = async (env: Record<string, string>) => (await ecm("auth use home -q", { env })).stderr;
    expect(await use({ ECM_PROFILE: "work" })).toContain('ECM_PROFILE is set: commands here use "work"');
    expect(await use({ ECM_PROFILE: "home" })).toBe("");
    const account = { ECM_BASE_URL: "https://api.example.com", ECM_API_KEY: "k" };
    expect(await use(account)).toContain("ECM_BASE_URL and ECM_API_KEY are set: commands here use");
    expect(await use({ ECM_BASE_URL: "", ECM_API_KEY: "k" })).toBe("");
  });
});

it("the key is in no output of any command, even if the service puts it everywhere", async () => {
  const key = `ecm_us_${"Secret07".repeat(6).slice(0, 43)}`;
  const server = await startHttpServer((request, response, count) => {
    const status = [200, 400, 401, 500, 302][count % 5]!;
    const head = { "x-echo": key, location: `https://example.com/${key}` };
    json(response, status, { ...errorBody(key, `the key ${key}`, { field: key }), request, key }, head);
  });
  const env = { ECM_BASE_URL: server.baseUrl, ECM_API_KEY: key, ECM_DEBUG: "1" };
  const ecm = ecmWith({ ...(await temporaryHome()), ...env });
  for (const line of [
    `api GET /api/echo?key=${key} --include`,
    "api POST /api/contact --data - --read-only",
    "api POST /api/contact --data -",
    `contact get ${key}`,
    "structure list",
    "auth status",
    "doctor",
  ]) {
    for (const more of ["--verbose=bodies", "--json --verbose=bodies"]) {
      const { stdout, stderr } = await ecm(`${line} ${more}`, { stdin: JSON.stringify({ note: key }) });
      expect(stdout + stderr).not.toContain("Secret07Secret07");
    }
  }
  expect(server.requests.length).toBeGreaterThan(10);
  expect(server.requests.every((request) => request.headers["x-api-key"] === key)).toBe(true);
});
