/**
 * What a bulk command costs: what its dry run says, what is said before the
 * first write, and what is sent are one number.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { inputFile, manyRows, parseSummary } from "./kit.ts";

const variants: Record<string, string>[] = [{}, { keys: "first", "max-keys": "2", page: "cap:3" }];

it.each(variants)("the price of every bulk command is what it sends, with %j", async (given) => {
  const service = await startSandbox({ variants: given });
  // Nothing is remembered of names: each command pays for them itself.
  const ecm = async (args: string[]) => {
    const result = await service.ecm([...args, "--json", "-y"], {
      env: { ECM_CACHE_DIR: await temporaryFolder() },
    });
    return { ...result, summary: result.stdout === "" ? undefined! : parseSummary(result) };
  };
  await ecm(["import", await inputFile(manyRows(12)), "--list", "L", "--create-missing"]);
  const keys = await inputFile("p1@example.com\np2@example.com\nnobody@example.com\n", "keys.txt");
  const members = await inputFile("p1@example.com\np9@example.com\nq1@example.com\n", "members.txt");
  const rows = await inputFile(
    `${manyRows(8, (index) => (index < 3 ? "New" : `First ${index}`))}q1@example.com,Q\n`,
  );
  const backup = join(await temporaryFolder(), "backup.csv");
  const jobs: [name: string, args: string[]][] = [
    ["import", ["import", rows, "--list", "M", "--list", "N", "--tag", "T", "--create-missing"]],
    ["import, unchanged", ["import", rows, "--list", "M", "--tag", "T", "--fresh"]],
    ["mutate", ["contact", "mutate", "--keys", keys, "--set", "Last Name=X", "--add-tag", "T"]],
    ["undo", ["runs", "undo", "last"]],
    ["mutate a selection", ["contact", "mutate", "--list", "M", "--set", "Last Name=Y"]],
    ["sync", ["lists", "sync", "M", members, "--max-remove", "100%"]],
    ["unsubscribe", ["contact", "unsubscribe", "--where", '"T" in tags && key.startsWith("p")']],
    ["delete", ["contact", "delete", "--keys", keys, "--backup", backup]],
    [
      "delete a selection",
      ["contact", "delete", "--where", 'key == "p11@example.com"', "--backup", `${backup}2`],
    ],
  ];
  // What has to be found out of the service is found out once.
  await ecm([...jobs[0]![1], "--dry-run"]);
  const off: unknown[] = [];
  for (const [name, args] of jobs) {
    const dry = await ecm([...args, "--dry-run"]);
    const real = await ecm(args);
    expect(real.summary, `${name}: ${real.stderr}`).toMatchObject({ stoppedBy: null });
    const requestLine = /To send: (at most )?([\d,]+) request/.exec(real.stderr);
    const sent = real.summary.requests.total;
    const priced = real.summary.estimate.requests;
    const isRight =
      dry.summary.estimate.requests === sent &&
      requestLine !== null &&
      (requestLine[1] ? priced >= sent : priced === sent) &&
      dry.summary.rows.updated === real.summary.rows.updated;
    if (!isRight)
      off.push({ name, dry: dry.summary.estimate.requests, said: requestLine?.[0], priced, sent });
  }
  expect(off).toEqual([]);
});

it("a dry run's share of the month is that of the whole real run, look-ups included", async () => {
  const service = await startSandbox({ monthlyLimit: 1000 });
  const rows = await inputFile(manyRows(250));
  const filled = await service.ecm(["import", rows]);
  expect(filled.code, filled.stderr).toBe(0);
  const changed = await inputFile(manyRows(250, (index) => (index < 7 ? "New" : `First ${index}`)));
  const dry = await service.ecm(["import", changed, "--dry-run"]);
  const [, writes, reads] =
    /A real run would send (\d+) requests \([^)]*\), after (\d+) to read the account/.exec(dry.stderr)!;
  const [, left] = /month=(\d+)/.exec(dry.stderr)!;
  const share = Math.ceil(((Number(writes) + Number(reads)) / Number(left)) * 1000) / 10;
  expect(dry.stderr).toContain(`${share} % of what is left this month), after`);
  // Nothing is said of a real run that would be refused.
  const refused = await service.ecm(["import", rows, "--list", "Nobody", "--dry-run"]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).not.toContain("A real run would");
});
