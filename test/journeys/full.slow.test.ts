/** Streams that take nothing more, and foreign text in errors. */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { errorBody, inputFile, json, manyRows, readContacts, startSandbox, startService } from "../kit.ts";
import { done, ends, type Result, readJson, waitForResult } from "../support/ecm.ts";

const program = fileURLToPath(new URL("../../bin/ecm.js", import.meta.url));

/** The built program with one of its streams on a device that is always full. */
function withFull(stream: "stdout" | "stderr", args: string[], env: Record<string, string>): Promise<Result> {
  const full = openSync("/dev/full", "w");
  const stdio = ["ignore", stream === "stdout" ? full : "pipe", stream === "stderr" ? full : "pipe"] as const;
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: [...stdio],
  });
  closeSync(full);
  return waitForResult(child);
}

describe.runIf(process.platform === "linux")("a stream that takes nothing", () => {
  it("is exit 1 and one line when it is stdout; a run is finished all the same", async () => {
    const { env, ecm } = await startSandbox();
    const path = await inputFile(manyRows(5));
    const { stderr } = await ends(withFull("stdout", ["import", path, "--json"], env), 1);
    expect(stderr.trimEnd().split("\n").at(-1)).toContain('"type":"OutputError"');
    expect(stderr).not.toContain("    at ");
    expect((await readJson(ecm, "runs show last")).status).toBe("completed");
    expect((await withFull("stdout", ["--version"], env)).code).toBe(1);
  });

  it("stops no import when it is stderr", async () => {
    const service = await startSandbox();
    const path = await inputFile(manyRows(5));
    const stdout = await done(withFull("stderr", ["import", path, "--json"], service.env));
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", rows: { created: 5 } });
    expect((await readContacts(service)).size).toBe(5);
  });
});

it("foreign characters in a JSON error move nothing, and are still exact", async () => {
  const message = "\u001b[31mred\u009b1m \u202egnp.exe\u2069 \ufeff\u007f é";
  const { ecm } = await startService((_request, response) =>
    json(response, 400, errorBody("ValidationError", message)),
  );
  const { stderr } = await ecm("api GET /api/x --json");
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/);
  expect((JSON.parse(stderr) as { error: { message: string } }).error.message).toBe(message);
});
