/** At a terminal a single change says what it changed, old → new, and one contact is a page; elsewhere both are records. */
import { beforeEach, expect, it } from "vitest";
import { done, type Ecm, startSandbox } from "../kit.ts";

const at80 = { terminalColumns: 80, env: { NO_COLOR: "1", ECM_NO_INPUT: "1" } };
const ada = "ada@example.com";

let ecm: Ecm;
let id: string;

beforeEach(async () => {
  const names = { fields: ["City"], tags: ["vip", "press"], lists: ["Newsletter", "Leads"] };
  const contacts = [{ key: ada, fields: { City: "London" }, tags: ["press"], lists: ["Leads"] }];
  ({ ecm } = await startSandbox({ contents: { ...names, contacts } }));
  id = (await ecm(`contact get ${ada} -o id`)).stdout.trim();
});

it.each([
  [
    `contact mutate ${ada} --set City=Paris --add-tag vip --add-tag press --remove-list Leads --add-list Newsletter`,
    `${ada}\n  ~ City  London → Paris\n  + list Newsletter\n  - list Leads\n  + tag vip\n`,
  ],
  [`contact mutate ${ada} --set 'First Name=Ada'`, `${ada}\n  ~ First Name  (empty) → Ada\n`],
  // Nobody has read it before.
  ["contact mutate ID --set City=Rome", `${ada}\n  ~ City  Rome\n`],
  ["contact mutate ID --set City=Oslo --if-version 0", `${ada}\n  ~ City  London → Oslo\n`],
  [`contact unsubscribe ${ada} --yes`, `${ada}\n  ~ Status  Active → Inactive, Unsubscribe\n`],
  [`contact mutate ${ada} --set City=Oslo --columns key,City`, `key   ${ada}\nCity  Oslo\n`],
  ["lists rename Leads 'Old leads'", '~ list "Leads" → "Old leads"\n'],
  ["structure field add Phone", '+ field "Phone" (text)\n'],
  ["structure field rename City Town", '~ field "City" → "Town"\n'],
  ["structure field remove City --yes", '- field "City" (every contact loses it)\n'],
  ["structure tag add vip gold silver", '+ tag "gold"\n+ tag "silver"\n'],
  ["structure tag rename vip VIP", '~ tag "vip" → "VIP"\n'],
  ["structure update --label People", '~ label: "Default" → "People"\n'],
  [`contact get ${ada} --columns key,City`, `key   ${ada}\nCity  London\n`],
])("ecm %s", async (line, expected) => {
  expect(await done(ecm(line.replace("ID", id), at80))).toBe(expected);
});

it("the whole contact is the answer for programs, and a row in a pipe", async () => {
  const json = await done(ecm(`contact mutate ${ada} --set City=Rome --json`, at80));
  expect(JSON.parse(json)).toMatchObject({ key: ada });
  const piped = await done(ecm(`contact mutate ${ada} --set City=Bonn`));
  expect(piped.split("\n")[1]).toContain("Bonn");
  expect(await done(ecm(`contact get ${ada} -o tsv`))).toMatch(/^key\tFirst Name/);
});

it("one contact is a page: who, the values that there are, then dates and ids", async () => {
  await ecm(`contact mutate ${ada} --add-tag vip`);
  const { stdout } = await ecm(`contact get ${ada}`, at80);
  expect(stdout).toMatch(
    /^ada@example\.com {3}active\n\nCity +London\nLists +Leads\nTags +press, vip\nCreated +today, \d\d:\d\d +Updated +today, \d\d:\d\d\nId +[0-9a-f]{24} +Version +\d\n$/,
  );
});

it("the page has long values that go on under themselves, and says why somebody is inactive", async () => {
  await ecm(["contact", "mutate", ada, "--set", `City=${"long words ".repeat(12).trim()}`]);
  await ecm(`contact unsubscribe ${ada} --yes`);
  const { stdout } = await ecm(`contact get ${ada}`, at80);
  expect(stdout).toContain(`${ada}   inactive, Unsubscribe\n`);
  const lines = stdout.split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines[3]).toMatch(/^ {9}(?:long|words)/);
});
