/**
 * A plan that was made over a selection carries it: contacts that no longer match when it is carried out are
 * not written. `renamed-names.test.ts` has selections whose names are others by now.
 */
import { expect, it } from "vitest";
import { summaryOf } from "../bulk/kit.ts";
import { makePlanFile, readHoldings, startPeople } from "../bulk/plan-kit.ts";
import { done, readJson, toWords } from "../support/ecm.ts";

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
const start = () => startPeople(contents);

/** Conditions, and what takes a contact out of them without touching what is written; each with one of the changes. */
const cases: [line: string, leave: string][] = [
  ["unsubscribe --list Customers", "--remove-list Customers"],
  ["mutate --tag VIP --set Note=n", "--remove-tag VIP"],
  [`delete --where 'City == "Oslo"'`, "--set City=Paris"],
  [`mutate --where '"VIP" in tags && "Customers" in lists' --set Note=n`, "--remove-tag VIP"],
  ["delete --list News --list Customers --status active --tag VIP", "--remove-list Customers"],
  [`unsubscribe --where 'City == "Oslo"'`, "--set City=Paris"],
  ["delete --list Customers", "--remove-list Customers"],
];

it.each(cases)("the plan of contact %s leaves out who no longer matches", async (line, leave) => {
  const service = await start();
  const plan = await makePlanFile(service, toWords(`contact ${line}`));
  expect(plan.writes).toBe(3);
  await done(service.ecm(`contact mutate ${ada} ${leave}`));
  const before = (await readHoldings(service))[ada];
  const { code, rows, codes } = await summaryOf(service.ecm, `apply ${plan.file} --yes`);
  expect(code).toBe(3);
  expect(rows).toMatchObject({ read: 3, skipped: 1, pending: 0 });
  expect(rows.updated + rows.deleted).toBe(2);
  expect(codes.skipped).toEqual({ changed: 1 });
  expect((await readHoldings(service))[ada]).toEqual(before);
});

it("contacts that are as wanted already are unchanged, whether they match or not", async () => {
  const service = await start();
  const plan = await makePlanFile(service, ["contact", "unsubscribe", "--where", 'City == "Oslo"']);
  await service.ecm(`contact mutate ${ada} --set City=Paris`);
  await service.ecm(`contact unsubscribe ${ada} --yes`);
  const { rows } = await readJson(service.ecm, `apply ${plan.file} --yes`);
  expect(rows).toMatchObject({ updated: 2, unchanged: 1, skipped: 0 });
});
