/** What is typed beside a flag's name: nothing of it is taken for something else, and nothing is dropped in silence. */
import { describe, expect, it } from "vitest";
import { done, ecmWith, inputFile, refused, startSandbox, temporaryHome } from "../kit.ts";

/** Without an account. */
const ecmAlone = async (line: string) => ecmWith(await temporaryHome())(line);

/** Commands that are refused before they send anything. */
async function refusedUnsent(lines: string[], said: string | RegExp): Promise<void> {
  const { ecm, sandbox } = await startSandbox();
  for (const line of lines) await refused(ecm(line), 2, said);
  expect(sandbox.admin.requests()).toEqual([]);
}

describe("a flag of the program behind a command", () => {
  it("--version does not end a command that writes with the program's version", async () => {
    await refused(ecmAlone("contact mutate ada@example.com --version 3 --set 'First Name=A'"), 2);
    await refused(ecmAlone("lists -V"), 2);
  });

  it.each(["--version", "--json -V", "-q --version"])("%s without a command prints it", async (line) => {
    const { stderr, ...result } = await ecmAlone(line);
    expect(result).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(stderr).toBe("");
  });
});

describe("a flag where a value is due", () => {
  it("is no value, and nothing is sent", async () => {
    const file = await inputFile("Email\nada@example.com\n");
    const lines = [
      `import ${file} --list --dry-run --create-missing`,
      `import ${file} --create-missing --tag -vip`,
      `import ${file} --create-missing --tag --`,
      "lists list --profile --json",
      "contact mutate p1@example.com --add-tag --yes vip",
      "contact create --key --help",
    ];
    await refusedUnsent(lines, "has no value");
  });

  it("can be said with =", async () => {
    const { ecm } = await startSandbox();
    const file = await inputFile("Email\nada@example.com\n");
    await done(ecm(`import ${file} --create-missing --list=--dry-run`));
    expect(await done(ecm("lists list -o tsv --columns name"))).toBe("name\n--dry-run\n");
  });
});

describe("a flag given twice", () => {
  it.each([
    ["contact search --where true --where false", /^hint: .*&&/m],
    ["contact delete --status active --status inactive --yes", /^hint: .*once/m],
    ["contact unsubscribe --keys a.txt --keys b.txt --yes", /^hint: .*once/m],
    ["lists list --profile a -p b", /^hint: .*once/m],
    ["import a.csv --map Ort=City --map Ort=ignore", /^hint: .*one of them/m],
  ])("with different values is refused: ecm %s", async (line, hint) => {
    await refused(ecmAlone(line), 2, hint);
  });

  it("with the same value, or one that can be repeated, is taken", async () => {
    const { ecm } = await startSandbox();
    await done(ecm("contact search --limit 1 --limit 1 --no-color --no-color -o csv -o id"));
    await done(ecm("contact search --key a@example.com --key b@example.com -o id"));
  });
});

describe("the hint of a word or flag that does not exist", () => {
  it.each([
    ["contact search --limt 3", /^hint: .*--limit/m],
    ["lists list --api-key abc", /^hint: .*ECM_API_KEY/m],
    ["lists create My List", /^hint: .*quotes/m],
  ])("helps: ecm %s", async (line, hint) => {
    await refused(ecmAlone(line), 2, hint);
  });

  it.each([
    "contact resubscribe a",
    "contact re-subscribe a",
    "contact unsubscribe --flie x",
    "lists unmerge",
    "import x.csv --include-suppresed",
    "import x.csv --include-unsubscribe",
    "contact create --key x --include-suppress",
  ])("leads neither to the opposite nor to a flag that overrides consent: ecm %s", async (line) => {
    const said = await refused(ecmAlone(line), 2, "error: ");
    expect(said).not.toMatch(/Did you mean (?:unsubscribe|merge|--profile)/);
    expect(said).not.toMatch(/--include-(?:suppressed|unsubscribed)/);
  });
});

describe("an empty word, such as a variable that is not set", () => {
  it("is refused before a request", async () => {
    const lines = [
      "contact search --key ''",
      "contact search --list ''",
      "contact search --columns ''",
      "contact search --status ''",
      "contact mutate ada@example.com --add-tag ''",
      "contact delete --list Leads --tag '' --yes",
      "export --tag ''",
      "lists merge Leads --into ''",
      "structure update --label ''",
      "import ''",
      "--structure '' lists list",
      "--base-url '' lists list",
    ];
    await refusedUnsent(lines, /is empty.*\n.*not set/);
  });

  it("is passed on to another program", async () => {
    const ecm = ecmWith({ ...(await temporaryHome()), PATH: process.env.PATH! });
    const program = `${process.execPath} -e process.exit(process.argv.length)`;
    expect((await ecm(`sandbox exec -- ${program} '' ''`)).code).toBe(3);
  });
});

it("a bulk change without a change costs no request", async () => {
  const lines = ["--list Leads", "ada@example.com --tag vip", "a@example.com b@example.com"];
  const mutations = lines.map((flags) => `contact mutate ${flags}`);
  await refusedUnsent(mutations, "No change given");
});

it("an API key that was typed where none belongs is in no message, nor is its beginning", async () => {
  const key = `ecm_us_${"Ab3".repeat(14)}x`;
  const { ecm } = await startSandbox();
  for (const line of [
    "import {key}",
    "contact search --where {key}",
    "contact get {key}",
    "contact get --apikey {key}",
    "contact {key}",
    "contact search --api-key={key}",
    "auth login {key}",
    "lists list --token {key}",
    "lists list --api-key {key}",
    "lists list -k{key}",
    "lists list -p{key}",
    "lists list '--profile= {key} '",
    "lists list --{key}",
    "lists 'X-API-Key: {key}'",
    "lists sync {key} missing.csv",
    "contact mutate --list {key} --set 'First Name=x'",
    "-v contact search --list {key}",
    "export --output-file /nowhere/{key}",
    "ECM_API_KEY={key} lists list",
    "--{key}",
    "{key}",
    "import --token=hunter2hunter2",
  ]) {
    for (const more of ["", " --json"]) {
      const { stdout, stderr } = await ecm(line.replace("{key}", key) + more);
      for (const secret of [key.slice(0, 12), "hunter2hunter2"])
        expect(stdout + stderr, line).not.toContain(secret);
      expect(stderr, line).not.toBe("");
    }
  }
});
