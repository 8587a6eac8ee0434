/** Words that people try: understood, or answered with the command that was meant. */
import { describe, expect, it } from "vitest";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

it("what a command line lacks, or has too much of, is answered with what settles it", async () => {
  const ecm = ecmWith(await temporaryHome());
  const lacking = await ecm(["lists", "sync", "News"]);
  expect(lacking).toMatchObject({
    code: 2,
    stderr: "error: The argument FILE is missing\nhint: Name it: ecm lists sync LIST FILE\n",
  });
  const both = await ecm(["lists", "list", "--all", "--page", "2"]);
  expect(both).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("hint: Leave out one of the two\n"),
  });
});

describe("other words for a command", () => {
  it("are understood: contacts, list, ls, update, and keys without a flag", async () => {
    const { ecm } = await startSandbox();
    for (const key of ["ada@example.com", "bob@example.com", "eve@example.com"]) {
      expect((await ecm(["contacts", "create", "--key", key])).code).toBe(0);
    }
    const keys = async (...args: string[]) =>
      (await ecm([...args, "-o", "tsv", "--columns", "key", "-q"])).stdout.trim().split("\n").slice(1);
    expect(await keys("contact", "search", "ada@example.com", "--key", "eve@example.com")).toEqual([
      "ada@example.com",
      "eve@example.com",
    ]);
    expect(await keys("contacts", "ls")).toHaveLength(3);
    expect(await keys("contact", "list", "bob@example.com")).toEqual(["bob@example.com"]);
    expect((await ecm(["contact", "update", "ada@example.com", "--set", "First Name=Ada"])).code).toBe(0);
    expect((await ecm(["list", "create", "News"])).code).toBe(0);
    expect((await ecm(["lists", "ls", "-o", "tsv", "--columns", "name"])).stdout).toBe("name\nNews\n");
    expect((await ecm(["help", "contacts"])).stdout).toContain("Usage: ecm contact ");
    expect((await ecm(["run", "ls", "--json"])).stdout).toBe("[]\n");
    expect((await ecm(["commands", "contacts", "ls", "--json"])).stdout).toContain('"contact search"');
  });

  it("are not shown in help", async () => {
    const ecm = ecmWith(await temporaryHome());
    for (const args of [["--help"], ["contact", "--help"], ["contact", "search", "--help"]]) {
      expect((await ecm(args)).stdout).not.toMatch(/contacts?\||search\|/);
    }
  });

  it.each([
    ["search", "ecm contact search"],
    ["serch", "ecm contact search"],
    ["login", "ecm auth login"],
    ["undo", "ecm runs undo RUN"],
    ["updaet", "ecm contact mutate ID-OR-KEY"],
    ["ls", "Use: ecm contact search KEY…, or ecm lists list"],
    ["rm", "Use: ecm contact delete ID-OR-KEY…, or ecm lists delete LIST…"],
    ["create", "Use: ecm contact create, or ecm lists create NAME"],
    ["contcat get", "ecm contact get ID-OR-KEY"],
    ["contact serach", "ecm contact search"],
    ["structure tags rename", "ecm structure tag rename TAG LABEL"],
    ["structure fields rename", "ecm structure field rename FIELD LABEL"],
  ])("are answered with the command that was meant: ecm %s", async (args, meant) => {
    const ecm = ecmWith(await temporaryHome());
    const result = await ecm([...args.split(" "), "ada@example.com"]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(/^error: There is no command "ecm .*"\nhint: Use: /);
    expect(result.stderr).toContain(meant);
  });
});
