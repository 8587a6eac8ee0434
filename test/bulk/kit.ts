/** What the tests of the bulk engine share: input files, summaries, and what the account holds. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { PlanLine } from "../../src/bulk/plan/plan-line.ts";
import type { Summary } from "../../src/bulk/runs/report.ts";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import type { Contact } from "../../src/wire.ts";
import { type Ecm, type Result, temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

export async function inputFile(text: string, name = "people.csv"): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, text);
  return path;
}

/** A header and `count` rows: p0@example.com, First 0. */
export function manyRows(
  count: number,
  first: (index: number) => string = (index) => `First ${index}`,
): string {
  let text = "Email,First Name\n";
  for (let index = 0; index < count; index++) text += `p${index}@example.com,${first(index)}\n`;
  return text;
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
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(
      (line) =>
        JSON.parse(line) as PlanLine & { plan?: unknown; create?: unknown; end?: unknown; apply?: unknown },
    )
    .filter(({ plan, create, end }) => !plan && !create && !end)
    .map(({ apply: _apply, ...line }) => line);
}

export function parseSummary(result: Result): Summary {
  return JSON.parse(result.stdout) as Summary;
}

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

/** One request at the service, outside the program under test. */
export async function call<T = unknown>(
  { baseUrl, apiKey }: Pick<RunningSandbox, "baseUrl" | "apiKey">,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await fetch(baseUrl + path, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return (await answer.json()) as T;
}

/** Everything the account holds, by key, without what differs from run to run. */
export async function readContacts(
  service: Pick<RunningSandbox, "baseUrl" | "apiKey">,
): Promise<
  Map<string, { fields: Record<string, string>; lists: string[]; tags: string[]; version: number }>
> {
  const [structure] = await call<{ _id: string; fields: { _id: string; label: string }[] }[]>(
    service,
    "GET",
    "/api/contact-structure",
  );
  const labels = new Map(structure!.fields.map(({ _id, label }) => [_id, label]));
  const contacts = new Map();
  const all = await call<Contact[]>(service, "GET", "/api/contact");
  for (const { key, fields = [], lists = [], tags = [], __v } of all) {
    const values = fields.map(({ _id, value }) => [labels.get(_id) ?? _id, value]).sort();
    contacts.set(key, {
      fields: Object.fromEntries(values),
      lists: lists.map(({ _id }) => _id).sort(),
      tags: tags.map(({ _id }) => _id).sort(),
      version: __v,
    });
  }
  return contacts;
}
