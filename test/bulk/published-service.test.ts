import { describe, expect, it } from "vitest";
import { startWitness } from "../journeys/witness.ts";
import { firstQuick } from "../support/first-quick.ts";
import { contactsIn, inputFile, manyRows, summaryOf } from "./kit.ts";

/** A service whose searches tell neither lists nor status nor versions, whatever `source` asks for. */
async function startTerse() {
  const witness = await startWitness();
  witness.rewrites = (path, text) => {
    if (path !== "/api/contact/search" || !text.includes('"totalRecords"')) return text;
    const answer = JSON.parse(text) as { contacts: Record<string, unknown>[] };
    for (const contact of answer.contacts) {
      delete contact.lists;
      delete contact.contactStatus;
      delete contact.contactSubStatus;
      delete contact.__v;
    }
    return JSON.stringify(answer);
  };
  return witness;
}

describe("a service whose searches leave out lists and versions", () => {
  firstQuick(1)([[40], [150]])(
    "gets no write for %d contacts that are as the file wants them",
    async (size) => {
      const witness = await startTerse();
      const path = await inputFile(manyRows(size));
      const args = ["import", path, "--list", "L", "--create-missing", "--json"];
      expect(summaryOf(await witness.ecm(args)).rows.created).toBe(size);
      witness.writes.length = 0;
      expect(summaryOf(await witness.ecm(args)).rows).toMatchObject({ unchanged: size, updated: 0 });
      expect(witness.writes).toEqual([]);
    },
  );

  it("has its lists synced with a write for each member that comes or goes", async () => {
    const witness = await startTerse();
    await witness.ecm(["import", await inputFile(manyRows(30)), "--list", "L", "--create-missing"]);
    await witness.ecm(["import", await inputFile("Email\nnew@example.com\n")]);
    const file = await inputFile(`${manyRows(28)}new@example.com,\n`);
    const summary = summaryOf(await witness.ecm(["lists", "sync", "L", file, "--json"]));
    expect(summary).toMatchObject({ members: { added: 1, removed: 2 }, requests: { mutate: 3 } });
    witness.rewrites = (_path, text) => text;
    const members = [...(await contactsIn(witness))].filter(([, { lists }]) => lists.length > 0);
    expect(members).toHaveLength(29);
  });
});
