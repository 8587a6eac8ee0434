/** Erasing a person from the embedded service's own files, while it runs and when it is not. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { manyContacts } from "../bulk/kit.ts";
import { done, spawnEcm, temporaryHome, toWords, waitForResult } from "../support/ecm.ts";

/** `ecm` in processes of their own: nothing of the test holds the database open. */
async function processes() {
  const env: Record<string, string> = { ...(await temporaryHome()), ECM_PROFILE: "sandbox" };
  const ecm = (line: string, stdin = "") => {
    const child = spawnEcm(toWords(line), env);
    child.stdin!.end(stdin);
    return done(waitForResult(child));
  };
  return { env, ecm };
}

async function filesWith({ ECM_STATE_DIR }: Record<string, string>, words: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(ECM_STATE_DIR!, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    const bytes = (await readFile(path, "latin1")).toLowerCase();
    found.push(...words.filter((word) => bytes.includes(word)).map((word) => `${word} in ${path}`));
  }
  return found;
}

it("leaves the totals of the account and of its saved states right", async () => {
  const { ecm } = await processes();
  const count = async (condition = "") => Number(await ecm(`contact search --count ${condition}`));
  const people = [...manyContacts(3), { key: "ada@example.com", tags: ["vip"] }];
  const contacts = people.map((contact) => ({ ...contact, lists: ["News"] }));
  await ecm("sandbox seed -", JSON.stringify({ contacts }));
  await ecm("sandbox snapshot save before");
  await ecm("contact erase ada@example.com --yes");
  expect([await count(), await count("--list News")]).toEqual([3, 3]);
  await ecm("sandbox snapshot load before");
  const counts = [await count(), await count("--list News"), await count("--status active")];
  expect(counts).toEqual([3, 3, 3]);
  expect(JSON.parse(await ecm("lists list --json"))).toMatchObject([{ name: "News", totalContacts: 3 }]);
});

it.each([false, true])(
  "leaves no byte of the person in any file (with a sandbox running: %j)",
  async (isRunning) => {
    const { env, ecm } = await processes();
    if (isRunning) {
      const server = spawnEcm(["sandbox", "start"], env);
      await new Promise((resolve) => server.stdout!.once("data", resolve));
    }
    await ecm("contact create --key Ada@Example.com --set 'Last Name=Byron-Lovelace'");
    await ecm("sandbox snapshot save one");
    await ecm("contact mutate ada@example.com --set 'Last Name=Noel-King'");
    const words = ["ada@example.com", "byron-lovelace", "noel-king"];
    expect((await filesWith(env, words)).length).toBeGreaterThanOrEqual(3);
    await ecm("contact erase ada@example.com --yes");
    expect(await filesWith(env, words)).toEqual([]);
  },
);
