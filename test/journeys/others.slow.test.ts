import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Contact } from "../../src/wire.ts";
import { call, inputFile, manyRows, parseSummary, readContacts } from "../bulk/kit.ts";
import { done, type Result, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { beforeFirst, type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

const isCreate = (path: string) => path === "/api/contact";
const isMutate = (path: string) => path.endsWith("/mutate");

interface Others {
  proxy: RecordingProxy;
  /** Of the contact, and of its fields by their values. */
  id: string;
  field: (value: string) => string;
}

const change = ({ proxy, id, field }: Others, was: string, value: string) =>
  call(proxy, "PUT", `/api/contact/${id}/mutate`, { updateFields: [{ _id: field(was), value }] });
const remove = ({ proxy, id }: Others) => call(proxy, "DELETE", `/api/contact/${id}`);

type Left = { fields: object; version: number } | undefined;

const changed = { updated: 1, rejected: 0 };
const deleted = { created: 0, updated: 0, skipped: 1, rejected: 0 };

describe("others who work on the same contact right before our write arrives", () => {
  it.each<[what: string, mode: string, act: (others: Others) => Promise<unknown>, rows: object, left: Left]>([
    [
      "change another field: our change leaves it alone",
      "upsert",
      (others) => change(others, "L", "Other"),
      changed,
      { fields: { "First Name": "New", "Last Name": "Other" }, version: 2 },
    ],
    [
      "make the very change that we wanted: nothing is left to change",
      "upsert",
      (others) => change(others, "Old", "New"),
      { updated: 0, unchanged: 1, rejected: 0 },
      { fields: { "First Name": "New", "Last Name": "L" }, version: 1 },
    ],
    ["delete it: nobody makes it anew", "upsert", remove, deleted, undefined],
    ["delete it: nobody makes it anew", "update", remove, deleted, undefined],
  ])("%s (%s)", async (_what, mode, act, rows, left) => {
    const proxy = await startRecordingProxy();
    const contact = { key: "a@x.org", fields: { "First Name": "Old", "Last Name": "L" } };
    proxy.sandbox.admin.seed({ contacts: [contact] });
    const [{ _id: id, fields }] = await call<[Contact]>(proxy, "GET", "/api/contact");
    const field = (value: string) => fields!.find((each) => each.value === value)!._id;
    beforeFirst(proxy, isMutate, () => act({ proxy, id, field }));
    const path = await inputFile("Email,First Name\na@x.org,New\n");
    const summary = parseSummary(await proxy.ecm(`import ${path} --mode ${mode} --json`));
    expect(summary.rows).toMatchObject(rows);
    const found = (await readContacts(proxy)).get("a@x.org");
    if (left) expect(found).toMatchObject(left);
    else expect(found).toBeUndefined();
    if (left?.version === 2) expect(proxy.writes.filter(({ status }) => status >= 400)).toEqual([]);
  });

  it.each([
    ["upsert", { created: 0, updated: 1 }],
    ["create", { created: 0, skipped: 1 }],
  ])("create the contact first: ours becomes a change, or is passed over (%s)", async (mode, rows) => {
    const proxy = await startRecordingProxy();
    const contact = { key: "A@x.org", contactStructureId: proxy.sandbox.structureId };
    beforeFirst(proxy, isCreate, () => call(proxy, "POST", "/api/contact", contact));
    const path = await inputFile("Email,First Name\na@x.org,Ada\n");
    const summary = parseSummary(await proxy.ecm(`import ${path} --mode ${mode} --json`));
    expect(summary.rows).toMatchObject({ unchanged: 0, rejected: 0, ...rows });
    expect((await readContacts(proxy)).size).toBe(1);
  });
});

it("others of the same account spend the hour as well: both wait, and neither meets a 429", async () => {
  const { ecm } = await startRecordingProxy({ hourlyLimit: 80, windowSeconds: 1 });
  const importing = async (text: string) =>
    ecm(["import", await inputFile(text), "--json"], { env: await temporaryHome() });
  const texts = [manyRows(60), manyRows(60).replaceAll("@", "@other.")];
  for (const result of await Promise.all(texts.map(importing))) {
    expect(result.code, result.stderr).toBe(0);
    expect(parseSummary(result)).toMatchObject({ rows: { created: 60 }, requests: { retried: 0 } });
  }
});

it("a list is made like one file at a time, by whichever command", async () => {
  const proxy = await startRecordingProxy();
  proxy.sandbox.admin.seed({
    lists: ["L"],
    contacts: [{ key: "a@example.com", lists: ["L"] }, { key: "b@example.com" }],
  });
  const sync = async (key: string) => `lists sync L ${await inputFile(`Email\n${key}\n`)} --max-remove 1`;
  const plan = join(await temporaryFolder(), "plan.ndjson");
  await proxy.ecm(`${await sync("b@example.com")} --dry-run --plan ${plan}`);
  const others: Result[] = [];
  beforeFirst(proxy, isMutate, async () => {
    others.push(await proxy.ecm(await sync("a@example.com")), await proxy.ecm(["apply", plan]));
  });
  await done(proxy.ecm(await sync("b@example.com")));
  expect(others.map(({ code }) => code)).toEqual([6, 6]);
  expect(others[0]!.stderr).toContain('a sync of the list "L"');
  await done(proxy.ecm(await sync("a@example.com")));
});
