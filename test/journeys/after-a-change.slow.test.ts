/**
 * At a terminal a single change says what it changed, old → new, and one
 * contact is a page; elsewhere both are records.
 */

import { beforeEach, describe, expect, it } from "vitest";
import type { Ecm } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const at80 = { terminalColumns: 80, env: { NO_COLOR: "1", ECM_NO_INPUT: "1" } };

let ecm: Ecm;

beforeEach(async () => {
  ({ ecm } = await startSandbox());
  await ecm("structure field add City");
  await ecm("structure tag add vip press");
  await ecm("lists create Newsletter");
  await ecm("lists create Leads");
  const created = ["contact", "create", "--key", "ada@example.com", "--set", "City=London", "--tag", "press"];
  expect((await ecm([...created, "--list", "Leads"])).code).toBe(0);
});

/** What stands on the screen after a command that ends well. */
async function runEcm(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await ecm(args, at80);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr });
  return stdout;
}

const change = [
  ...["--set", "City=Paris", "--add-tag", "vip", "--add-tag", "press"],
  ...["--remove-list", "Leads", "--add-list", "Newsletter"],
];

describe("after a change of a contact", () => {
  it("what was another before is said with its old value, and what stays is left out", async () => {
    expect(await runEcm("contact", "mutate", "ada@example.com", ...change)).toBe(
      "ada@example.com\n  ~ City  London → Paris\n  + list Newsletter\n  - list Leads\n  + tag vip\n",
    );
    expect(await runEcm("contact", "mutate", "ada@example.com", "--set", "First Name=Ada")).toContain(
      "~ First Name  (empty) → Ada\n",
    );
  });

  it("the new value alone is said where nobody has read the contact", async () => {
    const id = (await ecm("contact get ada@example.com -o id")).stdout.trim();
    expect(await runEcm("contact", "mutate", id, "--set", "City=Rome")).toBe(
      "ada@example.com\n  ~ City  Rome\n",
    );
    expect(await runEcm("contact", "mutate", id, "--set", "City=Oslo", "--if-version", "1")).toContain(
      "~ City  Rome → Oslo\n",
    );
  });

  it("of its status too", async () => {
    expect(await runEcm("contact", "unsubscribe", "ada@example.com", "--yes")).toBe(
      "ada@example.com\n  ~ Status  Active → Inactive, Unsubscribe\n",
    );
  });

  it("the whole contact is the answer for programs, and where columns are named", async () => {
    const json = await runEcm("contact", "mutate", "ada@example.com", "--set", "City=Rome", "--json");
    expect(JSON.parse(json)).toMatchObject({ key: "ada@example.com" });
    const args = ["contact", "mutate", "ada@example.com", "--set", "City=Oslo", "--columns", "key,City"];
    expect(await runEcm(...args)).toContain("key   ada@example.com\n");
    const piped = await ecm("contact mutate ada@example.com --set City=Bonn");
    expect(piped.stdout.split("\n")[1]).toContain("Bonn");
  });
});

describe("after a change of a list or the structure", () => {
  it.each([
    [["lists", "rename", "Leads", "Old leads"], '~ list "Leads" → "Old leads"\n'],
    [["structure", "field", "add", "Phone"], '+ field "Phone" (text)\n'],
    [["structure", "field", "rename", "City", "Town"], '~ field "City" → "Town"\n'],
    [["structure", "field", "remove", "City", "--yes"], '- field "City" (every contact loses it)\n'],
    [["structure", "tag", "add", "vip", "gold", "silver"], '+ tag "gold"\n+ tag "silver"\n'],
    [["structure", "tag", "rename", "vip", "VIP"], '~ tag "vip" → "VIP"\n'],
    [["structure", "update", "--label", "People"], '~ label: "Default" → "People"\n'],
  ])("%j", async (args, expected) => {
    expect(await runEcm(...args)).toBe(expected);
  });
});

describe("one contact", () => {
  it("is a page: who, the values that there are, then dates and ids", async () => {
    await ecm("contact mutate ada@example.com --add-tag vip");
    const { stdout, stderr } = await ecm("contact get ada@example.com", at80);
    expect(stdout).toMatch(
      /^ada@example\.com {3}active\n\nCity {6}London\nLists {5}Leads\nTags {6}press, vip\nCreated {3}today, \d\d:\d\d {3}Updated {2}today, \d\d:\d\d\nId {8}[0-9a-f]{24} {3}Version {2}\d\n$/,
    );
    expect(stderr).toContain("Without a value: First Name, Last Name\n");
  });

  it("has long values that go on under themselves, and says why it is inactive", async () => {
    await ecm(["contact", "mutate", "ada@example.com", "--set", `City=${"long words ".repeat(12).trim()}`]);
    await ecm("contact unsubscribe ada@example.com --yes");
    const { stdout } = await ecm("contact get ada@example.com", at80);
    expect(stdout).toContain("ada@example.com   inactive, Unsubscribe\n");
    const lines = stdout.split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines[3]).toMatch(/^ {10}long|^ {10}words/);
  });

  it("is a record of its columns where they are named, and a row in a pipe", async () => {
    expect((await ecm("contact get ada@example.com --columns key,City", at80)).stdout).toBe(
      "key   ada@example.com\nCity  London\n",
    );
    expect((await ecm("contact get ada@example.com -o tsv")).stdout).toMatch(/^key\tFirst Name/);
  });
});
