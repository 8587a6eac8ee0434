/**
 * Plans and their runs, killed or damaged at any moment: what was approved is written once, or nothing is.
 */
import { readdirSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, manyContacts, manyRows, parseSummary, readContacts } from "../bulk/kit.ts";
import { makePlanFile } from "../bulk/plan-kit.ts";
import { done } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { runKilled } from "./killing.ts";
import {
  findRepeatedWrites,
  type Moment,
  type RecordingProxy,
  startRecordingProxy,
} from "./recording-proxy.ts";

const size = 250;
const file = manyRows(size, (index) => (index % 3 === 0 ? `Changed ${index}` : `First ${index}`));

/** Two hundred contacts, of whom a third is changed by the file; fifty more are created. */
async function scene(): Promise<RecordingProxy> {
  const witness = await startRecordingProxy();
  witness.sandbox.admin.seed({ contacts: manyContacts(200) });
  return witness;
}

function runFile(witness: RecordingProxy, name: string): string {
  const runs = join(witness.env.ECM_STATE_DIR!, "runs");
  const run = readdirSync(runs).find((each) => /^\d/.test(each))!;
  return join(runs, run, name);
}

async function expectWhole(witness: RecordingProxy): Promise<void> {
  const contacts = await readContacts(witness);
  expect(contacts.size).toBe(size);
  for (let index = 0; index < size; index++) {
    const { fields, version } = contacts.get(`p${index}@example.com`)!;
    const isChanged = index % 3 === 0;
    expect(fields["First Name"]).toBe(isChanged ? `Changed ${index}` : `First ${index}`);
    // Nobody was written twice.
    expect(version, `p${index}`).toBe(index < 200 && isChanged ? 1 : 0);
  }
  for (const kind of ["create", "mutate"] as const)
    expect(findRepeatedWrites(witness.writes, kind)).toEqual([]);
}

describe("killed", () => {
  it.each([1, 2, 3, 4])(
    "while planning, at its search %i: the next start goes on and writes once",
    async (search) => {
      const witness = await scene();
      const path = await inputFile(file);
      let searches = 0;
      const isThen = ({ when, path }: Moment) =>
        when === "after" && path.includes("search") && ++searches === search;
      const { code } = await runKilled(witness, ["import", path], isThen);
      // With fewer searches than that it came to its end.
      if (code === -1) expect(witness.writes).toEqual([]);
      const again = await witness.ecm(["import", path, "--json"]);
      expect([0, 3], again.stderr).toContain(again.code);
      await expectWhole(witness);
    },
  );

  it.each([
    [7, "before"],
    [7, "after"],
    [40, "after"],
    [120, "before"],
  ] as const)(
    "while applying a plan file, %s its request %s: it goes on without the file, to the same end",
    async (request, when) => {
      const witness = await scene();
      const plan = await makePlanFile(witness, ["import", await inputFile(file)]);
      const at = witness.arrived() + request;
      const isThen = (moment: Moment) => moment.count === at && moment.when === when;
      expect((await runKilled(witness, ["apply", plan.file], isThen)).code).toBe(-1);
      await rm(plan.file);
      const resumed = await witness.ecm("runs resume last --json");
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(parseSummary(resumed).rows).toMatchObject({
        read: plan.writes,
        pending: 0,
        skipped: 0,
        rejected: 0,
      });
      await expectWhole(witness);
    },
  );
});

describe("the plan of a run that was stopped", () => {
  async function stopped() {
    const witness = await scene();
    const path = await inputFile(file);
    const first = await witness.ecm(["import", path, "--max-requests", "40"]);
    expect(first.code, first.stderr).toBe(7);
    const plan = runFile(witness, "plan.ndjson");
    return { witness, path, plan, text: await readFile(plan, "utf8") };
  }

  // At every byte in test/bulk/plan/plan-file.test.ts.
  it.each<[string, (text: string) => string]>([
    ["with another value", (text) => text.replace("Changed 198", "Changed 199")],
    ["without its end", (text) => text.slice(0, text.lastIndexOf('{"end":'))],
    ["with a mark that cannot be read", (text) => text.replace('{"block":{', '{"block":[')],
  ])("%s is refused by name, and nothing is sent to write", async (_name, damage) => {
    const { witness, path, plan, text } = await stopped();
    const damaged = damage(text);
    expect(damaged).not.toBe(text);
    await writeFile(plan, damaged);
    const writes = witness.writes.length;
    for (const args of [
      ["runs", "resume", "last"],
      ["import", path],
    ]) {
      const { code, stderr } = await witness.ecm(args);
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(`error: ${plan} is damaged: it is not as it was written\n`);
      expect(stderr).toContain("start over with the same command and --fresh");
    }
    expect(witness.writes.length).toBe(writes);
    await done(witness.ecm(["import", path, "--fresh"]));
    await expectWhole(witness);
  });

  it("as it was goes on", async () => {
    const { witness } = await stopped();
    await done(witness.ecm("runs resume last"));
    await expectWhole(witness);
  });
});

/** An account of so many, and an import that changes some and stops after so many requests. */
async function stoppedAfter(contacts: number, changed: number, requests: number) {
  const service = await startSandbox({ contents: { contacts: manyContacts(contacts) } });
  const path = await inputFile(manyRows(changed, (index) => `New ${index}`));
  const { code, stderr } = await service.ecm(["import", path, "--max-requests", String(requests)]);
  expect(code, stderr).toBe(7);
  return { ...service, path };
}

it("a run whose plan an erasure has changed goes on without the person", async () => {
  const service = await stoppedAfter(60, 60, 20);
  await done(service.ecm("contact erase p50@example.com --yes"));
  const resumed = await service.ecm("runs resume last");
  expect([0, 3], resumed.stderr).toContain(resumed.code);
  const contacts = await readContacts(service);
  expect(contacts.has("p50@example.com")).toBe(false);
  expect(contacts.get("p59@example.com")!.fields).toEqual({ "First Name": "New 59" });
});

it("a run that was stopped while planning goes on after its last whole block, without asking for it again", async () => {
  const { ecm, path, sandbox } = await stoppedAfter(3000, 900, 7);
  const searches = () => sandbox.admin.requests().filter(({ path }) => path.includes("search")).length;
  const before = searches();
  expect(before).toBeGreaterThan(2);
  const resumed = await ecm(["import", path, "--json"]);
  expect(parseSummary(resumed).rows).toMatchObject({ read: 900, updated: 900 });
  // Nine blocks in all; those of the first start are looked up
  // again right before they are written, at the most.
  expect(searches()).toBeLessThanOrEqual(9 + before);
});
