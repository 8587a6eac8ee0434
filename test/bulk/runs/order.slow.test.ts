/** Which run is the last one: by the order in which runs began, whatever the clock says. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startSandbox } from "../../support/sandbox.ts";
import { inputFile, manyContacts, manyRows, parseSummary, readContacts } from "../kit.ts";

const hour = 3_600_000;

/** Real time, off by so much. */
function clockAt(offset: number) {
  return {
    now: () => Date.now() + offset,
    sleep: async (_milliseconds: number, signal?: AbortSignal) => signal?.throwIfAborted(),
  };
}

/** Runs that change everybody, each by a clock of its own. */
async function scene(offsets: number[]) {
  const service = await startSandbox({ contents: { contacts: manyContacts(2) } });
  const runs: string[] = [];
  for (const [index, offset] of offsets.entries()) {
    const file = await inputFile(manyRows(2, () => `Run ${index}`));
    const result = await service.ecm(["import", file, "--json"], { clock: clockAt(offset) });
    expect(result.code, result.stderr).toBe(0);
    runs.push(parseSummary(result).run!);
  }
  const toFolder = (index: number) => join(service.env.ECM_STATE_DIR!, "runs", runs[index]!);
  const listRuns = async () =>
    JSON.parse((await service.ecm(["runs", "list", "--json"])).stdout) as { run: string }[];
  return { ...service, runs, toFolder, listRuns };
}

describe("the last run", () => {
  it.each([
    ["back", [0, -5 * hour]],
    ["back by years", [0, -50_000 * hour]],
    ["forward, and back again", [0, 72 * hour, 0]],
    ["back several times", [0, -hour, -2 * hour, -3 * hour]],
    ["not at all, within a minute", [0, 0, 0]],
  ])("is the one that began last when the clock was set %s", async (_how, offsets) => {
    const service = await scene(offsets);
    const { ecm, runs, listRuns: output } = service;
    expect((await output()).map(({ run }) => run)).toEqual(runs.toReversed());
    const undone = await ecm(["runs", "undo", "last", "--json"], { clock: clockAt(offsets.at(-1)! - hour) });
    expect(undone.code, undone.stderr).toBe(0);
    expect(parseSummary(undone).file).toBe(runs.at(-1));
    const values = [...(await readContacts(service)).values()].map(({ fields }) => fields["First Name"]);
    expect(values).toEqual([0, 1].map(() => `Run ${offsets.length - 2}`));
    // The undo is the last run now, although its clock is behind.
    expect((await output())[0]!.run).toBe(parseSummary(undone).run);
  });

  it("stays the last one when older runs are removed, and the next one comes after it", async () => {
    const { ecm, runs, listRuns: output } = await scene([0, -hour, -2 * hour]);
    for (const run of [runs[2]!, runs[1]!]) await ecm(["runs", "remove", run, "--yes"]);
    const next = await ecm(["import", await inputFile(manyRows(1)), "--json"], { clock: clockAt(-9 * hour) });
    expect((await output()).map(({ run }) => run)).toEqual([parseSummary(next).run, runs[0]]);
  });

  it("is not an older one when it cannot be read, although its name says another time", async () => {
    const { ecm, runs, toFolder } = await scene([0, -5 * hour]);
    await writeFile(join(toFolder(1), "manifest.json"), "not JSON");
    for (const verb of ["undo", "show", "resume"]) {
      const refused = await ecm(["runs", verb, "last", "--yes"]);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toContain(`Cannot read run ${runs[1]}`);
    }
  });

  it("is found beside an older one that cannot be read, although that one's name says a later time", async () => {
    const { ecm, runs, toFolder } = await scene([5 * hour, 0]);
    await writeFile(join(toFolder(0), "manifest.json"), "not JSON");
    const output = await ecm(["runs", "show", "last", "--json"]);
    expect(output.code, output.stderr).toBe(0);
    expect(JSON.parse(output.stdout)).toMatchObject({ run: runs[1] });
    expect(output.stderr).toContain(`warning: Cannot read run ${runs[0]}`);
  });

  it("goes by the time among runs whose numbers are lost, which are older than all others", async () => {
    const { ecm, runs, toFolder, listRuns: output } = await scene([-hour, 0, -2 * hour]);
    for (const index of [0, 1]) await rm(join(toFolder(index), "number"));
    expect((await output()).map(({ run }) => run)).toEqual([runs[2], runs[1], runs[0]]);
    await ecm(["runs", "remove", runs[2]!, "--yes"]);
    expect(JSON.parse((await ecm(["runs", "show", "last", "--json"])).stdout).run).toBe(runs[1]);
  });

  it("is resumed by the same command when the clock was set back meanwhile", async () => {
    const { ecm } = await startSandbox();
    const args = ["import", await inputFile(manyRows(20)), "--json"];
    const stopped = parseSummary(await ecm([...args, "--max-requests", "8"]));
    const resumed = await ecm(args, { clock: clockAt(-5 * hour) });
    expect(parseSummary(resumed)).toMatchObject({ run: stopped.run, rows: { created: 20 } });
  });
});

it("comes after all that began at once before it, each of which is there", async () => {
  const { ecm } = await startSandbox();
  const begin = async (rows: number) =>
    parseSummary(await ecm(["import", await inputFile(manyRows(rows)), "--json"])).run!;
  const atOnce = await Promise.all([1, 2, 3, 4].map(begin));
  const last = await begin(5);
  const listed = JSON.parse((await ecm(["runs", "list", "--json"])).stdout) as { run: string }[];
  expect(listed[0]!.run).toBe(last);
  expect(new Set(listed.map(({ run }) => run))).toEqual(new Set([...atOnce, last]));
});
