/** One contact that is named by its key and by its id is one contact: one line of a plan, one write. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { Contact } from "../../src/wire.ts";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { inputFile, manyContacts, parseSummary } from "./kit.ts";

const key = "p1@example.com";

async function scene(count: number) {
  const proxy = await startRecordingProxy();
  proxy.sandbox.admin.seed({ lists: ["L"], contacts: manyContacts(count) });
  const output = await proxy.ecm(`contact get ${key} --json`);
  return { proxy, id: (JSON.parse(output.stdout) as Contact)._id };
}

const changes: Record<string, [words: string[], outcome: "updated" | "deleted"]> = {
  "contact mutate": [["mutate", "--set", "First Name=New", "--add-list", "L"], "updated"],
  "contact unsubscribe": [["unsubscribe", "--yes"], "updated"],
  "contact delete": [["delete", "--yes"], "deleted"],
};

describe.each(Object.entries(changes))("%s", (_name, [[verb = "", ...flags], outcome]) => {
  // In a small account everybody is read; in a large one each is looked up.
  it.each([
    ["key first", 5, (id: string) => [key, id, "p2@example.com"]],
    ["id first", 5, (id: string) => [id, "p2@example.com", key]],
    ["key first, each looked up", 1100, (id: string) => [key, id, "p2@example.com"]],
    ["id first, each looked up", 1100, (id: string) => [id, "p2@example.com", key]],
  ])("writes it once: %s", async (_order, count, listNames) => {
    const { proxy, id } = await scene(count);
    const plan = await inputFile("", "plan.ndjson");
    const args = ["contact", verb, ...listNames(id), ...flags, "--json"];
    const dry = parseSummary(await proxy.ecm([...args, "--dry-run"]));
    expect(dry.rows).toMatchObject({ read: 3, [outcome]: 2, skipped: 1 });
    const result = await proxy.ecm([...args, "--plan", plan]);
    expect(result.code, result.stderr).toBe(0);
    expect(parseSummary(result)).toMatchObject({
      rows: { read: 3, [outcome]: 2, skipped: 1, unchanged: 0 },
      codes: { skipped: { duplicate: 1 } },
    });
    expect(proxy.writes.filter(({ what }) => what === id)).toHaveLength(1);
    const lines = (await readFile(plan, "utf8")).trim().split("\n");
    const ofContact = lines.map((line) => JSON.parse(line)).filter(({ contactId }) => contactId === id);
    expect(ofContact.filter(({ action }) => action !== "skip")).toHaveLength(1);
  });
});
