/** Erasing a person from the embedded service's own files, while it runs and when it is not. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { manyContacts } from "../bulk/kit.ts";
import { ecmWith, spawnEcm, temporaryHome, waitForResult } from "../support/ecm.ts";

/** `ecm` in processes of their own: nothing of the test holds the database open. */
async function processes() {
  const env = await temporaryHome();
  const ecm = (...personalTexts: string[]) =>
    waitForResult(spawnEcm(personalTexts, { ...env, ECM_PROFILE: "sandbox" }));
  const count = async (...personalTexts: string[]) =>
    Number((await ecm("contact", "search", "--count", ...personalTexts)).stdout);
  return { env, ecm, count };
}

async function filesWith(env: Record<string, string>, ...personalTexts: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(env.ECM_STATE_DIR!, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    const bytes = (await readFile(path, "latin1")).toLowerCase();
    for (const word of personalTexts) if (bytes.includes(word)) found.push(`${word} in ${path}`);
  }
  return found;
}

it("leaves the totals of the account and of its saved states right", async () => {
  const { env, ecm, count } = await processes();
  const contacts = [...manyContacts(3), { key: "ada@example.com", lists: ["News"], tags: ["vip"] }].map(
    (contact) => ({ lists: ["News"], ...contact }),
  );
  const seeded = ecmWith(env)(["sandbox", "seed", "-"], { stdin: JSON.stringify({ contacts }) });
  expect((await seeded).code, (await seeded).stderr).toBe(0);
  expect((await ecm("sandbox", "snapshot", "save", "before")).code).toBe(0);
  expect((await ecm("contact", "erase", "ada@example.com", "--yes")).code).toBe(0);
  expect([await count(), await count("--list", "News")]).toEqual([3, 3]);
  expect((await ecm("sandbox", "snapshot", "load", "before")).code).toBe(0);
  expect([await count(), await count("--list", "News"), await count("--status", "active")]).toEqual([
    3, 3, 3,
  ]);
  const lists = JSON.parse((await ecm("lists", "list", "--json")).stdout);
  expect(lists).toMatchObject([{ name: "News", totalContacts: 3 }]);
});

it.each([false, true])(
  "leaves no byte of the person in any file (with a sandbox running: %j)",
  async (isRunning) => {
    const { env, ecm } = await processes();
    if (isRunning) {
      const server = spawnEcm(["sandbox", "start"], env);
      await new Promise((resolve) => server.stdout!.once("data", resolve));
    }
    const create = ["contact", "create", "--key", "Ada@Example.com", "--set", "Last Name=Byron-Lovelace"];
    expect((await ecm(...create)).code).toBe(0);
    expect((await ecm("sandbox", "snapshot", "save", "one")).code).toBe(0);
    expect((await ecm("contact", "mutate", "ada@example.com", "--set", "Last Name=Noel-King")).code).toBe(0);
    const personalTexts = ["ada@example.com", "byron-lovelace", "noel-king"];
    expect((await filesWith(env, ...personalTexts)).length).toBeGreaterThanOrEqual(3);
    const erased = await ecm("contact", "erase", "ada@example.com", "--yes");
    expect(erased.code, erased.stderr).toBe(0);
    expect(await filesWith(env, ...personalTexts)).toEqual([]);
  },
);
