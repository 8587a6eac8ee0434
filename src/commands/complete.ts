import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { type KnownNames, readNames } from "../config/names-cache.ts";
import type { Context } from "../context.ts";
import { type CommandTree, flagNamed } from "../program.ts";
import { escapeControls } from "../terminal/escape.ts";
import { outputFormats } from "../terminal/format.ts";

interface Candidate {
  text: string;
  description?: string;
}

/** Hidden: what the shell scripts of `ecm completion` ask. Reads files, never the network, and never fails. */
export function registerComplete(command: Command, context: Context, tree: CommandTree): void {
  command
    .argument("[words...]", "the words typed so far, the last one unfinished")
    .action(async (words: string[]) => {
      const candidates = await candidatesFor(context, tree, words).catch(() => []);
      const lines = candidates.map(({ text, description }) =>
        escapeControls(text) === text ? `${text}${description ? `\t${description}` : ""}\n` : "",
      );
      await context.terminal.write(lines.join(""));
    });
}

async function candidatesFor(context: Context, tree: CommandTree, words: string[]): Promise<Candidate[]> {
  const unfinished = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const { command, position, open, profile } = await walk(tree, before);

  const [flag, assigned] = splitAssignment(unfinished);
  const option = assigned === undefined ? open : flagNamed(command, flag);
  if (option?.long) {
    const prefix = assigned === undefined ? "" : `${flag}=`;
    const values = await valuesOf(context, option.long.slice(2), profile);
    return matching(values, assigned ?? unfinished).map((text) => ({ text: `${prefix}${text}` }));
  }
  if (unfinished.startsWith("-")) {
    return optionsOf(command)
      .filter((each) => each.long?.startsWith(unfinished))
      .map((each) => ({ text: each.long!, description: each.description }));
  }
  if (command.commands.length > 0) {
    return command.commands
      .filter((each) => each.name().startsWith(unfinished) && !each.name().startsWith("__"))
      .map((each) => ({ text: each.name(), description: each.description() }));
  }
  const argument = command.registeredArguments[Math.min(position, command.registeredArguments.length - 1)];
  if (!argument) return [];
  const values =
    argument.argChoices ?? (await valuesOf(context, argumentKind(command, argument.name()), profile));
  return matching(values, unfinished).map((text) => ({ text }));
}

/** Follows the finished words: to which command they lead, how many arguments it has, which flag waits for a value. */
async function walk(tree: CommandTree, words: string[]) {
  let command = tree.root;
  let position = 0;
  let open: Option | undefined;
  let profile: string | undefined;
  for (const word of words) {
    if (open) {
      if (open.long === "--profile") profile = word;
      open = undefined;
      continue;
    }
    if (word.startsWith("-")) {
      const [flag, assigned] = splitAssignment(word);
      const option = flagNamed(command, flag);
      const takesValue = option !== undefined && (option.required || option.optional);
      if (takesValue && assigned === undefined) open = option;
      else if (option?.long === "--profile") profile = assigned;
      continue;
    }
    const child = command.commands.find((each) => each.name() === word);
    if (!child) position += 1;
    else {
      if (command === tree.root) await tree.load(word);
      command = child;
    }
  }
  return { command, position, open, profile };
}

/** What can stand for a flag or argument of this name. */
async function valuesOf(context: Context, kind: string, profile?: string): Promise<readonly string[]> {
  const names = async (part: keyof KnownNames) => {
    const chosen = profile ?? context.settings.profile?.value ?? (await context.profiles()).current();
    const account = chosen ?? context.settings.baseUrl?.value ?? "";
    return readNames(context.folders, account)[part] ?? [];
  };
  if (/^(add-|remove-)?lists?$/.test(kind)) return names("lists");
  if (/^(add-|remove-)?tags?$/.test(kind)) return names("tags");
  if (kind === "set") return (await names("fields")).map((label) => `${label}=`);
  if (kind === "field") return names("fields");
  if (kind === "structure") return names("structures");
  if (kind === "profile") return (await context.profiles()).names();
  if (kind === "output") return outputFormats;
  if (kind === "run") return readdir(join(context.folders.state, "runs"));
  return [];
}

/** The kind of thing that an argument means: its name, or what its command is about. */
function argumentKind(command: Command, name: string): string {
  return command.parent?.name() === "auth" ? "profile" : name;
}

function matching(values: readonly string[], typed: string): string[] {
  return values.filter((value) => value.toLowerCase().startsWith(typed.toLowerCase()));
}

function optionsOf(command: Command): Option[] {
  const own = [...command.options, ...(command.parent ? optionsOf(command.parent) : [])];
  return own.filter((option) => !option.hidden);
}

function splitAssignment(word: string): [flag: string, value: string | undefined] {
  const sign = word.indexOf("=");
  return word.startsWith("--") && sign > 0 ? [word.slice(0, sign), word.slice(sign + 1)] : [word, undefined];
}
