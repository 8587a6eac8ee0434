/** An import that is killed again and again, and what an undisturbed one comes to. */
import { expect } from "vitest";
import type { Summary } from "../../src/bulk/runs/report.ts";
import { contactsIn, inputFile, summaryOf } from "../bulk/kit.ts";
import { type Result, resultOf, spawnEcm } from "../support/ecm.ts";
import { carriedOutTwice, randomFrom, startWitness, type Witness } from "./witness.ts";

const bulkFlags = ["--list", "Killed", "--tag", "Tagged", "--create-missing"];

/** Two hundred contacts that exist, and a file that changes some, leaves some, adds some, and has rows that are wrong. */
async function scene(witness: Witness, size: number): Promise<string> {
  const existing = ["Email,First Name,Last Name"];
  const wanted = ["Email,First Name,Last Name"];
  for (let index = 0; index < size; index++) {
    const key = `p${index}@example.com`;
    if (index % 2 === 0) existing.push(`${key},First,Last ${index}`);
    wanted.push(`${key},${index % 4 === 0 ? "First" : "Second"},Last ${index}`);
    if (index % 50 === 7) wanted.push(`${key},,Joined ${index}`, `wrong ${index},,`);
  }
  // The half that stays as it is has the list and the tag already.
  const quarter = existing.filter(
    (line, index) => index === 0 || Number(/^p(\d+)/.exec(line)?.[1]) % 4 === 0,
  );
  await witness.ecm(["import", await inputFile(`${existing.join("\n")}\n`)]);
  await witness.ecm(["import", await inputFile(`${quarter.join("\n")}\n`), ...bulkFlags]);
  return inputFile(`${wanted.join("\n")}\n`);
}

export interface Undisturbed {
  summary: Summary;
  contacts: Awaited<ReturnType<typeof contactsIn>>;
}

export async function importUndisturbed(size: number): Promise<Undisturbed> {
  const witness = await startWitness();
  const result = await witness.ecm(["import", await scene(witness, size), ...bulkFlags, "--json"]);
  expect(result.code).toBe(3);
  return { summary: summaryOf(result), contacts: withoutIds(await contactsIn(witness)) };
}

/** Kills the import `kills` times with SIGKILL, at requests and moments that follow from the seed; then lets it end. */
export async function importKilled(seed: number, kills: number, size: number, undisturbed: Undisturbed) {
  const random = randomFrom(seed);
  const witness = await startWitness();
  const path = await scene(witness, size);
  const args = ["import", path, ...bulkFlags, "--json"];
  const before = witness.arrived();
  witness.writes.length = 0;
  let killed = 0;
  let last: Result | undefined;
  while (!last) {
    // The last start is left alone.
    const reach = killed < kills ? Math.floor(random() * (size / 6)) : Number.POSITIVE_INFINITY;
    const at = witness.arrived() + 1 + reach;
    const when = random() < 0.5 ? ("before" as const) : ("after" as const);
    const drops = random() < 0.5;
    const child = spawnEcm(args, witness.env);
    witness.onRequest = (moment) => {
      if (moment.count < at || moment.when !== when) return undefined;
      child.kill("SIGKILL");
      return drops ? "drop" : undefined;
    };
    const result = await resultOf(child);
    witness.onRequest = () => undefined;
    if (result.code === -1) killed++;
    else last = result;
  }
  const summary = summaryOf(last);
  const contacts = withoutIds(await contactsIn(witness));
  const story = `seed ${seed}, ${killed} kills\n${last.stderr}`;
  expect(contacts, story).toEqual(undisturbed.contacts);
  expect(carriedOutTwice(witness.writes, "create"), story).toEqual([]);
  expect(carriedOutTwice(witness.writes, "mutate"), story).toEqual([]);
  expect(last.code, story).toBe(3);
  expect(summary.rows, story).toEqual(undisturbed.summary.rows);
  expect(summary.codes, story).toEqual(undisturbed.summary.codes);
  // Each start reads structure and lists again; each kill may repeat what was under way, and the look-ups of its blocks.
  const perKill = undisturbed.summary.requests.other + 8 + Math.ceil(size / 100);
  const allowed = undisturbed.summary.requests.total + killed * perKill;
  expect(witness.arrived() - before, story).toBeLessThanOrEqual(allowed);
  return { killed, requests: witness.arrived() - before, allowed };
}

/** Ids differ from service to service; how many there are does not. */
function withoutIds(contacts: Awaited<ReturnType<typeof contactsIn>>): typeof contacts {
  for (const contact of contacts.values()) {
    contact.lists = contact.lists.map(() => "list");
    contact.tags = contact.tags.map(() => "tag");
  }
  return contacts;
}
