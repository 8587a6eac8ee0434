/** A plan says what lists, tags and fields are called; under other names it is not carried out. */
import { expect, it } from "vitest";
import { done, inputFile, listWrites, makePlanFile, refused, summaryOf, toWords } from "../kit.ts";
import { startSandbox } from "../support/sandbox.ts";

async function account() {
  const held = { fields: { City: "Oslo" }, lists: ["News"], tags: ["VIP"] };
  const contents = {
    fields: ["City", "Note"],
    lists: ["News", "Other"],
    tags: ["VIP", "Gold"],
    contacts: ["ada@example.com", "bob@example.com"].map((key) => ({ key, ...held })),
  };
  const service = await startSandbox({ contents });
  const writes = () => listWrites(service).filter((write) => write.includes("/contact/"));
  return { ...service, writes };
}

const leave = "contact unsubscribe";
const ofOslo = [`${leave} --where 'City == "Oslo"'`, `${leave} --where 'fields["City"] == "Oslo"'`];
const named: [what: string, rename: string, lines: string[]][] = [
  ['the list "Other"', "lists rename Other", ["contact mutate --all --add-list Other"]],
  ['the tag "Gold"', "structure tag rename Gold", ["contact mutate --all --add-tag Gold"]],
  ['the field "City"', "structure field rename City", ["contact mutate --all --set City=Bergen", ...ofOslo]],
  ['the list "News"', "lists rename News", [`${leave} --list News`, `${leave} --where '"News" in lists'`]],
  ['the tag "VIP"', "structure tag rename VIP", [`${leave} --tag VIP`, `${leave} --where '"VIP" in tags'`]],
];

it.each(named)("%s has another name by now (%s): the plan of %j is refused", async (what, rename, lines) => {
  const { writes, ...service } = await account();
  const plans = [];
  for (const line of lines) plans.push(await makePlanFile(service, toWords(line)));
  await done(service.ecm(`${rename} 'Never mail'`));
  for (const { file } of plans)
    await refused(service.ecm(`apply ${file} --yes`), 2, `${what} is called "Never mail" now`);
  expect(writes()).toEqual([]);
});

it.each(named.slice(0, 3))("%s has another name now (%s): %j is not resumed", async (what, rename, lines) => {
  const { ecm, writes } = await account();
  await refused(ecm(`${lines[0]} --yes --max-requests 3`), 7);
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
