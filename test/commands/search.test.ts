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

async function keysWith(ecm: Ecm, ...flags: string[]) {
  const { code, stdout, stderr } = await ecm([
    "contact",
    "search",
    ...flags,
    "--columns",
    "key",
    "-o",
    "csv",
  ]);
  expect(code, stderr).toBe(0);
  return stdout.trim().split("\n").slice(1).join(" ");
}

it("finds words in keys and fields, whatever their letter case and accents", async () => {
  const { ecm } = await startSandbox({ contents: people });
  expect(await keysWith(ecm, "--text", "jürgen")).toBe("j.m@example.org");
  expect(await keysWith(ecm, "--text", "MULLER koln")).toBe("j.m@example.org");
  expect(await keysWith(ecm, "--text", "@example.com")).toBe("ada@example.com bob@example.com");
  expect(await keysWith(ecm, "--text", "Ada Müller")).toBe("");
  expect(await keysWith(ecm, "--text", "example", "--where", 'Company != ""')).toBe("ada@example.com");
  expect((await ecm(["export", "--text", "köln", "-o", "id"])).stdout).toMatch(/^[0-9a-f]{24}\n$/);
  expect((await ecm(["contact", "search", "--text", "example", "--count"])).stdout).toBe("3\n");
  const empty = await ecm(["contact", "search", "--text", " "]);
  expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining("--text is empty") });
});

it("says that it looked for a whole key, and how to look for a part of it", async () => {
  const { ecm } = await startSandbox({ contents: people });
  const search = async (...words: string[]) => {
    const { code, stderr } = await ecm(["contact", "search", ...words], atTerminal);
    expect(code).toBe(0);
    return stderr.replace(/\s+/g, " ");
  };
  expect(await search("Jürgen")).toMatch(
    /No contact has the Email "Jürgen"\. Only whole keys .* one request per 1,000 contacts: ecm contact search --text 'Jürgen'/,
  );
  expect(await search("*@example.org")).toContain("ecm contact search --text @example.org");
  expect(await search("no@example.org")).not.toContain("--text");
  expect(
    await search("Jürgen", "--list", (await ecm(["lists", "create", "L", "-o", "id"])).stdout.trim()),
  ).toContain("No contact matches");
});

it("shows how many there are, and the fields of the condition", async () => {
  const { ecm } = await startSandbox({ contents: people });
  const search = (...flags: string[]) => ecm(["contact", "search", ...flags], atTerminal);
  const all = await search();
  expect(all.stderr).toContain("3 contacts\n");
  expect(all.stdout).not.toContain("Town");
  const where = await search("--where", 'fields["Town"] == "Köln" || Street != ""');
  expect(where.stdout).toMatch(/^key +Street +Town/);
  expect(where.stderr).toContain("2 contacts, of 3 searched");
  expect((await search("--limit", "2")).stderr).toContain("2 of 3 contacts · all: --all");
  expect((await search("--limit", "1", "--text", "example")).stderr).toContain(
    "The first 1 contact · all: --all",
  );
  const script = await ecm(["contact", "search"]);
  expect(script.stderr).not.toContain("3 contacts");
});

it("takes the words for a status that people use", async () => {
  const { ecm } = await startSandbox({ contents: people });
  await ecm(["contact", "unsubscribe", "bob@example.com", "--yes"]);
  expect(await keysWith(ecm, "--status", "Unsubscribed")).toBe("bob@example.com");
  expect(await keysWith(ecm, "--status", "subscribed")).toBe("j.m@example.org ada@example.com");
  const { code, stderr } = await ecm(["contact", "search", "--status", "unsubscribd"]);
  expect(code).toBe(2);
  expect(stderr).toContain("Did you mean unsubscribe");
});
