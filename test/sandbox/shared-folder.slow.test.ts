/** One process that opens a folder again and again while another process writes to it. Needs a build. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { expect, onTestFinished, test } from "vitest";
import type { StartedSandbox } from "../../src/sandbox/public-types.ts";
import { startSandbox } from "../../src/sandbox/start-sandbox.ts";
import { done, spawnEcm, temporaryHome, waitForResult } from "../support/ecm.ts";
import { createAt } from "./account.ts";

const libsql = fileURLToPath(new URL("../../node_modules/libsql", import.meta.url));

/** What the database says of itself, and the keys in it, read by a process of its own. */
function inspectDatabase(folder: string): { integrity: string; keys: string[] } {
  const script = `const database = new (require(${JSON.stringify(libsql)}))(process.argv[1]);
database.pragma("busy_timeout = 30000");
const [{ integrity_check: integrity }] = database.pragma("integrity_check");
const keys = database.prepare("SELECT contact ->> 'key' AS key FROM contacts").all().map(({ key }) => key);
console.log(JSON.stringify({ integrity, keys }));`;
  const words = ["-e", script, join(folder, "sandbox.db")];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: "utf8", maxBuffer: 2 ** 26 }));
}

async function create(server: StartedSandbox, key: string): Promise<string> {
  const answer = await createAt(server, key);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return key;
}

/**
 * Commands create contacts, each a process of its own, while this process does something else to their folder, and
 * nothing of what was answered is missing afterwards.
 * @param act returns the keys of contacts that it created
 */
async function expectWholeAfter(
  { home, folder }: Awaited<ReturnType<typeof sandboxHome>>,
  act: () => Promise<string[]>,
): Promise<void> {
  const answered: string[] = [];
  let isOver = false;
  const write = async (writer: number) => {
    for (let number = 0; !isOver; number++) {
      const key = `other-${writer}-${number}@example.com`;
      await done(waitForResult(spawnEcm(["contact", "create", "--key", key, "--json"], home)));
      answered.push(key);
    }
  };
  const writing = Promise.all([write(1), write(2)]);
  const own = await act().finally(() => {
    isOver = true;
  });
  await writing;
  const { integrity, keys } = inspectDatabase(folder);
  expect(integrity).toBe("ok");
  expect([...answered, ...own].filter((key) => !keys.includes(key))).toEqual([]);
}

async function sandboxHome() {
  const home: Record<string, string> = { ...(await temporaryHome()), ECM_PROFILE: "sandbox" };
  return { home, folder: join(home.ECM_STATE_DIR!, "sandbox") };
}

test("A process that starts and stops a sandbox leaves the writes of another process alone", async () => {
  const place = await sandboxHome();
  await expectWholeAfter(place, async () => {
    const answered: string[] = [];
    for (let start = 0; start < 8; start++) {
      const sandbox = await startSandbox({ folder: place.folder });
      const keys = Array.from({ length: 4 }, (_, n) => `own-${start}-${n}@example.com`);
      answered.push(...(await Promise.all(keys.map((key) => create(sandbox, key))).finally(sandbox.stop)));
    }
    return answered;
  });
});

test("A server for agents, which answers several calls at once, leaves the writes of commands alone", async () => {
  const place = await sandboxHome();
  const server = spawnEcm(["mcp"], place.home);
  const client = new Client({ name: "test", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(new StdioServerTransport(server.stdout!, server.stdin!));
  const call = async (name: string) => {
    const { content, isError = false } = await client.callTool({ name, arguments: {} });
    expect(isError, JSON.stringify(content)).toBe(false);
  };
  await expectWholeAfter(place, async () => {
    for (let turn = 0; turn < 6; turn++) {
      await Promise.all([call("account_status"), call("contact_search"), call("structure_get")]);
    }
    return [];
  });
});
