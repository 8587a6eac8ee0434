import type { Argument, Command, Option } from "commander";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../errors.ts";
import { readTypedWords } from "../../terminal/completion-words.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { type CommandTree, findChild, findFlag } from "../shared/tree.ts";
import { listValues, type TypedLine } from "./values.ts";

interface Candidate {
  text: string;
  description?: string;
}

/**
 * Hidden: what the shell scripts of `ecm completion` ask. Reads files, never the network, and never fails:
 * one candidate a line, a tab before its description; exit code 1 asks the shell for the names of files.
 */
export function registerComplete(command: Command, context: Context, tree: CommandTree): void {
  command
    .argument("<shell>", "bash, zsh, fish or powershell")
    .argument("[words...]", "the words typed so far, the last one unfinished")
    .action(async (shell: string, raw: string[]) => {
      const { words, onLine } = readTypedWords(shell, raw);
      const answer = await listCandidates(context, tree, words).catch((): Candidate[] => []);
      if (answer === "files") return context.endWith(exitCodes.failed);
      const lines = answer.map(({ text, description }) => {
        const word = escapeControls(text) === text ? onLine(text) : undefined;
        return word === undefined ? "" : `${word}${description ? `\t${description}` : ""}\n`;
      });
      await context.terminal.write(lines.join(""));
    });
}

async function listCandidates(
  context: Context,
  tree: CommandTree,
  words: string[],
): Promise<Candidate[] | "files"> {
  const unfinished = words.at(-1) ?? "";
  const typed = await readTypedLine(tree, words.slice(0, -1));
  const { command, args, isPastFlags } = typed;
  const { option, prefix, value } = findOpenFlag(typed, unfinished);
  if (option?.long) {
    const values = await listValues(context, option, typed, value);
    return values === "files" ? values : values.map((text) => ({ text: `${prefix}${text}` }));
  }
  if (unfinished.startsWith("-") && !isPastFlags) return listFlags(command, unfinished);
  if (command.commands.length > 0) return args.length > 0 ? [] : listSubcommands(command, unfinished);
  const argument = command.registeredArguments[args.length] ?? findVariadicArgument(command);
  if (!argument) return [];
  if (command.name() === "commands") return listSubcommands(await loadCommand(tree, args), unfinished);
  const values = await listValues(context, argument, typed, unfinished);
  if (values === "files") return values;
  // A name that begins with - would be taken for a flag.
  return values.filter((text) => isPastFlags || !text.startsWith("-")).map((text) => ({ text }));
}

/** The flag whose value is unfinished: it is the word before, or stands in the same word before a =. */
function findOpenFlag(
  typed: TypedLine,
  unfinished: string,
): { option: Option | undefined; prefix: string; value: string } {
  const [flag, assigned] = typed.isPastFlags ? [unfinished] : splitAssignment(unfinished);
  if (assigned === undefined) return { option: typed.open, prefix: "", value: unfinished };
  return { option: findFlag(typed.command, flag), prefix: `${flag}=`, value: assigned };
}

/** Finds the command and flag that the complete words lead to. */
async function readTypedLine(tree: CommandTree, words: string[]): Promise<TypedLine> {
  const typed: TypedLine = { command: tree.root, args: [], isPastFlags: false };
  for (const word of words) {
    if (typed.open) takeValue(typed, typed.open, word);
    else if (word === "--") typed.isPastFlags = true;
    else if (word.startsWith("-") && !typed.isPastFlags) takeFlag(typed, word);
    else await takeName(typed, tree, word);
  }
  return typed;
}

function takeValue(typed: TypedLine, option: Option | undefined, value: string): void {
  if (option?.long === "--profile") typed.profile = value;
  if (option?.long === "--base-url") typed.baseUrl = value;
  typed.open = undefined;
}

function takeFlag(typed: TypedLine, word: string): void {
  const [flag, assigned] = splitAssignment(word);
  const option = findFlag(typed.command, flag);
  if (assigned !== undefined) takeValue(typed, option, assigned);
  else if (option?.required || option?.optional) typed.open = option;
}

/** Of a command, or else an argument. */
async function takeName(typed: TypedLine, tree: CommandTree, word: string): Promise<void> {
  const child = findChild(typed.command, word);
  if (!child) {
    typed.args.push(word);
    return;
  }
  if (typed.command === tree.root) await tree.load(child.name());
  typed.command = child;
}

function findVariadicArgument(command: Command): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
}

async function loadCommand(tree: CommandTree, path: string[]): Promise<Command> {
  await tree.loadAll();
  return path.reduce((command, word) => findChild(command, word) ?? command, tree.root);
}

function listSubcommands(command: Command, unfinished: string): Candidate[] {
  return command.commands
    .filter((each) => each.name().startsWith(unfinished) && !each.name().startsWith("__"))
    .map((each) => ({ text: each.name(), description: each.description() }));
}

function listFlags(command: Command, unfinished: string): Candidate[] {
  return [...listOptions(command), { long: "--help", description: "show help" }]
    .filter((each) => each.long?.startsWith(unfinished))
    .map((each) => ({ text: each.long!, description: each.description }));
}

function listOptions(command: Command): Option[] {
  const own = [...command.options, ...(command.parent ? listOptions(command.parent) : [])];
  return own.filter((option) => !option.hidden);
}

function splitAssignment(word: string): [flag: string, value?: string] {
  const sign = word.indexOf("=");
  return word.startsWith("--") && sign > 0 ? [word.slice(0, sign), word.slice(sign + 1)] : [word];
}
