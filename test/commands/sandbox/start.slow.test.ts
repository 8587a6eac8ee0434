/** `ecm sandbox start` and `exec`, as processes of their own. Needs a build. */

import { once } from "node:events";
import { cp, readdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refused, spawnEcm, startSandbox, temporaryFolder, temporaryHome, waitForResult } from "../../kit.ts";
import { callPort } from "../../sandbox/account.ts";
import { ecmWith, ends } from "../../support/ecm.ts";

/** A sandbox in a process of its own, once it has printed its line. */
async function start(flags: string[], env: Record<string, string> = {}) {
  const child = spawnEcm(["sandbox", "start", ...flags], { ...(await temporaryHome()), ...env });
  const ended = waitForResult(child);
  const [text] = await once(child.stdout!, "data");
  const line = String(text);
  return { child, ended, line, ready: JSON.parse(line) };
}

const readStatus = async (ready: Parameters<typeof callPort>[0]) =>
  (await callPort(ready, "GET", "/api/contact-structure")).status;

test("start prints one line of JSON and nothing more, answers, and ends with 0 on SIGINT", async () => {
  const { child, ended, line, ready } = await start(["--hourly-limit", "7"]);
  expect(Object.keys(ready)).toEqual(["baseUrl", "apiKey", "structureId"]);
  expect(ready.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const { status, headers } = await callPort(ready, "GET", `/api/contact-structure/${ready.structureId}`);
  expect([status, headers.get("x-ratelimit-remaining")]).toEqual([200, "6"]);
  child.kill("SIGINT");
  expect(await ended).toEqual({ code: 0, stdout: line, stderr: "" });
});

test("start is stopped at once by SIGTERM, whatever is being delayed", async () => {
  const { child, ended, line, ready } = await start(["--fault", "delay:seconds=600"]);
  const { hostname, port } = new URL(ready.baseUrl);
  const socket = connect(Number(port), hostname);
  const dropped = new Promise((resolve) => socket.on("error", () => {}).on("close", resolve));
  await new Promise<void>((resolve) =>
    socket.write("GET /api/contact-structure HTTP/1.1\r\nhost: localhost\r\n\r\n", () => resolve()),
  );
  child.kill("SIGTERM");
  expect(await ended).toEqual({ code: 0, stdout: line, stderr: "" });
  await dropped;
});

test("start takes a fault, a seed, an admin token and a key of one's own; a port in use is a usage error", async () => {
  const apiKey = `ecm_us_${"k".repeat(43)}`;
  const flags = ["--fault", "503:GET:*:n=1", "--seed", "7", "--admin-token", "s3cret"];
  const { ready } = await start(flags, { ECM_SANDBOX_API_KEY: apiKey });
  expect(ready.apiKey).toBe(apiKey);
  expect(ready.structureId).toBe((await startSandbox({ seed: 7 })).sandbox.structureId);
  expect([await readStatus(ready), await readStatus(ready)]).toEqual([503, 200]);
  const health = async (headers?: Record<string, string>) =>
    (await fetch(`${ready.baseUrl}/__sandbox/health`, { headers })).status;
  expect([await health(), await health({ authorization: "Bearer s3cret" })]).toEqual([401, 200]);
  const { port } = new URL(ready.baseUrl);
  await refused(ecmWith(await temporaryHome())(`sandbox start --port ${port}`), 2, `port ${port}`);
});

test("start refuses a value that is none, and names its flag", async () => {
  const ecm = ecmWith(await temporaryHome());
  for (const flag of [
    "--port=x",
    "--port=70000",
    "--hourly-limit=-1",
    "--window=0",
    "--monthly-limit=1.5",
    "--block-after=0",
    "--region=JPN",
    "--fault=bogus",
  ])
    await refused(ecm(`sandbox start ${flag}`), 2, flag.split("=")[0]!);
  const start = ecm("sandbox start", { env: { ECM_SANDBOX_API_KEY: "secret" } });
  expect(await refused(start, 2, "ECM_SANDBOX_API_KEY")).not.toContain("secret");
});

test("without the database's package, the sandbox says what is missing, and all else works", async () => {
  const folder = await temporaryFolder();
  const root = join(import.meta.dirname, "../../..");
  for (const part of ["bin", "dist", "package.json"])
    await cp(join(root, part), join(folder, part), { recursive: true });
  const home = await temporaryHome();
  const run = (...args: string[]) => waitForResult(spawnEcm(args, home, join(folder, "bin/ecm.js")));
  for (const line of ["sandbox start", "lists list --profile sandbox"])
    await ends(run(...line.split(" ")), 2, /^error: .*libsql.*\nhint: .*npm install/);
  expect((await run("sandbox", "start", "--help")).code).toBe(0);
});

test("exec runs the command with the address and the key, and exits as it did", async () => {
  const home = { ...(await temporaryHome()), ECM_PROFILE: "elsewhere", ECM_STRUCTURE: "elsewhere" };
  const program = `
    const answer = await fetch(process.env.ECM_BASE_URL + "/api/contact-structure",
      { headers: { "x-api-key": process.env.ECM_API_KEY } });
    console.log(answer.status, process.env.ECM_PROFILE, process.env.ECM_STRUCTURE, process.argv.slice(1).join(" "));
    process.exit(5);`;
  const words = ["--input-type=module", "-e", program, "--", "--json"];
  const args = ["sandbox", "exec", "--", process.execPath, ...words];
  const ended = { code: 5, stdout: "200 undefined undefined --json\n", stderr: "" };
  expect(await waitForResult(spawnEcm(args, home))).toEqual(ended);
});

test.each([
  ["0.0.0.0", true],
  ["127.0.0.1", false],
])("a sandbox on %s is said to be open to others: %s", async (host, isOpen) => {
  const args = ["sandbox", "exec", "--host", host, "--", process.execPath, "-e", ""];
  const { stderr } = await ends(ecmWith(await temporaryHome())(args), 0);
  expect(stderr.includes("warning: The sandbox listens on 0.0.0.0")).toBe(isOpen);
});

test("exec passes SIGTERM on, and waits for the command's own end", async () => {
  const program = `process.on("SIGTERM", () => { console.log("told"); process.exit(9); });
    console.log("ready"); setInterval(() => {}, 1000);`;
  const child = spawnEcm(["sandbox", "exec", "--", process.execPath, "-e", program], await temporaryHome());
  const ended = waitForResult(child);
  await once(child.stdout!, "data");
  child.kill("SIGTERM");
  expect(await ended).toEqual({ code: 9, stdout: "ready\ntold\n", stderr: "" });
});

test("exec --temporary uses an empty folder, and removes it", async () => {
  const temporary = await temporaryFolder();
  const home: Record<string, string> = { ...(await temporaryHome()), TMPDIR: temporary };
  const exec = (...args: string[]) => waitForResult(spawnEcm(["sandbox", "exec", ...args], home));
  // The second of that key would be refused.
  const create = `
    const { ECM_BASE_URL: url, ECM_API_KEY: key } = process.env;
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const [{ _id }] = await (await fetch(url + "/api/contact-structure", { headers })).json();
    const body = JSON.stringify({ key: "a@b.co", contactStructureId: _id });
    const { ok } = await fetch(url + "/api/contact", { method: "POST", headers, body });
    process.exit(ok ? 9 : 1);`;
  for (let run = 0; run < 2; run++) {
    const result = await exec("--temporary", "--", process.execPath, "--input-type=module", "-e", create);
    expect(result).toEqual({ code: 9, stdout: "", stderr: "" });
  }
  await ends(exec("--temporary", "--", "/nowhere/at-all"), 2, "/nowhere/at-all");
  expect(await readdir(temporary)).toEqual([]);
  expect(await readdir(home.ECM_STATE_DIR!).catch(() => [])).not.toContain("sandbox");
  const both = ["sandbox", "exec", "--temporary", "--data", temporary, "--", process.execPath, "-e", ""];
  await refused(ecmWith(home)(both), 2, "--temporary");
});
