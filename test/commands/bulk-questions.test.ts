/**
 * A bulk write at a terminal is agreed to by a person or by --yes, whatever
 * forbids questions, and again when it is resumed.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, manyContacts, manyRows, parseSummary, readContacts } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const at = { terminalColumns: 200 };
const contents = { lists: ["L", "M"], contacts: manyContacts(20) };

const writes: Record<string, (path: string) => string[]> = {
  import: (path) => ["import", path],
  "contact mutate --all": () => ["contact", "mutate", "--all", "--set", "First Name=X"],
  "contact mutate --keys": (path) => ["contact", "mutate", "--keys", path, "--add-list", "L"],
  "lists sync": (path) => ["lists", "sync", "L", path],
  "lists duplicate": () => ["lists", "duplicate", "L", "N"],
  "lists merge": () => ["lists", "merge", "L", "M", "--into", "N"],
  "contact delete": () => ["contact", "delete", "--all"],
  "contact unsubscribe": () => ["contact", "unsubscribe", "--all"],
};

describe("--no-input at a terminal", () => {
  it.each(Object.entries(writes))("refuses %s before a request without --yes", async (_name, argsFor) => {
    const { ecm, sandbox } = await startSandbox({ contents });
    const args = argsFor(await inputFile(manyRows(20, () => "New")));
    for (const options of [at, { ...at, env: { ECM_NO_INPUT: "1" } }]) {
      const commandArgs = options === at ? ["--no-input"] : [];
      const refused = await ecm([...args, ...commandArgs], options);
      expect(refused.code, refused.stderr).toBe(2);
      expect(refused.stderr).toContain("--yes");
    }
    expect(sandbox.admin.requests()).toEqual([]);
    expect((await ecm([...args, "--no-input", "--dry-run"], at)).code).toBe(0);
    const done = await ecm([...args, "--no-input", "--yes"], at);
    expect(done.code, done.stderr).toBe(0);
  });

  it("refuses an undo, and resuming", async () => {
    const service = await startSandbox({ contents });
    const { ecm } = service;
    const args = ["import", await inputFile(manyRows(20, () => "New")), "--json"];
    const stopped = parseSummary(await ecm([...args, "--max-requests", "8"]));
    const before = await readContacts(service);
    for (const commandArgs of [["runs", "resume", stopped.run!], ["runs", "undo", stopped.run!], args]) {
      const refused = await ecm([...commandArgs, "--no-input"], at);
      expect(refused.code, refused.stderr).toBe(2);
    }
    expect(await readContacts(service)).toEqual(before);
    expect((await ecm(["runs", "resume", stopped.run!, "--no-input", "--yes"], at)).code).toBe(0);
    expect((await ecm(["runs", "undo", stopped.run!, "--no-input", "--yes"], at)).code).toBe(0);
  });

  it("goes on where there is no terminal, as in a script", async () => {
    const { ecm } = await startSandbox({ contents });
    expect((await ecm(["import", await inputFile(manyRows(20, () => "New")), "--no-input"])).code).toBe(0);
  });
});

describe("the price at a terminal", () => {
  it.each(Object.entries(writes))("is said once before the yes: %s", async (_name, argsFor) => {
    const { ecm } = await startSandbox({ contents });
    const args = argsFor(await inputFile(manyRows(20, () => "New")));
    const declined = await ecm([...args, "--json"], { ...at, typed: "n\r" });
    expect(declined.code, declined.stderr).toBe(1);
    // As a line of its own, or in the question.
    const places = [/To send: \d+ requests? \(/, / with \d+ requests? \(/];
    expect(places.filter((place) => place.test(declined.stderr))).toHaveLength(1);
  });
});

describe("resuming at a terminal", () => {
  it.each(["runs resume", "the same command"])("asks again: %s", async (how) => {
    const service = await startSandbox({ contents });
    const { ecm } = service;
    const args = ["import", await inputFile(manyRows(20, () => "New")), "--json"];
    const stopped = parseSummary(await ecm([...args, "--max-requests", "8"]));
    expect(stopped.rows.updated).toBeGreaterThan(0);
    const before = await readContacts(service);
    const commandArgs = how === "runs resume" ? ["runs", "resume", stopped.run!] : args;
    const declined = await ecm(commandArgs, { ...at, typed: "n\r" });
    expect(declined.code, declined.stderr).toBe(1);
    if (how === "runs resume") {
      expect(declined.stderr).toMatch(/^Cancelled; nothing changed$/m);
      expect(declined.stderr).not.toContain("--fresh");
    }
    expect(await readContacts(service)).toEqual(before);
    const agreed = await ecm(commandArgs, { ...at, typed: "y\r" });
    expect(agreed.code, agreed.stderr).toBe(0);
    const view = JSON.parse((await ecm(["runs", "show", stopped.run!, "--json"])).stdout);
    expect(view).toMatchObject({ status: "completed", rows: { updated: 20 } });
  });

  it("asks for the number of who is left of a deletion, and for an undo", async () => {
    const { ecm } = await startSandbox({ contents });
    const args = ["contact", "delete", "--all", "--max-requests", "8", "--yes", "--json"];
    const { run, rows } = parseSummary(await ecm(args));
    expect(rows.deleted).toBeGreaterThan(0);
    expect((await ecm(["runs", "resume", run!], { ...at, typed: "20\r" })).code).toBe(1);
    const resumed = await ecm(["runs", "resume", run!], { ...at, typed: `${rows.pending}\r` });
    expect(resumed.code, resumed.stderr).toBe(0);
    const undo = ["runs", "undo", run!, "--max-requests", "8", "--json"];
    const undone = parseSummary(await ecm(undo));
    expect((await ecm(["runs", "resume", undone.run!], { ...at, typed: "n\r" })).code).toBe(1);
    expect((await ecm(["runs", "resume", undone.run!], { ...at, typed: "y\r" })).code).toBe(0);
  });
});

describe("before the answer that cannot be taken back", () => {
  it("names whom the question does not count", async () => {
    const { ecm } = await startSandbox({ contents: { contacts: manyContacts(2) } });
    const [{ key }] = manyContacts(1) as [{ key: string }];
    const unsubscribing = await ecm(["contact", "unsubscribe", key, "nobody@example.com"], {
      ...at,
      typed: "n\r",
    });
    const before = unsubscribing.stderr.slice(0, unsubscribing.stderr.indexOf("Unsubscribe 1 contact?"));
    expect(before).toContain("    nobody@example.com  no contact has this key or id\n");
    const deleting = await ecm(["contact", "delete", key, "nobody@example.com"], { ...at, typed: "n\r" });
    expect(deleting.stderr).toMatch(/1 skipped .*does not exist \(1\)/);
  });

  it("asks for the number again where a yes is typed", async () => {
    const { ecm } = await startSandbox({ contents });
    const typed: [string, string][] = [
      ["Type 20", "y\n"],
      ["Type 20", "20\n"],
    ];
    const deleted = await ecm(["contact", "delete", "--all"], { ...at, env: { ACCESSIBLE: "1" }, typed });
    expect(deleted.stderr).toContain("Type 20 to confirm; Enter cancels");
    expect(deleted.code, deleted.stderr).toBe(0);
  });

  it("has no tick where the one who was named does not exist", async () => {
    const { ecm } = await startSandbox({ contents });
    const { code, stderr } = await ecm(["contact", "delete", "nobody@example.com", "--yes"], at);
    expect(code).toBe(5);
    expect(stderr).not.toContain("✓");
  });
});

it("counts what was planned where the answer is no, or Ctrl-C", async () => {
  const { ecm } = await startSandbox();
  const file = await inputFile(manyRows(2));
  const plan = join(await temporaryFolder(), "plan.ndjson");
  await ecm(["import", file, "--dry-run", "--plan", plan]);
  const planned = { run: null, rows: { read: 2, created: 0, pending: 2 } };
  const declined = await ecm(["apply", plan, "--json"], { ...at, typed: "n\r" });
  expect(declined.code).toBe(1);
  expect(parseSummary(declined)).toMatchObject(planned);
  await ecm(["import", file]);
  const interrupted = await ecm(["runs", "undo", "last", "--delete-created", "--json"], {
    ...at,
    typed: "\u0003",
  });
  expect(interrupted.code).toBe(130);
  expect(parseSummary(interrupted)).toMatchObject(planned);
  expect(interrupted.stderr).toContain('"applied":"no"');
});
