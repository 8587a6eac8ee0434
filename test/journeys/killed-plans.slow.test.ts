/** Plans and their runs, killed or damaged at any moment: what was approved is written once, or not. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, makePlanFile, manyContacts, manyRows, parseSummary, readContacts } from "../kit.ts";
import { done, refused } from "../support/ecm.ts";
import { expectNoRepeats, expectStopped } from "./ends.ts";
import { runKilled } from "./killing.ts";
import { type Moment, type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

const size = 250;
const fresh = 20;
const file = manyRows(size, (index) => (index % 10 === 0 ? `Changed ${index}` : `First ${index}`));

/** An account that is not read page by page for this file: its keys are asked for in three blocks. */
async function scene(): Promise<RecordingProxy> {
  const witness = await startRecordingProxy({ variants: { page: "cap:100" } });
  witness.sandbox.admin.seed({ contacts: manyContacts(600).slice(fresh) });
  return witness;
}

async function expectWhole(witness: RecordingProxy): Promise<void> {
  const contacts = await readContacts(witness);
  expect(contacts.size).toBe(600);
  for (let index = 0; index < size; index++) {
    const { fields, version } = contacts.get(`p${index}@example.com`)!;
    const isChanged = index % 10 === 0;
    expect(fields["First Name"]).toBe(isChanged ? `Changed ${index}` : `First ${index}`);
    // Nobody was written twice.
    expect(version, `p${index}`).toBe(index >= fresh && isChanged ? 1 : 0);
  }
  expectNoRepeats(witness);
}

describe("killed", () => {
  it.each([1, 2, 3, 4])("while planning, at search %i: it goes on, and writes once", async (search) => {
    const witness = await scene();
    const path = await inputFile(file);
    let searches = 0;
    const isThen = ({ when, path }: Moment) =>
      when === "after" && path.includes("search") && ++searches === search;
    expect((await runKilled(witness, ["import", path], isThen)).code).toBe(-1);
    expect(witness.writes).toEqual([]);
    await done(witness.ecm(["import", path]));
    await expectWhole(witness);
  });

  it.each([
    [3, "before"],
    [7, "after"],
    [20, "after"],
    [40, "before"],
  ] as const)("while applying, at request %s, %s it: it goes on without the file", async (request, when) => {
    const witness = await scene();
    const plan = await makePlanFile(witness, ["import", await inputFile(file)]);
    const at = witness.arrived() + request;
    const isThen = (moment: Moment) => moment.count === at && moment.when === when;
    expect((await runKilled(witness, ["apply", plan.file], isThen)).code).toBe(-1);
    await rm(plan.file);
    const { rows } = parseSummary(await witness.ecm("runs resume last --json"));
    expect(rows).toMatchObject({ read: plan.writes, pending: 0, skipped: 0, rejected: 0 });
    await expectWhole(witness);
  });
});

it("a stopped run's plan that was changed, cut off or cannot be read is refused by name, and nothing is written", async () => {
  const witness = await scene();
  const path = await inputFile(file);
  const first = await witness.ecm(["import", path, "--max-requests", "20", "--json"]);
  const { run } = expectStopped(first, 7, "max-requests");
  const plan = join(witness.env.ECM_STATE_DIR!, "runs", run!, "plan.ndjson");
  const text = await readFile(plan, "utf8");
  const writes = witness.writes.length;
  expect(writes).toBeGreaterThan(0);
  // At every byte in test/bulk/plan/plan-file.test.ts.
  for (const damaged of [
    text.replace("Changed 190", "Changed 191"),
    text.slice(0, text.lastIndexOf('{"end":')),
    text.replace('{"block":{', '{"block":['),
  ]) {
    expect(damaged).not.toBe(text);
    await writeFile(plan, damaged);
    for (const args of [
      ["runs", "resume", "last"],
      ["import", path],
    ]) {
      await refused(
        witness.ecm(args),
        2,
        `error: ${plan} is damaged: it is not as it was written\n`,
        "start over with the same command and --fresh",
      );
    }
  }
  expect(witness.writes.length).toBe(writes);
  await done(witness.ecm(["import", path, "--fresh"]));
  await expectWhole(witness);
});

it("a run that was stopped while planning goes on after its last whole block, without asking for it again", async () => {
  const witness = await scene();
  const args = ["import", await inputFile(file), "--json"];
  const searches = () =>
    witness.sandbox.admin.requests().filter(({ path }) => path.includes("search")).length;
  const stopped = await witness.ecm([...args, "--max-requests", "4"]);
  // Two blocks of three, in which all but the new and the changed are settled.
  const { rows } = expectStopped(stopped, 7, "max-requests");
  expect(rows).toMatchObject({ created: 0, updated: 0, unchanged: 160, pending: 90 });
  const before = searches();
  const resumed = parseSummary(await witness.ecm(args));
  expect(resumed.rows).toMatchObject({ read: size, created: fresh, updated: 23 });
  // How many contacts there are, and the third block.
  expect(searches() - before).toBeLessThanOrEqual(2);
});
