import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const script = fileURLToPath(new URL("../scripts/generate.mjs", import.meta.url));

it("docs/cli.md, the man page and the completions are in step with the commands", () => {
  const run = () => execFileSync(process.execPath, [script, "--check"], { encoding: "utf8", stdio: "pipe" });
  expect(run).not.toThrow();
}, 180_000);

const man = fileURLToPath(new URL("../man/ecm.1", import.meta.url));
const groff = () => spawnSync("groff", ["-man", "-Tutf8", "-ww", man], { encoding: "utf8" });
const reason = groff().error ? " (not tested: there is no groff here)" : "";

it.skipIf(reason !== "")(
  `the man page is set without a warning${reason}`,
  () => {
    const { stdout, stderr } = groff();
    expect(stderr).toBe("");
    // Some terminals strike each letter of a heading twice.
    expect(stdout.replace(/.\u0008/g, "")).toContain("EXIT STATUS");
  },
  180_000,
);
