/** Every command that a message of ours shows exists, with the flags that are shown with it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import { beforeAll, expect, it } from "vitest";
import { findChild, findFlag } from "../../src/commands/help/tree.ts";
import { loadTree } from "../support/command-tree.ts";

const source = join(import.meta.dirname, "../../src");
const all = readdirSync(source, { recursive: true, encoding: "utf8" });
const files = all.filter((each) => each.endsWith(".ts"));

/** A file without its comments, with its commands as they are shown, and … where a value is put into a text. */
function readText(file: string): string {
  return readFileSync(join(source, file), "utf8")
    .replace(/\/\*\*?[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/(?:\$\{)?\becm`/g, "ecm ")
    .replace(/\$\{[^{}]*\}/g, "…");
}

type Shown = { place: string; words: string[] };

/** What stands behind `ecm`, as far as it may be a command. */
function commandsIn(place: string, text: string): Shown[] {
  const shown = [...text.matchAll(/\becm (?:(?:--profile|-p) \S+ )?((?:[^\s;,()"`|]+[ ]?)+)/g)];
  const split = (words: string) =>
    words
      .trim()
      .replace(/[.:?]$/, "")
      .split(/\s+/);
  return shown.map(([, words]) => ({ place, words: split(words!) }));
}

let program: Command;
const shownHints: Shown[] = [];

beforeAll(async () => {
  program = await loadTree();
  for (const file of files) {
    if (!file.endsWith(".d.ts")) shownHints.push(...commandsIn(file, readText(file)));
  }
});

/** The command that words lead to, and the word that is none of its group. */
function follow(words: string[]): { command: Command; unknown?: string } {
  let command = program;
  for (const word of words) {
    // A word in capitals or a name that is put in stands for a value; flags may stand before the command.
    if (!/^[a-z][a-z-]*$/.test(word)) continue;
    const child = findChild(command, word);
    if (!child)
      return { command, unknown: command !== program && command.commands.length > 0 ? word : undefined };
    command = child;
    if (command.commands.length === 0) break;
  }
  return { command };
}

const show = ({ place, words }: Shown) => `${place}: ecm ${words.join(" ")}`;

it("names commands that exist", () => {
  const wrong = shownHints.filter(({ words }) => follow(words).unknown && !/…/.test(words.join(" ")));
  expect(wrong.map(show)).toEqual([]);
  expect(shownHints.length).toBeGreaterThan(150);
});

it("names flags that these commands have", () => {
  const wrong = shownHints.filter(({ words }) => {
    const { command } = follow(words);
    const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
    const flags = own.flatMap((word) => /^(--[a-z][a-z-]*|-[a-zA-Z])(?:=.*)?$/.exec(word)?.[1] ?? []);
    return command !== program && flags.some((flag) => flag !== "--help" && !findFlag(command, flag));
  });
  expect(wrong.map(show)).toEqual([]);
});

it("puts no hint into a plain text, where its commands would be lost", () => {
  const places: string[] = [];
  for (const file of files) {
    const text = readFileSync(join(source, file), "utf8");
    for (const [plain] of text.matchAll(/(?<!advise)`[^`\n]*\$\{(?:\w+\.)*(?:usage|hint)\}/g))
      places.push(`${file}: ${plain}`);
  }
  expect(places).toEqual([]);
});

it("leads nobody to a flag that overrides consent", () => {
  const places = shownHints.filter(({ words }) => words.some((word) => /^--include-/.test(word)));
  expect(places).toEqual([]);
  // Elsewhere than in a command they stand in help and in what is said of their effect.
  const advice = /(?:pass|use|with|add|anyway[^"]*) --include-(?:suppressed|unsubscribed)/i;
  expect(files.filter((file) => advice.test(readText(file)))).toEqual([]);
});
