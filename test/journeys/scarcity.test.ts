import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, manyRows } from "../bulk/kit.ts";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
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
