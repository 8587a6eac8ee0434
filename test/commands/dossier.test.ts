/** `ecm contact dossier`: what is known of a person, wherever an erasure would look; nothing is written. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { done, inputFile, readJson, refused, temporaryFolder } from "../kit.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

const ada = "ada@example.com";
const people = `Email,First Name,City,Newsletter consent
${ada},Ada,London,yes
gran@example.com,Gran,friend of ${ada},yes
not an address,Eve,Rome,yes
`;

async function scene(): Promise<RunningSandbox> {
  const contents = { fields: ["City"], lists: ["News"], tags: ["VIP", "Tokyo, Japan"] };
  const service = await startSandbox({ contents });
  await service.ecm(`import ${await inputFile(people)} --list News --tag VIP --tag 'Tokyo, Japan'`);
  await service.ecm(`import ${await inputFile(`Email,City\n${ada},Paris\n`)}`);
  return service;
}

/** What is kept of the person and of others, with its size. */
async function listKept({ env }: RunningSandbox): Promise<string[]> {
  const names = await readdir(env.ECM_STATE_DIR!, { recursive: true });
  const kept = names.filter((name) => /^(?:runs|suppressions|exports)/.test(name)).sort();
  const sizeOf = async (name: string) => (await stat(join(env.ECM_STATE_DIR!, name))).size;
  return Promise.all(kept.map(async (name) => `${name} ${await sizeOf(name)}`));
}

describe("contact dossier", () => {
  it("tells the contact with names, its events, and what runs did, planned and rejected", async () => {
    const service = await scene();
    const before = await listKept(service);
    const dossier = await readJson(service.ecm, "contact dossier ADA@example.com");
    const text = JSON.stringify(dossier);
    const named = { fields: { City: "Paris" }, lists: ["News"], tags: ["VIP", "Tokyo, Japan"] };
    expect(dossier.contacts).toMatchObject([{ key: ada, status: "Active", ...named, eventsKeptDays: 90 }]);
    expect(dossier.contacts[0].events).toContainEqual(expect.objectContaining({ type: "contact-created" }));
    expect(dossier.suppression).toEqual({ suppressed: false });
    const changes = dossier.runs.flatMap((run: { changes: unknown[] }) => run.changes);
    const moved = { what: "field", name: "City", before: "London", after: "Paris" };
    expect(changes).toMatchObject([{ action: "create" }, { changes: [moved] }]);
    expect(Object.keys(dossier).sort()).toEqual(["contacts", "receipt", "runs", "suppression"]);
    // Nothing of the plan's own members, nothing of others, and nothing was written.
    for (const word of ['"apply"', '"cells"', "gran@example.com"]) expect(text).not.toContain(word);
    expect(JSON.stringify(dossier.receipt)).not.toContain("@");
    expect(await listKept(service)).toEqual(before);
  });

  it("tells the runs that reached the account by another loopback name", async () => {
    const { ecm, baseUrl } = await scene();
    const env = { ECM_BASE_URL: baseUrl.replace("127.0.0.1", "localhost") };
    expect((await readJson(ecm, `contact dossier ${ada}`, { env })).runs).toHaveLength(2);
  });

  it("finds the person in no run after an erasure, and tells the suppression", async () => {
    const { ecm } = await scene();
    await done(ecm(`contact erase ${ada} --yes`));
    const after = await readJson(ecm, `contact dossier ${ada}`);
    expect(after).toMatchObject({ contacts: [], runs: [], suppression: { suppressed: true } });
  });

  it("tells what runs did in sentences, as a document and as a page", async () => {
    const { ecm } = await scene();
    const folder = await temporaryFolder();
    for (const [name, start] of [
      ["ada.md", "# What is known of a person\n"],
      ["ada.html", "<!doctype html>"],
      ["ada.json", '{\n  "receipt": {'],
    ] as const) {
      const file = join(folder, name);
      const line = `contact dossier ${ada} --output-file ${file}`;
      expect(await done(ecm(line))).toBe("");
      const text = await readFile(file, "utf8");
      expect(text.startsWith(start)).toBe(true);
      expect(text).not.toContain("gran@example.com");
      if (name === "ada.json") continue;
      expect(text).toContain("Changed, from line 2: City: London → Paris.");
      expect(text).toContain("Created, from line 2:");
      expect(text).toContain("added to the list News");
      // Another dossier may take its place, in the form that the name says.
      await done(ecm(line, { env: { ECM_OUTPUT: "json" } }));
      expect((await readFile(file, "utf8")).startsWith(start)).toBe(true);
    }
    const printed = await done(ecm(`contact dossier ${ada}`));
    expect(printed).toContain('- Lists: News\n- Tags: VIP, "Tokyo, Japan"\n');
  });

  it("refuses a file whose name ends in another way", async () => {
    const { ecm } = await startSandbox();
    const folder = await temporaryFolder();
    for (const name of ["ada.csv", "ada", "ada.html -o json", "ada.html --json"])
      await refused(ecm(`contact dossier ${ada} --output-file ${join(folder, name)}`), 2);
    expect(await readdir(folder)).toEqual([]);
  });

  it("of a person of whom nothing is known is empty", async () => {
    const { ecm } = await startSandbox();
    const dossier = await readJson(ecm, "contact dossier nobody@example.com");
    expect(dossier).toMatchObject({ contacts: [], runs: [] });
    expect((await ecm("contact dossier 65f0c2a91b3d4e5f60718293")).code).toBe(2);
  });
});
