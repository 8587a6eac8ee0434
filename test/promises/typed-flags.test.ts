/**
 * What is typed beside a flag's name: nothing of it is taken for
 * something else, and nothing is dropped in silence.
 */
import { describe, expect, it } from "vitest";
import { inputFile } from "../bulk/kit.ts";
import { ecmWith, type Result, temporaryHome } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

function findLine({ stderr }: Result, title: "error" | "hint"): string {
  return stderr.split("\n").find((line) => line.startsWith(`${title}: `)) ?? "";
}

describe("a flag of the program behind a command", () => {
  it("--version does not end a command that writes with the program's version", async () => {
    const { ecm, sandbox } = await startSandbox();
    sandbox.admin.seed({ contacts: [{ key: "ada@example.com" }] });
    const changed = await ecm([
      "contact",
      "mutate",
      "ada@example.com",
      "--version",
      "3",
      "--set",
      "First Name=A",
    ]);
    expect(changed).toMatchObject({ code: 2, stdout: "" });
    expect(findLine(changed, "hint")).toContain("--if-version");
    expect(await ecm(["lists", "-V"])).toMatchObject({ code: 2, stdout: "" });
  });

  it.each([[["--version"]], [["--json", "-V"]], [["-q", "--version"]]])(
    "%j without a command prints it",
    async (args) => {
      const { code, stdout, stderr } = await ecmWith(await temporaryHome())(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    },
  );
});

describe("a flag where a value is due", () => {
  it.each([
    [["import", "FILE", "--list", "--dry-run", "--create-missing"]],
    [["import", "FILE", "--create-missing", "--tag", "-vip"]],
    [["import", "FILE", "--create-missing", "--tag", "--"]],
    [["lists", "list", "--profile", "--json"]],
    [["contact", "mutate", "p1@example.com", "--add-tag", "--yes", "vip"]],
    [["contact", "create", "--key", "--help"]],
  ])("is no value, and nothing is sent: ecm %j", async (args) => {
    const { ecm, sandbox } = await startSandbox();
    const file = await inputFile("Email\nada@example.com\n");
    const result = await ecm(args.map((word) => (word === "FILE" ? file : word)));
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain("has no value");
    expect(sandbox.admin.requests()).toEqual([]);
  });

  it("can be said with =", async () => {
    const { ecm } = await startSandbox();
    const file = await inputFile("Email\nada@example.com\n");
    const result = await ecm(["import", file, "--create-missing", "--list=--dry-run"]);
    expect(result.code, result.stderr).toBe(0);
    expect((await ecm(["lists", "list", "-o", "tsv", "--columns", "name"])).stdout).toBe("name\n--dry-run\n");
  });
});

describe("a flag given twice", () => {
  it.each([
    [["contact", "search", "--where", "true", "--where", "false"], "&&"],
    [["contact", "delete", "--status", "active", "--status", "inactive", "--yes"], "once"],
    [["contact", "unsubscribe", "--keys", "a.txt", "--keys", "b.txt", "--yes"], "once"],
    [["lists", "list", "--profile", "a", "-p", "b"], "once"],
    [["import", "a.csv", "--wait", "--no-wait"], "Leave out"],
    [["import", "a.csv", "--no-wait", "--wait"], "Leave out"],
  ])("with different values is refused: ecm %j", async (args, hint) => {
    const result = await ecmWith(await temporaryHome())(args);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(findLine(result, "hint")).toContain(hint);
  });

  it("with the same value, or one that can be repeated, is taken", async () => {
    const { ecm } = await startSandbox();
    const twice = ["--limit", "1", "--limit", "1", "--no-pager", "--no-pager", "-o", "csv", "-o", "id"];
    expect((await ecm(["contact", "search", ...twice])).code).toBe(0);
    const keys = ["--key", "a@example.com", "--key", "b@example.com"];
    expect((await ecm(["contact", "search", ...keys, "-o", "id"])).code).toBe(0);
  });
});

describe("the hint of a word or flag that does not exist", () => {
  it.each([
    ["contact search --limt 3", "--limit"],
    ["lists list --api-key abc", "ECM_API_KEY"],
    ["lists create My List", "quotes"],
  ])("helps: ecm %s", async (args, hint) => {
    const result = await ecmWith(await temporaryHome())(args.split(" "));
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(findLine(result, "hint")).toContain(hint);
  });

  it.each([
    "contact resubscribe a",
    "contact re-subscribe a",
    "contact unsubscribe --flie x",
    "lists unmerge",
  ])("does not lead to the opposite: ecm %s", async (args) => {
    const { stderr } = await ecmWith(await temporaryHome())(args.split(" "));
    expect(stderr).not.toMatch(/Did you mean (?:unsubscribe|merge|--profile)/);
  });

  it("never leads to a flag that overrides consent", async () => {
    const ecm = ecmWith(await temporaryHome());
    for (const args of [
      ["import", "x.csv", "--include-suppresed"],
      ["import", "x.csv", "--include-unsubscribe"],
      ["contact", "create", "--key", "x", "--include-suppress"],
    ]) {
      expect((await ecm(args)).stderr).not.toMatch(/--include-(?:suppressed|unsubscribed)/);
    }
  });
});

describe("an empty word, such as a variable that is not set", () => {
  it.each([
    ["contact", "search", "--key", ""],
    ["contact", "search", "--list", ""],
    ["contact", "search", "--columns", ""],
    ["contact", "search", "--status", ""],
    ["contact", "mutate", "ada@example.com", "--add-tag", ""],
    ["contact", "delete", "--list", "Leads", "--tag", "", "--yes"],
    ["export", "--tag", ""],
    ["lists", "merge", "Leads", "--into", ""],
    ["structure", "update", "--label", ""],
    ["import", ""],
    ["--structure", "", "lists", "list"],
    ["--base-url", "", "lists", "list"],
  ])("is refused before a request: ecm %s %s %s %s", async (...args) => {
    const { ecm, sandbox } = await startSandbox();
    const result = await ecm(args.filter((word) => word !== undefined));
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain("is empty");
    expect(result.stderr).toContain("not set");
    expect(sandbox.admin.requests()).toEqual([]);
  });

  it("is passed on to another program", async () => {
    const ecm = ecmWith(await temporaryHome());
    const env = { PATH: process.env.PATH! };
    const args = [
      "sandbox",
      "exec",
      "--",
      process.execPath,
      "-e",
      "process.exit(process.argv.length)",
      "",
      "",
    ];
    expect((await ecm(args, { env })).code).toBe(3);
    const withoutSeparator = await ecm(["sandbox", "exec", "--temporary", "ecm", "lists", "list", "--json"]);
    expect(withoutSeparator).toMatchObject({ code: 2, stdout: "" });
    expect(withoutSeparator.stderr).toContain("Put -- before the command");
  });
});

describe("what can be seen to be wrong without the account", () => {
  it("costs no request: a bulk change without a change", async () => {
    const { ecm, sandbox } = await startSandbox();
    for (const args of [
      ["--list", "Leads"],
      ["ada@example.com", "--tag", "vip"],
      ["a@example.com", "b@example.com"],
    ]) {
      const result = await ecm(["contact", "mutate", ...args]);
      expect(result.code).toBe(2);
      expect(result.stderr).toContain("No change given");
    }
    expect(sandbox.admin.requests()).toEqual([]);
  });

  it("names a tag that is added and removed as it was typed", async () => {
    const { ecm, sandbox } = await startSandbox();
    sandbox.admin.seed({ tags: ["vip"], contacts: [{ key: "ada@example.com" }] });
    const result = await ecm([
      "contact",
      "mutate",
      "ada@example.com",
      "--add-tag",
      "VIP",
      "--remove-tag",
      "vip",
    ]);
    expect(result.code).toBe(2);
    expect(findLine(result, "error")).toContain('"vip"');
    expect(findLine(result, "hint")).toContain("--remove-tag");
  });
});

describe("an API key that was typed where none belongs", () => {
  const key = `ecm_us_${"Ab3".repeat(14)}x`;
  it.each([
    [["import", key]],
    [["contact", "search", "--where", key]],
    [["contact", "get", key]],
    [["lists", "list", "--token", key]],
    [["lists", "sync", key, "missing.csv"]],
    [["contact", "mutate", "--list", key, "--set", "First Name=x"]],
    [["-v", "contact", "search", "--list", key]],
    [["export", "--output-file", `/nowhere/${key}`]],
  ])("is in no message, nor is its beginning: ecm %j", async (args) => {
    const { ecm } = await startSandbox();
    for (const more of [[], ["--json"]]) {
      const { stdout, stderr } = await ecm([...args, ...more]);
      expect(stdout + stderr).not.toContain(key.slice(0, 12));
      expect(stderr).not.toBe("");
    }
  });
});
