/** Flag, environment, profile, default, for each value by itself; nothing of it readable by others. */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { done, ecmWith, json, refused, startHttpServer, startSandbox, temporaryHome } from "../kit.ts";
import { plainStructure, startService } from "../support/service.ts";

const labels = ["Default", "Flag", "Variable", "Profile"];
const structures = labels.map((label, at) => ({ ...plainStructure, _id: String(at).repeat(24), label }));
const key = (name: string) => `ecm_us_${name.padEnd(43, "x")}`;

/** A profile on a server of its own, and a second server. */
async function profiled() {
  const start = () => startHttpServer((_request, response) => json(response, 200, structures));
  const [own, other] = [await start(), await start()];
  const home = await temporaryHome();
  const ecm = ecmWith(home);
  const login = `auth login --base-url ${own.baseUrl} --structure Profile --api-key-stdin`;
  await done(ecm(login, { stdin: `${key("profile")}\n` }));
  own.requests.length = 0;
  return { home, ecm, own, other };
}

describe("precedence", () => {
  it("sends the key of a profile where ECM_BASE_URL says, with a warning", async () => {
    const { ecm, own, other } = await profiled();
    const { stderr } = await ecm("structure list", { env: { ECM_BASE_URL: other.baseUrl } });
    const goes = `the key of the profile default goes to ${other.baseUrl}`;
    expect(stderr).toBe(`warning: ECM_BASE_URL is set: ${goes}\n`);
    expect([own.requests, other.requests[0]?.headers["x-api-key"]]).toEqual([[], key("profile")]);
  });

  it("holds for the structure, else the account's only one is meant, else they are listed", async () => {
    const { ecm, own } = await profiled();
    const label = async (flags = "", ECM_STRUCTURE = "") =>
      (await ecm(`structure get --columns label ${flags}`, { env: { ECM_STRUCTURE } })).stdout.split("\n")[1];
    expect(await label()).toBe("Profile");
    expect(await label("", "variable")).toBe("Variable");
    expect(await label("-s flag", "Variable")).toBe("Flag");
    const alone = { ECM_BASE_URL: own.baseUrl, ECM_API_KEY: key("variable") };
    const several = ecmWith({ ...(await temporaryHome()), ...alone })("structure get");
    await refused(several, 2, ...structures.map(({ _id, label }) => `${_id} ("${label}")`));
  });

  it("holds for output, time-out, prompts and read-only", async () => {
    const { ecm } = await profiled();
    const list = "structure list";
    const csv = { env: { ECM_OUTPUT: "csv" } };
    expect(await done(ecm(list, csv))).toMatch(/^label,/);
    expect(await done(ecm(`${list} -o id`, csv))).toBe(structures.map(({ _id }) => `${_id}\n`).join(""));
    const soon = { env: { ECM_TIMEOUT: "soon" } };
    await refused(ecm(list, soon), 2, "ECM_TIMEOUT");
    await done(ecm(`${list} --timeout 5`, soon));
    await refused(ecm("lists create x --read-only"), 2, "read-only");
    await refused(ecm("lists create x", { env: { ECM_READ_ONLY: "1" } }), 2, "read-only");
  });

  it("ends a silent service's turn after --timeout before ECM_TIMEOUT", async () => {
    const { server, ecm } = await startService(() => undefined);
    const env = { ECM_TIMEOUT: "60" };
    await refused(ecm("structure list --timeout 0.1", { env }), 8, "within 0.1 s");
    expect(server.requests).toHaveLength(1);
  });
});

/** The files below these folders. */
async function listFiles(...folders: string[]): Promise<string[]> {
  const list = (folder: string) => readdir(folder, { recursive: true, withFileTypes: true });
  const files = (await Promise.all(folders.map(list))).flat().filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name));
}

it("leaves everything that it keeps to the owner's eyes, and the key in one file alone", async () => {
  const { home, ecm, own } = await profiled();
  await ecm("contact search -o table");
  await ecm("suppressions add ada@example.com");
  await ecm("structure list --profile sandbox");
  await ecm("import - --profile sandbox", { stdin: "Email\nada@example.com\nwrong\n" });
  const files = await listFiles(...Object.values(home));
  // Of a run, the suppression list, names and limits that were seen, profiles, and the sandbox.
  for (const name of ["run.json", "journal", "rejects.csv", /\.txt$/, /names/, /limits-/, "profiles.json"])
    expect(files.filter((path) => path.search(name) !== -1)).not.toEqual([]);
  const holdingKey: string[] = [];
  for (const path of new Set([...files, ...files.map(dirname)])) {
    // What the database keeps only while it is open may go meanwhile.
    const found = await stat(path).catch(() => undefined);
    if (!found) continue;
    expect((found.mode & 0o777).toString(8), path).toBe(found.isDirectory() ? "700" : "600");
    if (found.isFile() && (await readFile(path, "latin1")).includes(key("profile"))) holdingKey.push(path);
  }
  expect(files.join()).not.toContain(key("profile").slice(0, 12));
  expect(holdingKey).toEqual([join(home.ECM_CONFIG_DIR!, "profiles.json")]);
  expect(own.requests.length).toBeGreaterThan(0);
});

it("keeps a key from the environment in no file of a run", async () => {
  const { ecm, env, apiKey } = await startSandbox();
  await done(ecm("import - --yes", { stdin: "Email\nada@example.com\nbob@example.com\n" }));
  const files = await listFiles(env.ECM_STATE_DIR!);
  expect(files.map((file) => basename(file))).toEqual(expect.arrayContaining(["journal", "plan.ndjson"]));
  for (const file of files) expect(await readFile(file, "latin1"), file).not.toContain(apiKey);
});
