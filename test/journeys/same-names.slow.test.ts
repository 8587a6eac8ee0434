/** Two who create a list of one name at once: there is one list afterwards, and everybody is in it. */
import { describe, expect, it } from "vitest";
import type { ContactList } from "../../src/wire.ts";
import { call, inputFile, parseSummary, readContacts, startSandbox } from "../kit.ts";
import { type Ecm, ends, readJson, spawnEcm, waitForResult } from "../support/ecm.ts";
import { beforeFirst, type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

const rows = (start: string) =>
  `Email\n${Array.from({ length: 12 }, (_, index) => `${start}${index}@x.org\n`).join("")}`;

const listsIn = ({ ecm }: { ecm: Ecm }): Promise<ContactList[]> => readJson(ecm, "lists list --all");

/** Somebody else creates a list of this name when the look before the first creation arrives. */
function othersCreate(proxy: RecordingProxy, name: string): void {
  const path = `/api/contact-structure/${proxy.sandbox.structureId}/lists`;
  const isList = (asked: string) => asked.startsWith(path);
  beforeFirst(proxy, isList, () => call(proxy, "POST", path, { name }));
}

describe("two creators of one name", () => {
  it("on one machine: all imports put their contacts into one list", async () => {
    const service = await startSandbox();
    const files = await Promise.all(["a", "b", "c"].map((start) => inputFile(rows(start))));
    const flags = ["--list", "News", "--tag", "T", "--create-missing", "--json"];
    const start = (file: string) => waitForResult(spawnEcm(["import", file, ...flags], service.env));
    for (const result of await Promise.all(files.map(start)))
      expect(parseSummary(await ends(result, 0))).toMatchObject({ rows: { created: 12 } });
    expect(await listsIn(service)).toMatchObject([{ name: "News", totalContacts: 36 }]);
    const tags = new Set([...(await readContacts(service)).values()].map((contact) => contact.tags.join()));
    expect(tags.size).toBe(1);
  });

  it.each([
    ["creations", ["lists create C", "lists create C"]],
    ["renamings", ["lists rename A C", "lists rename B C"]],
  ])("two %s on one machine: one makes it, and the other is told that it exists", async (_what, lines) => {
    const service = await startSandbox({ contents: { lists: ["A", "B"] } });
    const results = await Promise.all(lines.map((line) => service.ecm(line)));
    expect(results.map(({ code }) => code).sort()).toEqual([0, 6]);
    expect((await listsIn(service)).filter(({ name }) => name === "C")).toHaveLength(1);
  });

  it("a list to be made new by lists duplicate is not somebody else's", async () => {
    const proxy = await startRecordingProxy();
    proxy.sandbox.admin.seed({ contacts: [{ key: "a@x.org", lists: ["Source"] }] });
    othersCreate(proxy, "Copy");
    await ends(proxy.ecm("lists duplicate Source Copy --json"), 6);
    const counted = (await listsIn(proxy)).map(({ name, totalContacts }) => [name, totalContacts]);
    expect(counted).toEqual([
      ["Source", 1],
      ["Copy", 0],
    ]);
  });
});
