import { expect, it } from "vitest";
import { journalError } from "../../src/bulk/runs/journal.ts";
import { describeDiskError, diskFullHint, folderHint } from "../../src/disk/disk-errors.ts";
import { temporaryFolder } from "../support/ecm.ts";

const refusal = (code: string) => Object.assign(new Error(code), { code });

it("says what to do about a full disk, and of which path", () => {
  const hint = "Make room on the disk of /x, then run the same command again";
  expect(diskFullHint(refusal("ENOSPC"), "/x")).toBe(hint);
  expect(diskFullHint(new Error("of another", { cause: refusal("EDQUOT") }), "/x")).toBe(hint);
  expect(diskFullHint(refusal("EACCES"), "/x")).toBeUndefined();
  expect(diskFullHint(refusal("EFBIG"), "/x")).toContain("ulimit -f");
});

it("sends nobody to another state folder without saying what is not there", async () => {
  const path = await temporaryFolder();
  for (const code of ["ENOSPC", "EDQUOT"])
    expect(folderHint(refusal(code), path)).not.toContain("ECM_STATE_DIR");
  const hint = folderHint(refusal("EACCES"), path);
  expect(hint).toMatch(/ECM_STATE_DIR\) has neither the runs nor the suppression list/);
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
  const said = new Error(`${code}: as the system says it, write '/x'`);
  const error = Object.assign(said, { code, syscall: "write" });
  expect(describeDiskError(error)).toBe(words);
  expect(journalError("/runs/j", error).message).toBe(`Cannot write the journal /runs/j: ${words}`);
});

it("leaves what is no error of the system as it is", () => {
  expect(describeDiskError(new Error("a cell holds less"))).toBe("a cell holds less");
});
