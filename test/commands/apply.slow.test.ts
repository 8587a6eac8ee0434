/** `ecm apply`: what was approved is what is written. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import type { ContactList } from "../../src/wire.ts";
import { makePlanFile, readHoldings, readPlanLines, sealPlan, startPeople } from "../bulk/plan-kit.ts";
import { countRequests, listWrites, manyContacts, parseSummary, summaryOf } from "../kit.ts";
import { done, ends, readJson, refused, temporaryFolder, toWords } from "../support/ecm.ts";

const keys = "bob@example.com\ndan@example.com\nnobody@example.com\n";
const file =
  "Email,City,tags\nada@example.com,Bergen,VIP\nbob@example.com,,Gold\nwrong,x,\nfay@example.com,Rome,Gold\n";
const members = "Email\nada@example.com\nfay@example.com\ndan@example.com\n";

const importing = "import - --create-missing";
const change = "contact mutate --tag VIP --set City=Rome --add-list News";

/** `before` is what the command undoes. `guards.slow.test.ts` applies plans of a list to unsubscribe, and of keys to delete. */
const commands: [line: string, stdin?: string, before?: string][] = [
  ["import - --list New --create-missing --blank clear"],
  ["import - --mode create --create-missing"],
  [change],
  ["contact mutate --keys - --remove-tag VIP --set City=", keys],
  ["contact unsubscribe --keys - --yes", keys],
  ["contact delete --list Customers --yes"],
  ["lists sync Customers - --create --max-remove 100%", members],
  ["lists duplicate Customers Copy"],
  ["lists merge Customers News --into Both"],
  ["runs undo last", "", "contact mutate --all --set City=X --add-tag 'Old hand' --yes"],
  ["runs undo last --delete-created --yes", file, importing],
  ["runs undo last", "", "contact delete --list Customers --yes"],
];

type Around = { stdin?: string; contents?: SeedData; before?: string };

async function prepared({ stdin = file, contents, before }: Around) {
  const service = await startPeople(contents);
  if (before !== undefined) await service.ecm(before, { stdin });
  return service;
}

/** An account with a plan of the command, and how that is applied. */
async function planned(line: string, around: Around = {}) {
  const service = await prepared(around);
  const plan = await makePlanFile(service, toWords(line), around.stdin ?? file);
  const summary = (command: string) => summaryOf(service.ecm, command);
  return {
    ...service,
    plan,
    summary,
    apply: (flags = "") => summary(`apply ${plan.file} ${flags}`),
    undo: (flags = "") => summary(`runs undo last --yes ${flags}`),
    holdings: () => readHoldings(service),
    writes: () => listWrites(service),
    requests: () => countRequests(service),
  };
}

it.each(commands)("a plan is carried out once, as the command would be: %s", async (line, stdin, before) => {
  const real = await prepared({ stdin, before });
  const { rows } = parseSummary(await real.ecm(`${line} --json`, { stdin: stdin ?? file }));
  const expectedHoldings = await readHoldings(real);
  const { plan, apply, holdings, writes } = await planned(line, { stdin, before });
  const { created, updated, deleted } = rows;
  expect(plan.writes).toBe(created + updated + deleted);
  expect(plan.writes).toBeGreaterThan(0);

  expect(await apply(`--digest ${plan.digest} --yes`)).toMatchObject({
    code: 0,
    kind: "apply",
    status: "completed",
    rows: { read: plan.writes, created, updated, deleted, skipped: 0, rejected: 0, pending: 0 },
  });
  expect(await holdings()).toEqual(expectedHoldings);

  const written = writes();
  const again = await apply("--yes");
  expect(writes()).toEqual(written);
  const { unchanged, skipped, pending } = again.rows;
  expect({ settled: unchanged + skipped, pending }).toEqual({ settled: plan.writes, pending: 0 });
});

/** `plan-file.test.ts` has every byte and every member. */
it("apply refuses what is not the plan that was approved, before a request", async () => {
  const { ecm, plan, requests } = await planned(importing);
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
    [toText(lines.toSpliced(3, 1)), "was changed"],
    [toText(lines.slice(0, -1)), "is cut off"],
    ["", "is not a plan"],
    [file, "is not a plan"],
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
    await refused(ecm(["apply", other, "--yes", ...flags]), 2, words, other);
  }
  expect(requests()).toBe(before);
  expect(await done(ecm("runs list --json"))).toBe("[]\n");
});

it("apply refuses a plan that shows another thing than it does", async () => {
  type Line = Record<string, unknown> & {
    apply: { ref: number; desired: { values: object[] }; before: { id: string } };
  };
  const desiring = (line: Line, desired: object, before: object = line.apply.before) => ({
    ...line,
    apply: { ...line.apply, desired: { ...line.apply.desired, ...desired }, before },
  });
  const { ecm, plan, requests } = await planned(change);
  const [head, one, other] = (await readPlanLines(plan.file)) as [Line, Line, Line];
  const { apply, contactId, ...shown } = one;
  const { values } = apply.desired;
  const { end } = JSON.parse((await readFile(plan.file, "utf8")).trimEnd().split("\n").at(-1)!);
  const deleted = { id: contactId, values: [], contact: { _id: contactId } };
  const shownAsLima = JSON.stringify(one).replace('"after":"Rome"', '"after":"Lima"');
  const forged: Record<string, object> = {
    "a deletion shown as a change": desiring(one, { values: [], end: "delete" }, deleted),
    "a deletion besides its changes": desiring(one, { end: "delete" }),
    "a value that it names twice": desiring(one, { values: [...values, { ...values[0], to: "Lima" }] }),
    "a change of what did not stand there": desiring(one, {}, { ...apply.before, values: [] }),
    "the change of another contact": { ...one, apply: other.apply },
    "a change that is not shown": { ...one, changes: (one.changes as unknown[]).slice(1) },
    "another value than is shown": JSON.parse(shownAsLima),
    "a write that is shown as none": { ...one, action: "unchanged", changes: [] },
    "another's place in the journal": { ...one, apply: { ...apply, ref: other.apply.ref } },
    "a place that no journal has": { ...one, apply: { ...apply, ref: 2 ** 45 } },
    "a change without what applies it": { ...shown, contactId },
  };
  const before = requests();
  const isRefused = { code: 2, stderr: expect.stringContaining("is not a plan") };
  for (const [what, line] of Object.entries(forged)) {
    await writeFile(plan.file, sealPlan([head, line, other], end));
    const { code, stderr } = await ecm(["apply", plan.file, "--yes"]);
    expect({ what, code, stderr }).toMatchObject(isRefused);
  }
  expect(requests()).toBe(before);
  await writeFile(plan.file, sealPlan([head, one, other], end));
  await done(ecm(["apply", plan.file]));
});

it("writes a contact once, by the first of two lines that speak of it", async () => {
  const { plan, apply, writes } = await planned("contact mutate bob@example.com --set City=Rome");
  const [head, line] = (await readPlanLines(plan.file)) as [object, { apply: object }];
  const again = { ...line, apply: { ...line.apply, ref: 99 } };
  const counts = { create: 0, update: 2, delete: 0, unchanged: 0, skip: 0, reject: 0 };
  await writeFile(plan.file, sealPlan([head, line, again], { counts, requests: 2 }));
  const once = { code: 3, rows: { updated: 1, skipped: 1 }, codes: { skipped: { changed: 1 } } };
  expect(await apply()).toMatchObject(once);
  expect(writes()).toHaveLength(1);
});

/** `between.slow.test.ts` has what else may happen to a contact. */
describe("a contact that is no longer as the plan says", () => {
  const people = "Email,City\nada@example.com,Bergen\nfay@example.com,Rome\ngus@example.com,Rome\n";
  const skipsDan = {
    code: 3,
    rows: { read: 2, updated: 1, skipped: 1, rejected: 0 },
    codes: { skipped: { changed: 1 }, rejected: {} },
  };

  /** `written` are those who are; everybody else is left as they are. */
  it.each<[string, string, meanwhile: string[], summary: object, written: string[], after?: object]>([
    ["is in the list by now", change, ["contact mutate dan@example.com --add-list News"], skipsDan, ["bob"]],
    [
      "has changed in what the plan does not replace: it is written",
      change,
      ["contact mutate dan@example.com --set Note=mine"],
      { code: 0, rows: { updated: 2 } },
      ["bob", "dan"],
      { "dan@example.com": { fields: ["City=Rome", "Note=mine"], lists: ["News"] } },
    ],
    [
      "was made meanwhile by somebody else",
      "import -",
      [
        "contact create --key FAY@example.com --set City=Lima",
        "contact create --key gus@example.com --set City=Rome",
      ],
      { code: 3, rows: { updated: 1, skipped: 1, unchanged: 1, created: 0 } },
      ["ada"],
    ],
    [
      "was unsubscribed: nobody is woken, and nobody who left is added",
      "import - --list News",
      [
        "contact unsubscribe ada@example.com --yes",
        "contact create --key fay@example.com",
        "contact unsubscribe fay@example.com --yes",
      ],
      { code: 3, rows: { created: 1 }, codes: { skipped: { changed: 2 } } },
      ["gus"],
    ],
    [
      "is suppressed since: it is not created",
      "import -",
      ["suppressions add FAY@example.com"],
      { rows: { created: 1, skipped: 1 }, codes: { skipped: { suppressed: 1 } } },
      ["ada", "gus"],
    ],
  ])("%s", async (_name, line, meanwhile, summary, written, after = {}) => {
    const { ecm, apply, holdings } = await planned(line, { stdin: people });
    for (const command of meanwhile) await done(ecm(command));
    const before = await holdings();
    expect(await apply("--yes")).toMatchObject(summary);
    const held = await holdings();
    expect(held).toMatchObject(after);
    const keys = new Set([...Object.keys(before), ...Object.keys(held)]);
    const differing = [...keys].filter((key) => JSON.stringify(held[key]) !== JSON.stringify(before[key]));
    expect(differing.sort()).toEqual(written.map((name) => `${name}@example.com`));
  });
});

it("creates what the plan names, and takes what somebody else has made of that name meanwhile", async () => {
  const { ecm, apply, holdings, writes } = await planned(`${importing} --list Fair`);
  const made = await readJson(ecm, "lists create Fair");
  await done(ecm("structure tag add Gold"));
  const before = writes().length;
  expect(await apply()).toMatchObject({ code: 0, rows: { created: 1, updated: 2 } });
  const ofContacts = /\/api\/contact\/|^POST \/api\/contact$/;
  const others = writes().slice(before);
  expect(others.filter((write) => !ofContacts.test(write))).toEqual([]);
  const lists: ContactList[] = await readJson(ecm, "lists list --all");
  expect(lists.filter(({ name }) => name === "Fair").map(({ _id }) => _id)).toEqual([made._id]);
  expect((await holdings())["fay@example.com"]).toMatchObject({ lists: ["Fair"], tags: ["Gold"] });
});

it("takes no name and no value for what stands in for a name that is still to be made", async () => {
  const stdin = "Email,City,tags\nnew@example.com,new list Fair,new list Fair\n";
  const { apply, holdings } = await planned(`${importing} --list Fair`, { stdin });
  expect(await apply()).toMatchObject({ code: 0, rows: { created: 1 } });
  const named = { fields: ["City=new list Fair"], lists: ["Fair"], tags: ["new list Fair"] };
  expect((await holdings())["new@example.com"]).toMatchObject(named);
});

it("goes on after --max-requests by the same command, and after that by its run, without the plan file", async () => {
  const count = 40;
  const contents = { tags: ["VIP"], contacts: manyContacts(count) };
  const line = "contact mutate --all --set 'First Name=Rome' --add-tag VIP --yes";
  const real = await startPeople(contents);
  await real.ecm(line);
  const { plan, apply, summary, holdings } = await planned(line, { contents });
  const first = await apply("--max-requests 12");
  const second = await apply("--max-requests 12");
  expect([first.code, second.code, second.run]).toEqual([7, 7, first.run]);
  expect(second.rows.updated).toBeGreaterThan(first.rows.updated);
  await rm(plan.file);
  const whole = { code: 0, run: first.run, rows: { read: count, updated: count, pending: 0 } };
  expect(await summary("runs resume last")).toMatchObject(whole);
  expect(await holdings()).toEqual(await readHoldings(real));
});

describe("the undo of an applied plan", () => {
  const lost = "Recreated contacts get new ids";

  it("is that of any other run", async () => {
    const { apply, undo, holdings } = await planned(`${importing} --list News`);
    const before = await holdings();
    await apply();
    const undone = await undo("--delete-created");
    expect(undone).toMatchObject({ code: 0, rows: { updated: 2, deleted: 1 } });
    expect(undone.stderr).not.toContain(lost);
    const withoutVersions = (held: typeof before) =>
      Object.values(held).map(({ version: _, ...rest }) => rest);
    expect(withoutVersions(await holdings())).toEqual(withoutVersions(before));
  });

  it("that deleted and changed contacts is one of both", async () => {
    const stdin = "Email,City\nnew@example.com,Rome\nada@example.com,Lima\n";
    const undoing = "runs undo last --delete-created --yes";
    const real = await prepared({ stdin, before: "import -" });
    const fieldsIn = async (held: ReturnType<typeof readHoldings>) =>
      Object.entries(await held).map(([key, { fields }]) => [key, fields]);
    const { apply, undo, holdings } = await planned(undoing, { stdin, before: "import -" });
    expect(await apply("--yes")).toMatchObject({ rows: { updated: 1, deleted: 1 } });
    expect(await undo()).toMatchObject({ rows: { updated: 1, created: 1 } });
    expect(await fieldsIn(holdings())).toEqual(await fieldsIn(readHoldings(real)));
  });
});

describe("without a terminal", () => {
  it.each(["delete", "unsubscribe"])(
    "a plan to %s needs --yes before a request, and its rehearsal does not",
    async (verb) => {
      const { ecm, plan, apply, requests } = await planned(`contact ${verb} --tag VIP --yes`);
      const before = requests();
      await ends(ecm(["apply", plan.file]), 2, "confirm with --yes");
      expect(requests()).toBe(before);
      expect(await apply("--dry-run")).toMatchObject({ code: 0, status: "dry-run" });
      expect(await apply("--yes")).toMatchObject({ code: 0 });
    },
  );

  it("one that stopped in the middle needs it again to go on", async () => {
    const contents = { tags: ["VIP"], contacts: manyContacts(40) };
    const { ecm, apply, summary, writes } = await planned("contact unsubscribe --all --yes", { contents });
    expect(await apply("--yes --max-requests 12")).toMatchObject({ code: 7 });
    const before = writes();
    await refused(ecm("runs resume last"), 2, "confirm with --yes");
    expect(writes()).toEqual(before);
    const resumed = await summary("runs resume last --yes");
    expect(resumed).toMatchObject({ status: "completed", rows: { pending: 0 } });
  });
});

it("--read-only refuses it; a rehearsal of a plan plans again what is left of it", async () => {
  const { ecm, plan, requests, writes, summary } = await planned(importing);
  const before = requests();
  expect((await ecm(["apply", plan.file, "--read-only"])).code).toBe(2);
  expect(requests()).toBe(before);
  await done(ecm("contact mutate ada@example.com --set City=Lima"));
  const written = writes();
  const less = join(await temporaryFolder(), "less.ndjson");
  const dry = await ecm(["apply", plan.file, "--dry-run", "--plan", less]);
  expect(dry.stderr).toMatch(/^Plan: 2 to write, sha256:/m);
  expect(writes()).toEqual(written);
  expect(await summary(`apply ${less}`)).toMatchObject({ rows: { created: 1, updated: 1 } });
});

const held = { fields: { City: "Oslo" }, lists: ["Customers"], tags: ["VIP"] };
const chosen: SeedData = {
  fields: ["City", "Note"],
  tags: ["VIP", "Old hand"],
  lists: ["Customers", "News"],
  contacts: ["ada", "bob", "cy"].map((name) => ({ key: `${name}@example.com`, ...held })),
};
const ada = "ada@example.com";

/** Conditions of a plan, and what takes a contact out of them without touching what is written. */
const selections: [line: string, leave: string][] = [
  ["unsubscribe --list Customers", "--remove-list Customers"],
  ["mutate --tag VIP --set Note=n", "--remove-tag VIP"],
  [`delete --where 'City == "Oslo"'`, "--set City=Paris"],
  [`mutate --where '"VIP" in tags && "Customers" in lists' --set Note=n`, "--remove-tag VIP"],
  ["delete --list News --list Customers --status active --tag VIP", "--remove-list Customers"],
  [`unsubscribe --where 'City == "Oslo"'`, "--set City=Paris"],
  ["delete --list Customers", "--remove-list Customers"],
];

it.each(selections)("the plan of contact %s leaves out who no longer matches", async (line, leave) => {
  const { ecm, plan, apply, holdings } = await planned(`contact ${line}`, { contents: chosen });
  expect(plan.writes).toBe(3);
  await done(ecm(`contact mutate ${ada} ${leave}`));
  const before = (await holdings())[ada];
  const { code, rows, codes } = await apply("--yes");
  expect({ code, ...rows }).toMatchObject({ code: 3, read: 3, skipped: 1, pending: 0 });
  expect(rows.updated + rows.deleted).toBe(2);
  expect(codes.skipped).toEqual({ changed: 1 });
  expect((await holdings())[ada]).toEqual(before);
});

it("contacts that are as wanted already are unchanged, whether they match or not", async () => {
  const unsubscribing = `contact unsubscribe --where 'City == "Oslo"'`;
  const { ecm, apply } = await planned(unsubscribing, { contents: chosen });
  await ecm(`contact mutate ${ada} --set City=Paris`);
  await ecm(`contact unsubscribe ${ada} --yes`);
  expect((await apply("--yes")).rows).toMatchObject({ updated: 2, unchanged: 1, skipped: 0 });
});
