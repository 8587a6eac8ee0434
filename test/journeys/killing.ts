/** Bulk commands that are killed at exact moments, again and again, and what has to be true in the end. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Summary } from "../../src/bulk/runs/report.ts";
import { inputFile, parseSummary, type Result, spawnEcm, temporaryFolder, waitForResult } from "../kit.ts";
import { expectNoRepeats, readComparable } from "./ends.ts";
import { type Moment, type RecordingProxy, randomFrom, startRecordingProxy } from "./recording-proxy.ts";

/** Kills the command at each request for which this is true. @param loss what becomes of that request */
export async function runKilled(
  proxy: RecordingProxy,
  args: string[],
  isThen: (moment: Moment) => boolean,
  loss?: "drop",
): Promise<Result> {
  const child = spawnEcm(args, proxy.env);
  proxy.onRequest = (moment) => {
    if (!isThen(moment)) return undefined;
    child.kill("SIGKILL");
    return loss;
  };
  const result = await waitForResult(child);
  proxy.onRequest = () => undefined;
  return result;
}

type Kind = "import" | "delete" | "unsubscribe";

const bulkFlags = ["--list", "Killed", "--tag", "Tagged", "--create-missing"];

/** Of an import, changed, unchanged, new and wrong rows; of an edit, two in three of the account. */
async function scene(kind: Kind, proxy: RecordingProxy, size: number): Promise<string[]> {
  const people = Array.from({ length: size }, (_, index) => `p${index}@example.com`);
  const { seed } = proxy.sandbox.admin;
  if (kind !== "import") {
    const firstName = (index: number) => (index % 3 === 0 ? "Stays" : "Goes");
    seed({ contacts: people.map((key, index) => ({ key, fields: { "First Name": firstName(index) } })) });
    return ["contact", kind, "--where", 'First_Name == "Goes"', "--yes", "--json"];
  }
  const held = people.map((key, index) => ({
    key,
    fields: { "First Name": "First", "Last Name": `Last ${index}` },
    // The half that stays as it is has the list and the tag already.
    ...(index % 4 === 0 && { lists: ["Killed"], tags: ["Tagged"] }),
  }));
  seed({ lists: ["Killed"], tags: ["Tagged"], contacts: held.filter((_, index) => index % 2 === 0) });
  const rows = people.flatMap((key, index) => [
    `${key},${index % 4 === 0 ? "First" : "Second"},Last ${index}`,
    ...(index % 50 === 7 ? [`${key},,Joined ${index}`, `wrong ${index},,`] : []),
  ]);
  const file = await inputFile(`Email,First Name,Last Name\n${rows.join("\n")}\n`);
  return ["import", file, ...bulkFlags, "--json"];
}

async function readEnd(proxy: RecordingProxy, result: Result, backup: string) {
  const active = await proxy.ecm("export --status active --columns key -o tsv");
  const lines = (await readFile(backup, "utf8").catch(() => "")).split("\n");
  return {
    result,
    contacts: await readComparable(proxy),
    /** The keys of those who are active. */
    active: active.stdout.split("\n").sort(),
    /** Of a deletion, the keys in its backup. */
    backup: lines.map((line) => line.split(",")[0]!).sort(),
  };
}

/** Starts it, and kills it `kills` times at requests and moments that follow from the seed; then lets it end. */
async function play(kind: Kind, seed: number, kills: number, size: number) {
  const random = randomFrom(seed);
  const proxy = await startRecordingProxy();
  const args = await scene(kind, proxy, size);
  const backup = join(await temporaryFolder(), "backup.csv");
  if (kind === "delete") args.push("--backup", backup);
  const before = proxy.arrived();
  proxy.writes.length = 0;
  let killed = 0;
  for (;;) {
    const at = proxy.arrived() + 1 + Math.floor(random() * (size / 6));
    const when = random() < 0.5 ? "before" : "after";
    const loss = random() < 0.5 ? "drop" : undefined;
    const isThen = (moment: Moment) => moment.count >= at && moment.when === when;
    // The start that is not killed needs no process of its own.
    const result = killed < kills ? await runKilled(proxy, args, isThen, loss) : await proxy.ecm(args);
    const requests = proxy.arrived() - before;
    if (result.code !== -1) return { ...(await readEnd(proxy, result, backup)), proxy, killed, requests };
    killed++;
  }
}

const undisturbedEnds = new Map<string, Awaited<ReturnType<typeof play>> & { summary: Summary }>();

/** The same without a kill. */
async function playUndisturbed(kind: Kind, size: number) {
  const name = `${kind} ${size}`;
  let ended = undisturbedEnds.get(name);
  if (!ended) {
    const played = await play(kind, 1, 0, size);
    expect(played.result.code, played.result.stderr).toBe(kind === "import" ? 3 : 0);
    ended = { ...played, summary: parseSummary(played.result) };
    const chosen = size - Math.ceil(size / 3);
    if (kind === "delete") expect(ended.summary.rows).toMatchObject({ read: chosen, deleted: chosen });
    if (kind === "unsubscribe") expect(ended.summary.rows).toMatchObject({ read: chosen, updated: chosen });
    undisturbedEnds.set(name, ended);
  }
  return ended;
}

/** A command that is killed comes to the end of one that is not: account, counts, backup; nothing is done twice. */
export async function expectSurvived(kind: Kind, seed: number, kills: number, size: number): Promise<number> {
  const undisturbed = await playUndisturbed(kind, size);
  const { proxy, killed, requests, ...ended } = await play(kind, seed, kills, size);
  const story = `${kind}, seed ${seed}, ${killed} kills\n${ended.result.stderr}`;
  const { rows, codes } = parseSummary(ended.result);
  expect(ended.result.code, story).toBe(undisturbed.result.code);
  expect(rows, story).toEqual(undisturbed.summary.rows);
  expect(codes, story).toEqual(undisturbed.summary.codes);
  expect(ended.contacts, story).toEqual(undisturbed.contacts);
  expect(ended.active, story).toEqual(undisturbed.active);
  expect(ended.backup, story).toEqual(undisturbed.backup);
  expectNoRepeats(proxy, story);
  // Each start reads structure and lists again; each kill may repeat what was under way, and its look-ups.
  const perKill = undisturbed.summary.requests.other + 16 + Math.ceil(size / 100);
  expect(requests, story).toBeLessThanOrEqual(undisturbed.requests + killed * perKill);
  return killed;
}
