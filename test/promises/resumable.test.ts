/** When a limit ends: in words, in the JSON error, in the summary, and in the list of runs. */
import { describe, expect, it } from "vitest";
import { call, inputFile, manyRows, parseSummary } from "../bulk/kit.ts";
import type { Result } from "../support/ecm.ts";
import { errorBody, json } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";

function readError({ stderr }: Result): Record<string, unknown> {
  return JSON.parse(stderr.split("\n").find((line) => line.startsWith('{"error"'))!).error;
}

const now = new Date();
const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));

/** Holds what a stopped run says against the moment at which its limit ends. */
async function expectResumable(result: Result, limit: string, endsAt: number, runs: Result): Promise<void> {
  expect(result.code, result.stderr).toBe(7);
  const { resumableAt, stoppedBy, run } = parseSummary(result);
  expect(stoppedBy).toBe(limit);
  expect(resumableAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(Math.abs(Date.parse(resumableAt!) - endsAt)).toBeLessThan(60_000);
  const error = readError(result);
  expect(error).toMatchObject({ limit, exitCode: 7, retryable: true });
  expect(Math.abs(Number(error.retryAfterSeconds) - (endsAt - Date.now()) / 1000)).toBeLessThan(60);
  expect(error.message).toMatch(/ at \d\d:\d\d \(in \d/);
  if (run !== null) expect(JSON.parse(runs.stdout)).toMatchObject([{ run, stoppedBy: limit, resumableAt }]);
}

it("--until takes no day that there is not: 30 February would be 2 March", async () => {
  const { ecm, sandbox } = await startSandbox();
  const until = ["--until", "2026-02-30T18:00:00Z"];
  expect(await ecm(["import", await inputFile(manyRows(2)), ...until])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--until: "2026-02-30T18:00:00Z" is not a time'),
  });
  expect(sandbox.admin.requests()).toEqual([]);
});

describe("a bulk run that a limit stopped says when it can go on", () => {
  it("with the hour", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 20 });
    const file = await inputFile(manyRows(70));
    const result = await ecm(["import", file, "--no-wait", "--json"]);
    await expectResumable(result, "hour", Date.now() + 3600_000, await ecm("runs list --json"));
  });

  it("with the hour, where --until lies before its end", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 20 });
    const result = await ecm(["import", await inputFile(manyRows(70)), "--until", "30m", "--json"]);
    expect(result.code).toBe(7);
    const { stoppedBy, resumableAt } = parseSummary(result);
    expect(stoppedBy).toBe("until");
    expect(Math.abs(Date.parse(resumableAt!) - Date.now() - 3600_000)).toBeLessThan(60_000);
  });

  it("with the month, which only a refusal tells", async () => {
    const { ecm } = await startSandbox({ monthlyLimit: 20 });
    const result = await ecm(["import", await inputFile(manyRows(70)), "--max-requests", "1000", "--json"]);
    await expectResumable(result, "month", nextMonth.getTime(), await ecm("runs list --json"));
    expect(parseSummary(result).rows.created).toBeGreaterThan(0);
  });

  it("with a blocked address", async () => {
    const service = await startSandbox({ blockAfter: 1, blockSeconds: 600 });
    await call({ ...service, apiKey: "ecm_us_wrong" }, "GET", "/api/contact");
    const result = await service.ecm(["import", await inputFile(manyRows(3)), "--json"]);
    await expectResumable(result, "address", Date.now() + 600_000, await service.ecm("runs list --json"));
  });

  it("and says nothing of it where no limit stopped it, or once it is done", async () => {
    const { ecm } = await startSandbox();
    const file = await inputFile(manyRows(20));
    const stopped = await ecm(["import", file, "--max-requests", "5", "--json"]);
    expect(stopped.code).toBe(7);
    expect(parseSummary(stopped)).not.toHaveProperty("resumableAt");
    expect(readError(stopped)).not.toHaveProperty("retryAfterSeconds");
    await ecm("runs resume last");
    expect(JSON.parse((await ecm("runs list --json")).stdout)).toMatchObject([{ resumableAt: null }]);
  });

  it("unless the service names a time that no date can hold", async () => {
    const { ecm } = await startService((_request, response) =>
      json(response, 429, errorBody("TooManyRequestsError", "Monthly API quota exceeded."), {
        "retry-after": "999999999999999",
      }),
    );
    const result = await ecm(["import", await inputFile(manyRows(3)), "--json"]);
    expect(result.code, result.stderr).toBe(7);
    expect(parseSummary(result)).not.toHaveProperty("resumableAt");
    expect((await ecm("lists list")).code).toBe(7);
  });
});

describe("a single command says when a limit ends", () => {
  it("of the month", async () => {
    const { ecm } = await startSandbox({ monthlyLimit: 1 });
    await ecm("lists list");
    const refused = await ecm("lists list --json");
    const error = readError(refused);
    expect(error).toMatchObject({ limit: "month", retryAfterSeconds: expect.any(Number) });
    expect(error.hint).toMatch(/starts anew (on 1 \w+( \d{4})? |tomorrow )?at 00:00 \(in /);
    const at = Date.now() + Number(error.retryAfterSeconds) * 1000;
    expect(Math.abs(at - nextMonth.getTime())).toBeLessThan(60_000);
  });

  it("of the address", async () => {
    const service = await startSandbox({ blockAfter: 1, blockSeconds: 600 });
    await call({ ...service, apiKey: "ecm_us_wrong" }, "GET", "/api/contact");
    const { stderr, code } = await service.ecm("lists list");
    expect(code).toBe(7);
    expect(stderr).toMatch(/try again (tomorrow )?at \d\d:\d\d \(in 10 min\)/);
  });
});
