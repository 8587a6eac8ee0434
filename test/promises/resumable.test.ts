/** When a limit ends: in words, in the JSON error, in the summary, and in the list of runs. */
import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { call, inputFile, manyRows, parseSummary } from "../bulk/kit.ts";
import { done, type Result } from "../support/ecm.ts";
import { errorBody, json } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";

const readError = ({ stderr }: Result) => JSON.parse(/^\{"error".*$/m.exec(stderr)![0]).error;

const now = new Date();
const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
const inSeconds = (seconds: number) => () => Date.now() + seconds * 1000;

/** Whether a moment is the other one, but for the time that a test takes. */
function expectAround(at: number, expected: number): void {
  expect(Math.abs(at - expected)).toBeLessThan(60_000);
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
  it.each<[limit: string, options: Partial<SandboxOptions>, flags: string[], endsAt: () => number]>([
    ["hour", { hourlyLimit: 20 }, ["--no-wait"], inSeconds(3600)],
    // Only a refusal tells.
    ["month", { monthlyLimit: 20 }, ["--max-requests", "1000"], () => nextMonth],
    ["address", { blockAfter: 1, blockSeconds: 600 }, [], inSeconds(600)],
  ])("with the %s", async (limit, options, flags, endsAt) => {
    const service = await startSandbox(options);
    await call({ ...service, apiKey: "ecm_us_wrong" }, "GET", "/api/contact");
    const result = await service.ecm(["import", await inputFile(manyRows(70)), ...flags, "--json"]);
    expect(result.code, result.stderr).toBe(7);
    const { resumableAt, stoppedBy, run, rows } = parseSummary(result);
    expect(stoppedBy).toBe(limit);
    expect(rows.created > 0).toBe(limit !== "address");
    expect(resumableAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expectAround(Date.parse(resumableAt!), endsAt());
    const error = readError(result);
    expect(error).toMatchObject({ limit, exitCode: 7, retryable: true });
    expectAround(Date.now() + error.retryAfterSeconds * 1000, endsAt());
    expect(error.message).toMatch(/ at \d\d:\d\d \(in \d/);
    const listed = JSON.parse(await done(service.ecm("runs list --json")));
    if (run !== null) expect(listed).toMatchObject([{ run, stoppedBy: limit, resumableAt }]);
  });

  it("with the hour, where --until lies before its end", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 20 });
    const result = await ecm(["import", await inputFile(manyRows(70)), "--until", "30m", "--json"]);
    expect(result.code).toBe(7);
    const { stoppedBy, resumableAt } = parseSummary(result);
    expect(stoppedBy).toBe("until");
    expectAround(Date.parse(resumableAt!), Date.now() + 3600_000);
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
    const error = readError(await ecm("lists list --json"));
    expect(error).toMatchObject({ limit: "month", retryAfterSeconds: expect.any(Number) });
    expect(error.hint).toMatch(/starts anew (on 1 \w+( \d{4})? |tomorrow )?at 00:00 \(in /);
    expectAround(Date.now() + error.retryAfterSeconds * 1000, nextMonth);
  });

  it("of the address", async () => {
    const service = await startSandbox({ blockAfter: 1, blockSeconds: 600 });
    await call({ ...service, apiKey: "ecm_us_wrong" }, "GET", "/api/contact");
    const { stderr, code } = await service.ecm("lists list");
    expect(code).toBe(7);
    expect(stderr).toMatch(/try again (tomorrow )?at \d\d:\d\d \(in 10 min\)/);
  });
});
