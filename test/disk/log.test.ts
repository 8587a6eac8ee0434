import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toSystemError } from "../../src/disk/disk-errors.ts";
import { LineSplitter, openLog, readLines } from "../../src/disk/log.ts";
import { temporaryFolder } from "../support/ecm.ts";

it("reads whole lines, byte for byte, however they are cut into pieces", async () => {
  const splitter = new LineSplitter();
  const pieces = ["a\nb", "", "c\n\nd"];
  expect(pieces.flatMap((piece) => [...splitter.take(piece)])).toEqual(["a", "bc", ""]);
  expect(splitter.rest).toBe("d");
  const file = join(await temporaryFolder(), "log");
  await writeFile(file, "é\r\n\u2028\ntorn");
  const lines: string[] = [];
  for await (const line of readLines(file)) lines.push(line);
  expect(lines.map((line) => Buffer.from(line, "latin1").toString())).toEqual(["é\r", "\u2028"]);
  for await (const line of readLines(`${file}.none`)) expect.fail(line);
});

it.runIf(process.platform === "linux")("names the file where a write to it fails", () => {
  const log = openLog("/dev/full");
  let failure: unknown;
  try {
    log.append("x\n");
  } catch (error) {
    failure = error;
  }
  log.close();
  expect(toSystemError(failure)?.message).toBe("Cannot use /dev/full: the disk is full (ENOSPC)");
  expect(toSystemError(failure)?.details.hint).toMatch(/^Make room on the disk of \/dev\/full, /);
});
