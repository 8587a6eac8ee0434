/** `ecm contact search` as a person types it: names, counts, what is shown. */
import { expect, it } from "vitest";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import { done, type Ecm, ends, refused, startSandbox } from "../kit.ts";

const jurgen = { "First Name": "Jürgen", "Last Name": "Müller", Town: "Köln" };
const people: SeedData = {
  fields: ["Company", "Street", "Town"],
  contacts: [
    { key: "j.m@example.org", fields: jurgen },
    { key: "ada@example.com", fields: { "First Name": "Ada", Company: "Analytical Engines of London" } },
    { key: "bob@example.com", fields: { "First Name": "Bob", Street: "A long street in the north" } },
  ],
};

async function keysWith(ecm: Ecm, flags: string) {
  const stdout = await done(ecm(`contact search ${flags} --columns key -o csv`));
  return stdout.trim().split("\n").slice(1).join(" ");
}

it("finds words in keys and fields, whatever their letter case and accents", async () => {
  const { ecm } = await startSandbox({ contents: people });
  expect(await keysWith(ecm, "--text jürgen")).toBe("j.m@example.org");
  expect(await keysWith(ecm, "--text 'MULLER koln'")).toBe("j.m@example.org");
  expect(await keysWith(ecm, "--text @example.com")).toBe("ada@example.com bob@example.com");
  expect(await keysWith(ecm, "--text 'Ada Müller'")).toBe("");
  expect(await keysWith(ecm, `--text example --where 'Company != ""'`)).toBe("ada@example.com");
  expect(await done(ecm("export --text köln -o id"))).toMatch(/^[0-9a-f]{24}\n$/);
  expect(await done(ecm("contact search --text example --count"))).toBe("3\n");
  await refused(ecm("contact search --text ' '"), 2, "--text is empty");
});

it("says how to look for a part of a key where none is found, in a form that can be typed", async () => {
  const { ecm } = await startSandbox({ contents: people });
  const at60 = { terminalColumns: 60, env: { NO_COLOR: "1" } };
  const { stderr } = await ends(ecm("contact search Jürgen", at60), 0);
  expect(stderr.replace(/\s+/g, " ")).toContain("in fields: ecm contact search --text 'Jürgen' Not found");
  await refused(ecm("contact get -- -ada@example.org"), 5, "ecm contact search --text=-ada");
  expect(await done(ecm("contact search --text=-ada --count"))).toBe("0\n");
});
