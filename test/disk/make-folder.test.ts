import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../../src/disk/make-folder.ts";
import { temporaryFolder } from "../support/ecm.ts";

describe("makeFolder", () => {
  it("makes what is missing for its owner alone, and leaves what is there", async () => {
    const home = await temporaryFolder();
    const folder = join(home, "a/b/c");
    makeFolder(folder);
    makeFolder(folder);
    for (const each of ["a", "a/b", "a/b/c"]) {
      expect((await stat(join(home, each))).mode & 0o777, each).toBe(0o700);
    }
  });

  it("fails where a file is in the way", async () => {
    const file = join(await temporaryFolder(), "file");
    await writeFile(file, "");
    expect(() => makeFolder(file)).toThrow("EEXIST");
    expect(() => makeFolder(join(file, "folder"))).toThrow("ENOTDIR");
  });

  // Node's own recursive mkdir never returns here.
  it.runIf(process.platform === "linux")("ends where the system makes no folder", () => {
    expect(() => makeFolder("/proc/none/folder")).toThrow("ENOENT");
  });
});
