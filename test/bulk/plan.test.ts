/** Plans: who and what, in input order, the same as what is done. */
import { readdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PlanLine } from "../../src/bulk/plan/plan-line.ts";
import { interruptedError } from "../../src/errors.ts";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { testKey } from "../support/test-send.ts";
import { contactLines, inputFile, parseSummary } from "./kit.ts";

async function account() {
  const service = await startSandbox();
  const { ecm } = service;
  await ecm(["structure", "field", "add", "City"]);
  await ecm(["structure", "tag", "add", "VIP"]);
  await ecm(["lists", "create", "Customers"]);
  for (const [key, city] of [
    ["ada@example.com", "Oslo"],
    ["bob@example.com", "Bergen"],
  ]) {
    await ecm(["contact", "create", "--key", key!, "--set", `City=${city}`]);
  }
  const plan = join(await temporaryFolder(), "plan.ndjson");
  const lines = async (text?: string) => contactLines(text ?? (await readFile(plan, "utf8")));
  return { ...service, plan, lines };
}

const people = `Email,City,tags
ada@example.com,Bergen,VIP
nonsense,Oslo,
carl@example.com,Rome,VIP
bob@example.com,Bergen,
carl@example.com,Paris,
`;
const commandArgs = ["--list", "Customers", "--mode", "upsert"];

describe("--plan", () => {
  it("has a line for each row, in input order, with what changes before and after, by names", async () => {
    const { ecm, plan, lines } = await account();
    const path = await inputFile(people);
    const args = ["import", path, ...commandArgs, "--dry-run", "--json"];
    const bare = parseSummary(await ecm(args));
    const planned = parseSummary(await ecm([...args, "--plan", plan]));
    expect(planned).toEqual(bare);
    const [first, ...others] = await lines();
    expect(first).toEqual({
      line: 2,
      key: "ada@example.com",
      contactId: expect.stringMatching(/^[0-9a-f]{24}$/),
      action: "update",
      code: null,
      message: null,
      changes: [
        { what: "field", name: "City", before: "Oslo", after: "Bergen" },
        { what: "list", name: "Customers", before: false, after: true },
        { what: "tag", name: "VIP", before: false, after: true },
      ],
    });
    expect(others).toMatchObject([
      {
        line: 3,
        key: "nonsense",
        action: "reject",
        code: "key_syntax",
        message: expect.any(String),
        changes: [],
      },
      {
        line: 4,
        key: "carl@example.com",
        action: "create",
        changes: [
          { what: "field", name: "City", before: null, after: "Paris" },
          { what: "list", name: "Customers" },
          { what: "tag", name: "VIP" },
        ],
      },
      { line: 5, key: "bob@example.com", action: "update", changes: [{ what: "list", name: "Customers" }] },
      { line: 6, action: "skip", code: "duplicate", message: "the contact is on line 4 too", changes: [] },
    ]);
  });

  it("is the same with and without --dry-run, and costs no request more", async () => {
    const { ecm, plan, lines } = await account();
    const path = await inputFile(people);
    const args = ["import", path, ...commandArgs, "--json", "--plan", plan];
    const dry = parseSummary(await ecm([...args, "--dry-run"]));
    const before = await lines();
    const real = parseSummary(await ecm(args));
    expect(await lines()).toEqual(before);
    expect(real.requests.total).toBe(dry.estimate.requests);
    const again = await ecm(["import", path, ...commandArgs, "--fresh", "--plan", "-"]);
    const actions = (await lines(again.stdout)).map(({ action }) => action);
    expect(actions.join(" ")).toBe("unchanged reject unchanged unchanged skip");
  });

  it("is what runs show --changes says afterwards, with what the run made, without a request", async () => {
    const { ecm, plan, lines, sandbox } = await account();
    const path = await inputFile(people);
    await ecm(["import", path, "--list", "Spring fair", "--create-missing", "--plan", plan]);
    const planned = (await lines()).filter(({ action }) => action === "create" || action === "update");
    const before = sandbox.admin.requests().length;
    const { code, stdout } = await ecm(["runs", "show", "last", "--changes"]);
    expect(code).toBe(0);
    expect(sandbox.admin.requests().length).toBe(before);
    const done = await lines(stdout);
    expect(done[0]!.changes).toContainEqual({
      what: "list",
      name: "Spring fair",
      before: false,
      after: true,
    });
    const withId = (line: PlanLine) => ({ ...line, contactId: expect.stringMatching(/^[0-9a-f]{24}$/) });
    expect(done).toEqual(planned.map(withId));
    const at = { terminalColumns: 100, env: { NO_COLOR: "1" } };
    const output = await ecm(["runs", "show", "last", "--changes"], at);
    expect(output.stdout).toContain(
      "  ~ ada@example.com   City  Oslo → Bergen   + list Spring fair   + tag VIP\n",
    );
  });

  it("speaks of selections, deletions and members that go without a line", async () => {
    const { ecm, plan, lines } = await account();
    await ecm(["contact", "delete", "--where", 'City == "Oslo"', "--dry-run", "--plan", plan]);
    expect(await lines()).toMatchObject([
      { line: null, key: "ada@example.com", action: "delete", changes: [] },
    ]);
    const path = await inputFile("Email\nada@example.com\n");
    await ecm(["contact", "mutate", "--all", "-y", "--add-list", "Customers"]);
    const sync = ["lists", "sync", "Customers", path, "--plan", plan];
    const output = await ecm([...sync, "--dry-run"]);
    expect(output.code).toBe(2);
    expect(output.stderr).toContain("This would remove 1 of the 2 members");
    expect(await lines()).toMatchObject([
      { line: 2, action: "unchanged" },
      {
        line: null,
        key: "bob@example.com",
        action: "update",
        changes: [{ what: "list", name: "Customers", before: true, after: false }],
      },
    ]);
    expect((await ecm(sync)).code).toBe(2);
    await ecm([...sync, "--max-remove", "1"]);
    expect(await lines()).toMatchObject([{ line: 2 }, { line: null, key: "bob@example.com" }]);
  });

  it("speaks of a list that is duplicated or merged", async () => {
    const { ecm, plan, lines } = await account();
    await ecm(["contact", "mutate", "--all", "-y", "--add-list", "Customers"]);
    for (const commandArgs of [
      ["duplicate", "Customers", "Copy"],
      ["merge", "Customers", "--into", "Copy"],
    ]) {
      expect((await ecm(["lists", ...commandArgs, "--dry-run", "--plan", plan])).code).toBe(0);
      const change = { what: "list", name: "Copy", before: false, after: true };
      expect(await lines()).toMatchObject([
        { line: null, key: "ada@example.com", action: "update", changes: [change] },
        { line: null, key: "bob@example.com", action: "update", changes: [change] },
      ]);
    }
  });

  it("appears whole or not at all", async () => {
    const path = await inputFile(people);
    const folder = dirname(path);
    const before = await readdir(folder);
    const home = await temporaryHome();
    const runs = join(home.ECM_STATE_DIR!, "runs");
    let meanwhile: string[] = [];
    const interruption = new AbortController();
    const { baseUrl } = await startHttpServer(() => {
      meanwhile = readdirSync(folder);
      interruption.abort(interruptedError());
    });
    const ecm = ecmWith({ ...home, ECM_BASE_URL: baseUrl, ECM_API_KEY: testKey });
    const plan = join(folder, "plan.ndjson");
    const { code } = await ecm(["import", path, "--plan", plan], { signal: interruption.signal });
    expect(code).toBe(130);
    expect(meanwhile).not.toContain("plan.ndjson");
    expect([await readdir(folder), await readdir(runs)]).toEqual([before, []]);
  });

  it("and --json cannot both have stdout", async () => {
    const { ecm } = await account();
    const result = await ecm(["import", await inputFile(people), "--dry-run", "--json", "--plan", "-"]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
  });

  it("shows the first changes of a dry run at a terminal", async () => {
    const { ecm } = await account();
    const path = await inputFile(people);
    const at = { terminalColumns: 80, env: { NO_COLOR: "1" } };
    const output = await ecm(["import", path, "--create-missing", "--dry-run", "--show", "1"], at);
    expect(output.stderr).toContain("  ~ ada@example.com  City  Oslo → Bergen   + tag VIP\n");
    expect(output.stderr).toContain("  Column  →  Field        First value\n");
    expect(output.stderr).toContain("  City       City         Bergen\n");
    expect(output.stderr).toContain("1 more: --show 2, or --plan plan.ndjson");
    const none = await ecm(["import", path, "--create-missing", "--dry-run", "--show", "0"], at);
    expect(none.stderr).not.toContain("~ ada");
  });

  it("shows what is ignored last, and only so much of it", async () => {
    const { ecm } = await account();
    const names = Array.from({ length: 8 }, (_, index) => `Own ${index}`);
    const path = await inputFile(
      `${names.join()},Empty,Email,City\n${names.map(() => "x").join()},,a@b.co,Rome\n`,
    );
    const args = ["import", path, "--ignore-unmapped", "--dry-run"];
    const { stderr } = await ecm(args, { terminalColumns: 80, env: { NO_COLOR: "1" } });
    const output = stderr.match(/ {2}(City|Own \d|…) .*(?=\n)/g);
    expect(output?.slice(0, 3)).toEqual([
      "  City       City         Rome",
      "  Own 0      – ignored    x",
      "  Own 1      – ignored    x",
    ]);
    expect(output?.slice(5, 7)).toEqual(["  Own 4      – ignored    x", "  … 3 more columns ignored"]);
  });
});
