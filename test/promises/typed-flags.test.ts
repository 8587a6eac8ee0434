/** What is typed beside a flag's name: nothing of it is taken for something else, and nothing is dropped in silence. */
import { describe, expect, it } from "vitest";
import { inputFile } from "../bulk/kit.ts";
import { done, ecmWith, type Result, temporaryHome } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const refused = { code: 2, stdout: "" };

function findLine({ stderr }: Result, title: "error" | "hint"): string {
  return stderr.split("\n").find((line) => line.startsWith(`${title}: `)) ?? "";
}

/** Without an account. */
const ecmAlone = async (line: string) => ecmWith(await temporaryHome())(line);

describe("a flag of the program behind a command", () => {
  it("--version does not end a command that writes with the program's version", async () => {
    const changed = await ecmAlone("contact mutate ada@example.com --version 3 --set 'First Name=A'");
    expect(changed).toMatchObject(refused);
    expect(await ecmAlone("lists -V")).toMatchObject(refused);
  });

  it.each(["--version", "--json -V", "-q --version"])("%s without a command prints it", async (line) => {
    const { code, stdout, stderr } = await ecmAlone(line);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("a flag where a value is due", () => {
  it.each([
    "import FILE --list --dry-run --create-missing",
    "import FILE --create-missing --tag -vip",
    "import FILE --create-missing --tag --",
    "lists list --profile --json",
    "contact mutate p1@example.com --add-tag --yes vip",
    "contact create --key --help",
  ])("is no value, and nothing is sent: ecm %s", async (line) => {
    const { ecm, sandbox } = await startSandbox();
    const result = await ecm(line.replace("FILE", await inputFile("Email\nada@example.com\n")));
    expect(result).toMatchObject(refused);
    expect(result.stderr).toContain("has no value");
    expect(sandbox.admin.requests()).toEqual([]);
  });

  it("can be said with =", async () => {
    const { ecm } = await startSandbox();
    const file = await inputFile("Email\nada@example.com\n");
    await done(ecm(`import ${file} --create-missing --list=--dry-run`));
    expect((await ecm("lists list -o tsv --columns name")).stdout).toBe("name\n--dry-run\n");
  });
});

describe("a flag given twice", () => {
  it.each([
    ["contact search --where true --where false", "&&"],
    ["contact delete --status active --status inactive --yes", "once"],
    ["contact unsubscribe --keys a.txt --keys b.txt --yes", "once"],
    ["lists list --profile a -p b", "once"],
  ])("with different values is refused: ecm %s", async (line, hint) => {
    const result = await ecmAlone(line);
    expect(result).toMatchObject(refused);
    expect(findLine(result, "hint")).toContain(hint);
  });

  it("with the same value, or one that can be repeated, is taken", async () => {
    const { ecm } = await startSandbox();
    for (const flags of [
      "--limit 1 --limit 1 --no-color --no-color -o csv -o id",
      "--key a@example.com --key b@example.com -o id",
    ]) {
      await done(ecm(`contact search ${flags}`));
    }
  });
});

describe("the hint of a word or flag that does not exist", () => {
  it.each([
    ["contact search --limt 3", "--limit"],
    ["lists list --api-key abc", "ECM_API_KEY"],
    ["lists create My List", "quotes"],
  ])("helps: ecm %s", async (line, hint) => {
    const result = await ecmAlone(line);
    expect(result).toMatchObject(refused);
    expect(findLine(result, "hint")).toContain(hint);
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
    const { stderr } = await ecmAlone(line);
    expect(stderr).toContain("error: ");
    expect(stderr).not.toMatch(/Did you mean (?:unsubscribe|merge|--profile)/);
    expect(stderr).not.toMatch(/--include-(?:suppressed|unsubscribed)/);
  });
});

describe("an empty word, such as a variable that is not set", () => {
  it.each([
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
  ])("is refused before a request: ecm %s", async (line) => {
    const { ecm, sandbox } = await startSandbox();
    const result = await ecm(line);
    expect(result).toMatchObject(refused);
    expect(result.stderr).toMatch(/is empty.*\n.*not set/);
    expect(sandbox.admin.requests()).toEqual([]);
  });

  it("is passed on to another program", async () => {
    const ecm = ecmWith({ ...(await temporaryHome()), PATH: process.env.PATH! });
    const program = `${process.execPath} -e process.exit(process.argv.length)`;
    expect((await ecm(`sandbox exec -- ${program} '' ''`)).code).toBe(3);
  });
});

describe("what can be seen to be wrong without the account", () => {
  it.each(["--list Leads", "ada@example.com --tag vip", "a@example.com b@example.com"])(
    "costs no request: a bulk change without a change: contact mutate %s",
    async (line) => {
      const { ecm, sandbox } = await startSandbox();
      const result = await ecm(`contact mutate ${line}`);
      expect(result.code).toBe(2);
      expect(result.stderr).toContain("No change given");
      expect(sandbox.admin.requests()).toEqual([]);
    },
  );

  it("names a tag that is added and removed as it was typed", async () => {
    const { ecm } = await startSandbox({
      contents: { tags: ["vip"], contacts: [{ key: "ada@example.com" }] },
    });
    const result = await ecm("contact mutate ada@example.com --add-tag VIP --remove-tag vip");
    expect(result.code).toBe(2);
    expect(findLine(result, "error")).toContain('"vip"');
  });
});

describe("an API key that was typed where none belongs", () => {
  const key = `ecm_us_${"Ab3".repeat(14)}x`;
  it.each([
    "import KEY",
    "contact search --where KEY",
    "contact get KEY",
    "lists list --token KEY",
    "lists list --api-key KEY",
    "lists sync KEY missing.csv",
    "contact mutate --list KEY --set 'First Name=x'",
    "-v contact search --list KEY",
    "export --output-file /nowhere/KEY",
  ])("is in no message, nor is its beginning: ecm %s", async (line) => {
    const { ecm } = await startSandbox();
    for (const more of ["", " --json"]) {
      const { stdout, stderr } = await ecm(line.replace("KEY", key) + more);
      expect(stdout + stderr).not.toContain(key.slice(0, 12));
      expect(stderr).not.toBe("");
    }
  });
});
