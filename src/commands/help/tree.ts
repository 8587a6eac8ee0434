/** Functions on the command tree, for help, the index of commands, completions and tools. */
import type {
  CommandUnknownOpts as Command,
  Option,
  Command as TypedCommand,
} from "@commander-js/extra-typings";
import type { Context, Observer } from "../../context.ts";
import type { TerminalStreams } from "../../terminal/terminal.ts";

/** All commands. A group has its flags and subcommands once it is loaded. */
export interface CommandTree {
  root: Command;
  load(group: string): Promise<void>;
  loadAll(): Promise<void>;
  /** Runs another command in this process, on streams of its own. @returns its exit code; never throws */
  run(command: NestedCommand): Promise<number>;
}

/** One invocation of a command. */
export interface NestedCommand {
  /** The words after `ecm`. */
  args: string[];
  streams: TerminalStreams;
  /** Its reason is an InterruptedError. */
  signal: AbortSignal;
  /** Gets what the streams do not carry. */
  observer?: Observer;
}

/** Adds the flags, arguments and subcommands of a group to its command. */
export type Register = (command: TypedCommand, context: Context, tree: CommandTree) => void;

/** The flag with this name, of the command or of one above it. */
export function findFlag(command: Command, flag: string): Option | undefined {
  const own = command.options.find((option) => option.long === flag || option.short === flag);
  return own ?? (command.parent ? findFlag(command.parent, flag) : undefined);
}

/** The flags of a command and of those above it, without hidden ones. */
export function listFlags(command: Command): Option[] {
  const own = command.options.filter((option) => !option.hidden);
  return command.parent ? [...own, ...listFlags(command.parent)] : own;
}

/** The names of the commands of a group, as its help shows them. */
export function listChildNames(group: Command): string[] {
  const shown = group.createHelp().visibleCommands(group);
  return shown.map((each) => each.name());
}

/** The words of a command, without `ecm`. */
export function toWords(command: Command): string[] {
  return command.parent ? [...toWords(command.parent), command.name()] : [];
}

/** The path of a command, `ecm` included. */
export function toPath(command: Command): string {
  return ["ecm", ...toWords(command)].join(" ");
}

/** The subcommand that a word names, by its name or an alias. */
export function findChild(command: Command, word: string): Command | undefined {
  return command.commands.find((each) => each.name() === word || each.aliases().includes(word));
}

/** The command that the words name; words after it that are no subcommand are its arguments. */
export function findDeepestCommand(program: Command, words: readonly string[]): Command {
  let command = program;
  let isValue = false;
  for (const word of words) {
    const isFlagValue = isValue;
    isValue = findFlag(command, word)?.required ?? false;
    if (isFlagValue || word.startsWith("-")) continue;
    const child = findChild(command, word);
    if (!child) break;
    command = child;
  }
  return command;
}

/** All commands below a group; a command that is not a group stands for itself. Hidden ones are left out. */
export function listLeaves(command: Command): Command[] {
  if (command.name().startsWith("__")) return [];
  return command.commands.length === 0 ? [command] : command.commands.flatMap(listLeaves);
}

/** The pages of `ecm help TOPIC`; `topics` lists them. */
export const topicNames = [
  "flags",
  "environment",
  "exit-codes",
  "formats",
  "filters",
  "where",
  "faults",
  "variants",
] as const;
