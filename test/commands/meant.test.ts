/** What was typed for something else leads there, and who was asked for and is not there is named. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileNames } from "../../src/bulk/index.ts";
import { makePlanFile } from "../bulk/plan-kit.ts";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const contents = {
  fields: ["City"],
  lists: ["Leads"],
  contacts: [
    { key: "ada@example.com", fields: { City: "Oslo" } },
    { key: "bob@example.com", fields: { City: "Rome" } },
  ],
};
const start = () => startSandbox({ contents });

it("a new key for a contact is a move", async () => {
  const { ecm } = await start();
  const { code, stderr } = await ecm(["contact", "update", "ada@example.com", "--key", "new@example.com"]);
  expect(code).toBe(2);
  expect(stderr).toContain("For a new key: ecm contact move ada@example.com new@example.com");
});

it.each([
  ["tag", ["contact", "mutate", "ada@example.com", "--add-tag", "a,b"]],
  ["list", ["contact", "mutate", "ada@example.com", "--add-list", "a; b"]],
  ["tag", ["contact", "create", "--key", "cy@example.com", "--tag", "a,b"]],
])("several %ss in one flag: it is to be repeated", async (what, args) => {
  const { ecm } = await start();
  const { code, stderr } = await ecm(args);
  expect(code).toBe(5);
  expect(stderr).toContain(`A comma does not separate ${what}s: repeat the flag for each of "a", "b"`);
});

const two = ["contact", "search", "--key", "Ada@Example.com", "--key", "nobody@example.com"];
it.each([[[]], [["--all"]], [["--json"]], [["-o", "id"]], [["--columns", "City"]]])(
  "a key that nobody has is named by contact search with %j",
  async (flags) => {
    const { ecm } = await start();
    const found = await ecm([...two, ...flags]);
    expect(found.code).toBe(0);
    expect(found.stderr).toContain("Not found: nobody@example.com\n");
    const failed = await ecm([...two, ...flags, "--fail-missing"]);
    expect(failed.code).toBe(5);
    expect(failed.stdout).toBe(found.stdout);
    expect(failed.stderr).toContain("Not found: nobody@example.com");
    expect((await ecm([...two, ...flags, "-q"])).stderr).toBe("");
  },
);

it("keys are not said to be missing where not all was read, or somebody has them", async () => {
  const { ecm } = await start();
  for (const flags of [["--limit", "1"], ["--page", "1"], ["--count"], ["--source", "_id"]])
    expect((await ecm([...two, ...flags])).stderr).not.toContain("Not found");
  const all = ["contact", "search", "--key", "ada@example.com", "--key", "bob@example.com", "--fail-missing"];
  expect((await ecm(all)).code).toBe(0);
  expect((await ecm([...two, "--source", "_id", "--fail-missing"])).code).toBe(2);
  expect((await ecm([...two, "--source", "_id,key", "--fail-missing"])).code).toBe(5);
  expect((await ecm([...two, "--page", "1", "--fail-missing"])).code).toBe(2);
  const many = Array.from({ length: 12 }, (_, index) => ["--key", `no${index}@example.com`]).flat();
  const { stderr } = await ecm([...two, ...many]);
  expect(stderr).toMatch(/^Not found: nobody@example\.com, (?:no\d@example\.com, ){9}and 3 more$/m);
});

it("a deletion of one asks with its key, and prints no run of nobody", async () => {
  const { ecm } = await start();
  const nobody = await ecm(["contact", "delete", "nobody@example.com", "--yes", "-q"]);
  expect(nobody.code).toBe(5);
  const loud = await ecm(["contact", "delete", "nobody@example.com", "--yes"]);
  expect(loud.stderr.replace(/^rate-limit:.*\n/m, "")).toBe(nobody.stderr);
  const env = { NO_COLOR: "1" };
  const no = await ecm(["contact", "delete", "ada@example.com"], {
    terminalColumns: 120,
    typed: [["Permanently delete ada@example.com?", "n\r"]],
    env,
  });
  expect(no.code).toBe(1);
  expect(no.stderr).not.toMatch(/[▕▏█░]|\d %/);
  const yes = await ecm(["contact", "delete", "ada@example.com"], {
    terminalColumns: 120,
    typed: [["Permanently delete ada@example.com?", "y\r"]],
    env,
  });
  expect(yes.code, yes.stderr).toBe(0);
});

it("a redacted plan of contacts that no line names numbers them", async () => {
  const service = await start();
  const chosen = await makePlanFile(service, ["contact", "mutate", "--all", "--set", "City=X"]);
  const shown = await service.ecm(["plan", "show", chosen.file, "--redact"]);
  expect(shown.stdout).toMatch(/#1 .*\n.*#2 /);
  expect(shown.stdout).not.toMatch(/example\.com|Oslo/);
});

it("doctor takes the sandbox for an account where nobody has logged in", async () => {
  const ecm = ecmWith(await temporaryHome());
  expect((await ecm(["doctor"])).code).toBe(1);
  await ecm(["--profile", "sandbox", "lists", "create", "Leads"]);
  const { code, stdout } = await ecm(["doctor"]);
  expect(code).toBe(0);
  expect(stdout).toContain("--profile sandbox");
});

it("a deletion whose outcome nobody knows is marked in runs show --changes", async () => {
  const service = await start();
  const args = ["contact", "delete", "ada@example.com", "bob@example.com", "--yes", "--json"];
  const { run } = JSON.parse((await service.ecm([...args, "--concurrency", "1"])).stdout);
  const journal = join(service.env.ECM_STATE_DIR!, "runs", run, fileNames.journal);
  const lines = (await readFile(journal, "utf8")).split("\n");
  const done = lines.findLastIndex((line) => line.includes('"done"'));
  await writeFile(journal, `${lines.slice(0, done).join("\n")}\n`);
  const { stdout } = await service.ecm(["runs", "show", run, "--changes", "-o", "ndjson"]);
  const shown = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const unproven = ["unproven", "it is unknown whether this was applied"];
  expect(shown.map(({ code, message }) => [code, message])).toEqual([[null, null], unproven]);
});
