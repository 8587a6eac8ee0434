/** An import that is killed again and again, and what an undisturbed one comes to. */
import { expect } from "vitest";
import type { Summary } from "../../src/bulk/runs/report.ts";
import { inputFile, parseSummary, readContacts } from "../bulk/kit.ts";
import { runToItsEnd } from "./kills.ts";
import {
  findRepeatedWrites,
  type RecordingProxy,
  randomFrom,
  startRecordingProxy,
} from "./recording-proxy.ts";

const bulkFlags = ["--list", "Killed", "--tag", "Tagged", "--create-missing"];

/**
 * Two hundred contacts that exist, and a file that changes some, leaves
 * some, adds some, and has rows that are wrong.
 */
async function scene(proxy: RecordingProxy, size: number): Promise<string> {
  const existing = ["Email,First Name,Last Name"];
  const lines = ["Email,First Name,Last Name"];
  for (let index = 0; index < size; index++) {
    const key = `p${index}@example.com`;
    if (index % 2 === 0) existing.push(`${key},First,Last ${index}`);
    lines.push(`${key},${index % 4 === 0 ? "First" : "Second"},Last ${index}`);
    if (index % 50 === 7) lines.push(`${key},,Joined ${index}`, `wrong ${index},,`);
  }
  // The half that stays as it is has the list and the tag already.
  const quarter = existing.filter(
    (line, index) => index === 0 || Number(/^p(\d+)/.exec(line)?.[1]) % 4 === 0,
  );
  await proxy.ecm(["import", await inputFile(`${existing.join("\n")}\n`)]);
  await proxy.ecm(["import", await inputFile(`${quarter.join("\n")}\n`), ...bulkFlags]);
  return inputFile(`${lines.join("\n")}\n`);
}

export interface Undisturbed {
  summary: Summary;
  contacts: Awaited<ReturnType<typeof readContacts>>;
}

export async function importUndisturbed(size: number): Promise<Undisturbed> {
  const proxy = await startRecordingProxy();
  const result = await proxy.ecm(["import", await scene(proxy, size), ...bulkFlags, "--json"]);
  expect(result.code).toBe(3);
  return { summary: parseSummary(result), contacts: withoutIds(await readContacts(proxy)) };
}

/**
 * Kills the import `kills` times with SIGKILL, at requests and
 * moments that follow from the seed; then lets it end.
 */
export async function importKilled(seed: number, kills: number, size: number, undisturbed: Undisturbed) {
  const random = randomFrom(seed);
  const proxy = await startRecordingProxy();
  const path = await scene(proxy, size);
  const args = ["import", path, ...bulkFlags, "--json"];
  const before = proxy.arrived();
  proxy.writes.length = 0;
  const pickReach = () => Math.floor(random() * (size / 6));
  const { killed, last } = await runToItsEnd(proxy, args, { kills, random, pickReach });
  const summary = parseSummary(last);
  const contacts = withoutIds(await readContacts(proxy));
  const story = `seed ${seed}, ${killed} kills\n${last.stderr}`;
  expect(contacts, story).toEqual(undisturbed.contacts);
  expect(findRepeatedWrites(proxy.writes, "create"), story).toEqual([]);
  expect(findRepeatedWrites(proxy.writes, "mutate"), story).toEqual([]);
  expect(last.code, story).toBe(3);
  expect(summary.rows, story).toEqual(undisturbed.summary.rows);
  expect(summary.codes, story).toEqual(undisturbed.summary.codes);
  // Each start reads structure and lists again; each kill may repeat what
  // was under way, and the look-ups of its blocks.
  const perKill = undisturbed.summary.requests.other + 8 + Math.ceil(size / 100);
  const allowed = undisturbed.summary.requests.total + killed * perKill;
  expect(proxy.arrived() - before, story).toBeLessThanOrEqual(allowed);
  return { killed, requests: proxy.arrived() - before, allowed };
}

/** Ids differ from service to service; how many there are does not. */
function withoutIds(contacts: Awaited<ReturnType<typeof readContacts>>): typeof contacts {
  for (const contact of contacts.values()) {
    contact.lists = contact.lists.map(() => "list");
    contact.tags = contact.tags.map(() => "tag");
  }
  return contacts;
}
