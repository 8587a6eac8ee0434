/** What the tests of the bulk engine share: input files, summaries, and what the account holds. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { PlanLine } from "../../src/bulk/plan/plan-line.ts";
import type { Summary } from "../../src/bulk/runs/report.ts";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import type { Contact, ContactStructure } from "../../src/wire.ts";
import { callPort } from "../sandbox/account.ts";
import { type Ecm, type Result, temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

export async function inputFile(text: string | Uint8Array, name = "people.csv"): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, text);
  return path;
}

/** A header and `count` rows: p0@example.com, First 0. */
export function manyRows(count: number, first = (index: number) => `First ${index}`): string {
  const rows = Array.from({ length: count }, (_, index) => `p${index}@example.com,${first(index)}\n`);
  return `Email,First Name\n${rows.join("")}`;
}

/** The same contacts, as what a service holds already. */
export function manyContacts(count: number): NonNullable<SeedData["contacts"]> {
  return Array.from({ length: count }, (_, index) => ({
    key: `p${index}@example.com`,
    fields: { "First Name": `First ${index}` },
  }));
}

/** The lines of a plan file that speak of contacts, without what applying them needs. */
export function contactLines(text: string): PlanLine[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ plan, create, end }) => !plan && !create && !end)
    .map(({ apply, ...line }) => line);
}

export const parseSummary = ({ stdout }: Result) => JSON.parse(stdout) as Summary;

/** What a bulk command came to: its summary, beside its exit code and what it says. */
export async function summaryOf(
  ecm: Ecm,
  command: string,
  options?: Parameters<Ecm>[1],
): Promise<Summary & Omit<Result, "stdout">> {
  const { code, stderr, stdout } = await ecm(`${command} --json`, options);
  expect(stdout, stderr).not.toBe("");
  return { ...(JSON.parse(stdout) as Summary), code, stderr };
}

/** What tests of bulk commands ask most of a service. */
export function askingOf(service: Pick<RunningSandbox, "baseUrl" | "apiKey" | "ecm">) {
  const run = (command: string, options?: Parameters<Ecm>[1]) => summaryOf(service.ecm, command, options);
  return {
    /** The summary of a command. */
    run,
    /** The summary of an import of this text. */
    importing: async (text: string, flags = "", options?: Parameters<Ecm>[1]) =>
      run(`import ${await inputFile(text)} ${flags}`, options),
    keys: async (): Promise<string[]> => [...(await readContacts(service)).keys()].sort(),
    fieldsOf: async (key: string) => (await readContacts(service)).get(key)?.fields,
  };
}

/** A sandbox, and what is asked of it. */
export async function startAccount(options?: Parameters<typeof startSandbox>[0]) {
  const service = await startSandbox(options);
  return { ...service, ...askingOf(service), service };
}

/** What the service answers to one request, outside the program under test. */
export const call = async <T = unknown>(...request: Parameters<typeof callPort>): Promise<T> =>
  (await callPort(...request)).body;

/** Everything the account holds, by key, without what differs from run to run. */
export async function readContacts(service: Pick<RunningSandbox, "baseUrl" | "apiKey">) {
  const [structure] = await call<[ContactStructure]>(service, "GET", "/api/contact-structure");
  const labels = new Map(structure.fields.map(({ _id, label }) => [_id, label]));
  const all = await call<Contact[]>(service, "GET", "/api/contact");
  const toIds = (references: readonly { _id: string }[] = []) => references.map(({ _id }) => _id).sort();
  return new Map(
    all.map(({ key, fields = [], lists, tags, __v: version = 0 }) => {
      const values = fields.map(({ _id, value }) => [labels.get(_id) ?? _id, value] as const).sort();
      return [key, { fields: Object.fromEntries(values), lists: toIds(lists), tags: toIds(tags), version }];
    }),
  );
}
