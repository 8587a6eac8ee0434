/** One contact that is named by its key and by its id is one contact: one line of a plan, one write. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { askingOf, contactLines, inputFile, manyContacts, readJson } from "../kit.ts";

const verbs = [
  ["mutate", "--set 'First Name=New' --add-list L", "updated"],
  ["unsubscribe", "--yes", "updated"],
  ["delete", "--yes", "deleted"],
] as const;
const orders = ["KEY ID OTHER", "ID OTHER KEY"];

// In a small account everybody is read; in a large one each is looked up.
it.each([20, 1100])("one contact is written once, whatever names it first, of %i contacts", async (count) => {
  const proxy = await startRecordingProxy();
  proxy.sandbox.admin.seed({ lists: ["L"], contacts: manyContacts(count) });
  const { run } = askingOf(proxy);
  let last = 0;
  for (const [verb, flags, outcome] of verbs) {
    for (const order of orders) {
      const [key, other] = [++last, ++last].map((n) => `p${n}@example.com`);
      const { _id: id } = await readJson(proxy.ecm, `contact get ${key}`);
      const plan = await inputFile("", "plan.ndjson");
      const names = order.replace("KEY", key!).replace("ID", id).replace("OTHER", other!);
      const command = `contact ${verb} ${names} ${flags}`;
      const rows = { read: 3, [outcome]: 2, skipped: 1, unchanged: 0 };
      const expected = { command, code: 0, codes: { skipped: { duplicate: 1 } }, rows };
      expect({ command, ...(await run(`${command} --dry-run`)) }).toMatchObject(expected);
      expect({ command, ...(await run(`${command} --plan ${plan}`)) }).toMatchObject(expected);
      expect(proxy.writes.filter(({ what }) => what === id)).toHaveLength(1);
      const lines = contactLines(await readFile(plan, "utf8"));
      const written = lines.filter(({ contactId, action }) => contactId === id && action !== "skip");
      expect(written).toHaveLength(1);
    }
  }
});
