/** `ecm contact dossier`: what is known of a person, wherever an erasure would look; nothing is written. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { errorBody, json } from "../support/http-server.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";

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
  await service.ecm("structure field add City");
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
  it("tells the contact with names, its events, and what runs did, planned and rejected", async () => {
    const service = await scene();
    const before = await listFiles(service);
    const result = await service.ecm("contact dossier ADA@example.com -o json");
    expect(result.code, result.stderr).toBe(0);
    const dossier = JSON.parse(result.stdout);
    expect(dossier.contacts).toMatchObject([
      { key: ada, status: "Active", fields: { City: "Paris" }, lists: ["News"], tags: ["VIP"] },
    ]);
    expect(dossier.contacts[0].events.map(({ type }: { type: string }) => type)).toContain("contact-created");
    expect(dossier.contacts[0].eventsKeptDays).toBe(90);
    expect(dossier.suppression).toEqual({ suppressed: false });
    const changes = dossier.runs.flatMap((run: { changes: unknown[] }) => run.changes);
    expect(changes).toMatchObject([
      expect.objectContaining({ action: "create" }),
      expect.objectContaining({
        changes: [{ what: "field", name: "City", before: "London", after: "Paris" }],
      }),
    ]);
    expect(Object.keys(dossier).sort()).toEqual(["contacts", "receipt", "runs", "suppression"]);
    expect(result.stdout).not.toContain('"apply"');
    expect(result.stdout).not.toContain('"cells"');
    // Nothing of others, and nothing was written.
    expect(result.stdout).not.toContain("gran@example.com");
    expect(JSON.stringify(dossier.receipt)).not.toContain("@");
    expect((await listFiles(service)).filter((file) => /^(?:runs|suppressions|exports)/.test(file))).toEqual(
      before.filter((file) => /^(?:runs|suppressions|exports)/.test(file)),
    );
  });

  it("finds the person in no run after an erasure, and tells the suppression", async () => {
    const { ecm } = await scene();
    expect((await ecm(["contact", "erase", ada, "--yes"])).code).toBe(0);
    const after = JSON.parse((await ecm(["contact", "dossier", ada, "--json"])).stdout);
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
      const result = await ecm(["contact", "dossier", ada, "--output-file", file]);
      expect([result.code, result.stdout], result.stderr).toEqual([0, ""]);
      const text = await readFile(file, "utf8");
      expect(text.startsWith(start)).toBe(true);
      expect(text).not.toContain("gran@example.com");
      if (name === "ada.json") continue;
      expect(text).toContain("Changed, from line 2: City: London → Paris.");
      expect(text).toContain("Created, from line 2:");
      expect(text).toContain("added to the list News");
      // Another dossier may take its place, in the form that the name says.
      const env = { ECM_OUTPUT: "json" };
      expect((await ecm(["contact", "dossier", ada, "--output-file", file], { env })).code).toBe(0);
      expect((await readFile(file, "utf8")).startsWith(start)).toBe(true);
    }
    expect((await ecm(["contact", "dossier", ada])).stdout).toContain("- Lists: News\n");
  });

  it("refuses a file whose name ends in another way", async () => {
    const { ecm } = await startSandbox();
    const folder = await temporaryFolder();
    for (const args of [["ada.csv"], ["ada"], ["ada.html", "-o", "json"], ["ada.html", "--json"]]) {
      const [name, ...more] = args;
      const refused = await ecm(["contact", "dossier", ada, "--output-file", join(folder, name!), ...more]);
      expect([refused.code, refused.stdout]).toEqual([2, ""]);
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it("without events says so, and shows the rest", async () => {
    const { ecm, baseUrl, apiKey } = await startSandbox({ contents: { contacts: [{ key: ada }] } });
    const { server } = await startService(async ({ method, url, body }, response) => {
      if (url.includes("/events")) return json(response, 404, errorBody("RecordNotFound", "Not found"));
      const headers = { "x-api-key": apiKey, "content-type": "application/json" };
      const passed = await fetch(`${baseUrl}${url}`, { method, headers, body: body === "" ? null : body });
      json(response, passed.status, await passed.json());
    });
    const shown = await ecm(["contact", "dossier", ada], { env: { ECM_BASE_URL: server.baseUrl } });
    expect(shown.code, shown.stderr).toBe(0);
    expect(shown.stdout).toContain(`### ${ada}`);
    expect(shown.stdout).toContain("They could not be read");
  });

  it("of a person of whom nothing is known is empty", async () => {
    const { ecm } = await scene();
    const result = await ecm("contact dossier nobody@example.com --json");
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({ contacts: [], runs: [] });
    expect((await ecm("contact dossier 65f0c2a91b3d4e5f60718293")).code).toBe(2);
  });
});
