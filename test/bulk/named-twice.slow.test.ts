/** One contact that is named by its key and by its id is one contact: one line of a plan, one write. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { Contact } from "../../src/wire.ts";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { askingOf, contactLines, inputFile, manyContacts } from "./kit.ts";

const key = "p1@example.com";

async function scene(count: number) {
  const proxy = await startRecordingProxy();
  proxy.sandbox.admin.seed({ lists: ["L"], contacts: manyContacts(count) });
  const output = await proxy.ecm(`contact get ${key} --json`);
  return { proxy, id: (JSON.parse(output.stdout) as Contact)._id };
}

describe.each([
  ["mutate", "--set 'First Name=New' --add-list L", "updated"],
  ["unsubscribe", "--yes", "updated"],
  ["delete", "--yes", "deleted"],
])("contact %s", (verb, flags, outcome) => {
  // In a small account everybody is read; in a large one each is looked up.
  it.each([
    ["key first", 5, "KEY ID p2@example.com"],
    ["id first", 5, "ID p2@example.com KEY"],
    ["key first, each looked up", 1100, "KEY ID p2@example.com"],
    ["id first, each looked up", 1100, "ID p2@example.com KEY"],
  ])("writes it once: %s", async (_order, count, names) => {
    const { proxy, id } = await scene(count);
    const { run } = askingOf(proxy);
    const plan = await inputFile("", "plan.ndjson");
    const command = `contact ${verb} ${names.replace("KEY", key).replace("ID", id)} ${flags}`;
    const rows = { read: 3, [outcome]: 2, skipped: 1, unchanged: 0 };
    expect(await run(`${command} --dry-run`)).toMatchObject({ rows });
    const codes = { skipped: { duplicate: 1 } };
    expect(await run(`${command} --plan ${plan}`)).toMatchObject({ code: 0, rows, codes });
    expect(proxy.writes.filter(({ what }) => what === id)).toHaveLength(1);
    const ofContact = contactLines(await readFile(plan, "utf8")).filter(({ contactId }) => contactId === id);
    expect(ofContact.filter(({ action }) => action !== "skip")).toHaveLength(1);
  });
});
