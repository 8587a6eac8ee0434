/** The files and mappings of docs/mapping.md, imported as they stand there. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { inputFile } from "./bulk/kit.ts";
import { startSandbox } from "./support/sandbox.ts";

const page = await readFile(fileURLToPath(new URL("../docs/mapping.md", import.meta.url)), "utf8");

interface Example {
  title: string;
  file: string;
  mapping: string;
  /** What the account then holds. */
  contacts: string;
}

const examples = page
  .split(/^### /m)
  .slice(1)
  .map((section): Example => {
    const [file, mapping, contacts] = [...section.matchAll(/```(?:csv|yaml)\n([\s\S]*?)```/g)].map(
      ([, text]) => text!,
    );
    return { title: section.split("\n")[0]!, file: file!, mapping: mapping!, contacts: contacts! };
  });

const builtIn = ["key", "First Name", "Last Name", "tags"];

describe("docs/mapping.md", () => {
  it("has two files", () => expect(examples).toHaveLength(2));

  it.each(examples)("$title", async ({ file, mapping, contacts }) => {
    const { ecm } = await startSandbox();
    const header = contacts.split("\n")[0]!;
    const fields = header.split(",").filter((name) => !builtIn.includes(name));
    for (const field of fields) await ecm(["structure", "field", "add", field]);
    const args = [await inputFile(file, "export.csv"), "--mapping", await inputFile(mapping, "export.yaml")];
    const flags = ["--ignore-unmapped", "--create-missing"];
    const imported = await ecm(["import", ...args, ...flags]);
    expect(imported.code, imported.stderr).toBe(0);
    const held = await ecm(["contact", "search", "--columns", header, "-o", "csv"]);
    expect(held.stdout).toBe(contacts);
    const again = await ecm(["import", ...args, ...flags, "--json"]);
    expect(JSON.parse(again.stdout).requests).toMatchObject({ create: 0, mutate: 0 });
  });
});
