/**
 * The command that CONTRIBUTING.md shows is written into a copy of the source as the page says, built and run.
 */
import { execFileSync } from "node:child_process";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder, temporaryHome } from "./support/ecm.ts";

const root = resolve(import.meta.dirname, "..");

it("has an example of a command that compiles and runs", async () => {
  const page = await readFile(join(root, "CONTRIBUTING.md"), "utf8");
  const [, path] = /Write `(src\/commands\/lists\/\w+\.ts)`/.exec(page)!;
  const [, call] = /Call `(\w+)\(lists, context\)`/.exec(page)!;
  const [, block] = /```ts\n(.*?)```/s.exec(page)!;
  const copy = await copySource();
  await writeFile(join(copy, path!), block!.replaceAll(/^ {3}/gm, ""));
  const index = join(copy, "src/commands/lists/index.ts");
  const text = await readFile(index, "utf8");
  const from = `./${path!.split("/").at(-1)}`;
  const called = text.replace(/\}\s*$/, `  ${call}(lists, context);\n}\n`);
  await writeFile(index, `import { ${call} } from ${JSON.stringify(from)};\n${called}`);

  const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd: copy, encoding: "utf8" });
  node(join(root, "node_modules/typescript/bin/tsc"), "-p", ".");
  node("scripts/build.mjs");
  const env = { ...process.env, ...(await temporaryHome()) };
  const ecm = (...args: string[]) =>
    execFileSync(process.execPath, ["bin/ecm.js", "-p", "sandbox", ...args], {
      cwd: copy,
      env,
      encoding: "utf8",
      stdio: "pipe",
    });
  ecm("lists", "create", "Newsletter");
  ecm("contact", "create", "--key", "ada@example.com", "--list", "Newsletter");
  expect(ecm("lists", "count", "Newsletter")).toBe("1\n");
});

/** What a build needs. */
async function copySource(): Promise<string> {
  const copy = await temporaryFolder();
  const parts = ["src", "scripts", "bin", "docs", "package.json"];
  for (const part of parts) await cp(join(root, part), join(copy, part), { recursive: true });
  await mkdir(join(copy, "dist"));
  await symlink(join(root, "node_modules"), join(copy, "node_modules"), "junction");
  const settings = JSON.parse(await readFile(join(root, "tsconfig.json"), "utf8")) as object;
  await writeFile(join(copy, "tsconfig.json"), JSON.stringify({ ...settings, include: ["src"] }));
  return copy;
}
