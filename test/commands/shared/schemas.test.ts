/** `ecm commands --schemas`, held against what commands really print. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { ecmWith, temporaryFolder, temporaryHome } from "../../support/ecm.ts";
import { startSandbox } from "../../support/sandbox.ts";

const names = [
  "summary",
  "planLine",
  "planHead",
  "planCreation",
  "planEnd",
  "error",
  "part",
  "limits",
] as const;
type Name = (typeof names)[number];

/** Holds a value against a published schema, and fails for a member that the schema does not name. */
async function schemas(): Promise<(name: Name, value: unknown) => void> {
  const { stdout, code } = await ecmWith(await temporaryHome())(["commands", "--schemas"]);
  expect(code).toBe(0);
  const published = JSON.parse(stdout);
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    formats: { "date-time": true },
  });
  expect(ajv.validateSchema(published)).toBe(true);
  const { $defs } = JSON.parse(stdout, (_key, value) =>
    value?.properties && value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  );
  const checks = Object.fromEntries(
    Object.entries($defs).map(([name, each]) => [name, ajv.compile(each as object)]),
  );
  expect(Object.keys(checks)).toEqual(names);
  return (name, value) => {
    const check = checks[name]!;
    expect(check(value), `${name} ${JSON.stringify(value)}: ${JSON.stringify(check.errors)}`).toBe(true);
  };
}

it("describes the summaries, plan lines, errors and limits that commands print", {
  tags: "slow",
}, async () => {
  const follow = await schemas();
  const { ecm } = await startSandbox();
  const folder = await temporaryFolder();
  const plan = join(folder, "plan.ndjson");
  const stdin = "Email,First Name,City\nada@example.com,Ada,x\nADA@example.com,A,x\nwrong,B,x\n";
  const lines = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  const actions = new Set<string>();
  const usedNames = new Set<Name>();
  const bulk = async (...args: string[]) => {
    const { stdout } = await ecm([...args, "--json", "--plan", plan, "--yes"], { stdin });
    follow("summary", JSON.parse(stdout));
    const kinds = new Set<Name>();
    for (const line of lines(await readFile(plan, "utf8"))) {
      const kind = line.plan ? "planHead" : line.create ? "planCreation" : line.end ? "planEnd" : "planLine";
      follow(kind, line);
      kinds.add(kind);
      usedNames.add(kind);
      if (line.action) actions.add(line.action);
    }
    expect([...kinds]).toEqual(expect.arrayContaining(["planHead", "planEnd"]));
    return JSON.parse(stdout);
  };
  const rows = ["import", "-", "--map", "City=ignore", "--list", "News", "--create-missing"];
  await bulk(...rows, "--dry-run");
  await bulk(...rows);
  await bulk("import", "-", "--map", "City=ignore", "--tag", "VIP", "--create-missing");
  await bulk("contact", "mutate", "--tag", "VIP", "--set", "First Name=Augusta");
  await bulk("contact", "mutate", "--all", "--add-tag", "VIP");
  const synced = await bulk(
    "lists",
    "sync",
    "News",
    "-",
    "--map",
    "First Name=ignore",
    "--map",
    "City=ignore",
  );
  expect(synced.members).toBeDefined();
  await bulk("contact", "unsubscribe", "--tag", "VIP");
  expect((await bulk("contact", "delete", "--all")).backup).toBeDefined();
  expect([...actions].sort()).toEqual(["create", "delete", "reject", "skip", "unchanged", "update"]);
  expect([...usedNames].sort()).toEqual(["planCreation", "planEnd", "planHead", "planLine"]);
  const undone = await ecm(["runs", "undo", "last", "--json", "--yes"]);
  follow("summary", JSON.parse(undone.stdout));
  const stopped = await ecm(
    [
      "import",
      "-",
      "--map",
      "City=ignore",
      "--tag",
      "New",
      "--create-missing",
      "--max-requests",
      "1",
      "--json",
    ],
    { stdin },
  );
  expect(stopped.code).toBe(7);
  follow("summary", JSON.parse(stopped.stdout));
  const output = await ecm(["runs", "show", "last", "--changes"]);
  for (const line of output.stdout === "" ? [] : lines(output.stdout)) follow("planLine", line);
  follow("limits", JSON.parse((await ecm(["limits", "--json"])).stdout));
  follow(
    "limits",
    JSON.parse((await ecmWith(await temporaryHome())(["limits", "--json", "--profile", "sandbox"])).stdout),
  );
});

it("describes the errors of the command line and of the service", { tags: "slow" }, async () => {
  const follow = await schemas();
  const { ecm } = await startSandbox();
  const failing = [
    ["contact", "get", "nobody@example.com"],
    ["contact", "create", "--key", "wrong"],
    ["contact", "create", "--key", "a@example.com", "--set", "Nothing=1"],
    ["contact", "search", "--filter", "NOTHING EQ 1"],
    ["lists", "show", "Nothing"],
    ["contact", "delete", "--all"],
    ["nonsense"],
  ];
  for (const args of failing) {
    const { code, stderr } = await ecm([...args, "--json"]);
    expect(code, args.join(" ")).not.toBe(0);
    follow("error", JSON.parse(stderr.trimEnd().split("\n").at(-1)!));
  }
});

it("are named by the commands whose outputs follow them", async () => {
  const ecm = ecmWith(await temporaryHome());
  const describeCommand = async (...path: string[]) =>
    JSON.parse((await ecm(["commands", ...path, "--json"])).stdout).schemas;
  expect(await describeCommand("import")).toEqual({
    bulkRun: "summary",
    plan: "planLine",
    planHead: "planHead",
    planCreation: "planCreation",
    planEnd: "planEnd",
    error: "error",
  });
  expect(await describeCommand("limits")).toEqual({ stdout: "limits", error: "error" });
  expect((await ecm(["commands", "import", "--schemas"])).code).toBe(2);
});
