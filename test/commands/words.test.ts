/** Words that people try: understood, or answered with the command that was meant. */
import { describe, expect, it } from "vitest";
import { done, ecmWith, refused, startSandbox, temporaryHome } from "../kit.ts";

it("what a command line lacks, or has too much of, is answered with what settles it", async () => {
  const ecm = ecmWith(await temporaryHome());
  const missing = "error: The argument FILE is missing\nhint: Name it: ecm lists sync LIST FILE\n";
  expect(await refused(ecm("lists sync News"), 2)).toBe(missing);
  await refused(ecm("lists list --all --page 2"), 2, "hint: Leave out one of the two\n");
});

describe("other words for a command", () => {
  it("are understood: contacts, list, ls, update, and keys without a flag", async () => {
    const people = ["ada@example.com", "bob@example.com", "eve@example.com"];
    const { ecm } = await startSandbox();
    for (const key of people) await done(ecm(`contacts create --key ${key}`));
    const [ada, bob, eve] = people;
    const keys = async (line: string) =>
      (await done(ecm(`${line} -o tsv --columns key`))).trim().split("\n").slice(1);
    expect(await keys(`contact search ${ada} --key ${eve}`)).toEqual([ada, eve]);
    expect(await keys("contacts ls")).toEqual(people);
    expect(await keys(`contact list ${bob}`)).toEqual([bob]);
    await done(ecm(`contact update ${ada} --set 'First Name=Ada'`));
    await done(ecm("list create News"));
    expect(await done(ecm("lists ls -o tsv --columns name"))).toBe("name\nNews\n");
    expect(await done(ecm("help contacts"))).toContain("Usage: ecm contact ");
    expect(await done(ecm("run ls --json"))).toBe("[]\n");
    expect(await done(ecm("commands contacts ls --json"))).toContain('"contact search"');
  });

  it("are not shown in help", async () => {
    const ecm = ecmWith(await temporaryHome());
    for (const line of ["--help", "contact --help", "contact search --help"])
      expect(await done(ecm(line))).not.toMatch(/contacts?\||search\|/);
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
  ])("are answered with the command that was meant: ecm %s", async (line, meant) => {
    const ecm = ecmWith(await temporaryHome());
    const isNone = /^error: There is no command "ecm .*"\nhint: Use: /;
    await refused(ecm(`${line} ada@example.com`), 2, isNone, meant);
  });
});
