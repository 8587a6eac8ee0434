import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listActivities } from "../../src/disk/activities.ts";
import { temporaryFolder } from "../support/ecm.ts";

it("tells of nobody at work only where that can be read: an erasure relies on it", async () => {
  const folder = await temporaryFolder();
  expect(await listActivities(folder)).toEqual([]);
  await symlink("under-way", join(folder, "under-way"));
  await expect(listActivities(folder)).rejects.toThrow("ELOOP");
});
