/** What the tests of plans share: an account with something of everything, and what it holds, to be compared. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { PlanHead } from "../../src/bulk/plan/plan-file.ts";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import type { Contact, ContactList, ContactStructure } from "../../src/wire.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { call } from "./kit.ts";

const people: SeedData = {
  fields: ["City", "Note"],
  tags: ["VIP", "Old hand"],
  lists: ["Customers", "News"],
  contacts: [
    { key: "ada@example.com", fields: { City: "Oslo", Note: "n" }, lists: ["Customers"] },
    { key: "bob@example.com", fields: { City: "Bergen" }, lists: ["Customers", "News"], tags: ["VIP"] },
    { key: "cy@example.com", fields: { City: "Rome" }, lists: ["Customers"], status: "Unsubscribe" },
    { key: "dan@example.com", fields: { City: "Paris" }, tags: ["VIP"] },
    { key: "eve@example.com" },
  ],
};

/** The head of a plan that stands for itself; each test names what it is about. */
export const planHead: PlanHead = {
  version: 1,
  program: "0.0.0",
  kind: "import",
  command: ["import"],
  account: { baseUrl: "http://127.0.0.1:1", structureId: "s", keyType: "email" },
  input: { sha256: "00", size: 1 },
  createdAt: "2026-11-22T00:00:00.000Z",
  names: { fields: {}, lists: {}, tags: {} },
  source: ["fields"],
  looks: { by: "search", suppressions: "include" },
};

/** The same account each time, ids included. */
export const startPeople = (contents: SeedData = people): Promise<RunningSandbox> =>
  startSandbox({ seed: 7, contents });

/** Everything the account holds, by key and by names: ids of what two runs create may differ. */
export async function readHoldings(service: RunningSandbox) {
  const [structure] = await call<ContactStructure[]>(service, "GET", "/api/contact-structure");
  const listing = `/api/contact-structure/${structure!._id}/lists?size=100`;
  const { records } = await call<{ records: ContactList[] }>(service, "GET", listing);
  const names = new Map<string, string>([
    ...[...structure!.fields, ...(structure!.tags ?? [])].map(({ _id, label }) => [_id, label] as const),
    ...records.map(({ _id, name }) => [_id, name] as const),
  ]);
  const toNames = (references: readonly { _id: string }[] = []) =>
    references.map(({ _id }) => names.get(_id) ?? _id).sort();
  const all = await call<Contact[]>(service, "GET", "/api/contact");
  const entries = all.map(({ key, fields = [], ...contact }) => {
    const holding = {
      status: JSON.stringify([contact.contactStatus, contact.contactSubStatus, contact.status]),
      fields: fields.map(({ _id, value }) => `${names.get(_id) ?? _id}=${value}`).sort(),
      lists: toNames(contact.lists),
      tags: toNames(contact.tags),
      version: contact.__v,
    };
    return [key, holding] as const;
  });
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Requests that may change something, and searches are none. */
export function listWrites({ sandbox }: Pick<RunningSandbox, "sandbox">): string[] {
  return sandbox.admin
    .requests()
    .filter(({ method, path }) => method !== "GET" && !path.includes("search"))
    .map(({ method, path }) => `${method} ${path}`);
}

export const countRequests = ({ sandbox }: Pick<RunningSandbox, "sandbox">): number =>
  sandbox.admin.requests().length;

/** The plan that a dry run of the command writes. */
export async function makePlanFile({ ecm }: Pick<RunningSandbox, "ecm">, args: string[], stdin?: string) {
  const file = join(await temporaryFolder(), "plan.ndjson");
  const result = await ecm([...args, "--dry-run", "--plan", file], { stdin });
  const [, writes, digest] = /^Plan: ([\d,]+) to write, (sha256:[0-9a-f]{64})$/m.exec(result.stderr) ?? [];
  expect(digest, `${args.join(" ")}\n${result.stderr}`).toBeDefined();
  const text = await readFile(file, "utf8");
  const lines = text.trimEnd().split("\n");
  expect(JSON.parse(lines.at(-1)!).end.digest).toBe(digest);
  const { command } = JSON.parse(lines[0]!).plan;
  expect(command).toEqual(args.slice(0, Math.max(1, command.length)));
  return { file, digest: digest!, writes: Number(writes!.replaceAll(",", "")), result };
}

/** A file of these lines whose digest is right, whoever made it. */
export function sealPlan(lines: readonly object[], end: object = { counts: {}, requests: 0 }): string {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const digest = `sha256:${createHash("sha256").update(text).digest("hex")}`;
  return `${text}${JSON.stringify({ end: { ...end, digest } })}\n`;
}

/** The lines of a plan file without its end. */
export async function readPlanLines(file: string): Promise<Record<string, unknown>[]> {
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
