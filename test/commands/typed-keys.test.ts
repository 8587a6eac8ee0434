/** What is typed as a contact's key: one rule in every command. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inputFile } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const accented = "jörg@example.com";

it("accented letters before the @ are refused by create and by import, before a write; --data sends them", async () => {
  const { ecm, sandbox } = await startSandbox();
  const created = await ecm(["contact", "create", "--key", accented]);
  expect(created.code).toBe(2);
  expect(created.stderr).toContain(
    "accented letters before the @, which the service's own addresses do not have",
  );
  expect(created.stderr).toMatch(/^hint: .*--data FILE/m);
  expect((await ecm(["contact", "create", "--key", accented, "--dry-run"])).code).toBe(2);
  expect(sandbox.admin.requests()).toEqual([]);
  const imported = await ecm(["import", await inputFile(`Email\n${accented}\nok@example.com\n`), "--json"]);
  expect(JSON.parse(imported.stdout).rows).toMatchObject({ created: 1, rejected: 1 });
  const { contactStructureId } = JSON.parse(
    (await ecm(["contact", "get", "ok@example.com", "--json"])).stdout,
  );
  const body = await inputFile(JSON.stringify({ key: accented, contactStructureId }), "body.json");
  expect((await ecm(["contact", "create", "--data", body])).code).toBe(0);
  expect((await ecm(["contact", "get", accented])).code).toBe(0);
  // Such a contact can be asked for and looked after as any other.
  expect((await ecm(["suppressions", "add", accented])).code).toBe(0);
  expect((await ecm(["contact", "unsubscribe", accented, "--yes"])).code).toBe(0);
});

it("create refuses what an import rejects", async () => {
  const { ecm, sandbox } = await startSandbox();
  for (const key of ["none", "a@b@c.com", "two@example.com, more@example.com", "sup.txt"]) {
    expect((await ecm(["contact", "create", "--key", key])).code, key).toBe(2);
  }
  expect(sandbox.admin.requests().filter(({ method }) => method !== "GET")).toEqual([]);
});

const takingKeys = [
  ["suppressions", "add"],
  ["suppressions", "check"],
  ["contact", "erase", "--yes"],
  ["contact", "dossier"],
  ["contact", "mutate", "--add-tag", "vip"],
  ["contact", "unsubscribe", "--yes"],
  ["contact", "delete", "--yes"],
  ["contact", "search", "--key"],
  ["export", "--key"],
];

it.each(takingKeys.map((words) => [words]))("ecm %j does not take a file for a key", async (words) => {
  const { ecm, sandbox } = await startSandbox({ contents: { tags: ["vip"] } });
  const file = join(await temporaryFolder(), "sup.txt");
  await writeFile(file, "ada@example.com\n");
  const refused = await ecm([...words, file]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("is a file, not the key of a contact");
  expect(refused.stderr).toContain("--keys");
  expect(sandbox.admin.requests()).toEqual([]);
  expect((await ecm(["suppressions", "list", "--json"])).stdout.trim()).toBe("[]");
});

it.each(takingKeys.slice(0, 4).map((words) => [words]))(
  "ecm %j does not take a word for a key where keys are addresses",
  async (words) => {
    const { ecm, sandbox } = await startSandbox({ contents: { tags: ["vip"] } });
    expect((await ecm([...words, "sup.txt"])).code).toBe(2);
    const writes = sandbox.admin
      .requests()
      .filter(({ method, path }) => method !== "GET" && !path.endsWith("/search"));
    expect(writes).toEqual([]);
    expect((await ecm(["suppressions", "list", "--json"])).stdout.trim()).toBe("[]");
  },
);
