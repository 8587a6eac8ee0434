/**
 * Configuration: flag, environment, profile, default, for each
 * value by itself; nothing of it readable by others.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { json, startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";

const labels = ["Default", "Flag", "Variable", "Profile"];
const structures = labels.map((label, at) => ({
  ...{ _id: String(at).repeat(24), label, keyName: "Email", keyType: "email" },
  ...{ fields: [], tags: [], __v: 1 },
}));
const key = (name: string) => `ecm_us_${name.padEnd(43, "x")}`;

/** A profile on a server of its own, and a second server. */
async function profiled() {
  const start = () => startHttpServer((_request, response) => json(response, 200, structures));
  const [own, other] = [await start(), await start()];
  const home = await temporaryHome();
  const ecm = ecmWith(home);
  const login = ["auth", "login", "--base-url", own.baseUrl, "--structure", "Profile", "--api-key-stdin"];
  expect((await ecm(login, { stdin: `${key("profile")}\n` })).code).toBe(0);
  own.requests.length = 0;
  return { home, ecm, own, other };
}

describe("precedence", () => {
  it("holds for the base address and the key", async () => {
    const { ecm, own, other } = await profiled();
    const far = { ECM_BASE_URL: other.baseUrl };
    const near = { ECM_BASE_URL: own.baseUrl };
    const reached = async (flags: string[], env: Record<string, string>) => {
      own.requests.length = other.requests.length = 0;
      expect((await ecm(["structure", "list", ...flags], { env })).code).toBe(0);
      const server = own.requests.length > 0 ? own : other;
      return [server === own ? "own" : "other", server.requests[0]?.headers["x-api-key"]];
    };
    expect(await reached([], {})).toEqual(["own", key("profile")]);
    expect(await reached([], far)).toEqual(["other", key("profile")]);
    expect(await reached(["--base-url", other.baseUrl], near)).toEqual(["other", key("profile")]);
    expect(await reached([], { ECM_API_KEY: key("variable") })).toEqual(["own", key("variable")]);
    expect(await reached([], { ...far, ECM_API_KEY: key("variable") })).toEqual(["other", key("variable")]);
    const result = await ecm("structure list", { env: far });
    expect(result.stderr).toBe(
      `warning: ECM_BASE_URL is set: the key of the profile default goes to ${other.baseUrl}\n`,
    );
  });

  it("holds for the structure, else the account's only one is meant, else they are listed", async () => {
    const { ecm, own } = await profiled();
    const listStructures = async (flags: string[], env: Record<string, string>) =>
      (await ecm(["structure", "get", "--columns", "label", ...flags], { env })).stdout.split("\n")[1];
    expect(await listStructures([], {})).toBe("Profile");
    expect(await listStructures([], { ECM_STRUCTURE: "variable" })).toBe("Variable");
    expect(await listStructures(["-s", "flag"], { ECM_STRUCTURE: "Variable" })).toBe("Flag");
    const alone = { ECM_BASE_URL: own.baseUrl, ECM_API_KEY: key("variable"), ECM_PROFILE: "" };
    const several = await ecmWith(await temporaryHome())(["structure", "get"], { env: alone });
    expect(several.code).toBe(2);
    for (const { _id, label } of structures) expect(several.stderr).toContain(`${_id} ("${label}")`);
  });

  it("holds for output, time-out, prompts and read-only", async () => {
    const { ecm } = await profiled();
    const list = ["structure", "list"];
    const csv = { env: { ECM_OUTPUT: "csv" } };
    expect((await ecm(list, csv)).stdout).toMatch(/^label,/);
    expect((await ecm([...list, "-o", "id"], csv)).stdout).toBe(
      structures.map(({ _id }) => `${_id}\n`).join(""),
    );
    const bad = await ecm(list, { env: { ECM_TIMEOUT: "soon" } });
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining("ECM_TIMEOUT") });
    expect((await ecm([...list, "--timeout", "5"], { env: { ECM_TIMEOUT: "soon" } })).code).toBe(0);
    const create = ["lists", "create", "x"];
    for (const [words, env] of [
      [[...create, "--read-only"], {}],
      [create, { ECM_READ_ONLY: "1" }],
    ] as const) {
      expect(await ecm([...words], { env })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("read-only"),
      });
    }
  });

  it("ends a silent service's turn after --timeout before ECM_TIMEOUT", async () => {
    const silent = await startHttpServer(() => undefined);
    const env = { ECM_BASE_URL: silent.baseUrl, ECM_API_KEY: key("k"), ECM_TIMEOUT: "60" };
    const ecm = ecmWith({ ...(await temporaryHome()), ...env });
    const { code, stderr } = await ecm("structure list --timeout 0.1");
    expect(code).toBe(8);
    expect(stderr).toContain("within 0.1 s");
    expect(silent.requests).toHaveLength(1);
  });
});

it("leaves everything that it keeps to the owner's eyes, and the key in one file alone", async () => {
  const { home, ecm, own } = await profiled();
  await ecm("structure list");
  await ecm("structure list --profile sandbox");
  const folders = Object.values(home);
  const storedText = (
    await Promise.all(folders.map((folder) => readdir(folder, { recursive: true })))
  ).flatMap((names, at) => names.map((name) => join(folders[at]!, name)));
  expect(storedText.length).toBeGreaterThan(4);
  const holdingKey: string[] = [];
  for (const path of [...folders, ...storedText]) {
    // What the database keeps only while it is open may go meanwhile.
    const fileStatus = await stat(path).catch(() => undefined);
    if (!fileStatus) continue;
    expect((fileStatus.mode & 0o777).toString(8), path).toBe(fileStatus.isDirectory() ? "700" : "600");
    if (fileStatus.isFile() && (await readFile(path, "latin1")).includes(key("profile")))
      holdingKey.push(path);
  }
  expect(holdingKey).toEqual([join(home.ECM_CONFIG_DIR!, "profiles.json")]);
  expect(dirname(holdingKey[0]!)).toBe(home.ECM_CONFIG_DIR);
  expect(own.requests.length).toBeGreaterThan(0);
});

it("keeps a key from the environment in no file of a run", async () => {
  const { ecm, env, apiKey } = await startSandbox();
  const imported = await ecm("import - --yes --json", { stdin: "Email\nada@example.com\nbob@example.com\n" });
  expect(imported.code, imported.stderr).toBe(0);
  const files = (await readdir(env.ECM_STATE_DIR!, { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile(),
  );
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(["journal", "plan.ndjson"]));
  for (const { parentPath, name } of files)
    expect(await readFile(join(parentPath, name), "latin1"), name).not.toContain(apiKey);
});

it("sends a key to https or loopback alone, wherever the address stands", async () => {
  const { ecm } = await startSandbox();
  for (const address of [
    "http://example.com",
    "ftp://127.0.0.1",
    "http://127.0.0.1.example.com",
    "x",
    "http://10.0.0.1",
  ]) {
    for (const [words, env] of [
      [["--base-url", address], {}],
      [[], { ECM_BASE_URL: address }],
    ] as const) {
      const { code, stderr } = await ecm(["structure", "list", ...words], { env });
      expect(code).toBe(2);
      expect(stderr).toMatch(/^error: (--base-url|ECM_BASE_URL): /);
    }
  }
});
