/** Which run is the last one. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startSandbox } from "../../support/sandbox.ts";
import { inputFile, manyRows, summaryOf } from "../kit.ts";

const hour = 3_600_000;

/** Imports, each by a clock that is off by so much. */
async function scene(offsets: number[]) {
  const { ecm, env } = await startSandbox();
  const runs: string[] = [];
  for (const [index, offset] of offsets.entries()) {
    const clock = {
      now: () => Date.now() + offset,
      sleep: async (_milliseconds: number, signal?: AbortSignal) => signal?.throwIfAborted(),
    };
    const file = await inputFile(manyRows(2, () => `Run ${index}`));
    runs.push((await summaryOf(ecm, `import ${file}`, { clock })).run!);
  }
  const damage = (run: string) => writeFile(join(env.ECM_STATE_DIR!, "runs", run, "run.json"), "not JSON");
  return { ecm, runs, damage };
}

describe("the last run", () => {
  it("is the one that began last, also within a minute", async () => {
    const { ecm, runs } = await scene([0, 0, 0]);
    const listed = JSON.parse((await ecm("runs list --json")).stdout) as { run: string }[];
    expect(listed.map(({ run }) => run)).toEqual(runs.toReversed());
    expect((await summaryOf(ecm, "runs undo last")).file).toBe(runs.at(-1));
  });

  it("is not an older one when it cannot be read", async () => {
    const { ecm, runs, damage } = await scene([-hour, 0]);
    await damage(runs[1]!);
    for (const verb of ["undo", "show", "resume"]) {
      const refused = await ecm(`runs ${verb} last --yes`);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toContain(`Cannot read run ${runs[1]}`);
    }
  });

  it("is found beside an older one that cannot be read", async () => {
    const { ecm, runs, damage } = await scene([-hour, 0]);
    await damage(runs[0]!);
    const shown = await ecm("runs show last --json");
    expect(JSON.parse(shown.stdout)).toMatchObject({ run: runs[1] });
  });
});
