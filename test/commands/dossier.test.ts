/** `ecm contact dossier`: what is known of a person, wherever an erasure would look; nothing is written. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFileErasers } from "../../src/privacy/erase.ts";
import { createRedactor } from "../../src/privacy/redaction.ts";
import { inputFile } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

const ada = "ada@example.com";
const people = [
  "Email,First Name,City,Newsletter consent",
  `${ada},Ada,London,yes`,
  `gran@example.com,Gran,friend of ${ada},yes`,
  "not an address,Eve,Rome,yes",
  "",
].join("\n");

async function scene(): Promise<RunningSandbox> {
  const service = await startSandbox({ contents: { lists: ["News"], tags: ["VIP"] } });
  await service.ecm(["structure", "field", "add", "City"]);
  await service.ecm(["import", await inputFile(people), "--list", "News", "--tag", "VIP"]);
  await service.ecm(["import", await inputFile(`Email,City\n${ada},Paris\n`)]);
  return service;
}

/** Every file below the folders, with its size and time. */
async function listFiles({ env }: RunningSandbox): Promise<string[]> {
  const found: string[] = [];
  for (const root of [env.ECM_STATE_DIR!, env.ECM_CACHE_DIR!]) {
    for (const name of await readdir(root, { recursive: true }).catch(() => [])) {
      const { size, isFile } = await stat(join(root, name)).then((entry) => ({
        size: entry.size,
        isFile: entry.isFile(),
      }));
      if (isFile) found.push(`${name} ${size}`);
    }
  }
  return found.sort();
}

describe("contact dossier", () => {
  it("tells the contact with names, its events, and what runs did, planned and rejected", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    const before = await listFiles(service);
    const result = await service.ecm(["contact", "dossier", "ADA@example.com", "-o", "json"]);
    expect(result.code, result.stderr).toBe(0);
    const dossier = JSON.parse(result.stdout);
    expect(dossier.contacts).toMatchObject([
      { key: ada, status: "Active", fields: { City: "Paris" }, lists: ["News"], tags: ["VIP"] },
    ]);
    expect(dossier.contacts[0].events.map(({ type }: { type: string }) => type)).toContain("contact-created");
    expect(dossier.contacts[0].eventsKeptDays).toBe(90);
    expect(dossier.suppression).toEqual({ suppressed: false });
    const changes = dossier.runs.flatMap((run: { changes: unknown[] }) => run.changes);
    expect(changes).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ action: "create" }),
        expect.objectContaining({
          changes: [{ what: "field", name: "City", before: "London", after: "Paris" }],
        }),
      ]),
    );
    expect(dossier.elsewhere.flatMap((file: { records: unknown[] }) => file.records)).toContainEqual(
      expect.objectContaining({ Email: ada, City: "London" }),
    );
    // Nothing of others, and nothing was written.
    expect(result.stdout).not.toContain("gran@example.com");
    expect(JSON.stringify(dossier.receipt)).not.toContain("@");
    expect((await listFiles(service)).filter((file) => /^(?:runs|suppressions|exports)/.test(file))).toEqual(
      before.filter((file) => /^(?:runs|suppressions|exports)/.test(file)),
    );
  });

  it("finds the person in every file that an erasure changes, and in none afterwards", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    const { env, ecm } = service;
    await ecm(["suppressions", "add", ada]);
    await ecm(["contact", "delete", ada, "--yes"]);
    const folders = { state: env.ECM_STATE_DIR!, cache: env.ECM_CACHE_DIR! };
    const read = JSON.parse((await ecm(["contact", "dossier", ada, "--json"])).stdout);
    expect(read.suppression).toMatchObject({ suppressed: true });
    const files = [...read.runs.flatMap((run: { files: unknown[] }) => run.files), ...read.files];
    const erasers = createFileErasers(folders, createRedactor([ada]));
    const erased = (await erasers.runs()) + (await erasers.exports()) + (await erasers.files());
    expect(files).toHaveLength(erased);
    const after = JSON.parse((await ecm(["contact", "dossier", ada, "--json"])).stdout);
    expect(after.receipt.found).toMatchObject({ runs: 0, files: 0, exports: 0 });
  });

  it("is written as a document for the person", { tags: "slow" }, async () => {
    const service = await scene();
    const file = join(await temporaryFolder(), "ada.md");
    const result = await service.ecm(["contact", "dossier", ada, "--output-file", file]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout).toBe("");
    const text = await readFile(file, "utf8");
    expect(text).toMatch(/^# What is known of a person/);
    expect(text).toContain("field City: London → Paris");
    expect(text).toContain("Lists: News");
    expect(text).not.toContain("gran@example.com");
    // Another dossier may take its place; an erasure names it.
    expect((await service.ecm(["contact", "dossier", ada, "--output-file", file])).code).toBe(0);
    expect((await service.ecm(["contact", "erase", ada, "--yes"])).stderr).toContain(file);
  });

  it("of a person of whom nothing is known is empty", { tags: "slow" }, async () => {
    const { ecm } = await scene();
    const result = await ecm(["contact", "dossier", "nobody@example.com", "--json"]);
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({ contacts: [], runs: [], elsewhere: [] });
    expect((await ecm(["contact", "dossier", "65f0c2a91b3d4e5f60718293"])).code).toBe(2);
  });
});
