/** The skills as an agent follows them: their commands as they stand there, judged by what the account holds then. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { version } from "../src/version.ts";
import { ecmWith, type Result, temporaryFolder, temporaryHome } from "./support/ecm.ts";
import { startSandbox } from "./support/sandbox.ts";

const skills = join(import.meta.dirname, "../skills");
const people = "Email,City\nada@example.com,Paris\nbob@example.com,\n";

/** Its commands in order, as words. */
function readCommands(skill: string): string[][] {
  const text = readFileSync(join(skills, skill, "SKILL.md"), "utf8");
  return [...text.matchAll(/```sh\n\s*ecm (.*)\n/g)].map(([, line]) =>
    [...line!.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!),
  );
}

/** Files that the skill names are in a folder of the test. */
async function follow(skill: string) {
  const { ecm } = await startSandbox();
  const folder = join("node_modules", `.ecm-test-${skill}`);
  await mkdir(folder, { recursive: true });
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "people.csv"), people);
  const place = (word: string) => (/\.(?:csv|ndjson)$/.test(word) ? join(folder, word) : word);
  const type = (words: string[]): Promise<Result> => ecm(words.map(place));
  expect((await type(["structure", "field", "add", "City"])).code).toBe(0);
  return {
    type,
    ask: async (...words: string[]) => JSON.parse((await type([...words, "--json"])).stdout),
    async run() {
      const results: Result[] = [];
      for (const words of readCommands(skill)) {
        const result = await type(words);
        expect({ words, code: result.code, stderr: result.stderr }).toEqual({
          words,
          code: 0,
          stderr: result.stderr,
        });
        results.push(result);
      }
      return results;
    },
  };
}

it("imports a file", { tags: "slow" }, async () => {
  const { run, ask } = await follow("ecm-import");
  const results = await run();
  expect(JSON.parse(results.at(-1)!.stdout)).toBe(2);
  expect(await ask("contact", "search", "--list", "Newsletter", "--count")).toBe(2);
});

it("finds and changes", { tags: "slow" }, async () => {
  const { run, ask, type } = await follow("ecm-change");
  expect((await type(["import", "people.csv"])).code).toBe(0);
  await run();
  expect(await ask("contact", "search", "--where", 'City == "Oslo"', "--count")).toBe(1);
  expect(await ask("contact", "search", "--where", 'City == "Paris"', "--count")).toBe(1);
});

it("erases, and proves it", { tags: "slow" }, async () => {
  const { run, ask, type } = await follow("ecm-erase");
  expect((await type(["import", "people.csv"])).code).toBe(0);
  await run();
  expect((await ask("contact", "search", "--all")).map(({ key }: { key: string }) => key)).toEqual([
    "bob@example.com",
  ]);
});

it("are of this version, and are installed once", async () => {
  const ecm = ecmWith(await temporaryHome());
  const folder = await temporaryFolder();
  const install = async (...words: string[]) =>
    JSON.parse((await ecm(["skills", "install", "--dir", folder, "--json", ...words])).stdout) as {
      name: string;
      state: string;
    }[];
  const names = readdirSync(skills).sort();
  expect((await install("--dry-run")).map(({ name, state }) => [name, state])).toEqual(
    names.map((name) => [name, "new"]),
  );
  expect(readdirSync(folder)).toEqual([]);
  await install();
  expect((await install()).map(({ state }) => state)).toEqual(names.map(() => "unchanged"));
  for (const name of names) {
    const text = await readFile(join(folder, name, "SKILL.md"), "utf8");
    expect(text).toMatch(new RegExp(`^---\\nname: ${name}\\ndescription: .{20,1024}\\nlicense: \\S+\\n`));
    expect(text).toMatch(/^compatibility: .{1,500}$/m);
    expect(text).toContain(`version: "${version}"`);
    expect(name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
    expect(text.split("\n").length).toBeLessThan(500);
  }
});
