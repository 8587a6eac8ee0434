/** The scripts of docs/people.md, run in their order as they stand there. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { inputFile, readContacts } from "./bulk/kit.ts";
import { temporaryFolder, toWords } from "./support/ecm.ts";
import { startSandbox } from "./support/sandbox.ts";

const page = await readFile(fileURLToPath(new URL("../docs/people.md", import.meta.url)), "utf8");
const scripts = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, script]) => script!.trim().split("\n"));

const people = "Email,First Name,Newsletter consent\nada@old.example,Ada,yes\nbob@old.example,Bob,yes\n";
async function filesThatHold(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(folder, { recursive: true }).catch(() => [] as string[])) {
    const file = join(folder, name);
    if (!(await stat(file)).isFile()) continue;
    if ((await readFile(file, "latin1")).toLowerCase().includes(text)) found.push(file);
  }
  return found;
}

it("docs/people.md: from a new address to an erasure", async () => {
  const service = await startSandbox();
  await service.ecm(["import", await inputFile(people)]);
  // Files of the page are beside each other.
  const folder = await temporaryFolder();
  const isFile = (word: string) => /^[\w-]+\.(?:csv|ndjson|md|json)$/.test(word);
  const said: string[] = [];
  for (const line of scripts.flat()) {
    const [program, ...words] = toWords(line);
    const args = words.map((word) => (isFile(word) ? join(folder, word) : word));
    expect(program).toBe("ecm");
    const result = await service.ecm(args);
    expect(result.code, `${line}\n${result.stderr}`).toBe(0);
    said.push(`${line}\n${result.stdout}`);
  }
  const output = (start: string) => said.find((each) => each.startsWith(start))!;
  expect(await readFile(join(folder, "ada.md"), "utf8")).toContain("First Name: Ada");
  expect(await readFile(join(folder, "ada-before.json"), "utf8")).toContain('"ada@old.example"');
  const dossiers = said.filter((each) => each.startsWith("ecm contact dossier ada@new.example\n"));
  expect(dossiers.at(-1)).toMatch(/No contact\.[\s\S]*On the suppression list since[\s\S]*None\./);
  expect(output("ecm contact erase").replace(/^.*\n/, "")).not.toContain("ada@");
  expect([...(await readContacts(service)).keys()]).toEqual(["bob@old.example"]);
  for (const folder of [service.env.ECM_STATE_DIR!, service.env.ECM_CACHE_DIR!]) {
    for (const key of ["ada@old.example", "ada@new.example"]) {
      expect(await filesThatHold(folder, key)).toEqual([]);
    }
  }
  const again = await service.ecm(["import", await inputFile(people), "--json"]);
  expect(JSON.parse(again.stdout).codes.skipped).toEqual({ suppressed: 1 });
});
