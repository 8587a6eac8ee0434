/** Words that people try are understood, or answered with what was meant; who was asked for and is not there is named. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileNames } from "../../src/bulk/index.ts";
import { done, ecmWith, ends, makePlanFile, refused, summaryOf, temporaryHome } from "../kit.ts";
import { startSandbox } from "../support/sandbox.ts";

const cities = { ada: "Oslo", bob: "Rome" };
const keyOf = (name: string) => `${name}@example.com`;
const contacts = Object.entries(cities).map(([name, City]) => ({ key: keyOf(name), fields: { City } }));
const start = () => startSandbox({ contents: { lists: ["Leads"], contacts } });

const comma = (what: string) => `A comma does not separate ${what}s: repeat the flag for each of "a", "b"`;

it.each([
  ["contact update a@x.org --key b@x.org", 2, "For a new key: ecm contact move a@x.org b@x.org"],
  ["contact mutate ada@example.com --add-tag a,b", 5, comma("tag")],
  ["contact mutate ada@example.com --add-list 'a; b'", 5, comma("list")],
  ["contact create --key cy@example.com --tag a,b", 5, comma("tag")],
])("ecm %s is answered with what was meant", async (line, code, meant) => {
  const { ecm } = await start();
  await refused(ecm(line), code, meant);
});

const two = "contact search --key Ada@Example.com --key nobody@example.com";
it("a key that nobody has is named by contact search, whatever it shows", async () => {
  const { ecm } = await start();
  const said = "Not found: nobody@example.com";
  for (const flags of ["", "--all", "--json", "-o id", "--columns City"]) {
    const found = await ends(ecm(`${two} ${flags}`), 0, `${said}\n`);
    const failed = await ends(ecm(`${two} ${flags} --fail-missing`), 5, said);
    expect(failed.stdout).toBe(found.stdout);
    expect((await ecm(`${two} ${flags} -q`)).stderr).toBe("");
  }
});

it("keys are not said to be missing where not all was read, or somebody has them", async () => {
  const { ecm } = await start();
  for (const flags of ["--limit 1", "--page 1", "--count", "--source _id"])
    expect((await ecm(`${two} ${flags}`)).stderr).not.toContain("Not found");
  await done(ecm("contact search --key ada@example.com --key bob@example.com --fail-missing"));
  expect((await ecm(`${two} --source _id --fail-missing`)).code).toBe(2);
  expect((await ecm(`${two} --source _id,key --fail-missing`)).code).toBe(5);
  expect((await ecm(`${two} --page 1 --fail-missing`)).code).toBe(2);
  const many = Array.from({ length: 12 }, (_, index) => `--key no${index}@example.com`).join(" ");
  const { stderr } = await ecm(`${two} ${many}`);
  expect(stderr).toMatch(/^Not found: nobody@example\.com, (?:no\d@example\.com, ){9}and 3 more$/m);
});

it.each(["--status inactive", "--where 'City == \"Nowhere\"'", "--text nowhere"])(
  "a key that somebody has is not missing where %s leaves the contact out",
  async (condition) => {
    const { ecm } = await start();
    await refused(ecm(`${two} ${condition} --fail-missing -o id`), 5, "Not found: nobody@example.com\n");
    const { stderr } = await ecm(`contact search --key ada@example.com ${condition} --fail-missing`);
    expect(stderr).not.toContain("Not found");
  },
);

it("a deletion of one asks with its key, and prints no run of nobody", async () => {
  const { ecm } = await start();
  const quiet = await refused(ecm("contact delete nobody@example.com --yes -q"), 5);
  const loud = await refused(ecm("contact delete nobody@example.com --yes"), 5);
  expect(loud.replace(/^rate-limit:.*\n/m, "")).toBe(quiet);
  const answered = (answer: string) => {
    const typed = Object.entries({ "Permanently delete ada@example.com?": `${answer}\r` });
    return ecm("contact delete ada@example.com", { terminalColumns: 120, typed, env: { NO_COLOR: "1" } });
  };
  expect(await refused(answered("n"), 1)).not.toMatch(/[▕▏█░]|\d %/);
  await done(answered("y"));
});

it("a redacted plan of contacts that no line names numbers them", async () => {
  const service = await start();
  const chosen = await makePlanFile(service, ["contact", "mutate", "--all", "--set", "City=X"]);
  const shown = await done(service.ecm(`plan show ${chosen.file} --redact`));
  expect(shown).toMatch(/#1 .*\n.*#2 /);
  expect(shown).not.toMatch(/example\.com|Oslo/);
});

it("doctor takes the sandbox for an account where nobody has logged in", async () => {
  const ecm = ecmWith(await temporaryHome());
  expect((await ecm("doctor")).code).toBe(1);
  await ecm("--profile sandbox lists create Leads");
  expect(await done(ecm("doctor"))).toContain("--profile sandbox");
});

it("a deletion whose outcome nobody knows is marked in runs show --changes", async () => {
  const { ecm, env } = await start();
  const both = "contact delete ada@example.com bob@example.com --yes --concurrency 1";
  const { run } = await summaryOf(ecm, both);
  const journal = join(env.ECM_STATE_DIR!, "runs", run!, fileNames.journal);
  const lines = (await readFile(journal, "utf8")).split("\n");
  const last = lines.findLastIndex((line) => line.includes('"done"'));
  await writeFile(journal, `${lines.slice(0, last).join("\n")}\n`);
  const shown = await done(ecm(`runs show ${run} --changes -o ndjson`));
  const marked = '"code":"unproven","message":"it is unknown whether this was applied"';
  expect(shown).toMatch(new RegExp(`^.*"code":null,"message":null,.*\n.*${marked},.*\n$`));
});

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
    const isNone = /^error: There is no command "ecm .*"\nhint: Use: /;
    await refused(ecmWith(await temporaryHome())(`${line} ada@example.com`), 2, isNone, meant);
  });
});
