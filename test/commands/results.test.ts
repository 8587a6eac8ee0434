/** The end of a run as somebody at a terminal sees it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { realClock } from "../../src/clock.ts";
import { inputFile, manyContacts, manyRows, startSandbox } from "../kit.ts";
import type { Answer } from "../support/typing.ts";

const wrong = Array.from({ length: 7 }, (_, at) => `wrong${at}@@x.org,W\n`).join("");
const mixed = `${manyRows(30)}p3@example.com,Again\n${wrong}`;

async function mixedImport(columns: number, flags = "", env = {}) {
  const { ecm } = await startSandbox({ contents: { contacts: manyContacts(4) } });
  const line = `import ${await inputFile(mixed)} --duplicates first --yes ${flags}`;
  const result = await ecm(line, { terminalColumns: columns, env: { NO_COLOR: "1", ...env } });
  return result.stderr.replaceAll("\r", "\n");
}

describe("the end of a run at a terminal", () => {
  it.each([60, 80, 120])("is a line for each outcome, a bar and reasons in %i columns", async (columns) => {
    const stderr = await mixedImport(columns);
    expect(stderr).toMatch(/! 38 rows in [^:]+: {2}█+▓+▒+×+\n/);
    const outcomes = /\n {4}26 created\n {5}4 unchanged\n {5}1 skipped {4}repeated in the file \(1\)\n/;
    expect(stderr).toMatch(outcomes);
    expect(stderr).toMatch(/\n {5}7 rejected {3}invalid email address \(7\)\n/);
    const result = stderr.slice(stderr.lastIndexOf("! 38 rows")).split("\n").slice(0, 12);
    for (const line of result) expect(line.length).toBeLessThanOrEqual(columns);
  });

  it("names the first rejected rows, and says where the others are", async () => {
    const stderr = await mixedImport(100);
    expect(stderr).toMatch(/\n {4}line 33 {2}wrong0@@x\.org {2}not an email address\b/);
    expect(stderr).toMatch(/\n {4}line 37 {2}wrong4@@x\.org {2}\S.*\n {4}… 2 more: ecm runs rejects \S+\n/);
    expect(stderr).not.toContain("wrong5");
  });

  it("names them in a dry run too, which leaves no run to ask", async () => {
    const stderr = await mixedImport(100, "--dry-run");
    expect(stderr).toMatch(/38 rows: {2}█+▓+▒+×+\n {4}26 would be created\n/);
    expect(stderr).toMatch(/line 33 {2}wrong0@@x\.org/);
    expect(stderr).toMatch(/… 2 more\n/);
  });

  it("is sentences for screen readers, without a bar", async () => {
    const stderr = await mixedImport(200, "", { ACCESSIBLE: "1" });
    expect(stderr).toMatch(/38 rows in .*: 26 created; 4 unchanged; 1 skipped: .*; 7 rejected: /);
    expect(stderr).not.toMatch(/[█▓▒×]/);
    expect(stderr).toContain("line 33  wrong0@@x.org");
  });

  it("names who does not exist, by what was typed", async () => {
    const { ecm } = await startSandbox({ contents: { contacts: manyContacts(2) } });
    const line = "contact unsubscribe p0@example.com p1@example.com nobody@example.com --yes";
    const { stderr } = await ecm(line, { terminalColumns: 100, env: { NO_COLOR: "1" } });
    const said = /\n {4}2 unsubscribed\n {4}1 rejected +does not exist \(1\)\n {4}nobody@\S+ {2}\S/;
    expect(stderr).toMatch(said);
  });

  const answered = (count: number): Answer[] => [
    ["Add these contacts to a list?", "\r"],
    [`Write to ${count} contacts`, "y\r"],
  ];

  it("counts the requests that the question named, and those before it apart", async () => {
    const { ecm } = await startSandbox();
    const terminal = { terminalColumns: 120, typed: answered(30) };
    const { stderr } = await ecm(`import ${await inputFile(manyRows(30))}`, terminal);
    const [, asked] = /Write to 30 contacts in .* with (\d+) requests/.exec(stderr)!;
    expect(stderr).toMatch(new RegExp(`\\b${asked} requests sent, after \\d+ to read the account`));
  });

  it("counts the time from the answer on", async () => {
    const { ecm, env } = await startSandbox();
    // Ten minutes pass between the beginning, before there is a run, and the answer.
    const isAsked = () => existsSync(join(env.ECM_STATE_DIR!, "runs"));
    const now = () => Date.now() + (isAsked() ? 600_000 : 0);
    const terminal = { terminalColumns: 120, typed: answered(3), clock: { ...realClock, now } };
    const { stderr } = await ecm(`import ${await inputFile(manyRows(3))}`, terminal);
    expect(stderr).toMatch(/3 rows in (?:under 1|\d+) s: 3 created/);
  });
});
