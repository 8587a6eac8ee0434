import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it.each([
  ["docs/cli.md and the completions are in step with the commands", "generate.mjs"],
  ["the README's pictures are what the program shows", "pictures.mjs"],
])("%s", (_what, name) => {
  const script = fileURLToPath(new URL(`../scripts/${name}`, import.meta.url));
  const check = () =>
    execFileSync(process.execPath, [script, "--check"], { encoding: "utf8", stdio: "pipe" });
  expect(check).not.toThrow();
});

const manual = fileURLToPath(new URL("../man/", import.meta.url));
const pages = readdirSync(manual).map((page) => join(manual, page));
const groff = () => spawnSync("groff", ["-man", "-Tutf8", "-ww", ...pages], { encoding: "utf8" });
const reason = groff().error ? " (not tested: there is no groff here)" : "";

it.skipIf(reason !== "")(`the manual is set without a warning${reason}`, () => {
  const { stdout, stderr } = groff();
  expect(stderr).toBe("");
  // Some terminals strike each letter of a heading twice.
  expect(stdout.replace(/.\u0008/g, "")).toContain("EXIT CODES");
});
