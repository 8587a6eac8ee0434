/** The command tree as programs read it: small, whole, and true. */
import { PassThrough } from "node:stream";
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import { describe, expect, it } from "vitest";
import { groups } from "../../src/commands/groups.ts";
import { describeCommandJson } from "../../src/commands/help/help-text.ts";
import { topicNames } from "../../src/commands/help/tree.ts";
import { Context } from "../../src/context.ts";
import { createTree, listWords } from "../../src/program.ts";
import { loadLeaves } from "../support/command-tree.ts";
import { done, type Ecm, ecmWith, readJson, refused, temporaryHome, toWords } from "../support/ecm.ts";

type Described = Required<ReturnType<typeof describeCommandJson>>;

const ecm: Ecm = async (args, options) => ecmWith(await temporaryHome())(args, options);

/** What `ecm commands` says of each command. */
const described = (await loadLeaves()).map(({ command }) => describeCommandJson(command) as Described);

/** The words behind `ecm` in a line of shell, without what stands around it: `eval "$(…)"`, a pipe, a file. */
function splitExample(example: string): string[] {
  const [ecm, ...words] = toWords(/\$\((ecm .*?)\)/.exec(example)?.[1] ?? example);
  expect(ecm, example).toBe("ecm");
  const end = words.findIndex((word) => /^[|<>]$/.test(word));
  return end < 0 ? words : words.slice(0, end);
}

/** Which command the words lead to, parsed by the program and stopped before anything is done. */
async function parsed(words: string[]): Promise<string> {
  class Reached extends Error {}
  const sink = new PassThrough().resume();
  const streams = { stdin: new PassThrough(), stdout: sink, stderr: sink, env: {} };
  const context = new Context(streams as never, new AbortController().signal);
  const program = createTree(context, () => Promise.resolve(0)).root;
  let reached = "";
  program.hook("preAction", (_program, action) => {
    for (let each: Command = action; each.parent; each = each.parent) reached = `${each.name()} ${reached}`;
    throw new Reached();
  });
  await program.parseAsync(listWords(program, words), { from: "user" }).catch((error) => {
    if (!(error instanceof Reached)) throw error;
  });
  return reached.trim();
}

it("keeps the index within 12 KB, and what is said of one command within 8 KB", async () => {
  expect(Buffer.byteLength(await done(ecm("commands --json")))).toBeLessThanOrEqual(12 * 1024);
  const sizes = described.map((each) => [each.command, Buffer.byteLength(JSON.stringify(each))] as const);
  expect(sizes.filter(([, bytes]) => bytes >= 8 * 1024)).toEqual([]);
  const [first] = described;
  expect(await done(ecm(`commands ${first!.command} --json`))).toBe(`${JSON.stringify(first)}\n`);
});

it("shows that an argument repeats, and where to read on below a command", async () => {
  expect(await done(ecm("commands"))).toContain("contact erase [key...]");
  await refused(ecm("commands contact erase [key]"), 5, "See: ecm commands contact erase");
});

it("says of every command in a line what it does, what it prints, how it ends, and what each flag and argument is", () => {
  for (const each of described) {
    const { command, summary, exitCodes, flags, output, examples } = each;
    const todo = `ecm ${command}: declare it with verb (commands/verb.ts), with its examples and output`;
    expect([output !== "", examples.length > 0], todo).toEqual([true, true]);
    expect(summary, command).toMatch(/^[a-z].*[^.]$/s);
    expect(Object.keys(exitCodes), command).toEqual(expect.arrayContaining(["0", "1", "2"]));
    const descriptions = [...each.arguments, ...flags].map(({ description }) => description);
    expect(descriptions, command).not.toContain("");
  }
});

it("gives examples that the program takes: words, flags and values as they stand there", async () => {
  for (const { command, examples } of described) {
    for (const example of examples) {
      const reached = parsed(splitExample(example)).catch((error) => `${example}: ${error.message}`);
      expect(await reached).toBe(command);
    }
  }
});

it("says of a flag its type, its values, and whether it may stand several times", async () => {
  const { flags } = await readJson(ecm, "commands import");
  const findFlag = (name: string) => flags.find((flag: { name: string }) => flag.name === name);
  const choices = ["upsert", "create", "update"];
  expect(findFlag("--mode")).toMatchObject({ type: "string", choices, default: "upsert" });
  expect(findFlag("--list")).toMatchObject({ type: "string", repeatable: true });
  expect(findFlag("--skip-lines")).toMatchObject({ type: "integer" });
  expect(findFlag("--dry-run")).toEqual({
    ...{ name: "--dry-run", type: "boolean", choices: null, default: null, repeatable: false },
    description: expect.any(String),
  });
});

it("gives the default of every flag whose help says one", () => {
  const defaults: Record<string, unknown> = {};
  for (const { command, flags } of described) {
    for (const { name, description, default: defaultValue } of flags) {
      const flag = `${command} ${name}`;
      defaults[flag] = defaultValue;
      if (/\((?:\d+%?|us)\)$/.test(description)) expect(defaultValue, flag).not.toBeNull();
    }
  }
  expect(defaults).toMatchObject({
    "lists list --size": 100,
    "contact search --page-size": 100,
    "lists sync --max-remove": "10%",
    "import --concurrency": 8,
    "events --days": 30,
    "sandbox start --hourly-limit": 3600,
    "sandbox start --region": "us",
    "import --list": null,
  });
});

it("gives an array with --json and --columns, and at a terminal cuts no summary", async () => {
  const [first] = await readJson(ecm, "commands --columns command");
  expect(first).toEqual({ command: "auth login" });
  const shown = await done(ecm("commands", { terminalColumns: 100 }));
  expect(shown).toContain("save an account's base URL and API key as a profile");
});

describe("help", () => {
  it("shows every command in 24 lines of 80 columns", async () => {
    const text = await done(ecm([]));
    const lines = text.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    for (const { name, summary } of groups)
      if (summary) expect(text, name).toMatch(new RegExp(`\\b${name}\\b`));
  });

  const pages = [...topicNames, "topics"].filter((name) => name !== "variants");
  it.each(pages)("has a page on %s, and one for programs", async (name) => {
    const page = await ecm(["help", name]);
    expect(page).toMatchObject({ code: 0, stderr: "" });
    expect(page.stdout.length).toBeGreaterThan(100);
    for (const line of page.stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(await readJson(ecm, `help ${name}`)).toBeTypeOf("object");
  });
});
