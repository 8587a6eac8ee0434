/** A bulk command ends with its summary whatever stops it; and when a limit ends is said wherever one is met. */
import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { call, errorBody, inputFile, json, manyRows, startSandbox, startService, summaryOf } from "../kit.ts";
import { done, type Ecm, ends, type Result, readJson, refused } from "../support/ecm.ts";

const people = (count: number) => inputFile(manyRows(count));
const readError = ({ stderr }: Pick<Result, "stderr">) => JSON.parse(/^\{"error".*$/m.exec(stderr)![0]).error;

const now = new Date();
const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
const inSeconds = (seconds: number) => () => Date.now() + seconds * 1000;

/** Whether a moment is the other one, but for the time that a test takes. */
function expectAround(at: number, expected: number): void {
  expect(Math.abs(at - expected)).toBeLessThan(60_000);
}

/** An account whose address is blocked, as the service does where keys are wrong. */
async function blocked(options: Partial<SandboxOptions> = { blockAfter: 1, blockSeconds: 600 }) {
  const service = await startSandbox(options);
  await call({ ...service, apiKey: "ecm_us_wrong" }, "GET", "/api/contact");
  return service;
}

const importing = async (ecm: Ecm, rows: number, flags: string) =>
  summaryOf(ecm, `import ${await people(rows)} ${flags}`);

it("--until takes no day that there is not: 30 February would be 2 March", async () => {
  const { ecm, sandbox } = await startSandbox();
  const line = `import ${await people(2)} --until 2026-02-30T18:00:00Z`;
  await refused(ecm(line), 2, '--until: "2026-02-30T18:00:00Z" is not a time');
  expect(sandbox.admin.requests()).toEqual([]);
});

describe("the summary of a bulk command", () => {
  it("is printed when the hour is used up before the first answer, with the hour's end", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 1 });
    const { stderr } = await ecm("lists list");
    const stopped = await importing(ecm, 3, "--no-wait -q");
    const none = { run: null, rows: { read: 0 } };
    expect(stopped).toMatchObject({ ...none, code: 7, status: "stopped", stoppedBy: "hour" });
    const error = readError(stopped);
    expect(error).toMatchObject({ limit: "hour", exitCode: 7, retryable: true });
    expect(stopped.stderr.trim().split("\n")).toHaveLength(1);
    expect(error.message).toMatch(/resets (tomorrow )?at \d\d:\d\d \(in 60 min\)$/);
    const [, reset] = /reset=(\S+)/.exec(stderr)!;
    expect(Math.abs(Date.parse(stopped.resumableAt!) - Date.parse(reset!))).toBeLessThanOrEqual(1000);
  });

  it("is printed when the month is used up", async () => {
    const { ecm } = await startSandbox({ monthlyLimit: 1 });
    await ecm("lists list");
    const file = await people(2);
    for (const line of [
      `import ${file}`,
      `import ${file} --dry-run`,
      `lists sync News ${file}`,
      `contact mutate --keys ${file} --set 'First Name=Ada'`,
      "contact delete --all --yes",
    ]) {
      const stopped = await summaryOf(ecm, `${line} -q`);
      expect(stopped, line).toMatchObject({ code: 7, status: "stopped", stoppedBy: "month" });
    }
  });

  it("is printed when the service refuses, cannot be reached, or something is unclear, but not without a file", async () => {
    const wrongKey = errorBody("UnauthorizedError", "Invalid API key");
    const { server } = await startService((_, response) => json(response, 401, wrongKey));
    const { ecm } = await startSandbox();
    const file = await people(2);
    const unclear = await inputFile("Email,Shoe size\nada@example.com,38\n");
    const rows: [code: number, line: string, env?: Record<string, string>][] = [
      [4, `import ${file}`, { ECM_BASE_URL: server.baseUrl }],
      [8, `-v import ${file} --timeout 1`, { ECM_BASE_URL: "http://127.0.0.1:1" }],
      [5, `import ${file} --list Nowhere`],
      [2, `import ${unclear}`],
    ];
    for (const [code, line, env] of rows) {
      const stopped = await summaryOf(ecm, `${line} -q`, { env });
      expect(stopped, line).toMatchObject({ code, status: "stopped", stoppedBy: "error" });
      expect(readError(stopped)).toMatchObject({ exitCode: code });
      // As often as one request is tried.
      if (code === 8) expect(stopped.stderr.match(/^> /gm)).toHaveLength(3);
    }
    await refused(ecm("import people.csv.gone -q --json"), 2);
  });
});

describe("a bulk run that a limit stopped says when it can go on", () => {
  it.each<[limit: string, options: Partial<SandboxOptions>, flags: string, endsAt: () => number]>([
    ["hour", { hourlyLimit: 10 }, "--no-wait", inSeconds(3600)],
    // Only a refusal tells.
    ["month", { monthlyLimit: 10 }, "--max-requests 1000", () => nextMonth],
    ["address", { blockAfter: 1, blockSeconds: 600 }, "", inSeconds(600)],
  ])("with the %s", async (limit, options, flags, endsAt) => {
    const { ecm } = await blocked(options);
    const stopped = await importing(ecm, 30, flags);
    const { resumableAt, run, rows } = stopped;
    expect(stopped).toMatchObject({ code: 7, stoppedBy: limit });
    expect(rows.created > 0).toBe(limit !== "address");
    expect(resumableAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expectAround(Date.parse(resumableAt!), endsAt());
    const error = readError(stopped);
    expect(error).toMatchObject({ limit, exitCode: 7, retryable: true });
    expectAround(Date.now() + error.retryAfterSeconds * 1000, endsAt());
    expect(error.message).toMatch(/ at \d\d:\d\d \(in \d/);
    const listed = await readJson(ecm, "runs list");
    if (run !== null) expect(listed).toMatchObject([{ run, stoppedBy: limit, resumableAt }]);
  });

  it("with the hour, where --until lies before its end", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 10 });
    const { code, stoppedBy, resumableAt } = await importing(ecm, 30, "--until 30m");
    expect([code, stoppedBy]).toEqual([7, "until"]);
    expectAround(Date.parse(resumableAt!), Date.now() + 3600_000);
  });

  it("and says nothing of it where no limit stopped it, or once it is done", async () => {
    const { ecm } = await startSandbox();
    const stopped = await ends(importing(ecm, 20, "--max-requests 5"), 7);
    expect(stopped).not.toHaveProperty("resumableAt");
    expect(readError(stopped)).not.toHaveProperty("retryAfterSeconds");
    await done(ecm("runs resume last"));
    expect(await readJson(ecm, "runs list")).toMatchObject([{ resumableAt: null }]);
  });

  it("unless the service names a time that no date can hold", async () => {
    const quota = errorBody("TooManyRequestsError", "Monthly API quota exceeded.");
    const after = { "retry-after": "999999999999999" };
    const { ecm } = await startService((_request, response) => json(response, 429, quota, after));
    const stopped = await ends(importing(ecm, 3, ""), 7);
    expect(stopped).not.toHaveProperty("resumableAt");
    await refused(ecm("lists list"), 7);
  });
});

/** `limits.test.ts` has the month. */
it("a single command says when the block of its address ends", async () => {
  const { ecm } = await blocked();
  await refused(ecm("lists list"), 7, /try again (tomorrow )?at \d\d:\d\d \(in 10 min\)/);
});
