/** `ecm contact search` as a person types it: names, counts, what is shown. */
import { expect, it } from "vitest";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import type { Ecm } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const people: SeedData = {
  fields: ["Company", "Street", "Postcode", "Town"],
  contacts: [
    { key: "j.m@example.org", fields: { "First Name": "Jürgen", "Last Name": "Müller", Town: "Köln" } },
    {
      key: "ada@example.com",
      fields: { "First Name": "Ada", Company: "Analytical Engines of London Limited" },
    },
    {
      key: "bob@example.com",
      fields: { "First Name": "Bob", Street: "A very long street somewhere in the north" },
    },
  ],
};

const atTerminal = { terminalColumns: 60, env: { NO_COLOR: "1" } };

async function keysWith(ecm: Ecm, flags: string) {
  const { code, stdout, stderr } = await ecm(`contact search ${flags} --columns key -o csv`);
  expect(code, stderr).toBe(0);
  return stdout.trim().split("\n").slice(1).join(" ");
}

it("finds words in keys and fields, whatever their letter case and accents", async () => {
  const { ecm } = await startSandbox({ contents: people });
  expect(await keysWith(ecm, "--text jürgen")).toBe("j.m@example.org");
  expect(await keysWith(ecm, "--text 'MULLER koln'")).toBe("j.m@example.org");
  expect(await keysWith(ecm, "--text @example.com")).toBe("ada@example.com bob@example.com");
  expect(await keysWith(ecm, "--text 'Ada Müller'")).toBe("");
  expect(await keysWith(ecm, `--text example --where 'Company != ""'`)).toBe("ada@example.com");
  expect((await ecm("export --text köln -o id")).stdout).toMatch(/^[0-9a-f]{24}\n$/);
  expect((await ecm("contact search --text example --count")).stdout).toBe("3\n");
  const empty = await ecm("contact search --text ' '");
  expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining("--text is empty") });
});

it("says how to look for a part of a key where none is found", async () => {
  const { ecm } = await startSandbox({ contents: people });
  const { code, stderr } = await ecm("contact search Jürgen", atTerminal);
  expect(code).toBe(0);
  expect(stderr.replace(/\s+/g, " ")).toContain("in fields: ecm contact search --text WORDS");
});

it("takes the words for a status that people use", async () => {
  const { ecm } = await startSandbox({ contents: people });
  await ecm("contact unsubscribe bob@example.com --yes");
  expect(await keysWith(ecm, "--status Unsubscribed")).toBe("bob@example.com");
  expect(await keysWith(ecm, "--status subscribed")).toBe("j.m@example.org ada@example.com");
  const { code, stderr } = await ecm("contact search --status unsubscribd");
  expect(code).toBe(2);
  expect(stderr).toContain("Did you mean unsubscribe");
});
