/**
 * A folder that a released version has written: version-7/ holds the database and a snapshot of it as SQL,
 * and what the log answered. The log has lost its first request to a clearing and its seventh to an erasure.
 */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/sandbox/database.ts";
import { eraseFromSandbox } from "../../src/sandbox/erase.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { eq, openAccount } from "./account.ts";

const stored = (name: string) => readFile(new URL(`version-7/${name}`, import.meta.url), "utf8");
const apiKey = `ecm_us_${"Sandbox7".repeat(6).slice(0, 43)}`;
const offers = "659200807902699be400000a";

async function storedFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), "sandbox");
  await mkdir(join(folder, "snapshots"), { recursive: true });
  for (const [file, sql] of [
    ["sandbox.db", "sandbox.sql"],
    ["snapshots/before.db", "snapshot.sql"],
  ] as const) {
    const database = await openDatabase(join(folder, file), "DELETE");
    database.exec(await stored(sql));
    database.close();
  }
  return folder;
}

const openStored = async () => openAccount({ folder: await storedFolder(), apiKey });

it("keeps contacts, lists and totals, and gives new ids after the old ones", async () => {
  const { call, search, create, structureId } = await openStored();
  const found = await search([eq("LIST_ID", offers)], { pageSize: 5, page: 13 });
  expect(found.body.totalRecords).toBe(62);
  expect(found.body.contacts.map(({ key }: { key: string }) => key)).toEqual([
    "person59@example.com",
    "zoe@example.com",
  ]);
  const list = await call("GET", `/api/contact-structure/${structureId}/lists/${offers}`);
  expect(list.body.totalContacts).toBe(62);
  expect((await create("new@example.com"))._id > found.body.contacts[1]._id).toBe(true);
});

it("keeps the log, its numbers and the clock", async () => {
  const { sandbox, call } = await openStored();
  const kept = JSON.parse(await stored("requests.json"));
  expect(sandbox.admin.requests()).toEqual(kept);
  expect(sandbox.admin.clock()).toMatchObject({ real: false, time: "2026-06-15T13:00:00.000Z" });
  await call("GET", "/api/contact/nobody");
  expect(sandbox.admin.requests({ since: 17 })).toMatchObject([{ n: 18, status: 404 }]);
});

it("loads the snapshot", async () => {
  const { sandbox, call, search } = await openStored();
  sandbox.admin.loadSnapshot("before");
  const { body } = await search([]);
  expect(body.contacts.map(({ key }: { key: string }) => key)).toEqual([
    "ada@example.com",
    "bob@example.com",
    "eve@example.com",
  ]);
  expect((await search([eq("LIST_ID", offers)])).body.totalRecords).toBe(1);
  expect((await call("GET", `/api/contact/${body.contacts[0]._id}`)).body.fields[0].value).toBe("Oslo");
});

it("loses a person to an erasure, in the log and in the snapshot too", async () => {
  const folder = await storedFolder();
  const mask = (text: string) => (text.includes("ada@example.com") ? "(erased)" : undefined);
  expect(await eraseFromSandbox(folder, ["ada@example.com"], mask)).toBe(2);
  const { sandbox, search } = await openAccount({ folder, apiKey });
  const inLog = () => JSON.stringify(sandbox.admin.requests()).includes("ada@example.com");
  expect(inLog()).toBe(false);
  expect((await search([eq("KEY", "ada@example.com")])).body.totalRecords).toBe(0);
  sandbox.admin.loadSnapshot("before");
  expect((await search([])).body.totalRecords).toBe(2);
});
