import { join } from "node:path";
import { expect, it } from "vitest";
import { diskFullHint, findFullDisk, folderHint } from "../../src/disk/disk-room.ts";
import { temporaryFolder } from "../support/ecm.ts";

const refusal = (code: string) => Object.assign(new Error(code), { code });

it("says how much room there is on the disk of a path that does not exist yet, and how much is needed", async () => {
  const path = join(await temporaryFolder(), "none", "yet");
  const hint = diskFullHint(refusal("ENOSPC"), path, 3 * 2 ** 20);
  expect(hint).toMatch(/^Make room on the disk of .*yet: [\d.]+ \w+ free, at least 3 MiB needed\. Then run/);
  expect(diskFullHint(new Error("of another", { cause: refusal("ENOSPC") }), path)).toContain("Make room");
  expect(diskFullHint(refusal("EDQUOT"), path)).toContain("within your disk quota");
  expect(diskFullHint(refusal("EACCES"), path)).toBeUndefined();
});

it("sends nobody to another state folder without saying what is not there", async () => {
  const path = await temporaryFolder();
  for (const code of ["ENOSPC", "EDQUOT"])
    expect(folderHint(refusal(code), path)).not.toContain("ECM_STATE_DIR");
  expect(folderHint(refusal("EACCES"), path)).toMatch(
    /ECM_STATE_DIR\) has neither the runs nor the suppression list/,
  );
});

it("finds a disk full that has not even room for a little", async () => {
  const path = join(await temporaryFolder(), "none", "yet");
  expect(findFullDisk(path)).toBeUndefined();
  expect(findFullDisk(path, 2 ** 60)).toMatch(/^[\d.]+ \w+ free$/);
});
