/** `ecm apply`: what was approved is what is written. */

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contactLines, manyContacts, parseSummary } from "../bulk/kit.ts";
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

describe.each(commands)("a plan of %s", (_name, args, { stdin, before } = {}) => {
  it("is carried out as the command itself would be, once", async () => {
    const [real, planned] = [await prepared(before), await prepared(before)];
    const done = parseSummary(await real.ecm([...args, "--json"], { stdin }));
    const plan = await makePlanFile(planned, args, stdin);
    const { rows } = done;
    expect(plan.writes).toBe(rows.created + rows.updated + rows.deleted);
    expect(plan.writes).toBeGreaterThan(0);

    const applied = await planned.ecm(["apply", plan.file, "--digest", plan.digest, "--yes", "--json"]);
    expect(applied.code, applied.stderr).toBe(0);
    const { created, updated, deleted } = rows;
    expect(parseSummary(applied)).toMatchObject({
      kind: "apply",
      status: "completed",
      rows: { read: plan.writes, created, updated, deleted, skipped: 0, rejected: 0, pending: 0 },
    });
    const expectedHoldings = await readHoldings(real);
    expect(await readHoldings(planned)).toEqual(expectedHoldings);

    const writes = listWrites(planned).length;
    const again = await planned.ecm(["apply", plan.file, "--yes", "--json"]);
    expect(listWrites(planned).length).toBe(writes);
    const { unchanged, skipped, pending } = parseSummary(again).rows;
    expect({ settled: unchanged + skipped, pending }).toEqual({ settled: plan.writes, pending: 0 });
    expect(await readHoldings(planned)).toEqual(expectedHoldings);
  });
});

describe("apply refuses before a request", () => {
  const update = ["import", "-", "--create-missing"];

  async function planned() {
    const service = await startPeople();
    const plan = await makePlanFile(service, update, file);
    const text = await readFile(plan.file, "utf8");
    const other = join(await temporaryFolder(), "other.ndjson");
    const before = countRequests(service);
    const refused = async (written: string | undefined, words: string | RegExp, ...flags: string[]) => {
      if (written !== undefined) await writeFile(other, written);
      const { code, stdout, stderr } = await service.ecm(["apply", other, "--yes", ...flags]);
      expect({ code, stdout, stderr: stderr.replace(words, "<words>") }).toEqual({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining("<words>"),
      });
      expect(stderr).toContain(other);
      expect(countRequests(service)).toBe(before);
      expect((await service.ecm(["runs", "list", "--json"])).stdout).toBe("[]\n");
    };
    return { ...service, plan, text, other, refused };
  }

  it("a file in which a byte was changed", async () => {
    const { text, refused } = await planned();
    const head = text.indexOf("\n");
    const end = text.lastIndexOf("\n", text.length - 2) + 1;
    for (let at = 0; at < end - 1; at += 151) {
      const byte = text[at] === "x" ? "y" : "x";
      await refused(
        text.slice(0, at) + byte + text.slice(at + 1),
        at < head ? /is not a plan|was changed/ : "was changed",
      );
    }
    const other = text.replace(/sha256:.(?=[0-9a-f]{63}"\}\}\n$)/, (found) => found.slice(0, -1).concat("g"));
    await refused(other, "was changed");
  });

  it("a file with a line less, a line more, or lines in another order", async () => {
    const { text, refused } = await planned();
    const lines = text.trimEnd().split("\n");
    const file = (these: string[]) => `${these.join("\n")}\n`;
    for (const place of lines.keys()) {
      const rest = lines.toSpliced(place, 1);
      const isEnd = place === lines.length - 1;
      await refused(file(rest), place === 0 ? "is not a plan" : isEnd ? "is cut off" : "was changed");
    }
    await refused(file(lines.toSpliced(3, 0, lines[3]!)), "was changed");
    await refused(file([...lines, lines[3]!]), "was changed");
    await refused(file([...lines, lines.at(-1)!]), "was changed");
    await refused(file(lines.toSpliced(2, 2, lines[3]!, lines[2]!)), "was changed");
    await refused(`${text} `, "is cut off");
  });

  it("a file that was cut off, wherever", async () => {
    const { text, refused } = await planned();
    const first = text.indexOf("\n") + 1;
    for (let length = first; length < text.length; length += 173)
      await refused(text.slice(0, length), "is cut off");
    await refused(text.slice(0, -1), "is cut off");
    await refused(text.slice(0, first - 5), "is not a plan");
  });

  it("a plan of another address, of another version, or with another digest than the one that was approved", async () => {
    const { plan, refused, text } = await planned();
    const [head, ...rest] = await readPlanLines(plan.file);
    const about = head!.plan as { account: object };
    const end = JSON.parse(text.trimEnd().split("\n").at(-1)!).end;
    const elsewhere = { ...about, account: { ...about.account, baseUrl: "https://other.example" } };
    await refused(sealPlan([{ plan: elsewhere }, ...rest], end), "is a plan for https://other.example");
    await refused(sealPlan([{ plan: { ...about, version: 3 } }, ...rest]), "has the format 3");
    await refused(text, `its digest is ${plan.digest}`, "--digest", `sha256:${"0".repeat(64)}`);
    await refused(text, "is another plan", "--digest", plan.digest.slice(0, -1));
  });

  it("what is no plan at all", async () => {
    const { refused, plan } = await planned();
    const [head, ...rest] = await readPlanLines(plan.file);
    await refused("", "is not a plan");
    await refused("\n", "is not a plan");
    await refused("{}\n", "is not a plan");
    await refused("[]\n", "is not a plan");
    await refused(file, "is not a plan");
    await refused("\u0000\u0001\u0002\n", "is not a plan");
    await refused(sealPlan([]), "is not a plan");
    await refused(sealPlan(rest), "is not a plan");
    await refused(sealPlan([{ plan: null }]), "is not a plan");
    await refused(sealPlan([{ plan: {} }]), "is not a plan");
    await refused(sealPlan([{ plan: { version: 1 } }]), "is not a plan");
    await refused(sealPlan([head!, ...rest], { counts: null, requests: "many" }), "is not a plan");
    await refused(sealPlan([head!, head!, ...rest]), "is not a plan");
    const wish = { values: [], absent: "create", present: "change", mayJoinLists: true };
    for (const apply of [
      1,
      {},
      { ref: 1, key: { written: "a", sent: "a" } },
      { ref: 1, key: { written: "a", sent: "a" }, desired: { ...wish, end: "erase" } },
      { ref: 1, key: { written: "a", sent: "a" }, desired: { ...wish, end: "delete" } },
      { ref: 1, key: { written: "a", sent: "a" }, desired: { values: [] } },
      { ref: "1", key: { written: "a", sent: "a" }, desired: wish },
    ]) {
      await refused(sealPlan([head!, { ...rest.at(-1)!, apply }]), "is not a plan");
    }
  });

  it("a folder, a file that is not there", async () => {
    const { other, refused } = await planned();
    await refused(undefined, "there is no such file");
    await mkdir(other);
    await refused(undefined, "is a folder");
  });
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
    const service = await startPeople();
    const plan = await makePlanFile(service, [
      "contact",
      "mutate",
      "--tag",
      "VIP",
      "--set",
      "City=Rome",
      "--add-list",
      "News",
    ]);
    const lines = (await readPlanLines(plan.file)) as Line[];
    const [one, other] = lines.slice(1) as [Line, Line];
    const end = JSON.parse((await readFile(plan.file, "utf8")).trimEnd().split("\n").at(-1)!).end;
    const before = countRequests(service);
    await writeFile(plan.file, sealPlan([lines[0]!, forge(one, other), other], end));
    const { code, stderr } = await service.ecm(["apply", plan.file, "--yes"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("is not a plan") });
    expect(countRequests(service)).toBe(before);
    await writeFile(plan.file, sealPlan([lines[0]!, one, other], end));
    expect((await service.ecm(["apply", plan.file])).code).toBe(0);
  });
});

describe("a contact that is no longer as the plan says", () => {
  const change = ["contact", "mutate", "--tag", "VIP", "--set", "City=Rome", "--add-list", "News", "--yes"];

  it.each<[name: string, meanwhile: string[]]>([
    ["has another value", ["contact", "mutate", "dan@example.com", "--set", "City=Berlin"]],
    ["is in the list by now", ["contact", "mutate", "dan@example.com", "--add-list", "News"]],
    ["is gone", ["contact", "delete", "dan@example.com", "--yes"]],
  ])("%s: it is skipped, and the others are written", async (_name, meanwhile) => {
    const service = await startPeople();
    const plan = await makePlanFile(service, change);
    await service.ecm(meanwhile);
    const before = await readHoldings(service);
    const { code, stdout, stderr } = await service.ecm(["apply", plan.file, "--json"]);
    expect(code, stderr).toBe(3);
    const { rows, codes } = JSON.parse(stdout);
    expect({ rows, codes }).toMatchObject({
      rows: { read: 2, updated: 1, skipped: 1, rejected: 0 },
      codes: { skipped: { changed: 1 }, rejected: {} },
    });
    const after = await readHoldings(service);
    expect(after["bob@example.com"]!.fields).toEqual(["City=Rome"]);
    expect({ ...after, "bob@example.com": null }).toEqual({ ...before, "bob@example.com": null });
  });

  it("is not written where something else of it has changed: what the plan replaces is as it was", async () => {
    const service = await startPeople();
    const plan = await makePlanFile(service, change);
    await service.ecm(["contact", "mutate", "dan@example.com", "--set", "Note=mine"]);
    expect((await service.ecm(["apply", plan.file])).code).toBe(0);
    expect((await readHoldings(service))["dan@example.com"]).toMatchObject({
      fields: ["City=Rome", "Note=mine"],
      lists: ["News"],
    });
  });

  it("was made meanwhile by somebody else", async () => {
    const service = await startPeople();
    const plan = await makePlanFile(
      service,
      ["import", "-"],
      "Email,City\nfay@example.com,Rome\ngus@example.com,Rome\n",
    );
    await service.ecm(["contact", "create", "--key", "FAY@example.com", "--set", "City=Lima"]);
    await service.ecm(["contact", "create", "--key", "gus@example.com", "--set", "City=Rome"]);
    const before = await readHoldings(service);
    const { code, stdout } = await service.ecm(["apply", plan.file, "--json"]);
    expect({ code, ...JSON.parse(stdout).rows }).toMatchObject({
      code: 3,
      skipped: 1,
      unchanged: 1,
      created: 0,
    });
    expect(await readHoldings(service)).toEqual(before);
  });

  it("was unsubscribed: nobody is woken, and nobody who left is added", async () => {
    const service = await startPeople();
    const stdin = "Email,City,tags\nada@example.com,Bergen,VIP\nfay@example.com,Rome,\n";
    const plan = await makePlanFile(service, ["import", "-", "--list", "News"], stdin);
    await service.ecm(["contact", "unsubscribe", "ada@example.com", "--yes"]);
    await service.ecm(["contact", "create", "--key", "fay@example.com"]);
    await service.ecm(["contact", "unsubscribe", "fay@example.com", "--yes"]);
    const before = await readHoldings(service);
    const { code, stdout } = await service.ecm(["apply", plan.file, "--json"]);
    expect({ code, codes: JSON.parse(stdout).codes }).toMatchObject({
      code: 3,
      codes: { skipped: { changed: 2 } },
    });
    expect(await readHoldings(service)).toEqual(before);
  });

  it("was unsubscribed already where the plan unsubscribes: it is left", async () => {
    const service = await startPeople();
    const plan = await makePlanFile(service, ["contact", "unsubscribe", "--tag", "VIP", "--yes"]);
    await service.ecm(["contact", "unsubscribe", "dan@example.com", "--yes"]);
    const { code, stdout } = await service.ecm(["apply", plan.file, "--yes", "--json"]);
    expect({ code, ...JSON.parse(stdout).rows }).toMatchObject({ code: 0, updated: 1, unchanged: 1 });
  });

  it("is kept where the plan deletes it, and nobody takes the place of who is gone", async () => {
    const service = await startPeople();
    const plan = await makePlanFile(service, ["contact", "delete", "--list", "Customers", "--yes"]);
    await service.ecm(["contact", "mutate", "ada@example.com", "--set", "City=Lima"]);
    await service.ecm(["contact", "delete", "bob@example.com", "--yes"]);
    await service.ecm(["contact", "create", "--key", "bob@example.com", "--list", "Customers"]);
    const { code, stdout } = await service.ecm(["apply", plan.file, "--yes", "--json"]);
    expect({ code, ...JSON.parse(stdout).rows }).toMatchObject({ code: 3, deleted: 1, skipped: 2 });
    const left = Object.keys(await readHoldings(service));
    expect(left).toEqual(["ada@example.com", "bob@example.com", "dan@example.com", "eve@example.com"]);
  });

  it("is suppressed since: it is not created", async () => {
    const service = await startPeople();
    const plan = await makePlanFile(service, ["import", "-"], "Email\nfay@example.com\ngus@example.com\n");
    await service.ecm(["suppressions", "add", "FAY@example.com"]);
    const { stdout } = await service.ecm(["apply", plan.file, "--json"]);
    const { rows, codes } = JSON.parse(stdout);
    expect({ rows, codes }).toMatchObject({
      rows: { created: 1, skipped: 1 },
      codes: { skipped: { suppressed: 1 } },
    });
    expect(Object.keys(await readHoldings(service))).not.toContain("fay@example.com");
  });
});

it("creates what the plan names, and takes what somebody else has made of that name meanwhile", async () => {
  const service = await startPeople();
  const plan = await makePlanFile(service, ["import", "-", "--list", "Fair", "--create-missing"], file);
  const made = JSON.parse((await service.ecm(["lists", "create", "Fair", "--json"])).stdout);
  await service.ecm(["structure", "tag", "add", "Gold"]);
  const writes = listWrites(service).length;
  const { code, stdout, stderr } = await service.ecm(["apply", plan.file, "--json"]);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).rows).toMatchObject({ created: 1, updated: 2 });
  expect(
    listWrites(service)
      .slice(writes)
      .filter((write) => !write.includes("/api/contact/") && write !== "POST /api/contact"),
  ).toEqual([]);
  const lists = JSON.parse((await service.ecm(["lists", "list", "--all", "--json"])).stdout);
  expect(
    lists.filter(({ name }: { name: string }) => name === "Fair").map(({ _id }: { _id: string }) => _id),
  ).toEqual([made._id]);
  expect((await readHoldings(service))["fay@example.com"]).toMatchObject({ lists: ["Fair"], tags: ["Gold"] });
});

it("goes on after --max-requests by the same command, and after that by its run, without the plan file", async () => {
  const count = 40;
  const contents = { tags: ["VIP"], contacts: manyContacts(count) };
  const [real, service] = [await startPeople(contents), await startPeople(contents)];
  const args = ["contact", "mutate", "--all", "--set", "First Name=Rome", "--add-tag", "VIP", "--yes"];
  await real.ecm(args);
  const plan = await makePlanFile(service, args);
  const first = await service.ecm(["apply", plan.file, "--max-requests", "12", "--json"]);
  expect(first.code, first.stderr).toBe(7);
  const second = await service.ecm(["apply", plan.file, "--max-requests", "12", "--json"]);
  expect(second.code, second.stderr).toBe(7);
  expect(parseSummary(second).run).toBe(parseSummary(first).run);
  expect(parseSummary(second).rows.updated).toBeGreaterThan(parseSummary(first).rows.updated);
  await rm(plan.file);
  const last = await service.ecm(["runs", "resume", "last", "--json"]);
  expect(last.code, last.stderr).toBe(0);
  expect(parseSummary(last)).toMatchObject({
    run: parseSummary(first).run,
    rows: { read: count, updated: count, pending: 0 },
  });
  expect(await readHoldings(service)).toEqual(await readHoldings(real));
});

it("is undone like any other run", async () => {
  const service = await startPeople();
  const before = await readHoldings(service);
  const plan = await makePlanFile(service, ["import", "-", "--list", "News", "--create-missing"], file);
  await service.ecm(["apply", plan.file]);
  const undone = await service.ecm(["runs", "undo", "last", "--delete-created", "--yes", "--json"]);
  expect(undone.code, undone.stderr).toBe(0);
  expect(parseSummary(undone).rows).toMatchObject({ updated: 2, deleted: 1 });
  const after = await readHoldings(service);
  const withoutVersions = (held: typeof before) => Object.values(held).map(({ version: _, ...rest }) => rest);
  expect(withoutVersions(after)).toEqual(withoutVersions(before));
});

it("is undone after a deletion: whom it deleted is created again", async () => {
  const service = await startPeople();
  const plan = await makePlanFile(service, ["contact", "delete", "--tag", "VIP", "--yes"]);
  const deleted = await service.ecm(["apply", plan.file, "--yes", "--json"]);
  expect(parseSummary(deleted).backup, deleted.stderr).toBeDefined();
  expect(await readFile(parseSummary(deleted).backup!, "utf8")).toContain("dan@example.com");
  const undone = await service.ecm(["runs", "undo", "last", "--yes", "--json"]);
  expect(parseSummary(undone).rows, undone.stderr).toMatchObject({ created: 2 });
  expect((await readHoldings(service))["bob@example.com"]).toMatchObject({
    fields: ["City=Bergen"],
    tags: ["VIP"],
  });
});

it("shows the same changes afterwards as the plan has", async () => {
  const service = await startPeople();
  const plan = await makePlanFile(service, ["import", "-", "--create-missing"], file);
  await service.ecm(["apply", plan.file]);
  const done = contactLines((await service.ecm(["runs", "show", "last", "--changes"])).stdout);
  const planned = contactLines(await readFile(plan.file, "utf8")).filter(({ action }) =>
    /create|update/.test(action),
  );
  const withoutIds = (lines: typeof done) => lines.map((line) => ({ ...line, contactId: null }));
  expect(withoutIds(done)).toEqual(withoutIds(planned));
});

it("is undone after a deletion: whom a suppression names stays deleted", async () => {
  const service = await startPeople();
  const plan = await makePlanFile(service, ["contact", "delete", "--tag", "VIP", "--yes"]);
  await service.ecm(["apply", plan.file, "--yes"]);
  expect((await service.ecm(["suppressions", "add", "dan@example.com"])).code).toBe(0);
  const undone = await service.ecm(["runs", "undo", "last", "--yes", "--json"]);
  expect(parseSummary(undone).rows, undone.stderr).toMatchObject({ created: 1 });
  const after = await readHoldings(service);
  expect([after["bob@example.com"]?.status, after["dan@example.com"]]).toEqual([
    expect.any(String),
    undefined,
  ]);
});

it("says of recreated contacts what is lost, and nothing of it where none comes back", async () => {
  const service = await startPeople();
  const lost = "Recreated contacts get new ids";
  const change = await makePlanFile(service, ["contact", "mutate", "--all", "--set", "City=X", "--yes"]);
  await service.ecm(["apply", change.file, "--yes"]);
  expect((await service.ecm(["runs", "undo", "last"])).stderr).not.toContain(lost);
  const deletion = await makePlanFile(service, ["contact", "delete", "--tag", "VIP", "--yes"]);
  await service.ecm(["apply", deletion.file, "--yes"]);
  expect((await service.ecm(["runs", "undo", "last"])).stderr).toContain(lost);
});

it("an applied plan that undoes a deletion and changes is undone in both", async () => {
  const service = await startPeople();
  const rows = "Email,City\nnew@example.com,Rome\nada@example.com,Lima\n";
  const imported = parseSummary(await service.ecm(["import", "-", "--json"], { stdin: rows }));
  const before = await readHoldings(service);
  const undo = ["runs", "undo", imported.run!, "--delete-created", "--yes"];
  const plan = await makePlanFile(service, undo);
  const applied = await service.ecm(["apply", plan.file, "--yes", "--json"]);
  expect(parseSummary(applied).rows, applied.stderr).toMatchObject({ updated: 1, deleted: 1 });
  const undone = await service.ecm(["runs", "undo", "last", "--yes", "--json"]);
  expect(parseSummary(undone).rows, undone.stderr).toMatchObject({ updated: 1, created: 1 });
  const fieldsIn = (held: typeof before) => Object.entries(held).map(([key, { fields }]) => [key, fields]);
  expect(fieldsIn(await readHoldings(service)).sort()).toEqual(fieldsIn(before).sort());
});

describe("without a terminal", () => {
  it.each([["delete"], ["unsubscribe"]])(
    "a plan to %s needs --yes before a request, and its rehearsal does not",
    async (verb) => {
      const service = await startPeople();
      const plan = await makePlanFile(service, ["contact", verb, "--tag", "VIP", "--yes"]);
      const before = countRequests(service);
      const refused = await service.ecm(["apply", plan.file]);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("confirm with --yes");
      expect(countRequests(service)).toBe(before);
      const dry = await service.ecm(["apply", plan.file, "--dry-run", "--json"]);
      expect({ code: dry.code, status: parseSummary(dry).status }).toEqual({ code: 0, status: "dry-run" });
      expect((await service.ecm(["apply", plan.file, "--yes"])).code).toBe(0);
    },
  );

  it("one that stopped in the middle needs it again to go on", async () => {
    const service = await startPeople({ tags: ["VIP"], contacts: manyContacts(40) });
    const plan = await makePlanFile(service, ["contact", "unsubscribe", "--all", "--yes"]);
    const first = await service.ecm(["apply", plan.file, "--yes", "--max-requests", "12", "--json"]);
    expect(first.code, first.stderr).toBe(7);
    const before = listWrites(service).length;
    const refused = await service.ecm(["runs", "resume", "last"]);
    expect({ code: refused.code, writes: listWrites(service).length }).toEqual({ code: 2, writes: before });
    expect(refused.stderr).toContain("confirm with --yes");
    const resumed = await service.ecm(["runs", "resume", "last", "--yes", "--json"]);
    expect(parseSummary(resumed), resumed.stderr).toMatchObject({
      status: "completed",
      rows: { pending: 0 },
    });
  });
});

it("--read-only refuses it; a rehearsal of a plan plans again what is left of it", async () => {
  const service = await startPeople();
  const plan = await makePlanFile(service, ["import", "-", "--create-missing"], file);
  const before = countRequests(service);
  const refused = await service.ecm(["apply", plan.file, "--read-only"]);
  expect({ code: refused.code, requests: countRequests(service) }).toEqual({ code: 2, requests: before });
  await service.ecm(["contact", "mutate", "ada@example.com", "--set", "City=Lima"]);
  const writes = listWrites(service).length;
  const less = join(await temporaryFolder(), "less.ndjson");
  const dry = await service.ecm(["apply", plan.file, "--dry-run", "--plan", less]);
  expect(dry.stderr).toMatch(/^Plan: 2 to write, sha256:/m);
  expect(listWrites(service).length).toBe(writes);
  const applied = await service.ecm(["apply", less, "--json"]);
  expect(parseSummary(applied).rows, applied.stderr).toMatchObject({ created: 1, updated: 1 });
});

it("a no at its question counts the plan's contacts as pending", async () => {
  const service = await startPeople();
  const plan = await makePlanFile(service, ["contact", "delete", "--tag", "VIP", "--yes"]);
  const declined = await service.ecm(["apply", plan.file, "--json"], { terminalColumns: 200, typed: "n\r" });
  expect(declined.code).toBe(1);
  const rows = { read: plan.writes, pending: plan.writes };
  expect(parseSummary(declined)).toMatchObject({ run: null, status: "stopped", stoppedBy: "error", rows });
  expect(listWrites(service)).toEqual([]);
});
