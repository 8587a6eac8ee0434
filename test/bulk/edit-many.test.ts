/** Selections, unsubscriptions and deletions, as jobs of the bulk engine. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Contact } from "../../src/wire.ts";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { call, inputFile, manyRows, parseSummary, readContacts, summaryOf } from "./kit.ts";

/** p0 … in the list L; every third in the list M, too. */
async function withMembers(count: number): Promise<RunningSandbox> {
  return startSandbox({
    contents: {
      contacts: Array.from({ length: count }, (_, index) => ({
        key: `p${index}@example.com`,
        fields: { "First Name": `First ${index % 2}` },
        lists: index % 3 === 0 ? ["L", "M"] : ["L"],
      })),
    },
  });
}

const readStatus = async (service: RunningSandbox, key: string) => {
  const output = await service.ecm(`contact get ${key} --json`);
  return (JSON.parse(output.stdout) as Contact).status;
};

describe("a selection", () => {
  it("reads each page once, decides the rest here, and says before what it sends", async () => {
    const service = await withMembers(30);
    const args = ["contact", "mutate", "--list", "L", "--list", "M", "--where", 'First_Name == "First 1"'];
    const change = [...args, "--set", "Last Name=X", "--json"];
    const dry = parseSummary(await service.ecm([...change, "--dry-run"]));
    const real = parseSummary(await service.ecm(change));
    expect(real).toMatchObject({
      kind: "mutate",
      status: "completed",
      rows: { read: 15, updated: 15 },
      // A page; names of lists, the structure, and what proves that both lists count.
      requests: { search: 1, mutate: 15, other: 4 },
    });
    expect(dry).toMatchObject({
      status: "dry-run",
      rows: { read: 15, updated: 15 },
      estimate: { requests: 20 },
    });
    expect(real.estimate).toEqual(dry.estimate);
    const again = parseSummary(await service.ecm(change));
    expect(again).toMatchObject({ rows: { read: 15, unchanged: 15 }, requests: { mutate: 0 } });
  });

  it("holds every condition, together with keys and ids from a file", async () => {
    const service = await withMembers(12);
    const { _id } = JSON.parse((await service.ecm("contact get p3@example.com --json")).stdout) as Contact;
    const file = await inputFile(`_id\n${_id}\n${"0".repeat(24)}\n`, "ids.csv");
    const change = ["--set", "Last Name=X", "--json"];
    const byId = await service.ecm(["contact", "mutate", "--keys", file, ...change]);
    expect(byId.code).toBe(3);
    expect(parseSummary(byId)).toMatchObject({ rows: { read: 2, updated: 1, rejected: 1 } });
    const keys = await inputFile("p1@example.com\np6@example.com\np9@example.com\n", "keys.txt");
    const both = parseSummary(
      await service.ecm([
        "contact",
        "mutate",
        "--keys",
        keys,
        "--list",
        "M",
        "--where",
        'key != "p9@example.com"',
        ...change,
      ]),
    );
    expect(both).toMatchObject({
      rows: { read: 3, updated: 1, skipped: 2 },
      codes: { skipped: { not_selected: 2 } },
    });
    const contacts = await readContacts(service);
    const changed = [...contacts].filter(([, { fields }]) => fields["Last Name"] === "X").map(([key]) => key);
    expect(changed.sort()).toEqual(["p3@example.com", "p6@example.com"]);
  });

  it("refuses what does not say whom it is for, or what nobody has agreed to, and changes nothing", async () => {
    const service = await startSandbox();
    const table: [args: string[], message: string][] = [
      [["mutate", "--set", "Last Name=X"], "The contact's id or key is missing"],
      [["delete", "--yes"], "The contact's id or key is missing"],
      [["unsubscribe", "--list", "L"], "must be confirmed"],
      [["delete", "p0@example.com"], "must be confirmed"],
      [["delete", "--all", "--no-input"], "must be confirmed"],
      [["delete", "--status", "", "--yes"], "--status is empty"],
      [["delete", "a@example.com", "", "--yes"], "id or key is empty"],
      [["delete", "--keys", "", "--yes"], "--keys is empty"],
      [["delete", "--where", "", "--yes"], "--where"],
      [["delete", "--where", "Nope", "--yes"], "Unknown name"],
      [["delete", "a@b.co", "--keys", "f", "--yes"], "--keys names every contact"],
    ];
    for (const [args, message] of table) {
      const { code, stderr, stdout } = await service.ecm(["contact", ...args]);
      expect(stderr).toContain(message);
      expect(code, args.join(" ")).toBe(2);
      expect(stdout).toBe("");
    }
  });
});

describe("ecm contact unsubscribe", () => {
  it("unsubscribes one contact; who is inactive already is unchanged", async () => {
    const service = await withMembers(2);
    const dry = await service.ecm("contact unsubscribe p0@example.com --dry-run --json");
    expect(JSON.parse(dry.stdout)).toMatchObject({
      method: "PATCH",
      body: { status: { primary: "Inactive", secondary: "Unsubscribe" } },
    });
    expect((await readStatus(service, "p0@example.com"))?.primary.toLowerCase()).toBe("active");
    const first = await service.ecm("contact unsubscribe p0@example.com --json -y");
    expect(JSON.parse(first.stdout)).toMatchObject({
      key: "p0@example.com",
      status: { primary: "Inactive" },
    });
    const second = await service.ecm("contact unsubscribe p0@example.com -y");
    expect(second).toMatchObject({ code: 0 });
    expect(second.stderr).toContain("unchanged");
    expect((await service.ecm("contact unsubscribe no@example.com -y")).code).toBe(5);
  });

  it("unsubscribes many, sends nothing for who is inactive, and rejects unknown keys", async () => {
    const service = await withMembers(6);
    await service.ecm("contact unsubscribe p1@example.com -y");
    const file = await inputFile(
      "p0@example.com\np1@example.com\nno@example.com\np2@example.com\n",
      "keys.txt",
    );
    const result = await summaryOf(service.ecm, `contact unsubscribe --keys ${file} --yes`);
    expect(result).toMatchObject({
      code: 3,
      kind: "unsubscribe",
      rows: { read: 4, updated: 2, unchanged: 1, rejected: 1 },
      // Looked up twice; the structure, and a status each.
      requests: { search: 2, mutate: 0, other: 3 },
      codes: { rejected: { not_found: 1 } },
      consent: { marked: 0, inactive: 1 },
    });
    // The file marks nobody, and nobody can be resubscribed.
    expect(result.stderr).not.toContain("although the file says");
    expect(result.stderr).not.toContain("Undo:");
    expect(await readStatus(service, "p0@example.com")).toEqual({
      primary: "Inactive",
      secondary: "Unsubscribe",
    });
    const rest = await summaryOf(service.ecm, "contact unsubscribe --list L --yes");
    expect(rest).toMatchObject({ rows: { read: 6, updated: 3, unchanged: 3 } });
  });

  it("asks at a terminal, and takes no for a no", async () => {
    const service = await withMembers(3);
    const args = ["contact", "unsubscribe", "--list", "L"];
    const no = await service.ecm(args, {
      terminalColumns: 120,
      typed: [["only they can subscribe again", "n\r"]],
    });
    expect(no.code).toBe(1);
    expect(no.stderr).toContain("Cancelled");
    expect((await readStatus(service, "p0@example.com"))?.primary.toLowerCase()).toBe("active");
    expect((await service.ecm("runs list --json")).stdout).not.toContain("unsubscribe");
    const yes = await service.ecm(args, { terminalColumns: 120, typed: [["Unsubscribe 3 contacts", "y\r"]] });
    expect(yes.code).toBe(0);
    expect((await readStatus(service, "p2@example.com"))?.primary).toBe("Inactive");
  });
});

describe("ecm contact delete", () => {
  it("writes a backup that imports again, then deletes; who is gone is skipped", async () => {
    const service = await withMembers(9);
    const before = await readContacts(service);
    const backup = join(await temporaryFolder(), "backup.csv");
    const args = ["contact", "delete", "--list", "M", "--backup", backup, "--yes", "--json"];
    expect(parseSummary(await service.ecm([...args, "--dry-run"]))).toMatchObject({ rows: { deleted: 3 } });
    expect(existsSync(backup)).toBe(false);
    const result = parseSummary(await service.ecm(args));
    expect(result).toMatchObject({
      kind: "delete",
      rows: { read: 3, deleted: 3, updated: 0, pending: 0 },
      requests: { search: 2, create: 0, mutate: 0, other: 5 },
      backup,
    });
    expect([...(await readContacts(service)).keys()]).toHaveLength(6);
    const imported = await summaryOf(service.ecm, `import ${backup}`);
    expect(imported.rows).toMatchObject({ read: 3, created: 3 });
    const after = await readContacts(service);
    for (const [key, { fields, lists }] of before) expect(after.get(key)).toMatchObject({ fields, lists });

    const taken = await service.ecm(args);
    expect(taken.code).toBe(2);
    expect(taken.stderr).toContain("already exists");
    expect((await readContacts(service)).size).toBe(9);

    const keys = await inputFile("p0@example.com\nno@example.com\n", "keys.txt");
    const some = await summaryOf(service.ecm, `contact delete --keys ${keys} --yes`);
    expect(some).toMatchObject({ rows: { deleted: 1, skipped: 1 }, codes: { skipped: { missing: 1 } } });
    expect(await readFile(some.backup!, "utf8")).toContain("p0@example.com");
  });

  it("deletes one contact by key or id; one that does not exist is exit 5", async () => {
    const service = await withMembers(2);
    const { _id } = JSON.parse((await service.ecm("contact get p1@example.com --json")).stdout) as Contact;
    const dry = await service.ecm("contact delete p1@example.com --dry-run --json");
    expect(JSON.parse(dry.stdout)).toMatchObject({ method: "DELETE", path: `/api/contact/${_id}` });
    expect((await service.ecm(`contact delete ${_id} --yes`)).code).toBe(0);
    expect((await service.ecm(`contact delete ${_id} --yes`)).code).toBe(5);
    const missing = await service.ecm("contact delete p1@example.com --yes --json");
    expect(missing.code).toBe(5);
    expect(parseSummary(missing)).toMatchObject({ rows: { skipped: 1 }, codes: { skipped: { missing: 1 } } });
    expect([...(await readContacts(service)).keys()]).toEqual(["p0@example.com"]);
  });

  it("asks for the number of contacts to be typed", async () => {
    const service = await withMembers(4);
    const args = ["contact", "delete", "--list", "L"];
    const question = "Type 4 to permanently delete 4 contacts";
    const wrong = await service.ecm(args, { terminalColumns: 120, typed: [[question, "5\r"]] });
    expect(wrong.code).toBe(1);
    expect((await readContacts(service)).size).toBe(4);
    const right = await service.ecm(args, { terminalColumns: 120, typed: [[question, "4\r"]] });
    expect(right.code).toBe(0);
    expect((await readContacts(service)).size).toBe(0);
  });

  it("goes on with a stopped one, by resume and by the same command, with its backup whole", async () => {
    const service = await withMembers(30);
    const folder = await temporaryFolder();
    const backup = join(folder, "all.ndjson");
    const args = ["contact", "delete", "--all", "--backup", backup, "--yes", "--json"];
    const stopped = parseSummary(await service.ecm([...args, "--max-requests", "12"]));
    expect(stopped).toMatchObject({ status: "stopped", stoppedBy: "max-requests", rows: { read: 30 } });
    expect((await readFile(backup, "utf8")).trim().split("\n")).toHaveLength(30);
    const further = parseSummary(await service.ecm([...args, "--max-requests", "10"]));
    expect(further).toMatchObject({ run: stopped.run, stoppedBy: "max-requests" });
    const ended = await summaryOf(service.ecm, `runs resume ${stopped.run} --yes`);
    expect(ended).toMatchObject({
      run: stopped.run,
      status: "completed",
      rows: { read: 30, deleted: 30 },
      backup,
    });
    expect((await readFile(backup, "utf8")).trim().split("\n")).toHaveLength(30);
    expect((await readContacts(service)).size).toBe(0);
    expect(await readdir(folder)).toEqual(["all.ndjson"]);
  });
});

it("gets on under a small --max-requests: pages that a stopped selection has read are kept", async () => {
  const contacts = Array.from({ length: 40 }, (_, index) => ({
    key: `p${index}@example.com`,
    fields: { "First Name": index < 3 ? "A" : "B" },
  }));
  const service = await startSandbox({ contents: { contacts }, variants: { page: "cap:8" } });
  const chosen = ["contact", "mutate", "--all", "--where", 'First_Name == "A"', "--set", "Last Name=X"];
  const summaries: ReturnType<typeof parseSummary>[] = [];
  for (let stops = 0; stops < 10; stops++) {
    const summary = parseSummary(await service.ecm([...chosen, "--max-requests", "4", "--json"]));
    summaries.push(summary);
    if (summary.status !== "stopped") break;
    expect(summary.stoppedBy).toBe("max-requests");
  }
  expect(summaries.at(-1)).toMatchObject({ status: "completed", rows: { read: 3, updated: 3 } });
  const sent = (kind: "search" | "mutate") =>
    summaries.reduce((sum, { requests }) => sum + requests[kind], 0);
  expect(sent("mutate")).toBe(3);
  // Five pages, once each; and at most one second look in each invocation that begins with the plan.
  expect(sent("search")).toBeLessThanOrEqual(5 + summaries.length - 1);
});

it("selects across pages, also where the service gives fewer than were asked for", async () => {
  const service = await startSandbox({ variants: { page: "cap:20" } });
  await service.ecm(["import", await inputFile(manyRows(50, (index) => `${index % 10}`))]);
  const args = ["contact", "mutate", "--where", 'First_Name == "7"', "--set", "Last Name=X", "--json"];
  const result = parseSummary(await service.ecm(args));
  expect(result).toMatchObject({ rows: { read: 5, updated: 5 }, requests: { search: 3, mutate: 5 } });
});

it("deletes nobody whom the conditions do not choose, should the service hand them over", async () => {
  const proxy = await startRecordingProxy();
  const file = await inputFile("Email,lists\nin@example.com,L\nout@example.com,Other\nleft@example.com,L\n");
  await proxy.ecm(`import ${file} --create-missing`);
  await proxy.ecm("contact unsubscribe left@example.com -y");
  const [structure] = await call<{ _id: string }[]>(proxy, "GET", "/api/contact-structure");
  const source = [
    "_id",
    "key",
    "fields",
    "lists",
    "tags",
    "contactStatus",
    "contactSubStatus",
    "createdAt",
    "updatedAt",
  ];
  const search = { contactStructureId: structure!._id, page: 1, pageSize: 10, source };
  const everybody = await call(proxy, "POST", "/api/contact/search", {
    ...search,
    contactSpecification: { filters: [] },
  });
  // A service that does not honour the filters.
  proxy.rewrites = (path, text) => (path.endsWith("/search") ? JSON.stringify(everybody) : text);
  const args = ["contact", "delete", "--list", "L", "--status", "active", "--yes", "--json"];
  expect(parseSummary(await proxy.ecm(args)).rows).toMatchObject({ read: 1, deleted: 1 });
  proxy.rewrites = (_path, text) => text;
  expect([...(await readContacts(proxy)).keys()].sort()).toEqual(["left@example.com", "out@example.com"]);
});

it.each([
  [
    "both adds and removes a list",
    { addLists: [{ _id: "one" }], removeLists: [{ _id: "one" }] },
    "both added and removed",
  ],
  [
    "both adds and removes a tag",
    { addTags: ["one"], removeTags: [{ _id: "one" }] },
    "both added and removed",
  ],
  [
    "sets a field twice",
    {
      updateFields: [
        { _id: "one", value: "1" },
        { _id: "one", value: "2" },
      ],
    },
    "set twice",
  ],
])("a typed body that %s is refused before a request", async (_what, body, text) => {
  const service = await startSandbox({ contents: { contacts: [{ key: "a@x.org" }, { key: "b@x.org" }] } });
  const args = ["contact", "mutate", "a@x.org", "b@x.org", "--data", "-"];
  const refused = await service.ecm(args, { stdin: JSON.stringify(body) });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
  expect(service.sandbox.admin.requests()).toEqual([]);
});
