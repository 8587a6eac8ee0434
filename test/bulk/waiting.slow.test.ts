/** A bulk run in a log: a line when it begins to wait, and none with -q. */
import { expect, it } from "vitest";
import { inputFile, manyRows, startSandbox } from "../kit.ts";

/** A command where the hour has two requests left, and the next hour begins 15 seconds later. */
async function scarce(args: string[]) {
  const { ecm } = await startSandbox({ hourlyLimit: 3, windowSeconds: 15 });
  await ecm("lists list");
  return ecm(args);
}

it("says that the hour is used up, in a real run and in a dry run, and nothing with -q", async () => {
  const [real, dry, quiet] = await Promise.all([
    scarce(["import", await inputFile(manyRows(2))]),
    scarce(["import", await inputFile(manyRows(150)), "--dry-run"]),
    scarce(["import", await inputFile(manyRows(2)), "-q"]),
  ]);
  for (const { code, stderr } of [real, dry]) {
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/resuming in \d+ s/);
  }
  expect(real.stderr).toMatch(/paused/);
  expect(dry.stderr).toMatch(/paused|asked to wait/);
  expect(quiet).toMatchObject({ code: 0, stderr: "" });
});
