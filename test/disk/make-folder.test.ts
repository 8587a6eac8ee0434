import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../src/disk/make-folder.ts";
import { temporaryFolder } from "../support/ecm.ts";

it("makeFolder fails where a file is in the way", async () => {
  const file = join(await temporaryFolder(), "file");
  await writeFile(file, "");
  expect(() => makeFolder(file)).toThrow("EEXIST");
  expect(() => makeFolder(join(file, "folder"))).toThrow("ENOTDIR");
});

// Node's own recursive mkdir never returns here.
it.runIf(process.platform === "linux")("makeFolder ends where the system makes no folder", () => {
  expect(() => makeFolder("/proc/none/folder")).toThrow("ENOENT");
});
