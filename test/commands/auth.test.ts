import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { errorBody, json, startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";

/** The embedded service behind a port, and an `ecm` that knows nothing of it yet. */
async function fresh() {
  const { baseUrl, apiKey } = await startSandbox();
  const home = await temporaryHome();
  const ecm = ecmWith(home);
  const login = (profile: string, flags = "") =>
    ecm(`auth login --profile ${profile} --base-url ${baseUrl} --api-key-stdin ${flags}`, {
      stdin: `${apiKey}\n`,
    });
  return { baseUrl, apiKey, home, ecm, login };
}

const wrongKey = `ecm_us_${"x".repeat(43)}`;

describe("ecm auth login", () => {
  it("keeps a key that works, and the first login becomes the current profile", async () => {
    const { ecm, login, baseUrl, apiKey, home } = await fresh();
    const result = await login("work", "-o json");
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({
      profile: "work",
      baseUrl,
      region: "us",
      current: true,
      verified: true,
    });
    expect(result.stdout + result.stderr).not.toContain(apiKey);
    const file = join(home.ECM_CONFIG_DIR!, "profiles.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).toContain(apiKey);

    expect((await login("other")).stderr).toContain("ecm auth use other");
    const list = await ecm("auth list -o csv");
    const listed = list.stdout.split("\n").map((line) => line.split(",").slice(0, 2).join(","));
    expect(listed).toEqual(["profile,current", "work,yes", "other,", "sandbox,", ""]);
    expect(list.stdout).not.toContain(apiKey);
    expect((await ecm("structure list -o id")).code).toBe(0);
  });

  it("keeps nothing when the service refuses the key", async () => {
    const { ecm, baseUrl } = await fresh();
    const refused = await ecm(`auth login --base-url ${baseUrl} --api-key-stdin --json`, { stdin: wrongKey });
    expect(refused.code).toBe(4);
    expect(JSON.parse(refused.stderr).error).toMatchObject({
      type: "UnauthorizedError",
      status: 401,
      exitCode: 4,
    });
    expect(refused.stderr).not.toContain(wrongKey);
    expect(JSON.parse(refused.stderr).error.hint).toMatch(/Nothing was saved.*API Keys page/);
    expect((await ecm("auth list -o id")).stdout).toBe("sandbox\n");
  });

  it("says what to do where the address is wrong", async () => {
    const ecm = ecmWith(await temporaryHome());
    const server = await startHttpServer((_request, response) => response.end("<html>"));
    for (const baseUrl of [server.baseUrl, "http://127.0.0.1:9"]) {
      const result = await ecm(`auth login --base-url ${baseUrl} --api-key-stdin`, { stdin: "k".repeat(50) });
      expect(result.stderr).toMatch(/hint: Nothing was saved\. Check --base-url/);
    }
  });

  it("asks a person before it replaces a profile, and a script not", async () => {
    const { ecm, login, baseUrl, apiKey } = await fresh();
    await login("default");
    const again = (answer: string, ...more: string[]) =>
      ecm(["auth", "login", "--base-url", baseUrl, ...more], {
        terminalColumns: 200,
        typed: [
          ["already exists", `${answer}\r`],
          ["API key", `${apiKey}\r`],
        ],
      });
    const declined = await again("n");
    expect(declined.code).toBe(1);
    expect(declined.stderr).toContain("Cancelled; nothing changed");
    expect(declined.stderr).toContain(`ecm_us_…${apiKey.slice(-4)}`);
    expect((await again("y")).code).toBe(0);
    expect((await login("default")).code).toBe(0);
  });

  it("keeps a key untried with --no-verify, without a request", async () => {
    const server = await startHttpServer((_request, response) => json(response, 500, {}));
    const ecm = ecmWith(await temporaryHome());
    const args = ["auth", "login", "--base-url", server.baseUrl, "--api-key-stdin", "--no-verify"];
    const result = await ecm(args, { stdin: "short-key" });
    expect(result).toMatchObject({ code: 0, stdout: "" });
    expect(result.stderr).toContain("warning: The key does not look like an API key");
    expect(server.requests).toEqual([]);
  });

  it("keeps a command in place of the key, and runs it when a key is needed", async () => {
    const { ecm, baseUrl, apiKey, home } = await fresh();
    const args = ["auth", "login", "--base-url", baseUrl, "--api-key-command"];
    expect((await ecm([...args, "exit 1"])).code).toBe(4);
    expect((await ecm([...args, `printf '%s\\n' "$THE_KEY"`], { env: { THE_KEY: apiKey } })).code).toBe(0);
    const file = await readFile(join(home.ECM_CONFIG_DIR!, "profiles.json"), "utf8");
    expect(file).not.toContain(apiKey);
    expect((await ecm("auth status", { env: { THE_KEY: apiKey } })).code).toBe(0);
    expect((await ecm([...args, `echo ${apiKey}`])).code).toBe(0);
    const list = await ecm("auth list --json");
    expect(JSON.parse(list.stdout)[0]).toMatchObject({ name: "default", hasKeyCommand: true });
    expect(list.stdout).not.toContain(apiKey);
    expect((await ecm([...args, `printf '%s\\n' "$THE_KEY"`], { env: { THE_KEY: apiKey } })).code).toBe(0);
    expect((await ecm("auth status")).code).toBe(4);
  });

  it("asks a person at a terminal for the key, and does not show it", async () => {
    const { ecm, baseUrl, apiKey, home } = await fresh();
    for (const more of [[], ["--api-key-stdin"]]) {
      const args = ["auth", "login", "--base-url", baseUrl, ...more];
      const result = await ecm(args, { typed: `${apiKey}\r`, terminalColumns: 80 });
      expect(result.code).toBe(0);
      expect(result.stderr).toContain("API key");
      expect(result.stdout + result.stderr).not.toContain(apiKey);
      expect(await readFile(join(home.ECM_CONFIG_DIR!, "profiles.json"), "utf8")).toContain(apiKey);
      await ecm("auth logout");
    }
  });

  it("keeps the id of a structure that was named by its label", async () => {
    const { ecm, login } = await fresh();
    expect((await login("work", "--structure Nowhere")).code).toBe(5);
    const result = await login("work", "--structure default -o json");
    expect(JSON.parse(result.stdout).structure).toMatch(/^[0-9a-f]{24}$/);
    const status = await ecm("auth status --json");
    expect(JSON.parse(status.stdout).sources.structure).toBe("profile");
  });

  it("lets a profile carry --read-only", async () => {
    const { ecm, login } = await fresh();
    await login("careful", "--read-only");
    const result = await ecm("api POST /api/contact --data -", { stdin: "{}" });
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain("read-only");
  });

  it("keeps the structure and the ban on writing when only the key is new", async () => {
    const { ecm, login, baseUrl } = await fresh();
    await login("work", "--structure Default --read-only");
    const [before] = JSON.parse((await ecm("auth list --json")).stdout);
    expect(before).toMatchObject({ readOnly: true, structure: expect.stringMatching(/^[0-9a-f]{24}$/) });
    expect((await login("work")).code).toBe(0);
    expect((await login("work", "--no-verify")).code).toBe(0);
    expect(JSON.parse((await ecm("auth list --json")).stdout)[0]).toEqual(before);

    const elsewhere = ["auth", "login", "--profile", "work", "--base-url", "https://api.example.com"];
    await ecm([...elsewhere, "--api-key-stdin", "--no-verify"], { stdin: "short-key" });
    const [other] = JSON.parse((await ecm("auth list --json")).stdout);
    expect(other).toMatchObject({ baseUrl: "https://api.example.com", readOnly: false });
    expect(other).not.toHaveProperty("structure");
    expect(baseUrl).not.toBe(other.baseUrl);
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
    const result = await ecm(`auth login ${flags}`, { stdin });
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).not.toContain("two words");
  });
});

describe("ecm auth status", () => {
  it("names profile, address, masked key, region, and where each comes from", async () => {
    const { ecm, login, baseUrl, apiKey } = await fresh();
    await login("work");
    const { code, stdout } = await ecm("auth status --json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
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

  it("has exit code 4 for a key that is refused, and still says what was tried", async () => {
    const { baseUrl, home } = await fresh();
    const ecm = ecmWith({ ...home, ECM_BASE_URL: baseUrl, ECM_API_KEY: wrongKey });
    const result = await ecm("auth status --json");
    expect(result.code).toBe(4);
    expect(JSON.parse(result.stdout)).toMatchObject({ works: false, sources: { apiKey: "environment" } });
    expect(result.stdout + result.stderr).not.toContain(wrongKey);
    expect(JSON.parse(result.stderr.trim().split("\n").at(-1)!).error.hint).toContain("set ECM_API_KEY");
  });

  it("sends whoever has a key that is refused to a login, not to itself", async () => {
    const { ecm, login, baseUrl } = await fresh();
    await login("work");
    const again = `auth login --profile work --base-url ${baseUrl} --api-key-stdin --no-verify`;
    await ecm(again, { stdin: wrongKey });
    expect((await ecm("lists list")).stderr).toContain("log in again: ecm --profile work auth login");
    const ofEnvironment = { ECM_API_KEY: `ecm_us_${"y".repeat(43)}` };
    expect((await ecm("lists list", { env: ofEnvironment })).stderr).toContain("set ECM_API_KEY to it");
    const { code, stderr } = await ecm("auth status");
    expect(code).toBe(4);
    expect(stderr).toContain("log in again: ecm --profile work auth login");
    expect(stderr).not.toContain("ecm auth status");
  });

  it("does not call a key refused that could not be tried", async () => {
    const { ecm } = await startService((_request, response) => response.end("<html>"));
    const result = await ecm("auth status --json");
    expect(result.code).toBe(1);
    expect(JSON.parse(result.stdout).works).toBeNull();
  });

  it("shows the embedded service without an address and a key", async () => {
    const { code, stdout } = await ecmWith(await temporaryHome())("auth status -p sandbox --json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      profile: "sandbox",
      baseUrl: null,
      apiKey: null,
      works: true,
    });
  });
});

describe("ecm auth use and logout", () => {
  it("say that the profile sandbox is no account of the service", async () => {
    const { code, stderr } = await ecmWith(await temporaryHome())(["auth", "use", "sandbox"]);
    expect(code).toBe(0);
    expect(stderr).toBe('Selected profile "sandbox": the embedded sandbox, which reaches no real account\n');
  });

  it("choose and forget profiles", async () => {
    const { ecm, login } = await fresh();
    await login("work");
    await login("home");
    const used = await ecm("auth use home");
    expect(used).toMatchObject({ code: 0, stderr: 'Selected profile "home"\n' });
    expect(JSON.parse((await ecm("auth status --json")).stdout).profile).toBe("home");
    const out = await ecm("auth logout");
    expect(out).toMatchObject({ code: 0, stdout: "" });
    expect(out.stderr).toContain("No profile selected. Select one with: ecm auth use work");
    const none = await ecm("auth status");
    expect(none.code).toBe(4);
    expect(none.stderr).toContain("No profile is selected");
    expect(none.stderr).not.toContain("not logged in");
    expect((await ecm("auth logout work")).code).toBe(0);
    expect((await ecm("auth list -o id")).stdout).toBe("sandbox\n");
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

describe("the key", () => {
  it("is in no output of any command, even if the service puts it everywhere", async () => {
    const key = `ecm_us_${"Secret07".repeat(6).slice(0, 43)}`;
    const server = await startHttpServer((request, response, count) => {
      const status = [200, 400, 401, 500, 302][count % 5]!;
      const head = { "x-echo": key, location: `https://example.com/${key}` };
      json(response, status, { ...errorBody(key, `the key ${key}`, { field: key }), request, key }, head);
    });
    const env = { ECM_BASE_URL: server.baseUrl, ECM_API_KEY: key, ECM_DEBUG: "1" };
    const ecm = ecmWith({ ...(await temporaryHome()), ...env });
    const commands = [
      ["api", "GET", `/api/echo?key=${key}`, "--include"],
      ["api", "POST", "/api/contact", "--data", "-", "--read-only"],
      ["api", "POST", "/api/contact", "--data", "-"],
      ["contact", "get", key],
      ["structure", "list"],
      ["auth", "status"],
      ["doctor"],
    ];
    for (const words of commands) {
      for (const more of [["--verbose=bodies"], ["--json", "--verbose=bodies"]]) {
        const { stdout, stderr } = await ecm([...words, ...more], { stdin: JSON.stringify({ note: key }) });
        expect(stdout + stderr).not.toContain("Secret07Secret07");
      }
    }
    expect(server.requests.length).toBeGreaterThan(10);
    expect(server.requests.every((request) => request.headers["x-api-key"] === key)).toBe(true);
  });
});
