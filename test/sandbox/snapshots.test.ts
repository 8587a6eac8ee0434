/** Which saved states of the account can be loaded after an update. */
import { copyFile, readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/sandbox/database.ts";
import { eraseFromSandbox } from "../../src/sandbox/erase.ts";
import { openAccount } from "./account.ts";

it.each([
  ["earlier, with the same tables of the account", 5, true],
  ["earlier, with others", 4, false],
  ["later", 1000, false],
  ["none at all", 0, false],
])("a snapshot of a version: %s", async (_name, version, isLoaded) => {
  const { sandbox, folder, create, call } = await openAccount();
  await create("ada@example.com");
  sandbox.operations.saveSnapshot("one");
  sandbox.operations.reset();
  const saved = await openDatabase(join(folder, "snapshots", "one.db"));
  saved.exec(`PRAGMA user_version = ${version}`);
  saved.close();
  if (isLoaded) sandbox.operations.loadSnapshot("one");
  else expect(() => sandbox.operations.loadSnapshot("one")).toThrow("was saved by another version of ecm");
  const structureId = sandbox.structureId;
  const { body } = await call("POST", "/api/contact/search", {
    contactStructureId: structureId,
    page: 1,
    pageSize: 10,
    source: ["key"],
    contactSpecification: { filters: [] },
  });
  expect(body.totalRecords).toBe(isLoaded ? 1 : 0);
});

it("what a killed save has left goes with a later save, and at once with an erasure", async () => {
  const { sandbox, folder } = await openAccount();
  sandbox.operations.saveSnapshot("one");
  const snapshots = join(folder, "snapshots");
  const leave = async (name: string, ageSeconds: number) => {
    const path = join(snapshots, name);
    await copyFile(join(snapshots, "one.db"), path);
    const then = Date.now() / 1000 - ageSeconds;
    await utimes(path, then, then);
  };
  await leave("one.db.0123456789ab.new", 7200);
  await leave("one.db.0123456789ab.new-journal", 7200);
  await leave("two.db.ba9876543210.new", 60);
  sandbox.operations.saveSnapshot("one");
  expect((await readdir(snapshots)).sort()).toEqual(["one.db", "two.db.ba9876543210.new"]);
  expect(sandbox.operations.snapshots().map(({ name }) => name)).toEqual(["one"]);
  await eraseFromSandbox(folder, ["ada@example.com"], () => undefined);
  expect((await readdir(snapshots)).filter((name) => name.includes(".new"))).toEqual([]);
});
