/** A bulk command with `--json` always ends with its summary. */
import { describe, expect, it } from "vitest";
import { inputFile, manyRows } from "../bulk/kit.ts";
import type { Result } from "../support/ecm.ts";
import { errorBody, json } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";

const people = (count: number) => inputFile(manyRows(count));

function summaryAndError({ stdout, stderr }: Result) {
  const [last] = stderr.trim().split("\n").slice(-1);
  return { summary: JSON.parse(stdout), error: JSON.parse(last!).error };
}

describe("the summary of a bulk command", () => {
  it("is printed when the hour is used up before the first answer, with the hour's end", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 1 });
    const { stderr } = await ecm("lists list");
    const result = await ecm(["import", await people(3), "--no-wait", "-q", "--json"]);
    const { summary, error } = summaryAndError(result);
    expect(result.code).toBe(7);
    expect(summary).toMatchObject({ run: null, status: "stopped", stoppedBy: "hour", rows: { read: 0 } });
    expect(error).toMatchObject({ limit: "hour", exitCode: 7, retryable: true });
    expect(result.stderr.trim().split("\n")).toHaveLength(1);
    expect(error.message).toMatch(/resets (tomorrow )?at \d\d:\d\d \(in 60 min\)$/);
    const [, reset] = /reset=(\S+)/.exec(stderr)!;
    expect(Math.abs(Date.parse(summary.resumableAt) - Date.parse(reset!))).toBeLessThanOrEqual(1000);
  });

  it.each([
    "import FILE",
    "import FILE --dry-run",
    "lists sync News FILE",
    "contact mutate --keys FILE --set 'First Name=Ada'",
    "contact delete --all --yes",
  ])("is printed when the month is used up: ecm %s", async (line) => {
    const { ecm } = await startSandbox({ monthlyLimit: 1 });
    await ecm("lists list");
    const result = await ecm(`${line.replace("FILE", await people(2))} -q --json`);
    expect(result.code).toBe(7);
    expect(summaryAndError(result).summary).toMatchObject({ status: "stopped", stoppedBy: "month" });
  });

  it("is printed when the service refuses, cannot be reached, or something is unclear", async () => {
    const { server } = await startService((_, response) =>
      json(response, 401, errorBody("UnauthorizedError", "Invalid API key")),
    );
    const { ecm } = await startSandbox();
    const file = await people(2);
    const unclear = await inputFile("Email,Shoe size\nada@example.com,38\n");
    const rows: [code: number, line: string, ECM_BASE_URL?: string][] = [
      [4, `import ${file}`, server.baseUrl],
      [8, `import ${file} --timeout 1`, "http://127.0.0.1:1"],
      [5, `import ${file} --list Nowhere`],
      [2, `import ${unclear}`],
    ];
    for (const [code, line, ECM_BASE_URL] of rows) {
      const result = await ecm(`${line} -q --json`, { env: ECM_BASE_URL ? { ECM_BASE_URL } : {} });
      expect(result.code, line).toBe(code);
      expect(summaryAndError(result).summary).toMatchObject({ status: "stopped", stoppedBy: "error" });
    }
  });

  it("is not printed for a file that is not there", async () => {
    const { ecm } = await startSandbox();
    expect(await ecm("import people.csv.gone -q --json")).toMatchObject({ code: 2, stdout: "" });
  });
});
