/** The command tree as programs read it: small, whole, and true. */
import { PassThrough } from "node:stream";
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import { describe, expect, it } from "vitest";
import { groups } from "../../src/commands/groups.ts";
import { topicNames } from "../../src/commands/help/tree.ts";
import { Context } from "../../src/context.ts";
import { createTree, listWords } from "../../src/program.ts";
import { ecmWith, temporaryHome } from "../support/ecm.ts";

interface Described {
  command: string;
  summary: string;
  arguments: { name: string; description: string }[];
  flags: {
    name: string;
    type: string;
    choices: string[] | null;
    repeatable: boolean;
    default: unknown;
    description: string;
  }[];
  output: string;
  exitCodes: Record<string, string>;
  examples: string[];
}

async function index(): Promise<{ text: string; paths: string[][] }> {
  const { stdout } = await ecmWith(await temporaryHome())(["commands", "--json"]);
  const { commands } = JSON.parse(stdout) as { commands: { command: string }[] };
  return { text: stdout, paths: commands.map(({ command }) => command.replace(/ [<[].*/, "").split(" ")) };
}

async function describedAll(): Promise<{ text: string; command: Described }[]> {
  const ecm = ecmWith(await temporaryHome());
  const { paths } = await index();
  return Promise.all(
    paths.map(async (path) => {
      const { stdout } = await ecm(["commands", ...path, "--json"]);
      return { text: stdout, command: JSON.parse(stdout) };
    }),
  );
}

/** The words of `ecm` in a line of shell, without what stands around it: `eval "$(…)"`, a pipe, a file. */
function splitExample(example: string): string[] {
  const line = /\$\((ecm .*?)\)/.exec(example)?.[1] ?? example;
  const words: string[] = [];
  for (const [, single, double, plain] of line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)) {
    if (plain !== undefined && /^[|<>]$/.test(plain)) break;
    words.push(single ?? double ?? plain!);
  }
  return words;
}

/** Which command the words lead to, parsed by the program and stopped before anything is done. */
async function parsed(words: string[]): Promise<string> {
  class Reached extends Error {}
  const sink = new PassThrough().resume();
  const streams = { stdin: new PassThrough(), stdout: sink, stderr: sink, env: await temporaryHome() };
  const program = createTree(new Context(streams as never, new AbortController().signal), () =>
    Promise.resolve(0),
  ).root;
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

it("keeps the index within 12 KB", async () => {
  expect(Buffer.byteLength((await index()).text)).toBeLessThanOrEqual(12 * 1024);
});

it("keeps what is said of one command within 8 KB", async () => {
  for (const { text, command } of await describedAll())
    expect(Buffer.byteLength(text), command.command).toBeLessThanOrEqual(8 * 1024);
});

it("says of every command what it prints, how it ends and how it is used, and of every flag what it does", async () => {
  for (const { command } of await describedAll()) {
    expect(command.summary, command.command).toMatch(/^[a-z].*[^.]$/s);
    expect(command.output.length, command.command).toBeGreaterThan(5);
    expect(Object.keys(command.exitCodes), command.command).toEqual(expect.arrayContaining(["0", "1", "2"]));
    expect(command.examples.length, command.command).toBeGreaterThan(0);
    const descriptions = [
      ...command.arguments.map(({ description }) => description),
      ...command.flags.map(({ description }) => description),
    ];
    for (const text of descriptions) expect(text, command.command).not.toBe("");
  }
});

it("gives examples that the program takes: words, flags and values as they stand there", async () => {
  for (const { command } of await describedAll()) {
    for (const example of command.examples) {
      const [ecm, ...words] = splitExample(example);
      expect(ecm, example).toBe("ecm");
      expect(await parsed(words).catch((error) => `${example}: ${error.message}`)).toBe(command.command);
    }
  }
});

it("says of a flag its type, its values, and whether it may stand several times", async () => {
  const { stdout } = await ecmWith(await temporaryHome())(["commands", "import", "--json"]);
  const { flags } = JSON.parse(stdout) as Described;
  const findFlag = (name: string) => flags.find((flag) => flag.name === name);
  expect(findFlag("--mode")).toMatchObject({
    type: "string",
    choices: ["upsert", "create", "update"],
    default: "upsert",
  });
  expect(findFlag("--list")).toMatchObject({ type: "string", repeatable: true });
  expect(findFlag("--skip-lines")).toMatchObject({ type: "integer" });
  expect(findFlag("--dry-run")).toEqual({
    ...{ name: "--dry-run", type: "boolean", choices: null, default: null, repeatable: false },
    description: expect.any(String),
  });
});

it("gives the default of every flag whose help says one", async () => {
  const defaults = new Map<string, unknown>();
  for (const { command } of await describedAll()) {
    for (const { name, description, default: defaultValue } of command.flags) {
      defaults.set(`${command.command} ${name}`, defaultValue);
      if (/\((?:\d+%?|us)\)$/.test(description))
        expect(defaultValue, `${command.command} ${name}`).not.toBeNull();
    }
  }
  const expected: [string, unknown][] = [
    ["lists list --size", 100],
    ["contact search --page-size", 100],
    ["lists sync --max-remove", "10%"],
    ["import --concurrency", 8],
    ["events --days", 30],
    ["sandbox start --hourly-limit", 3600],
    ["sandbox start --region", "us"],
    ["import --list", null],
  ];
  for (const [flag, defaultValue] of expected) expect(defaults.get(flag), flag).toBe(defaultValue);
});

it("gives an array with --json and --columns, and at a terminal cuts no summary", async () => {
  const ecm = ecmWith(await temporaryHome());
  const [first] = JSON.parse((await ecm("commands --json --columns command")).stdout);
  expect(first).toEqual({ command: "auth login" });
  const shown = await ecm("commands", { terminalColumns: 100 });
  expect(shown.stdout).toContain("save an account's base URL and API key as a profile");
});

describe("help", () => {
  it("shows every command in 24 lines of 80 columns", async () => {
    const { stdout, code } = await ecmWith(await temporaryHome())([]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    for (const { name, summary } of groups) {
      if (summary) expect(stdout, name).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });

  it.each([...topicNames, "topics"].filter((name) => name !== "variants"))(
    "has a page on %s, and one for programs",
    async (name) => {
      const ecm = ecmWith(await temporaryHome());
      const page = await ecm(["help", name]);
      expect(page).toMatchObject({ code: 0, stderr: "" });
      expect(page.stdout.length).toBeGreaterThan(100);
      for (const line of page.stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
      expect(JSON.parse((await ecm(["help", name, "--json"])).stdout)).toBeTypeOf("object");
    },
  );
});
