import { type Command, Option } from "commander";
import { findClosest } from "../api/names.ts";
import type { Context } from "../context.ts";
import { NotFoundError, UsageError } from "../errors.ts";
import type { OutputOptions } from "../terminal/format.ts";
import { presentList, presentValue, type View } from "../terminal/present.ts";
import { version } from "../version.ts";
import { topicNames } from "./help/root.ts";
import { findShape } from "./shared/flags.ts";
import { describeCommand, describeConfirmation, findFacts, listExitCodes } from "./shared/help-text.ts";
import { listSchemas, schemas } from "./shared/schemas.ts";
import { type CommandTree, findChild as childOf } from "./shared/tree.ts";

interface IndexEntry {
  /** The words typed after `ecm`. */
  command: string;
  summary: string;
  /** Whether it can change the account. */
  writes: boolean;
}

const indexView: View<IndexEntry> = {
  columns: [
    { name: "command", value: (entry) => entry.command },
    { name: "summary", value: (entry) => entry.summary },
    { name: "writes", value: (entry) => (entry.writes ? "yes" : "") },
  ],
  id: (entry) => entry.command,
};

export function registerCommands(command: Command, context: Context, tree: CommandTree): void {
  command
    .argument("[path...]", "the command to describe, with its flags, output and exit codes")
    .option("--schemas", "print JSON Schemas: the summary of a bulk run, plan lines, errors, limits")
    // For what is generated from the tree: one process in place of one for each command.
    .addOption(new Option("--whole", "describe every command").hideHelp())
    .action(
      (
        path: string[],
        { whole = false, schemas: wantsSchemas = false }: { whole?: boolean; schemas?: boolean },
      ) => (wantsSchemas ? showSchemas(context, path) : runCommands(context, tree, path, whole)),
    );
  describeCommand(command, {
    isLocal: true,
    examples: [
      "ecm commands",
      "ecm commands --json",
      "ecm commands contact search --json",
      "ecm commands --schemas",
    ],
    output:
      "An index: each command, its summary, and whether it writes. With a command: its arguments, flags, output, exit codes, schemas and examples. With --schemas: JSON Schemas under $defs.",
    exitCodes: { 5: "no such command" },
  });
}

/** JSON in every format. @throws UsageError when a command is named */
async function showSchemas(context: Context, path: string[]): Promise<void> {
  if (path.length > 0) throw new UsageError("--schemas goes without a command", "ecm commands --schemas");
  const output: OutputOptions = { ...context.output(), format: "ndjson" };
  await presentValue(context.terminal, output, schemas, "");
}

async function runCommands(
  context: Context,
  tree: CommandTree,
  path: string[],
  isWhole: boolean,
): Promise<void> {
  await tree.loadAll();
  const { root } = tree;
  const output = context.output();
  const found = path.reduce((command, word) => findChild(command, word), root);
  const isJson = output.format === "json" || output.format === "ndjson";
  // Whoever reads it pays for every character.
  const compact: OutputOptions = isJson ? { ...output, format: "ndjson" } : output;
  if (found.commands.length === 0) {
    return presentValue(context.terminal, compact, describeCommandJson(found), found.helpInformation());
  }
  if (isWhole) return presentValue(context.terminal, compact, listLeaves(found).map(describeCommandJson), "");
  const entries = listLeaves(found).map(toIndexEntry);
  if (!isJson) return void (await presentList(context.terminal, output, entries, indexView));
  const globalFlags = found === root ? { globalFlags: describeFlags(root), topics: topicNames } : {};
  const index = { version, ...globalFlags, commands: entries };
  return presentValue(context.terminal, compact, index, "");
}

function findChild(parent: Command, word: string): Command {
  const child = childOf(parent, word);
  if (child) return child;
  const names = parent
    .createHelp()
    .visibleCommands(parent)
    .map((each) => each.name());
  const likely = findClosest(word, names);
  throw new NotFoundError(
    `There is no command ${JSON.stringify(toWords(parent, word))}`,
    likely ? `Did you mean ${likely}?` : `One of: ${names.join(", ")}`,
  );
}

export function listLeaves(command: Command): Command[] {
  if (command.name() === "help" || command.name().startsWith("__")) return [];
  return command.commands.length === 0 ? [command] : command.commands.flatMap(listLeaves);
}

function toIndexEntry(command: Command): IndexEntry {
  const usage = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return {
    command: [toWords(command), ...usage].join(" "),
    summary: command.description(),
    writes: findFacts(command)?.writes ?? false,
  };
}

/** Everything about one command that a caller without eyes needs. */
export function describeCommandJson(command: Command) {
  const facts = findFacts(command);
  const flags = describeFlags(command);
  const names = flags.map(({ name }) => name);
  return {
    command: toWords(command),
    summary: command.description(),
    writes: facts?.writes ?? false,
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      required: argument.required,
      ...(argument.variadic ? { repeats: true } : {}),
      description: argument.description,
    })),
    flags,
    schemas: listSchemas(toWords(command), names),
    ...(facts && {
      output: facts.output,
      confirmation: describeConfirmation(facts),
      exitCodes: Object.fromEntries(listExitCodes(facts)),
      examples: facts.examples,
    }),
  };
}

/** A flag as a program needs it; what is usual is left out. */
interface DescribedFlag {
  name: string;
  short?: string;
  type: "boolean" | "string" | "integer";
  /** What the value is called in help and messages. */
  value?: string;
  choices?: readonly string[];
  default?: unknown;
  repeatable?: true;
  description: string;
}

function describeFlags(command: Command): DescribedFlag[] {
  return command.options.filter((option) => !option.hidden).map(describeFlag);
}

function describeFlag(option: Option): DescribedFlag {
  const shape = findShape(option);
  const [value] = /[<[].+[>\]]$/.exec(option.flags) ?? [];
  return {
    name: option.long ?? option.flags,
    ...(option.short && { short: option.short }),
    type: shape.type ?? (value ? "string" : "boolean"),
    ...(value && { value }),
    ...(option.argChoices && { choices: option.argChoices }),
    ...toDefault(option, shape.type === "integer"),
    ...(shape.repeatable && { repeatable: true }),
    description: option.description,
  };
}

/** What commander knows, else what the help says in parentheses: `lists per page (100)`. */
function toDefault(option: Option, isNumber: boolean): { default?: unknown } {
  if (option.negate) return {};
  if (option.defaultValue !== undefined) return { default: option.defaultValue };
  const [, described] = /\((?:[A-Z_]+; )?(\d+%?|us)(?:; [^()]*)?\)/.exec(option.description) ?? [];
  return described === undefined ? {} : { default: isNumber ? Number(described) : described };
}

function toWords(command: Command, ...more: string[]): string {
  const words: string[] = [...more];
  for (let each: Command | null = command; each?.parent; each = each.parent) words.unshift(each.name());
  return words.join(" ");
}
