import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const script = fileURLToPath(new URL("../scripts/generate.mjs", import.meta.url));

it("docs/cli.md, the man page and the completions are in step with the commands", () => {
  const run = () => execFileSync(process.execPath, [script, "--check"], { encoding: "utf8", stdio: "pipe" });
  expect(run).not.toThrow();
});
