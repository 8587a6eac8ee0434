import { join } from "node:path";
import { expect, it } from "vitest";
import { journalError } from "../../src/bulk/runs/journal.ts";
import { describeDiskError, diskFullHint, findFullDisk, folderHint } from "../../src/disk/disk-errors.ts";
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

it.each([
  ["ENOSPC", "the disk is full (ENOSPC)"],
  ["EDQUOT", "the disk quota is used up (EDQUOT)"],
  ["EFBIG", "the file is larger than the disk or a limit allows (EFBIG)"],
  ["EROFS", "the disk is read-only (EROFS)"],
  ["EACCES", "permission denied (EACCES)"],
  ["ENAMETOOLONG", "the name is too long (ENAMETOOLONG)"],
  ["EMFILE", "too many files are open (EMFILE)"],
  ["EIO", "the disk has failed (EIO)"],
])("says %s in words, with the file", (code, words) => {
  const error = Object.assign(new Error(`${code}: as the system says it, write '/x'`), {
    code,
    syscall: "write",
  });
  expect(describeDiskError(error)).toBe(words);
  expect(journalError("/runs/journal", error).message).toBe(
    `Cannot write the journal /runs/journal: ${words}`,
  );
});

it("leaves what is no error of the system as it is", () => {
  expect(describeDiskError(new Error("a value has 40,000 characters, and a cell holds less"))).toBe(
    "a value has 40,000 characters, and a cell holds less",
  );
});
