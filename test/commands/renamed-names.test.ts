/** A plan says what lists, tags and fields are called; under other names it is not carried out. */
import { expect, it } from "vitest";
import { inputFile, summaryOf } from "../bulk/kit.ts";
import { listWrites, makePlanFile } from "../bulk/plan-kit.ts";
import { done, refused, toWords } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

async function account() {
  const held = { fields: { City: "Oslo" }, lists: ["News"], tags: ["VIP"] };
  const service = await startSandbox({
    contents: {
      ...{ fields: ["City", "Note"], lists: ["News", "Other"], tags: ["VIP", "Gold"] },
      contacts: ["ada@example.com", "bob@example.com"].map((key) => ({ key, ...held })),
    },
  });
  const writes = () => listWrites(service).filter((write) => write.includes("/contact/"));
  return { ...service, writes };
}

const changes: [what: string, line: string, rename: string][] = [
  ['the list "Other"', "contact mutate --all --add-list Other", "lists rename Other"],
  ['the field "City"', "contact mutate --all --set City=Bergen", "structure field rename City"],
  ['the tag "Gold"', "contact mutate --all --add-tag Gold", "structure tag rename Gold"],
];
const selections: typeof changes = [
  ['the list "News"', "contact unsubscribe --list News", "lists rename News"],
  ['the list "News"', `contact unsubscribe --where '"News" in lists'`, "lists rename News"],
  ['the tag "VIP"', "contact unsubscribe --tag VIP", "structure tag rename VIP"],
  ['the tag "VIP"', `contact unsubscribe --where '"VIP" in tags'`, "structure tag rename VIP"],
  ['the field "City"', `contact unsubscribe --where 'City == "Oslo"'`, "structure field rename City"],
  [
    'the field "City"',
    `contact unsubscribe --where 'fields["City"] == "Oslo"'`,
    "structure field rename City",
  ],
];

it.each([...changes, ...selections])(
  "%s has another name by now: the plan of %j is refused before a write",
  async (what, line, rename) => {
    const { writes, ...service } = await account();
    const plan = await makePlanFile(service, toWords(line));
    await done(service.ecm(`${rename} 'Never mail'`));
    await refused(service.ecm(`apply ${plan.file} --yes`), 2, `${what} is called "Never mail" now`);
    expect(writes()).toEqual([]);
  },
);

it.each(changes)("%s has another name by now: %j is not resumed", async (what, line, rename) => {
  const { ecm, writes } = await account();
  await refused(ecm(`${line} --yes --max-requests 3`), 7);
  const before = writes();
  await done(ecm(`${rename} 'Never mail'`));
  await refused(ecm("runs resume last --yes"), 2, `${what} is called "Never mail" now`);
  expect(writes()).toEqual(before);
});

it("names that the plan does not speak of may change", async () => {
  const service = await account();
  const file = await inputFile("Email,City\nada@example.com,Rome\nnew@example.com,Oslo\n");
  const plan = await makePlanFile(service, ["import", file, "--list", "News"]);
  await done(service.ecm("lists rename Other Else"));
  await done(service.ecm("structure field rename Note Remark"));
  const { rows } = await summaryOf(service.ecm, `apply ${plan.file} --yes`);
  expect(rows).toMatchObject({ created: 1, updated: 1 });
});
