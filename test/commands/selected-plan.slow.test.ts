/**
 * A plan that was made over a selection carries it: contacts that no longer match when it is carried out are
 * not written.
 */
import { describe, expect, it } from "vitest";
import { parseSummary } from "../bulk/kit.ts";
import { makePlanFile, readHoldings, readPlanLines, startPeople } from "../bulk/plan-kit.ts";
import type { RunningSandbox } from "../support/sandbox.ts";

const contents = {
  fields: ["City", "Note"],
  tags: ["VIP", "Old hand"],
  lists: ["Customers", "News"],
  contacts: ["ada", "bob", "cy"].map((name) => ({
    key: `${name}@example.com`,
    fields: { City: "Oslo" },
    lists: ["Customers"],
    tags: ["VIP"],
  })),
};
const ada = "ada@example.com";

/** Conditions, word by word, and what takes Ada out of them without touching what is written. */
const selections = [
  ["--list | Customers", "--remove-list | Customers"],
  ["--tag | VIP", "--remove-tag | VIP"],
  ['--where | City == "Oslo"', "--set | City=Paris"],
  ['--where | "VIP" in tags && "Customers" in lists', "--remove-tag | VIP"],
  ["--list | News | --list | Customers | --status | active | --tag | VIP", "--remove-list | Customers"],
].map((lines) => lines.map((line) => line.split(" | ")));
const cases = selections.flatMap(([flags, leave]) =>
  [["unsubscribe"], ["mutate", "--set", "Note=n"], ["delete"]].map(
    ([verb, ...change]) => [[verb!, ...flags!, ...change], leave!] as const,
  ),
);

const start = () => startPeople(contents);
const countIn = (service: RunningSandbox, method: string) =>
  service.sandbox.admin.requests().filter((request) => request.method === method).length;

describe.each(cases)("the plan of contact %j", (words, leave) => {
  it("leaves out who no longer matches", async () => {
    const service = await start();
    const plan = await makePlanFile(service, ["contact", ...words]);
    expect(plan.writes).toBe(3);
    expect((await service.ecm(["contact", "mutate", ada, ...leave])).code).toBe(0);
    const before = (await readHoldings(service))[ada];
    const applied = await service.ecm(["apply", plan.file, "--yes", "--json"]);
    expect(applied.code, applied.stderr).toBe(3);
    const { rows, codes } = parseSummary(applied);
    expect(rows).toMatchObject({ read: 3, skipped: 1, pending: 0 });
    expect(rows.updated + rows.deleted).toBe(2);
    expect(codes.skipped).toEqual({ changed: 1 });
    expect((await readHoldings(service))[ada]).toEqual(before);
  });

  it("so does the run itself when it is resumed, and that is no failure", async () => {
    const service = await start();
    const args = ["contact", ...words, "--yes", "--json", "--concurrency", "1"];
    const dry = await service.ecm([...args, "--dry-run"]);
    const most = parseSummary(dry).estimate.requests - 2;
    const stopped = await service.ecm([...args, "--max-requests", String(most)]);
    expect(stopped.code, stopped.stderr).toBe(7);
    expect(parseSummary(stopped).rows.pending).toBeGreaterThanOrEqual(2);
    await service.ecm(["contact", "mutate", "cy@example.com", ...leave]);
    const before = (await readHoldings(service))["cy@example.com"];
    const resumed = await service.ecm(["runs", "resume", "last", "--yes", "--json"]);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(parseSummary(resumed).codes.skipped).toEqual({ changed: 1 });
    expect((await readHoldings(service))["cy@example.com"]).toEqual(before);
  });
});

it("contacts that are as wanted already are unchanged, whether they match or not", async () => {
  const service = await start();
  const plan = await makePlanFile(service, ["contact", "unsubscribe", "--where", 'City == "Oslo"']);
  await service.ecm(["contact", "mutate", ada, "--set", "City=Paris"]);
  await service.ecm(["contact", "unsubscribe", ada, "--yes"]);
  const applied = await service.ecm(["apply", plan.file, "--yes", "--json"]);
  expect(applied.code, applied.stderr).toBe(0);
  expect(parseSummary(applied).rows).toMatchObject({ updated: 2, unchanged: 1, skipped: 0 });
});

it("a plan carries its selection with ids, and only where it has one", async () => {
  const service = await start();
  const { stdout } = await service.ecm(["lists", "list", "--json"]);
  const lists = JSON.parse(stdout) as { _id: string; name: string }[];
  const listId = lists.find(({ name }) => name === "Customers")!._id;
  const where = 'City == "Oslo"';
  const flags = ["--list", "customers", "--tag", "vip", "--status", "subscribed", "--where", where];
  const plan = await makePlanFile(service, ["contact", "unsubscribe", ...flags]);
  const [head] = (await readPlanLines(plan.file)) as [{ plan: { names: { tags: Record<string, string> } } }];
  const [tagId] = Object.entries(head.plan.names.tags).find(([, name]) => name === "VIP")!;
  expect(head.plan).toMatchObject({
    selection: { lists: [listId], tags: [tagId], status: "subscribed", where },
  });
  const all = await makePlanFile(service, ["contact", "mutate", "--all", "--set", "Note=n"]);
  const [other] = (await readPlanLines(all.file)) as [{ plan: object }];
  expect(other.plan).not.toHaveProperty("selection");
});

const renameField = "structure field rename City";
it.each([
  ["list", "--list | Customers", "lists rename Customers"],
  ["tag", "--tag | VIP", "structure tag rename VIP"],
  ["field", '--where | City == "Oslo"', renameField],
  ["field", '--where | fields["City"] == "Oslo"', renameField],
  ["tag", '--where | "VIP" in tags', "structure tag rename VIP"],
  ["list", '--where | "Customers" in lists', "lists rename Customers"],
])("a %s of %j that has another name by now is refused before a write", async (what, flags, rename) => {
  const service = await start();
  const plan = await makePlanFile(service, ["contact", "unsubscribe", ...flags.split(" | ")]);
  expect((await service.ecm([...rename.split(" "), "Never mail"])).code).toBe(0);
  const before = countIn(service, "PATCH");
  const applied = await service.ecm(["apply", plan.file, "--yes"]);
  expect(applied.code, applied.stderr).toBe(2);
  expect(applied.stderr).toContain(`the ${what} `);
  expect(applied.stderr).toContain('is called "Never mail" now');
  expect(countIn(service, "PATCH")).toBe(before);
});

it.each([["unsubscribe"], ["delete"]])(
  "contact %s looks everybody up again before it writes",
  async (verb) => {
    const service = await start();
    const args = ["contact", verb, "--list", "Customers", "--yes", "--json"];
    const dry = parseSummary(await service.ecm([...args, "--dry-run"]));
    const done = parseSummary(await service.ecm(args));
    // One page, one search for the three of them, three writes.
    expect(done.requests).toMatchObject({ search: 2 });
    expect(dry.estimate.requests).toBe(done.requests.total);
  },
);
