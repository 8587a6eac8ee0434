/** A deletion or an unsubscription that is killed again and again, and what has to be true in the end. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Contact } from "../../src/wire.ts";
import { call, inputFile, parseSummary, readContacts } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { runToItsEnd } from "./kills.ts";
import {
  findRepeatedWrites,
  type RecordingProxy,
  randomFrom,
  startRecordingProxy,
} from "./recording-proxy.ts";

/** Everyone is in the account, and two in three are chosen. */
async function scene(proxy: RecordingProxy, size: number): Promise<void> {
  const rows = Array.from({ length: size }, (_, index) => {
    return `p${index}@example.com,${index % 3 === 0 ? "Stays" : "Goes"}`;
  });
  await proxy.ecm(["import", await inputFile(`Email,First Name\n${rows.join("\n")}\n`)]);
}

/**
 * Kills it `kills` times with SIGKILL, at requests and moments that follow from the seed; then lets it end.
 */
export async function editKilled(kind: "delete" | "unsubscribe", seed: number, kills: number, size: number) {
  const random = randomFrom(seed);
  const proxy = await startRecordingProxy();
  await scene(proxy, size);
  const chosen = size - Math.ceil(size / 3);
  const backup = join(await temporaryFolder(), "backup.csv");
  const args = ["contact", kind, "--where", 'First_Name == "Goes"', "--yes", "--json"];
  if (kind === "delete") args.push("--backup", backup);
  const before = proxy.arrived();
  proxy.writes.length = 0;
  const pickReach = () => 2 + Math.floor(random() * (chosen / 3));
  const { killed, last } = await runToItsEnd(proxy, args, { kills, random, pickReach });
  const story = `${kind}, seed ${seed}, ${killed} kills\n${last.stderr}`;
  expect(last.code, story).toBe(0);
  const { rows } = parseSummary(last);
  const outcome = kind === "delete" ? { deleted: chosen } : { updated: chosen };
  expect(rows, story).toMatchObject({
    read: chosen,
    rejected: 0,
    skipped: 0,
    unchanged: 0,
    pending: 0,
    ...outcome,
  });
  expect(findRepeatedWrites(proxy.writes, "delete"), story).toEqual([]);
  expect(findRepeatedWrites(proxy.writes, "status"), story).toEqual([]);
  const stays = [...Array(size).keys()]
    .filter((index) => index % 3 === 0)
    .map((index) => `p${index}@example.com`);
  if (kind === "delete") {
    expect([...(await readContacts(proxy)).keys()].sort(), story).toEqual(stays.sort());
    // A header, and everyone who is gone.
    expect((await readFile(backup, "utf8")).trim().split("\n"), story).toHaveLength(chosen + 1);
  } else {
    expect((await readActive(proxy)).sort(), story).toEqual(stays.sort());
  }
  // Each start reads the structure and its lists; each kill may repeat
  // what was under way, and reads what it came to.
  expect(proxy.arrived() - before, story).toBeLessThanOrEqual(chosen + 4 + killed * 24);
  return { killed };
}

async function readActive(proxy: RecordingProxy): Promise<string[]> {
  const [structure] = await call<{ _id: string }[]>(proxy, "GET", "/api/contact-structure");
  const { contacts } = await call<{ contacts: Contact[] }>(proxy, "POST", "/api/contact/search", {
    contactStructureId: structure!._id,
    page: 1,
    pageSize: 1000,
    source: ["key"],
    contactSpecification: {
      filters: [{ criterias: [{ columnToFilter: "CONTACT_STATUS", operator: "EQ", values: ["active"] }] }],
    },
  });
  return contacts.map(({ key }) => key);
}
