/**
 * Mapping files and constants in whole imports: what is written, planned, resumed and refused.
 */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { contactLines, inputFile, parseSummary, readContacts } from "./kit.ts";

async function accountWith(...fields: string[]): Promise<RunningSandbox> {
  const service = await startSandbox();
  for (const field of fields) await service.ecm(["structure", "field", "add", field]);
  return service;
}

async function readFields(service: RunningSandbox, key: string): Promise<Record<string, string> | undefined> {
  return (await readContacts(service)).get(key)?.fields;
}

const mappingFile = (text: string) => inputFile(text, "mapping.yaml");

describe("--set", () => {
  it("writes the same value for every row", async () => {
    const service = await accountWith("Source");
    await service.ecm(["contact", "create", "--key", "a@example.com"]);
    const file = await inputFile("Email\na@example.com\nb@example.com\n");
    const flags = ["--set", "Source=web", "--set", "source=Expo=2026"];
    const result = await service.ecm(["import", file, ...flags, "--json"]);
    expect(parseSummary(result).rows).toMatchObject({ updated: 1, created: 1 });
    expect(await readFields(service, "a@example.com")).toEqual({ Source: "Expo=2026" });
    expect(await readFields(service, "b@example.com")).toEqual({ Source: "Expo=2026" });
    const again = parseSummary(await service.ecm(["import", file, ...flags, "--json"]));
    expect(again.rows).toMatchObject({ unchanged: 2 });
  });

  it("takes the place of a column of the field's name, and wins over one that is mapped there", async () => {
    const service = await accountWith("Source");
    const file = await inputFile("Email,Source\na@example.com,web\n");
    await service.ecm(["import", file, "--set", "source=Expo"]);
    expect(await readFields(service, "a@example.com")).toEqual({ Source: "Expo" });
    const other = await inputFile("Email,Quelle\na@example.com,web\n");
    await service.ecm(["import", other, "--map", "Quelle=Source", "--set", "Source=Fair"]);
    expect(await readFields(service, "a@example.com")).toEqual({ Source: "Fair" });
  });

  it.each([
    [["--set", "Source"], '--set: "Source" is not FIELD=VALUE'],
    [["--set", "Nowhere=x"], 'there is no field "Nowhere"'],
  ])("%j is refused", async (flags, message) => {
    const service = await accountWith("Source");
    const result = await service.ecm(["import", await inputFile("Email\na@example.com\n"), ...flags]);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe("a mapping", () => {
  const csv = "Email,City\na@example.com,oslo\nb@example.com,rom\n";
  const toTown = "City: Town\n";

  it.each([
    [
      "Email: key\nCitty: City\nPLZ: ignore\n",
      [],
      'the mapping names columns that do not exist: "Citty", "PLZ"',
    ],
    ["City: Cite\n", [], 'there is no field "Cite"'],
    ["City: Cite\n", ["--map", "City=Cita"], 'there is no field "Cita"'],
  ])(
    "that is not of this file or this account is refused, with what was meant: %j %j",
    async (text, flags, message) => {
      const service = await accountWith("City");
      const args = ["import", await inputFile(csv), "--mapping", await mappingFile(text), ...flags];
      const result = await service.ecm(args);
      expect(result.code).toBe(2);
      expect(result.stderr).toContain(`people.csv:1: ${message}`);
      expect(result.stderr).toContain('Did you mean "City"?');
    },
  );

  it("that is wrong stops before a request", async () => {
    const service = await accountWith("City");
    const before = await countRequests(service);
    const mapping = await mappingFile("City: { target: City, date: DD.MM.YYYY }");
    const result = await service.ecm(["import", await inputFile(csv), "--mapping", mapping]);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(`${mapping}:1`) });
    expect(await countRequests(service)).toBe(before);
  });

  it("makes a plan that is applied without it", async () => {
    const service = await accountWith("City", "Town");
    const plan = join(await temporaryFolder(), "town.ndjson");
    const args = ["import", await inputFile(csv), "--mapping", await mappingFile(toTown), "--dry-run"];
    await service.ecm([...args, "--plan", plan]);
    const text = await readFile(plan, "utf8");
    expect(contactLines(text)[0]).toMatchObject({ changes: [{ name: "Town", after: "oslo" }] });
    expect((await service.ecm(["apply", plan])).code).toBe(0);
    expect(await readFields(service, "b@example.com")).toEqual({ Town: "rom" });
  });

  it("that has changed is another run; the run that stopped goes on as it began", async () => {
    const service = await accountWith("City", "Town");
    const file = await inputFile(csv);
    const mapping = await mappingFile(toTown);
    const args = ["import", file, "--mapping", mapping, "--json"];
    const stopped = await service.ecm([...args, "--max-requests", "3"]);
    expect(stopped.code).toBe(7);
    const { run } = parseSummary(stopped);
    await writeFile(mapping, "City: City\n");
    const dry = parseSummary(await service.ecm([...args, "--dry-run"]));
    expect(dry.run).not.toBe(run);
    await service.ecm(["runs", "resume", run!]);
    const contacts = await readContacts(service);
    expect([contacts.get("a@example.com")?.fields, contacts.get("b@example.com")?.fields]).toEqual([
      { Town: "oslo" },
      { Town: "rom" },
    ]);
    const changed = parseSummary(await service.ecm(args));
    expect(changed.rows.updated).toBe(2);
    expect(await readFields(service, "a@example.com")).toEqual({ City: "oslo", Town: "oslo" });
  });
});

async function countRequests({ baseUrl, apiKey }: RunningSandbox): Promise<number> {
  const answer = await fetch(`${baseUrl}/api/contact-structure`, { headers: { "x-api-key": apiKey } });
  const left = Number(answer.headers.get("x-ratelimit-remaining"));
  return Number(answer.headers.get("x-ratelimit-limit")) - left - ++asked;
}

let asked = 0;
