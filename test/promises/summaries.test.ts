/** A bulk command with `--json` always ends with its summary. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Result, temporaryFolder } from "../support/ecm.ts";
import { errorBody, json, startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";

async function people(count: number): Promise<string> {
  const file = join(await temporaryFolder(), "people.csv");
  const rows = Array.from({ length: count }, (_, index) => `person-${index}@example.com\n`);
  await writeFile(file, `Email\n${rows.join("")}`);
  return file;
}

function summaryAndError({ stdout, stderr }: Result) {
  return {
    summary: JSON.parse(stdout) as Record<string, unknown>,
    error: (JSON.parse(stderr.trim().split("\n").at(-1)!) as { error: Record<string, unknown> }).error,
  };
}

describe("the summary of a bulk command", () => {
  it("is printed when the hour is used up before the first answer, with the hour's end", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 1 });
    const { stderr: first } = await ecm("lists list");
    const reset = /reset=(\S+)/.exec(first)?.[1];
    const result = await ecm(["import", await people(3), "--no-wait", "-q", "--json"]);
    const { summary, error } = summaryAndError(result);
    expect(result.code).toBe(7);
    expect(summary).toMatchObject({ run: null, status: "stopped", stoppedBy: "hour", rows: { read: 0 } });
    expect(error).toMatchObject({ limit: "hour", exitCode: 7, retryable: true });
    expect(result.stderr.trim().split("\n")).toHaveLength(1);
    expect(String(error.message)).toMatch(/resets (tomorrow )?at \d\d:\d\d \(in 60 min\)$/);
    const resumableAt = Date.parse(String(summary.resumableAt));
    expect(Math.abs(resumableAt - Date.parse(reset!))).toBeLessThanOrEqual(1000);
  });

  it("is printed when the month is used up, for every kind of run", async () => {
    const { ecm } = await startSandbox({ monthlyLimit: 1 });
    await ecm("lists list");
    const file = await people(2);
    for (const args of [
      ["import", file],
      ["import", file, "--dry-run"],
      ["lists", "sync", "News", file],
      ["contact", "mutate", "--keys", file, "--set", "First Name=Ada"],
      ["contact", "delete", "--all", "--yes"],
    ]) {
      const result = await ecm([...args, "-q", "--json"]);
      expect({ args, code: result.code, ...summaryAndError(result).summary }).toMatchObject({
        args,
        code: 7,
        status: "stopped",
        stoppedBy: "month",
      });
    }
  });

  it("is printed when the service refuses, cannot be reached, or a name does not exist", async () => {
    const server = await startHttpServer((_, response) =>
      json(response, 401, errorBody("UnauthorizedError", "Invalid API key")),
    );
    const { ecm } = await startSandbox();
    const file = await people(2);
    const refused = await ecm(["import", file, "-q", "--json"], { env: { ECM_BASE_URL: server.baseUrl } });
    expect(refused.code).toBe(4);
    expect(summaryAndError(refused).summary).toMatchObject({ status: "stopped", stoppedBy: "error" });
    const lost = await ecm(["import", file, "-q", "--json", "--timeout", "1"], {
      env: { ECM_BASE_URL: "http://127.0.0.1:1" },
    });
    expect(lost.code).toBe(8);
    expect(summaryAndError(lost).summary).toMatchObject({ status: "stopped", stoppedBy: "error" });
    const unknown = await ecm(["import", file, "--list", "Nowhere", "-q", "--json"]);
    expect(unknown.code).toBe(5);
    expect(summaryAndError(unknown).summary).toMatchObject({ status: "stopped", stoppedBy: "error" });
  });

  it("is printed for columns that match nothing, and not for a file that is not there", async () => {
    const { ecm } = await startSandbox();
    const file = join(await temporaryFolder(), "people.csv");
    await writeFile(file, "Email,Shoe size\nada@example.com,38\n");
    const unclear = await ecm(["import", file, "-q", "--json"]);
    expect(unclear.code).toBe(2);
    expect(summaryAndError(unclear).summary).toMatchObject({ status: "stopped", stoppedBy: "error" });
    expect(await ecm(["import", `${file}.gone`, "-q", "--json"])).toMatchObject({ code: 2, stdout: "" });
  });
});
