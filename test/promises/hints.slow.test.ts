/** Commands that messages show, given to a real shell as they stand: they work, and on the account that was meant. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "@commander-js/extra-typings";
import { beforeEach, describe, expect, it } from "vitest";
import { formatCommandLine } from "../../src/commands/help/command-line.ts";
import { inputFile, type Result, type RunningSandbox, startSandbox, temporaryFolder } from "../kit.ts";
import { done, type Ecm, ecmWith, ends, readJson, refused, temporaryHome, toWords } from "../support/ecm.ts";
import type { Answer } from "../support/typing.ts";

/** What a shell would expand between double quotes. */
const oddName = `it's $HOME \`id\` "x"!`;
const at300 = { terminalColumns: 300, env: { NO_COLOR: "1" } };

let selected: RunningSandbox;
let shop: RunningSandbox;
let home: Record<string, string>;
let ecm: Ecm;

/** Two accounts: the profile "main" is selected, "shop" is named by a flag. */
beforeEach(async () => {
  [selected, shop] = [await startSandbox(), await startSandbox()];
  home = await temporaryHome();
  ecm = ecmWith(home);
  await login("main", selected);
  await login("shop", shop);
});

const login = (profile: string, { baseUrl, apiKey }: RunningSandbox) =>
  ecm(`auth login --profile ${profile} --base-url ${baseUrl} --api-key-stdin`, { stdin: apiKey });

/** The command that a message shows behind some words. */
function commandAfter(words: string, { stderr }: Result): string {
  const [, command] = new RegExp(`${words}:?\\s+(ecm .*)$`, "m").exec(stderr) ?? [];
  if (command === undefined) throw new Error(`no command after ${words}:\n${stderr}`);
  return command;
}

/** Gives a line to a shell, and what `ecm` gets of it there to the program in this process. */
async function inShell(line: string): Promise<Result> {
  const folder = await temporaryFolder();
  const script = `#!/bin/sh\ncd '${folder}'\nprintf '%s\\0' "$@" >words\nprintf %s "$ECM_API_KEY" >key\ncat >stdin\n`;
  await writeFile(join(folder, "ecm"), script, { mode: 0o755 });
  const env = { HOME: folder, PATH: `${folder}:${process.env.PATH}` };
  execFileSync("sh", ["-c", line], { env, input: "" });
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const [words, key, stdin] = [read("words"), read("key"), read("stdin")];
  return ecm(words.split("\0").slice(0, -1), { stdin, env: key ? { ECM_API_KEY: key } : {} });
}

const inShop = (line: string) => readJson(ecm, `${line} --profile shop`);

describe("a command that a message shows works on the account of the command before it", () => {
  it("to undo a run, and to resume one", async () => {
    shop.sandbox.admin.seed({ contacts: [{ key: "p1@example.com" }], tags: ["vip"] });
    const changed = await ecm("contact mutate --all --add-tag vip --profile shop --yes");
    await ends(inShell(commandAfter("Undo", changed)), 0, "1 restored");

    const file = await inputFile("Email\na@example.com\nb@example.com\nc@example.com\n");
    const stopped = await ends(ecm(`import ${file} --profile shop --max-requests 3`), 7);
    const resumed = await ends(inShell(commandAfter("Resume with", stopped)), 0);
    expect(await inShop("contact search")).toHaveLength(4);
    expect(await readJson(ecm, "contact search")).toEqual([]);
    // One that did nothing but create.
    await done(inShell(`${commandAfter("Undo", resumed)} --yes`));
    expect(await inShop("contact search")).toHaveLength(1);
  });

  it("with a base URL of its own", async () => {
    const file = await inputFile("Email\na@example.com\nb@example.com\n");
    const env = { ECM_API_KEY: shop.apiKey };
    const importing = ecm(`import ${file} --base-url ${shop.baseUrl} --max-requests 2`, { env });
    const stopped = await ends(importing, 7);
    await done(inShell(`ECM_API_KEY=${shop.apiKey} ${commandAfter("Resume with", stopped)}`));
  });

  it("to add the field that an import needs", async () => {
    const file = await inputFile("Email,-Ort\nada@example.com,Oslo\n", "Adas $people.csv");
    const right: Answer[] = [["Is this right?", "\r"]];
    const dry = await ecm(["import", file, "--dry-run", "--profile", "shop"], { ...at300, typed: right });
    // At a terminal the import itself creates the field, after the yes.
    const words = toWords(commandAfter("Run it with", dry)).slice(1);
    const typed: Answer[] = [
      ["Add these contacts to a list?", "\r"],
      ['Create the field "-Ort", and write to 1 contact', "y\r"],
    ];
    await done(ecm(words, { ...at300, typed }));
    const ort = expect.objectContaining({ label: "-Ort" });
    expect((await inShop("structure get")).fields).toContainEqual(ort);
    expect((await readJson(ecm, "structure get")).fields).not.toContainEqual(ort);
    expect(await inShop("contact search")).toHaveLength(1);
  });

  it("to log in again: the profile that is in use gets the new key", async () => {
    const owner = (line: string) => readJson(ecm, `sandbox ${line} --data ${shop.folder}`);
    const { key } = await owner("keys create ci --scope contacts:read --expires 2030-01-01T00:00:00Z");
    await login("shop", { ...shop, apiKey: key });
    await ecm("auth use shop");
    await owner("clock set 2030-01-02T00:00:00Z");
    const said = await refused(ecm("lists list"), 4);
    const [command] = /ecm auth login.*|ecm --profile shop auth .*/.exec(said)!;
    await done(inShell(`echo ${shop.apiKey} | ${command} --base-url ${shop.baseUrl} --api-key-stdin`));
    await done(ecm("lists list"));
  });
});

describe("a command that a message shows is quoted as a shell wants it", () => {
  it.each([oddName, "-x"])("with the name of a list: %s", async (name) => {
    shop.sandbox.admin.seed({ lists: ["Leads"], contacts: [{ key: "p1@example.com", lists: ["Leads"] }] });
    await ecm(["lists", "duplicate", "--profile", "shop", "--", "Leads", name]);
    const undone = await ecm("runs undo last --profile shop");
    const line = `${commandAfter("delete it with", undone)} --yes`;
    await done(inShell(line.replace(/(-- .*) (--yes)$/, "$2 $1")));
    expect(await inShop("lists list")).toMatchObject([{ name: "Leads" }]);
  });

  it("with arguments that look like flags", () => {
    const root = new Command("ecm").option("--profile <name>");
    const command = root.command("import").argument("<file>").option("--list <list...>");
    root.parse(["--profile", "shop", "import", "--list=-a", "--", "-x.csv"], { from: "user" });
    expect(formatCommandLine(command, ["-x.csv"])).toBe("ecm import --list=-a --profile shop -- -x.csv");
    expect(formatCommandLine(command, ["-"])).toBe("ecm import - --list=-a --profile shop");
  });
});
