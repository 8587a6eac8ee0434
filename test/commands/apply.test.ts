/** `ecm apply`: what was approved is what is written. */

import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import type { ContactList } from "../../src/wire.ts";
import { contactLines, manyContacts, parseSummary, summaryOf } from "../bulk/kit.ts";
import {
  countRequests,
  listWrites,
  makePlanFile,
  readHoldings,
  readPlanLines,
  sealPlan,
  startPeople,
} from "../bulk/plan-kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import type { RunningSandbox } from "../support/sandbox.ts";

const keys = "bob@example.com\ndan@example.com\nnobody@example.com\n";
const file =
  "Email,City,tags\nada@example.com,Bergen,VIP\nbob@example.com,,Gold\nwrong,x,\nfay@example.com,Rome,Gold\n";
const members = "Email\nada@example.com\nfay@example.com\ndan@example.com\n";

/** The commands, each with what comes before it, the same in both accounts. */
const commands: [name: string, args: string[], options?: { stdin?: string; before?: Step[] }][] = [
  ["import", ["import", "-", "--list", "New", "--create-missing", "--blank", "clear"], { stdin: file }],
  ["import --mode create", ["import", "-", "--mode", "create", "--create-missing"], { stdin: file }],
  ["mutate a selection", ["contact", "mutate", "--tag", "VIP", "--set", "City=Rome", "--add-list", "News"]],
  [
    "mutate by keys",
    ["contact", "mutate", "--keys", "-", "--remove-tag", "VIP", "--set", "City="],
    { stdin: keys },
  ],
  ["unsubscribe a selection", ["contact", "unsubscribe", "--list", "Customers", "--yes"]],
  ["unsubscribe by keys", ["contact", "unsubscribe", "--keys", "-", "--yes"], { stdin: keys }],
  ["delete a selection", ["contact", "delete", "--list", "Customers", "--yes"]],
  ["delete by keys", ["contact", "delete", "--keys", "-", "--yes"], { stdin: keys }],
  ["sync", ["lists", "sync", "Customers", "-", "--create", "--max-remove", "100%"], { stdin: members }],
  ["duplicate", ["lists", "duplicate", "Customers", "Copy"]],
  ["merge", ["lists", "merge", "Customers", "News", "--into", "Both"]],
  [
    "undo",
    ["runs", "undo", "last"],
    {
      before: [{ args: ["contact", "mutate", "--all", "--set", "City=X", "--add-tag", "Old hand", "--yes"] }],
    },
  ],
  [
    "undo --delete-created",
    ["runs", "undo", "last", "--delete-created", "--yes"],
    { before: [{ args: ["import", "-", "--create-missing"], stdin: file }] },
  ],
  [
    "undo of a deletion",
    ["runs", "undo", "last"],
    { before: [{ args: ["contact", "delete", "--list", "Customers", "--yes"] }] },
  ],
];

interface Step {
  args: string[];
  stdin?: string;
}

async function prepared(before: Step[] = []): Promise<RunningSandbox> {
  const service = await startPeople();
  for (const { args, stdin } of before) await service.ecm(args, { stdin });
  return service;
}

/** An account with a plan of the command, and how that is applied. */
async function planned(args: string[], stdin?: string, contents?: SeedData) {
  const service = await startPeople(contents);
  const plan = await makePlanFile(service, args, stdin);
  const summary = (command: string) => summaryOf(service.ecm, command);
  return {
    ...service,
    plan,
    summary,
    apply: (...flags: string[]) => summary(["apply", plan.file, ...flags].join(" ")),
    undo: (...flags: string[]) => summary(["runs undo last --yes", ...flags].join(" ")),
    holdings: () => readHoldings(service),
    writes: () => listWrites(service),
    requests: () => countRequests(service),
  };
}

const change = ["contact", "mutate", "--tag", "VIP", "--set", "City=Rome", "--add-list", "News"];
const deletion = ["contact", "delete", "--tag", "VIP", "--yes"];

describe.each(commands)("a plan of %s", (_name, args, { stdin, before } = {}) => {
  it("is carried out as the command itself would be, once", async () => {
    const [real, service] = [await prepared(before), await prepared(before)];
    const { rows } = parseSummary(await real.ecm([...args, "--json"], { stdin }));
    const plan = await makePlanFile(service, args, stdin);
    expect(plan.writes).toBe(rows.created + rows.updated + rows.deleted);
    expect(plan.writes).toBeGreaterThan(0);

    const applied = await service.ecm(["apply", plan.file, "--digest", plan.digest, "--yes", "--json"]);
    expect(applied.code, applied.stderr).toBe(0);
    const { created, updated, deleted } = rows;
    expect(parseSummary(applied)).toMatchObject({
      kind: "apply",
      status: "completed",
      rows: { read: plan.writes, created, updated, deleted, skipped: 0, rejected: 0, pending: 0 },
    });
    const expectedHoldings = await readHoldings(real);
    expect(await readHoldings(service)).toEqual(expectedHoldings);

    const writes = listWrites(service).length;
    const again = await service.ecm(["apply", plan.file, "--yes", "--json"]);
    expect(listWrites(service).length).toBe(writes);
    const { unchanged, skipped, pending } = parseSummary(again).rows;
    expect({ settled: unchanged + skipped, pending }).toEqual({ settled: plan.writes, pending: 0 });
    expect(await readHoldings(service)).toEqual(expectedHoldings);
  });
});

/** `plan-file.test.ts` has every byte and every member. */
it("apply refuses what is not the plan that was approved, before a request", async () => {
  const { ecm, plan, requests } = await planned(["import", "-", "--create-missing"], file);
  const text = await readFile(plan.file, "utf8");
  const [head, ...rest] = await readPlanLines(plan.file);
  const lines = text.trimEnd().split("\n");
  const { end } = JSON.parse(lines.at(-1)!);
  const about = head!.plan as { account: object };
  const elsewhere = { ...about, account: { ...about.account, baseUrl: "https://other.example" } };
  const toText = (these: string[]) => `${these.join("\n")}\n`;
  const other = join(await temporaryFolder(), "other.ndjson");
  const before = requests();
  const cases: [text: string | undefined, words: string, ...flags: string[]][] = [
    [undefined, "there is no such file"],
    [text.replace("Bergen", "Berlin"), "was changed"],
    [text.replace(/sha256:.(?=[0-9a-f]{63}"\}\}\n$)/, "sha256:g"), "was changed"],
    [toText(lines.toSpliced(3, 1)), "was changed"],
    [toText(lines.toSpliced(3, 0, lines[3]!)), "was changed"],
    [toText([...lines, lines.at(-1)!]), "was changed"],
    [toText(lines.toSpliced(2, 2, lines[3]!, lines[2]!)), "was changed"],
    [toText(lines.slice(0, -1)), "is cut off"],
    [text.slice(0, -1), "is cut off"],
    [`${text} `, "is cut off"],
    [toText(lines.slice(1)), "is not a plan"],
    ["", "is not a plan"],
    [file, "is not a plan"],
    [sealPlan([]), "is not a plan"],
    [sealPlan([{ plan: null }]), "is not a plan"],
    [sealPlan([head!, head!, ...rest], end), "is not a plan"],
    [sealPlan([head!, ...rest], { counts: null, requests: "many" }), "is not a plan"],
    [sealPlan([{ plan: elsewhere }, ...rest], end), "is a plan for https://other.example"],
    [sealPlan([{ plan: { ...about, version: 3 } }, ...rest]), "has the format 3"],
    [text, `its digest is ${plan.digest}`, "--digest", `sha256:${"0".repeat(64)}`],
    [text, "is another plan", "--digest", plan.digest.slice(0, -1)],
  ];
  for (const [written, words, ...flags] of cases) {
    if (written !== undefined) await writeFile(other, written);
    const { code, stdout, stderr } = await ecm(["apply", other, "--yes", ...flags]);
    expect({ code, stdout }, words).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(words);
    expect(stderr).toContain(other);
    expect(requests()).toBe(before);
    expect((await ecm(["runs", "list", "--json"])).stdout).toBe("[]\n");
  }
});

describe("apply refuses a plan that says another thing than it does", () => {
  type Line = Record<string, unknown> & {
    apply: { desired: { values: object[] }; before: { id: string } };
  };

  it.each<[name: string, forge: (line: Line, other: Line) => object]>([
    [
      "a deletion shown as a change",
      (line) => {
        const { contactId } = line;
        const desired = { ...line.apply.desired, values: [], end: "delete" };
        const before = { id: contactId, values: [], contact: { _id: contactId } };
        return { ...line, apply: { ...line.apply, desired, before } };
      },
    ],
    [
      "a deletion besides its changes",
      (line) => ({ ...line, apply: { ...line.apply, desired: { ...line.apply.desired, end: "delete" } } }),
    ],
    [
      "a value that it names twice",
      (line) => {
        const { values } = line.apply.desired;
        const twice = [...values, { ...values[0], to: "Lima" }];
        return { ...line, apply: { ...line.apply, desired: { ...line.apply.desired, values: twice } } };
      },
    ],
    [
      "a change of what did not stand there",
      (line) => ({ ...line, apply: { ...line.apply, before: { ...line.apply.before, values: [] } } }),
    ],
    ["the change of another contact", (line, other) => ({ ...line, apply: other.apply })],
    ["a change that is not shown", (line) => ({ ...line, changes: (line.changes as unknown[]).slice(1) })],
    [
      "another value than is shown",
      (line) => JSON.parse(JSON.stringify(line).replace('"after":"Rome"', '"after":"Lima"')),
    ],
    ["a write that is shown as none", (line) => ({ ...line, action: "unchanged", changes: [] })],
    ["a change without what applies it", ({ apply: _, ...line }) => line],
  ])("%s", async (_name, forge) => {
    const { ecm, plan, requests } = await planned(change);
    const lines = (await readPlanLines(plan.file)) as Line[];
    const [one, other] = lines.slice(1) as [Line, Line];
    const end = JSON.parse((await readFile(plan.file, "utf8")).trimEnd().split("\n").at(-1)!).end;
    const before = requests();
    await writeFile(plan.file, sealPlan([lines[0]!, forge(one, other), other], end));
    const { code, stderr } = await ecm(["apply", plan.file, "--yes"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("is not a plan") });
    expect(requests()).toBe(before);
    await writeFile(plan.file, sealPlan([lines[0]!, one, other], end));
    expect((await ecm(["apply", plan.file])).code).toBe(0);
  });
});

it("writes a contact once, by the first of two lines that speak of it", async () => {
  const service = await startPeople();
  const plan = await makePlanFile(service, ["contact", "mutate", "bob@example.com", "--set", "City=Rome"]);
  const [head, line] = (await readPlanLines(plan.file)) as [object, { apply: object }];
  const again = { ...line, apply: { ...line.apply, ref: 99 } };
  const counts = { create: 0, update: 2, delete: 0, unchanged: 0, skip: 0, reject: 0 };
  await writeFile(plan.file, sealPlan([head, line, again], { counts, requests: 2 }));
  const { code, stdout } = await service.ecm(["apply", plan.file, "--json"]);
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({
    code: 3,
    rows: { updated: 1, skipped: 1 },
    codes: { skipped: { changed: 1 } },
  });
  expect(listWrites(service)).toHaveLength(1);
});

describe("a contact that is no longer as the plan says", () => {
  interface Changed {
    plan: string[];
    stdin?: string;
    meanwhile: string[];
    summary: object;
    /** Who is written; everybody else is left as they are. */
    written: string[];
    after?: object;
  }
  const rome = "Email,City\nfay@example.com,Rome\ngus@example.com,Rome\n";
  const oneOfTwo = {
    code: 3,
    rows: { read: 2, updated: 1, skipped: 1, rejected: 0 },
    codes: { skipped: { changed: 1 }, rejected: {} },
  };
  const bobAlone = { written: ["bob"], after: { "bob@example.com": { fields: ["City=Rome"] } } };
  const ofDan = (...meanwhile: string[]): Changed => ({
    plan: change,
    meanwhile,
    summary: oneOfTwo,
    ...bobAlone,
  });

  it.each<[name: string, changed: Changed]>([
    ["has another value", ofDan("contact mutate dan@example.com --set City=Berlin")],
    ["is in the list by now", ofDan("contact mutate dan@example.com --add-list News")],
    ["is gone", ofDan("contact delete dan@example.com --yes")],
    [
      "has changed in what the plan does not replace: it is written",
      {
        plan: change,
        meanwhile: ["contact mutate dan@example.com --set Note=mine"],
        summary: { code: 0, rows: { updated: 2 } },
        written: ["bob", "dan"],
        after: { "dan@example.com": { fields: ["City=Rome", "Note=mine"], lists: ["News"] } },
      },
    ],
    [
      "was made meanwhile by somebody else",
      {
        plan: ["import", "-"],
        stdin: rome,
        meanwhile: [
          "contact create --key FAY@example.com --set City=Lima",
          "contact create --key gus@example.com --set City=Rome",
        ],
        summary: { code: 3, rows: { skipped: 1, unchanged: 1, created: 0 } },
        written: [],
      },
    ],
    [
      "was unsubscribed: nobody is woken, and nobody who left is added",
      {
        plan: ["import", "-", "--list", "News"],
        stdin: "Email,City,tags\nada@example.com,Bergen,VIP\nfay@example.com,Rome,\n",
        meanwhile: [
          "contact unsubscribe ada@example.com --yes",
          "contact create --key fay@example.com",
          "contact unsubscribe fay@example.com --yes",
        ],
        summary: { code: 3, codes: { skipped: { changed: 2 } } },
        written: [],
      },
    ],
    [
      "was unsubscribed already where the plan unsubscribes: it is left",
      {
        plan: ["contact", "unsubscribe", "--tag", "VIP", "--yes"],
        meanwhile: ["contact unsubscribe dan@example.com --yes"],
        summary: { code: 0, rows: { updated: 1, unchanged: 1 } },
        written: ["bob"],
      },
    ],
    [
      "is kept where the plan deletes it, and nobody takes the place of who is gone",
      {
        plan: ["contact", "delete", "--list", "Customers", "--yes"],
        meanwhile: [
          "contact mutate ada@example.com --set City=Lima",
          "contact delete bob@example.com --yes",
          "contact create --key bob@example.com --list Customers",
        ],
        summary: { code: 3, rows: { deleted: 1, skipped: 2 } },
        written: ["cy"],
      },
    ],
    [
      "is suppressed since: it is not created",
      {
        plan: ["import", "-"],
        stdin: rome,
        meanwhile: ["suppressions add FAY@example.com"],
        summary: { rows: { created: 1, skipped: 1 }, codes: { skipped: { suppressed: 1 } } },
        written: ["gus"],
      },
    ],
  ])("%s", async (_name, { plan, stdin, meanwhile, summary, written, after = {} }) => {
    const { ecm, apply, holdings } = await planned(plan, stdin);
    for (const command of meanwhile) expect((await ecm(command.split(" "))).code).toBe(0);
    const before = await holdings();
    expect(await apply("--yes")).toMatchObject(summary);
    const held = await holdings();
    expect(held).toMatchObject(after);
    const keys = new Set([...Object.keys(before), ...Object.keys(held)]);
    const differing = [...keys].filter((key) => JSON.stringify(held[key]) !== JSON.stringify(before[key]));
    expect(differing).toEqual(written.map((name) => `${name}@example.com`));
  });
});

it("creates what the plan names, and takes what somebody else has made of that name meanwhile", async () => {
  const { ecm, apply, holdings, writes } = await planned(
    ["import", "-", "--list", "Fair", "--create-missing"],
    file,
  );
  const made = JSON.parse((await ecm(["lists", "create", "Fair", "--json"])).stdout);
  await ecm(["structure", "tag", "add", "Gold"]);
  const before = writes().length;
  expect(await apply()).toMatchObject({ code: 0, rows: { created: 1, updated: 2 } });
  const ofContacts = /\/api\/contact\/|^POST \/api\/contact$/;
  expect(
    writes()
      .slice(before)
      .filter((write) => !ofContacts.test(write)),
  ).toEqual([]);
  const lists: ContactList[] = JSON.parse((await ecm(["lists", "list", "--all", "--json"])).stdout);
  expect(lists.filter(({ name }) => name === "Fair").map(({ _id }) => _id)).toEqual([made._id]);
  expect((await holdings())["fay@example.com"]).toMatchObject({ lists: ["Fair"], tags: ["Gold"] });
});

it("goes on after --max-requests by the same command, and after that by its run, without the plan file", async () => {
  const count = 40;
  const contents = { tags: ["VIP"], contacts: manyContacts(count) };
  const args = ["contact", "mutate", "--all", "--set", "First Name=Rome", "--add-tag", "VIP", "--yes"];
  const real = await startPeople(contents);
  await real.ecm(args);
  const { plan, apply, summary, holdings } = await planned(args, undefined, contents);
  const first = await apply("--max-requests", "12");
  const second = await apply("--max-requests", "12");
  expect([first.code, second.code, second.run]).toEqual([7, 7, first.run]);
  expect(second.rows.updated).toBeGreaterThan(first.rows.updated);
  await rm(plan.file);
  expect(await summary("runs resume last")).toMatchObject({
    code: 0,
    run: first.run,
    rows: { read: count, updated: count, pending: 0 },
  });
  expect(await holdings()).toEqual(await readHoldings(real));
});

it("shows the same changes afterwards as the plan has", async () => {
  const { ecm, plan, apply } = await planned(["import", "-", "--create-missing"], file);
  await apply();
  const done = contactLines((await ecm(["runs", "show", "last", "--changes"])).stdout);
  const lines = contactLines(await readFile(plan.file, "utf8"));
  const withoutIds = (these: typeof done) => these.map((line) => ({ ...line, contactId: null }));
  expect(withoutIds(done)).toEqual(withoutIds(lines.filter(({ action }) => /create|update/.test(action))));
});

describe("the undo of an applied plan", () => {
  it("is that of any other run", async () => {
    const args = ["import", "-", "--list", "News", "--create-missing"];
    const { apply, undo, holdings } = await planned(args, file);
    const before = await holdings();
    await apply();
    expect(await undo("--delete-created")).toMatchObject({ code: 0, rows: { updated: 2, deleted: 1 } });
    const withoutVersions = (held: typeof before) =>
      Object.values(held).map(({ version: _, ...rest }) => rest);
    expect(withoutVersions(await holdings())).toEqual(withoutVersions(before));
  });

  it("creates contacts that it deleted again", async () => {
    const { apply, undo, holdings } = await planned(deletion);
    const { backup } = await apply("--yes");
    expect(await readFile(backup!, "utf8")).toContain("dan@example.com");
    expect(await undo()).toMatchObject({ rows: { created: 2 } });
    expect((await holdings())["bob@example.com"]).toMatchObject({ fields: ["City=Bergen"], tags: ["VIP"] });
  });

  it("creates nobody whom a suppression names", async () => {
    const { ecm, apply, undo, holdings } = await planned(deletion);
    await apply("--yes");
    expect((await ecm(["suppressions", "add", "dan@example.com"])).code).toBe(0);
    expect(await undo()).toMatchObject({ rows: { created: 1 } });
    const after = await holdings();
    expect(after).toHaveProperty(["bob@example.com"]);
    expect(after).not.toHaveProperty(["dan@example.com"]);
  });

  it.each([
    [change, false],
    [deletion, true],
  ])("of %j says what is lost only where somebody comes back", async (args, isLost) => {
    const { ecm, apply } = await planned(args);
    await apply("--yes");
    const { stderr } = await ecm(["runs", "undo", "last"]);
    expect(stderr.includes("Recreated contacts get new ids")).toBe(isLost);
  });

  it("that deleted and changed contacts is one of both", async () => {
    const service = await startPeople();
    const rows = "Email,City\nnew@example.com,Rome\nada@example.com,Lima\n";
    const imported = parseSummary(await service.ecm(["import", "-", "--json"], { stdin: rows }));
    const before = await readHoldings(service);
    const plan = await makePlanFile(service, ["runs", "undo", imported.run!, "--delete-created", "--yes"]);
    const applied = await service.ecm(["apply", plan.file, "--yes", "--json"]);
    expect(parseSummary(applied).rows, applied.stderr).toMatchObject({ updated: 1, deleted: 1 });
    const undone = await service.ecm(["runs", "undo", "last", "--yes", "--json"]);
    expect(parseSummary(undone).rows, undone.stderr).toMatchObject({ updated: 1, created: 1 });
    const fieldsIn = (held: typeof before) => Object.entries(held).map(([key, { fields }]) => [key, fields]);
    expect(fieldsIn(await readHoldings(service)).sort()).toEqual(fieldsIn(before).sort());
  });
});

describe("without a terminal", () => {
  it.each(["delete", "unsubscribe"])(
    "a plan to %s needs --yes before a request, and its rehearsal does not",
    async (verb) => {
      const { ecm, plan, apply, requests } = await planned(["contact", verb, "--tag", "VIP", "--yes"]);
      const before = requests();
      const refused = await ecm(["apply", plan.file]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("confirm with --yes") });
      expect(requests()).toBe(before);
      expect(await apply("--dry-run")).toMatchObject({ code: 0, status: "dry-run" });
      expect(await apply("--yes")).toMatchObject({ code: 0 });
    },
  );

  it("one that stopped in the middle needs it again to go on", async () => {
    const contents = { tags: ["VIP"], contacts: manyContacts(40) };
    const args = ["contact", "unsubscribe", "--all", "--yes"];
    const { ecm, apply, summary, writes } = await planned(args, undefined, contents);
    expect(await apply("--yes", "--max-requests", "12")).toMatchObject({ code: 7 });
    const before = writes();
    const refused = await ecm(["runs", "resume", "last"]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("confirm with --yes") });
    expect(writes()).toEqual(before);
    const resumed = await summary("runs resume last --yes");
    expect(resumed).toMatchObject({ status: "completed", rows: { pending: 0 } });
  });
});

it("--read-only refuses it; a rehearsal of a plan plans again what is left of it", async () => {
  const { ecm, plan, requests, writes, summary } = await planned(["import", "-", "--create-missing"], file);
  const before = requests();
  expect((await ecm(["apply", plan.file, "--read-only"])).code).toBe(2);
  expect(requests()).toBe(before);
  await ecm(["contact", "mutate", "ada@example.com", "--set", "City=Lima"]);
  const written = writes();
  const less = join(await temporaryFolder(), "less.ndjson");
  const dry = await ecm(["apply", plan.file, "--dry-run", "--plan", less]);
  expect(dry.stderr).toMatch(/^Plan: 2 to write, sha256:/m);
  expect(writes()).toEqual(written);
  expect(await summary(`apply ${less}`)).toMatchObject({ rows: { created: 1, updated: 1 } });
});

it("a no at its question counts the plan's contacts as pending", async () => {
  const { ecm, plan, writes } = await planned(deletion);
  const declined = await ecm(["apply", plan.file, "--json"], { terminalColumns: 200, typed: "n\r" });
  expect(declined.code).toBe(1);
  const rows = { read: plan.writes, pending: plan.writes };
  expect(parseSummary(declined)).toMatchObject({ run: null, status: "stopped", stoppedBy: "error", rows });
  expect(writes()).toEqual([]);
});
