import { createHash } from "node:crypto";
import type { Command } from "commander";
import { findClosest } from "../api/names.ts";
import type { Context } from "../context.ts";
import { NotFoundError, UsageError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import { isForPeople, isJson, type OutputOptions } from "../terminal/format.ts";
import { presentList, presentValue, type View } from "../terminal/present.ts";
import { wrap } from "../terminal/text-width.ts";
import { schemaVersion, version } from "../version.ts";
import { topicNames } from "./help/root.ts";
import { describeCommandJson, describeFlags, describeWholly, showDanger } from "./shared/describe-command.ts";
import { exitCodeMeanings } from "./shared/exit-codes.ts";
import { type DangerLevel, describeCommand, findFacts } from "./shared/help-text.ts";
import { toManifest } from "./shared/manifest.ts";
import { schemas } from "./shared/schemas.ts";
import { type CommandTree, findChild, toWords } from "./shared/tree.ts";

interface IndexEntry {
  /** The words typed after `ecm`. */
  command: string;
  summary: string;
  /** Whether it can change the account. */
  writes?: true;
  /** Left out where it is safe, or writes and is no worse than that. */
  danger?: DangerLevel;
}

const indexView: View<IndexEntry> = {
  columns: [
    { name: "command", value: (entry) => entry.command },
    { name: "summary", value: (entry) => entry.summary },
    { name: "writes", value: (entry) => (entry.writes ? "yes" : "") },
    { name: "danger", value: (entry) => entry.danger ?? "" },
  ],
  id: (entry) => entry.command,
};

export function registerCommands(command: Command, context: Context, tree: CommandTree): void {
  command
    .argument("[path...]", "the command to describe, with its flags, output and exit codes")
    .option("--schemas", "print JSON Schemas: the summary of a bulk run, plan lines, errors, limits")
    .option("--all", "describe every command, in one JSON object with an etag")
    .option("--if-none-match <etag>", "with --all: print the etag alone where nothing has changed since")
    .option("--manifest", "the same in the form of the CLI Agent Spec; also: ecm --schema")
    .action((path: string[], flags: CommandsFlags) => runCommands(context, tree, path, flags));
  describeCommand(command, {
    isLocal: true,
    examples: [
      "ecm commands",
      "ecm commands --json",
      "ecm commands contact search --json",
      "ecm commands --schemas",
      "ecm commands --all --json",
    ],
    output:
      "An index: each command, its summary, whether it writes to the account, and how dangerous it is. With a command: its arguments, flags, output, exit codes, schemas, examples. With --schemas: JSON Schemas under $defs. With --all: everything, scopes and files too.",
    exitCodes: { 5: "no such command" },
  });
}

interface CommandsFlags {
  schemas?: boolean;
  all?: boolean;
  ifNoneMatch?: string;
  manifest?: boolean;
}

/** @throws UsageError for flags that exclude each other, and for one that goes without a command */
async function runCommands(
  context: Context,
  tree: CommandTree,
  path: string[],
  flags: CommandsFlags,
): Promise<void> {
  const whole = [flags.schemas && "--schemas", flags.all && "--all", flags.manifest && "--manifest"].filter(
    (flag) => typeof flag === "string",
  );
  if (whole.length > 1) throw new UsageError(`${whole.join(" and ")} exclude each other`, "Give one of them");
  if (path.length > 0 && whole[0])
    throw new UsageError(`${whole[0]} goes without a command`, ecm`commands ${whole[0]}`);
  if (flags.ifNoneMatch !== undefined && !flags.all)
    throw new UsageError(
      "--if-none-match goes with --all",
      advise`Such as ${ecm`commands --all --if-none-match ETAG`}`,
    );
  // Whoever reads it pays for every character.
  const compact: OutputOptions = { ...context.output(), format: "ndjson" };
  if (flags.schemas) return presentValue(context.terminal, compact, schemas, "");
  await tree.loadAll();
  if (flags.manifest) return presentValue(context.terminal, compact, toManifest(describeAll(tree)), "");
  if (flags.all) {
    const { etag, ...rest } = describeAll(tree);
    const shown = flags.ifNoneMatch === etag ? { etag, unchanged: true } : { etag, ...rest };
    return presentValue(context.terminal, compact, shown, "");
  }
  return showTree(context, tree, path);
}

async function showTree(context: Context, { root }: CommandTree, path: string[]): Promise<void> {
  const output = context.output();
  const found = path.reduce((command, word) => requireChild(command, word), root);
  const compact: OutputOptions = isJson(output.format) ? { ...output, format: "ndjson" } : output;
  if (found.commands.length === 0) {
    return presentValue(context.terminal, compact, describeCommandJson(found), found.helpInformation());
  }
  const entries = listLeaves(found).map(toIndexEntry);
  if (isForPeople(output)) {
    return context.terminal.write(formatIndex(entries, context.terminal.columns));
  }
  if (!isJson(output.format)) return void (await presentList(context.terminal, output, entries, indexView));
  const globalFlags = found === root ? { globalFlags: describeFlags(root), topics: topicNames } : {};
  const index = { version, ...globalFlags, commands: entries };
  return presentValue(context.terminal, compact, index, "");
}

/** The whole tree, and a hash that says whether anything of it has changed. */
function describeAll({ root }: CommandTree) {
  const described = {
    version,
    schema: schemaVersion,
    globalFlags: describeFlags(root),
    topics: topicNames,
    exitCodes: Object.fromEntries(exitCodeMeanings),
    commands: listLeaves(root).map(describeWholly),
  };
  const hash = createHash("sha256").update(JSON.stringify(described)).digest("hex");
  return { etag: hash.slice(0, 16), ...described };
}

/** Nothing is cut: a long summary goes on below itself. */
function formatIndex(entries: readonly IndexEntry[], columns: number): string {
  const width = Math.min(34, Math.max(...entries.map(({ command }) => command.length)) + 2);
  const indent = " ".repeat(width);
  return entries
    .map(({ command, summary, writes, danger }) => {
      const marks = [writes && "writes", danger].filter(Boolean).join(", ");
      const text = marks === "" ? summary : `${summary} (${marks})`;
      const lines = wrap(text, Math.max(20, columns - width)).join(`\n${indent}`);
      return command.length < width
        ? `${command.padEnd(width)}${lines}\n`
        : `${command}\n${indent}${lines}\n`;
    })
    .join("");
}

function requireChild(parent: Command, word: string): Command {
  const child = findChild(parent, word);
  if (child) return child;
  const names = parent
    .createHelp()
    .visibleCommands(parent)
    .map((each) => each.name());
  const likely = findClosest(word, names);
  throw new NotFoundError(
    `There is no command ${JSON.stringify([...toWords(parent), word].join(" "))}`,
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
    command: [...toWords(command), ...usage].join(" "),
    summary: command.description(),
    ...(findFacts(command)?.writes && { writes: true }),
    ...showDanger(command),
  };
}
