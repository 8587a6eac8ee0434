/** Processes that change one suppression list at the same time. Needs a build. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { Suppressions } from "../../src/suppressions/suppressions.ts";
import { spawnEcm, temporaryFolder, temporaryHome, waitForResult } from "../support/ecm.ts";

it("a shared suppression list loses nothing of four processes that add to it at the same time", async () => {
  const shared = join(await temporaryFolder(), "shared.txt");
  await new Suppressions(shared).add(["first@example.com"], 0);
  const account = { ECM_BASE_URL: "http://127.0.0.1:9", ECM_API_KEY: "ecm_us_none" };
  const children = [0, 1, 2, 3].map(async (child) => {
    const keys = Array.from({ length: 50 }, (_, index) => `p${child}-${index}@example.com`);
    const env = { ...(await temporaryHome()), ...account, ECM_SUPPRESSIONS: shared };
    return waitForResult(spawnEcm(["suppressions", "add", ...keys], env));
  });
  for (const { code, stderr } of await Promise.all(children)) expect(code, stderr).toBe(0);
  expect(new Suppressions(shared).list()).toHaveLength(201);
});
