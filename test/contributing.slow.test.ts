/**
 * What CONTRIBUTING.md shows (a command, a rule of the sandbox, a file format, a word of consent) is written into a
 * copy of the source as the page says, checked and run.
 */
import { execFileSync } from "node:child_process";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { type RolldownPlugin, rolldown } from "rolldown";
import { expect, it } from "vitest";
import { done, type Ecm, ecmWith, readJson, refused, temporaryFolder, temporaryHome } from "./support/ecm.ts";

const root = resolve(import.meta.dirname, "..");

/** @returns the program with all four changes */
async function loadChangedCopy(): Promise<Ecm> {
  const copy = await copySource();
  const page = await readFile(join(root, "CONTRIBUTING.md"), "utf8");
  const found = (pattern: RegExp) => pattern.exec(page)!.slice(1) as [string, ...string[]];
  const [command, rule, format] = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, block]) =>
    block!.replaceAll(/^ {3}/gm, ""),
  );
  const change = async (path: string, edit: (text: string) => string) => {
    const text = await readFile(join(copy, path), "utf8");
    const edited = edit(text);
    expect(edited, path).not.toBe(text);
    await writeFile(join(copy, path), edited);
  };

  const [commandPath] = found(/Write `(src\/commands\/lists\/\w+\.ts)`/);
  const [register] = found(/Call `(\w+)\(lists, context\)`/);
  await writeFile(join(copy, commandPath), command!);
  await change("src/commands/lists/index.ts", (text) => {
    const called = text.replace(/\}\s*$/, `  ${register}(lists, context);\n}\n`);
    return `import { ${register} } from "./${commandPath.split("/").at(-1)}";\n${called}`;
  });

  const [rulesPath] = found(/What a body must look like is in `([^`]+)`/);
  const [schema] = found(/one more step of `(\w+)`/);
  await change(rulesPath, (text) =>
    text.replace(new RegExp(`(const ${schema} = v\\.pipe\\(\\s*\\w+,)`), `$1 ${rule}`),
  );

  const [formatPath] = found(/Write `(src\/tables\/\w+\.ts)`/);
  const [formatName, list, formatsPath] = found(/Name `(\w+)` in the list `(\w+)` of `([^`]+)`/);
  await writeFile(join(copy, formatPath), format!);
  await change(formatsPath!, (text) => {
    const end = new RegExp(`(const ${list}[^;]*?)textFormat\\]`);
    const listed = text.replace(end, `$1${formatName}, textFormat]`);
    return `import { ${formatName} } from "./${formatPath.split("/").at(-1)}";\n${listed}`;
  });

  const [words] = found(/Each language has a file, here `([^`]+)`/);
  const [word, line] = found(/Add `(\w+)` to the line `(\w+)`/);
  await change(words, (text) => text.replace(`${line}: \``, `${line}: \`${word}, `));

  const compiler = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "--singleThreaded"], { cwd: copy });
  const { textFiles }: { textFiles: RolldownPlugin } = await import(join(root, "scripts/text-files.mjs"));
  const input = join(copy, "src/run.ts");
  const bundle = await rolldown({ input, platform: "node", external: ["libsql"], plugins: [textFiles] });
  const built = join(copy, "dist/run.cjs");
  await bundle.write({ file: built, format: "cjs", codeSplitting: false });
  await bundle.close();
  const { run } = createRequire(built)(built);
  return ecmWith({ ...(await temporaryHome()), ECM_PROFILE: "sandbox" }, run);
}

it("shows a command, a rule, a format and a word that do what it says", async () => {
  const ecm = await loadChangedCopy();
  await done(ecm("lists create Newsletter"));
  await done(ecm("contact create --key ada@example.com --list Newsletter"));
  expect(await done(ecm("lists count Newsletter"))).toBe("1\n");
  // Every command's JSON is an object or an array (test/promises/every-command.test.ts).
  expect(await readJson(ecm, "lists count Newsletter")).toEqual({ contacts: 1 });
  await refused(ecm("lists create #Offers"), 1, "must not begin with #");
  await done(ecm("lists create Offers#1"));

  const dryRun = async (name: string, content: string): Promise<unknown> => {
    const path = join(await temporaryFolder(), name);
    await writeFile(path, content);
    const { stdout, stderr } = await ecm(`import ${path} --create-missing --dry-run --json`);
    expect(stdout, stderr).not.toBe("");
    return JSON.parse(stdout);
  };
  const table = "| Email | tags |\n| :--- | --- |\n| bob@example.com | vip |\n| nobody | |\n";
  expect(await dryRun("people.md", table)).toMatchObject({ rows: { read: 2, created: 1, rejected: 1 } });
  const words = "Email,Status\neva@example.com,actief\njan@example.com,vertrokken\n";
  const rows = { read: 2, created: 1, skipped: 1 };
  expect(await dryRun("dutch.csv", words)).toMatchObject({ rows, consent: { not_subscribed: 1 } });
});

async function copySource(): Promise<string> {
  const folder = await temporaryFolder();
  for (const part of ["src", "docs", "package.json"])
    await cp(join(root, part), join(folder, part), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  const settings = JSON.parse(await readFile(join(root, "tsconfig.json"), "utf8")) as object;
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ ...settings, include: ["src"] }));
  return folder;
}
