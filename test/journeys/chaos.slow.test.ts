/**
 * Kills, company and damage at moments that follow from a seed. For a night:
 *
 *     CHAOS_SEED=7 CHAOS_KILLS=500 npm run test:all -- test/journeys/chaos.slow.test.ts
 *
 * Each failure names its seed. Prints how much was tried.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inputFile, manyRows, parseSummary, readContacts, spawnEcm, waitForResult } from "../kit.ts";
import { expectNoRepeats } from "./ends.ts";
import { expectSurvived } from "./killing.ts";
import { randomFrom, startRecordingProxy } from "./recording-proxy.ts";

const firstSeed = Number(process.env.CHAOS_SEED ?? 1);
const killCount = Number(process.env.CHAOS_KILLS ?? 8);
const size = 40;

it("survives what the seed says", { timeout: 0 }, async () => {
  const tried = { kills: 0, companies: 0, damaged: 0 };
  for (let seed = firstSeed; tried.kills < killCount; seed++) {
    tried.kills += await expectSurvived("import", seed, 8, 3 * size);
    tried.kills += await inCompany(seed);
    tried.companies++;
    await withDamage(seed);
    tried.damaged++;
  }
  // biome-ignore lint/suspicious/noConsole: how much was tried is what a night of it is for
  console.log(`chaos from seed ${firstSeed}: ${JSON.stringify(tried)}`);
});

/** Three processes at one run, some killed: one works, the others are refused or have nothing to do. */
async function inCompany(seed: number): Promise<number> {
  const random = randomFrom(seed);
  const witness = await startRecordingProxy({ hourlyLimit: 1e6, monthlyLimit: 1e6 });
  const args = ["import", await inputFile(manyRows(size)), "--json"];
  let killed = 0;
  for (let isDone = false; !isDone; ) {
    const children = [1, 2, 3].map(() => spawnEcm(args, witness.env));
    const victim = children[Math.floor(random() * 3)]!;
    const at = witness.arrived() + 1 + Math.floor(random() * size);
    const mayKill = killed < 3;
    witness.onRequest = ({ count }) => {
      if (mayKill && count === at) victim.kill("SIGKILL");
      return undefined;
    };
    const results = await Promise.all(children.map(waitForResult));
    killed += results.filter(({ code }) => code === -1).length;
    isDone = results.some(({ code }) => code === 0);
    const story = `seed ${seed}\n${results.map(({ code, stderr }) => `${code} ${stderr}`).join("\n")}`;
    for (const { code } of results) expect([-1, 0, 6], story).toContain(code);
  }
  expect((await readContacts(witness)).size, `seed ${seed}`).toBe(size);
  expectNoRepeats(witness, `seed ${seed}`);
  return killed;
}

/** One byte of an unfinished run's journal is another: the run stops, or the byte was of the last record. */
async function withDamage(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const witness = await startRecordingProxy({ hourlyLimit: 1e6, monthlyLimit: 1e6 });
  const args = ["import", await inputFile(manyRows(20)), "--json"];
  const stopped = parseSummary(await witness.ecm([...args, "--max-requests", "12"]));
  const folder = join(witness.env.ECM_STATE_DIR!, "runs", stopped.run!);
  const journal = await readFile(join(folder, "journal"));
  const at = Math.floor(random() * journal.length);
  journal[at] = journal[at]! ^ (1 << Math.floor(random() * 8));
  await writeFile(join(folder, "journal"), journal);
  const before = witness.writes.length;
  const result = await witness.ecm(args);
  const story = `seed ${seed}, byte ${at} of ${journal.length}\n${result.stderr}`;
  if (result.code === 1) {
    expect(result.stderr, story).toContain("JournalDamagedError");
    expect(witness.writes.length, story).toBe(before);
    expect((await witness.ecm([...args, "--fresh"])).code, story).toBe(0);
  } else {
    expect(result.code, story).toBe(0);
    expect(journal.subarray(at, -1).includes(10), story).toBe(false);
  }
  expect((await readContacts(witness)).size, story).toBe(20);
  expectNoRepeats(witness, story);
}
