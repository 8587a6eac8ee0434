/** A bulk write at a terminal is agreed to by a person or by --yes, also when it is resumed. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, manyContacts, manyRows, parseSummary, readContacts } from "../bulk/kit.ts";
import { done, ends, listWrites, readJson, refused, startSandbox, temporaryFolder } from "../kit.ts";

const at = { terminalColumns: 200 };
const contents = { lists: ["L", "M"], contacts: manyContacts(20) };

const writes = [
  "import FILE",
  "contact mutate --all --set 'First Name=X'",
  "contact mutate --keys FILE --add-list L",
  "lists sync L FILE",
  "lists duplicate L N",
  "lists merge L M --into N",
  "contact delete --all",
  "contact unsubscribe --all",
];
const few = { lists: ["L", "M"], contacts: manyContacts(3) };
const withFile = async (line: string, count = 3) =>
  line.replace("FILE", await inputFile(manyRows(count, () => "New")));

/** An import of twenty that has stopped half-way. */
async function startStopped() {
  const service = await startSandbox({ contents });
  const line = await withFile("import FILE --json", 20);
  const { run, rows } = parseSummary(await service.ecm(`${line} --max-requests 8`));
  expect(rows.updated).toBeGreaterThan(0);
  return { ...service, line, run: run!, read: () => readContacts(service) };
}

describe("--no-input at a terminal", () => {
  it.each(writes)("needs --yes before a request, and says the price once: ecm %s", async (typed) => {
    const { ecm, sandbox } = await startSandbox({ contents: few });
    const line = await withFile(typed);
    await ends(ecm(`${line} --no-input`, at), 2, "--yes");
    await ends(ecm(line, { ...at, env: { ECM_NO_INPUT: "1" } }), 2, "--yes");
    expect(sandbox.admin.requests()).toEqual([]);
    await done(ecm(`${line} --no-input --dry-run`, at));
    const declined = await ends(ecm(`${line} --json`, { ...at, typed: "n\r" }), 1);
    // As a line of its own, or in the question.
    const places = [/To send: \d+ requests? \(/, / with \d+ requests? \(/];
    expect(places.filter((place) => place.test(declined.stderr))).toHaveLength(1);
    await done(ecm(`${line} --no-input --yes`, at));
  });

  it("refuses an undo, and resuming", async () => {
    const { ecm, run, line, read } = await startStopped();
    const before = await read();
    for (const words of [`runs resume ${run}`, `runs undo ${run}`, line])
      await ends(ecm(`${words} --no-input`, at), 2);
    expect(await read()).toEqual(before);
    await done(ecm(`runs resume ${run} --no-input --yes`, at));
    await done(ecm(`runs undo ${run} --no-input --yes`, at));
  });
});

describe("resuming at a terminal", () => {
  it.each(["runs resume", "the same command"])("asks again: %s", async (how) => {
    const { ecm, run, line, read } = await startStopped();
    const before = await read();
    const again = how === "runs resume" ? `runs resume ${run}` : line;
    const declined = await ends(ecm(again, { ...at, typed: "n\r" }), 1);
    if (how === "runs resume") {
      expect(declined.stderr).toMatch(/^Cancelled; nothing changed$/m);
      expect(declined.stderr).not.toContain("--fresh");
    }
    expect(await read()).toEqual(before);
    await done(ecm(again, { ...at, typed: "y\r" }));
    const view = await readJson(ecm, `runs show ${run}`);
    expect(view).toMatchObject({ status: "completed", rows: { updated: 20 } });
  });

  it("still can be resumed after a no to its undo, and to starting over", async () => {
    const { ecm, run, line } = await startStopped();
    for (const declined of [`runs undo ${run}`, `${line} --fresh`])
      expect((await ecm(declined, { ...at, typed: "n\r" })).code).toBe(1);
    await done(ecm(`runs resume ${run} --yes`, at));
    const view = await readJson(ecm, `runs show ${run}`);
    expect(view).toMatchObject({ status: "completed", rows: { updated: 20 } });
  });

  it("is over for a run that was undone before its end", async () => {
    const { ecm, run } = await startStopped();
    await done(ecm(`runs undo ${run} --yes`, at));
    const undone = /cannot be resumed: run \S+ has undone it or started it over/;
    await refused(ecm(`runs resume ${run}`, at), 2, undone);
  });

  it("asks nobody where somebody has said yes, and says what is sent", async () => {
    const { ecm } = await startSandbox({ contents });
    const stop = async (line: string, options = {}) =>
      parseSummary(await ecm(`${line} --max-requests 8 --json`, options));
    const resume = (run: string | null) => ecm(`runs resume ${run}`, { ...at, typed: "n\r" });
    const deleted = await stop("contact delete --all --yes");
    expect(deleted.rows.deleted).toBeGreaterThan(0);
    await done(resume(deleted.run));
    const undone = await stop(`runs undo ${deleted.run}`, { ...at, typed: "y\r" });
    expect(undone.rows.created).toBeGreaterThan(0);
    await ends(resume(undone.run), 0, `To send: ${undone.rows.pending} requests (`);
  });

  it("asks for an undo to which nobody has said yes", async () => {
    const { ecm } = await startSandbox({ contents });
    const { run } = parseSummary(await ecm("contact delete --all --yes --json"));
    const undone = parseSummary(await ecm(`runs undo ${run} --max-requests 8 --json`));
    const answer = (typed: string) => ecm(`runs resume ${undone.run}`, { ...at, typed });
    expect((await answer("n\r")).code).toBe(1);
    await done(answer("y\r"));
  });
});

describe("before the answer that cannot be taken back", () => {
  it("names whom the question does not count", async () => {
    const { ecm } = await startSandbox({ contents: { contacts: manyContacts(2) } });
    const answer = (verb: string) =>
      ecm(`contact ${verb} p0@example.com nobody@example.com`, { ...at, typed: "n\r" });
    const { stderr } = await answer("unsubscribe");
    const before = stderr.slice(0, stderr.indexOf("Unsubscribe 1 contact?"));
    expect(before).toContain("    nobody@example.com  no contact has this key or id\n");
    expect((await answer("delete")).stderr).toMatch(/1 skipped .*does not exist \(1\)/);
  });

  it("asks for the number again where a yes is typed", async () => {
    const { ecm } = await startSandbox({ contents });
    const typed = ["y\n", "20\n"].map((keys): [string, string] => ["Type 20", keys]);
    const deleted = await ecm("contact delete --all", { ...at, env: { ACCESSIBLE: "1" }, typed });
    const more = "  … 15 more: --show 20, or --plan plan.ndjson\n";
    await ends(deleted, 0, more, "Type 20 to confirm; Enter cancels");
  });

  it("has no tick where the one who was named does not exist", async () => {
    const { ecm } = await startSandbox({ contents });
    const { stderr } = await ends(ecm("contact delete nobody@example.com --yes", at), 5);
    expect(stderr).not.toContain("✓");
  });
});

it("counts what was planned as pending where the answer is no, or Ctrl-C", async () => {
  const { ecm, sandbox } = await startSandbox();
  const file = await inputFile(manyRows(2));
  const plan = join(await temporaryFolder(), "plan.ndjson");
  await ecm(["import", file, "--dry-run", "--plan", plan]);
  const planned = { run: null, status: "stopped", rows: { read: 2, created: 0, pending: 2 } };
  const declined = await ends(ecm(["apply", plan, "--json"], { ...at, typed: "n\r" }), 1);
  expect(parseSummary(declined)).toMatchObject({ ...planned, stoppedBy: "error" });
  expect(listWrites({ sandbox })).toEqual([]);
  await ecm(["import", file]);
  const undo = "runs undo last --delete-created --json";
  const interrupted = await ends(ecm(undo, { ...at, typed: "\u0003" }), 130, '"applied":"no"');
  expect(parseSummary(interrupted)).toMatchObject(planned);
});
