/** Saved states of the account, and data of another version. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/sandbox/database.ts";
import { eraseFromSandbox } from "../../src/sandbox/erase.ts";
import { eq, openAccount, refs } from "./account.ts";

it.each([0, 2])("data of version %i is an error that names the folder, and stays", async (version) => {
  const { sandbox, folder } = await openAccount();
  sandbox.close();
  const file = await openDatabase(join(folder, "sandbox.db"));
  file.exec(`PRAGMA user_version = ${version}`);
  file.close();
  await expect(openAccount({ folder })).rejects.toThrow(
    `The sandbox's data in ${folder} has version ${version}; this ecm reads version 1`,
  );
  const again = await openDatabase(join(folder, "sandbox.db"));
  expect(again.get("PRAGMA user_version")).toMatchObject({ user_version: version });
  again.close();
});

it("an erasure takes a person from the account and from each snapshot, while the sandbox is open", async () => {
  const { sandbox, folder, create, furnished, keys } = await openAccount();
  const { lists } = await furnished();
  const list = { lists: refs(lists[0]!) };
  await create("ada@example.com", list);
  await create("bob@example.com", list);
  sandbox.admin.snapshots.save("one");
  sandbox.admin.snapshots.save("two");
  const mask = (text: string) => (text.includes("ada@example.com") ? "(erased)" : undefined);
  expect(await eraseFromSandbox(folder, ["Ada@example.com"], mask)).toBe(1);
  expect(await eraseFromSandbox(folder, ["ada@example.com"], mask)).toBe(0);
  for (const name of ["one", "two"]) {
    sandbox.admin.snapshots.load(name);
    expect(await keys([eq("LIST_ID", lists[0]!)])).toEqual(["bob@example.com"]);
    const contacts = [{ key: "ada@example.com" }, { key: "bob@example.com" }];
    expect(sandbox.admin.seed({ contacts }).contacts).toEqual({ created: 1, updated: 1 });
  }
});
