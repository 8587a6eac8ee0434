/** Which saved states of the account can be loaded after an update. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/sandbox/database.ts";
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
    source: ["key"],
    contactSpecification: { filters: [] },
  });
  expect(body.totalRecords).toBe(isLoaded ? 1 : 0);
});
