import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const script = fileURLToPath(new URL("../../scripts/pictures.mjs", import.meta.url));

it("the README's pictures are what the program shows", () => {
  const check = () =>
    execFileSync(process.execPath, [script, "--check"], { encoding: "utf8", stdio: "pipe" });
  expect(check).not.toThrow();
});
