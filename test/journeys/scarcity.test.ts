import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { inputFile, manyRows } from "../bulk/kit.ts";
import { ecmWith, temporaryFolder, temporaryHome, waitForResult } from "../support/ecm.ts";
import { startRecordingProxy } from "./recording-proxy.ts";

describe("what is scarce", () => {
  it("a state folder that cannot be used is found out before a request is spent", async () => {
    const proxy = await startRecordingProxy();
    const file = join(await temporaryFolder(), "file");
    await writeFile(file, "");
    const path = await inputFile(manyRows(3));
    for (const state of [join(file, "state"), file]) {
      const env = { ECM_STATE_DIR: state };
      const result = await proxy.ecm(["import", path], { env });
      expect(result.code).toBe(2);
      expect(result.stderr).toMatch(/^error: Cannot write to the run folder .*\nhint: .*ECM_STATE_DIR/m);
      expect(proxy.arrived()).toBe(0);
    }
  });

  it("a service that was never reached ends a run after the attempts of one request", async () => {
    // A port that nobody listens on.
    const env = {
      ...(await temporaryHome()),
      ECM_BASE_URL: "http://127.0.0.1:1",
      ECM_API_KEY: "ecm_us_test",
    };
    const path = await inputFile(manyRows(3));
    const result = await ecmWith(env)(["-v", "import", path]);
    expect(result.code).toBe(8);
    expect(result.stderr.match(/^> /gm)).toHaveLength(3);
  });
});

describe.runIf(process.platform === "linux")("too few open files", () => {
  it.each([24, 28])("end the embedded service with exit 1 and one error (%d)", async (limit) => {
    const program = fileURLToPath(new URL("../../bin/ecm.js", import.meta.url));
    const command = `ulimit -n ${limit}; exec "$0" "$@"`;
    const args = [process.execPath, program, "--profile", "sandbox", "lists", "list"];
    const env = { PATH: process.env.PATH, ...(await temporaryHome()) };
    const result = await waitForResult(spawn("/bin/sh", ["-c", command, ...args], { env }));
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toMatch(/^error: .*too many open files.*\nhint: .*ulimit -n.*\n$/i);
  });
});
