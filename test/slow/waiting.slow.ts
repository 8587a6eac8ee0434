/** A bulk run in a log: a line when it begins to wait, and none with -q. */
import { expect, it } from "vitest";
import { inputFile, manyRows } from "../bulk/kit.ts";
import { startSandbox } from "../support/sandbox.ts";

it("says that the hour is used up, in a real run and in a dry run", async () => {
  for (const [flags, words] of [
    [[], /paused/],
    [["--dry-run"], /paused|asked to wait/],
  ] as const) {
    const { ecm } = await startSandbox({ hourlyLimit: 3, windowSeconds: 15 });
    await ecm(["lists", "list"]);
    const args = ["import", await inputFile(manyRows(flags.length > 0 ? 150 : 2)), ...flags];
    const result = await ecm(args);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).toMatch(words);
    expect(result.stderr).toMatch(/resuming in \d+ s/);
  }
  const { ecm } = await startSandbox({ hourlyLimit: 3, windowSeconds: 15 });
  await ecm(["lists", "list"]);
  const quiet = await ecm(["import", await inputFile(manyRows(2)), "-q"]);
  expect(quiet).toMatchObject({ code: 0, stderr: "" });
});
