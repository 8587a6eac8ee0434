/** Answers the completion scripts: commands, flags, and the values of flags and arguments. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Argument, Command, CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { openNamesFile } from "../../config/caches.ts";
import { resolveProfile } from "../../config/resolve.ts";
import { readSettings } from "../../config/settings.ts";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../errors.ts";
import { type KnownNames, listKnownNames } from "../../service/names-cache.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { outputFormats } from "../../terminal/format.ts";
import { type CommandTree, findChild, findFlag, listFlags } from "../help/tree.ts";

interface Candidate {
  text: string;
  description?: string;
}

/**
 * The hidden command that the scripts of `ecm completion` call. It reads files, never the network, and never
 * fails. It prints a candidate per line, with a tab before its description; exit code 1: the shell completes
 * file names.
 */
export function register(command: Command, context: Context, tree: CommandTree): void {
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
  // The value of a flag follows `=` in the same word, or is the next word.
  const [flag, assigned] = isPastFlags ? [unfinished] : splitAssignment(unfinished);
  const option = assigned === undefined ? typed.open : findFlag(command, flag);
  if (option) {
    const values = await listValues(context, option, typed, assigned ?? unfinished);
    const prefix = assigned === undefined ? "" : `${flag}=`;
    return values === "files" ? values : values.map((text) => ({ text: prefix + text }));
  }
  if (unfinished.startsWith("-") && !isPastFlags) return listFlagNames(command, unfinished);
  if (command.commands.length > 0) return args.length > 0 ? [] : listSubcommands(command, unfinished);
  return listArguments(context, typed, unfinished);
}

async function listArguments(
  context: Context,
  typed: TypedLine,
  unfinished: string,
): Promise<Candidate[] | "files"> {
  const { command, args, isPastFlags } = typed;
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[args.length] ?? (last?.variadic ? last : undefined);
  const values = argument ? await listValues(context, argument, typed, unfinished) : [];
  if (values === "files") return values;
  // A name that begins with - would be taken for a flag.
  return values.filter((text) => isPastFlags || !text.startsWith("-")).map((text) => ({ text }));
}

function listSubcommands(group: CommandUnknownOpts, unfinished: string): Candidate[] {
  return group
    .createHelp()
    .visibleCommands(group)
    .filter((each) => each.name().startsWith(unfinished))
    .map((each) => ({ text: each.name(), description: each.description() }));
}

function listFlagNames(command: CommandUnknownOpts, unfinished: string): Candidate[] {
  return [...listFlags(command), { long: "--help", description: "show help" }]
    .filter(({ long }) => long?.startsWith(unfinished))
    .map(({ long, description }) => ({ text: long!, description }));
}

/** The complete words of a command line. */
interface TypedLine {
  /** The command that the words name, and its arguments so far. */
  command: CommandUnknownOpts;
  args: string[];
  /** Values of flags. */
  values: Record<string, string>;
  /** The flag whose value comes next. */
  open?: Option;
  isPastFlags: boolean;
}

async function readTypedLine(tree: CommandTree, words: string[]): Promise<TypedLine> {
  const typed: TypedLine = { command: tree.root, args: [], values: {}, isPastFlags: false };
  for (const word of words) {
    const child = findChild(typed.command, word);
    if (typed.open) {
      typed.values[typed.open.attributeName()] = word;
      typed.open = undefined;
    } else if (word === "--") typed.isPastFlags = true;
    else if (word.startsWith("-") && !typed.isPastFlags) takeFlag(typed, word);
    else if (child) {
      if (typed.command === tree.root) await tree.load(child.name());
      typed.command = child;
    } else typed.args.push(word);
  }
  return typed;
}

function takeFlag(typed: TypedLine, word: string): void {
  const [flag, assigned] = splitAssignment(word);
  const option = findFlag(typed.command, flag);
  if (option && assigned !== undefined) typed.values[option.attributeName()] = assigned;
  else if (option?.required) typed.open = option;
}

function splitAssignment(word: string): [flag: string, value?: string] {
  const sign = word.indexOf("=");
  return word.startsWith("--") && sign > 0 ? [word.slice(0, sign), word.slice(sign + 1)] : [word];
}

// Shells pass words with their quotes.

interface TypedWords {
  /** Their values without quotes; the last word is incomplete. */
  words: string[];
  /** How a candidate for the last word is written on the command line; undefined when it does not fit. */
  onLine(candidate: string): string | undefined;
}

/** @param shell bash, zsh, fish, or another that passes words without quotes */
function readTypedWords(shell: string, raw: readonly string[]): TypedWords {
  if (shell === "bash") return readBash(raw);
  if (shell === "fish") {
    // Only the incomplete word is passed with its quotes.
    const words = [...raw.slice(0, -1), unquote(raw.at(-1) ?? "", "fish").text];
    return { words, onLine: (candidate) => candidate };
  }
  if (shell !== "zsh") return { words: [...raw], onLine: (candidate) => candidate };
  const words = raw.map((word) => unquote(word).text);
  // The script has removed what precedes the value of `--flag=value`; zsh quotes the candidates itself.
  const aside = /^--[^=]+=/.exec(words.at(-1) ?? "")?.[0].length ?? 0;
  return { words, onLine: (candidate) => candidate.slice(aside) };
}

/** bash splits words at these too, and replaces only what follows the last of them. */
const cut = /^[=:@]+$/;

function readBash(raw: readonly string[]): TypedWords {
  const words: string[] = [];
  let head = "";
  let isGlued = false;
  for (const [index, token] of raw.entries()) {
    const isLast = index === raw.length - 1;
    const isCut = cut.test(token);
    // After a blank, the last word is empty.
    const joins = words.length > 0 && (isCut || isGlued) && !(isLast && token === "");
    const before = joins ? words.pop()! : "";
    const text = unquote(token).text;
    words.push(before + text);
    head = isCut && isLast ? before + text : before;
    isGlued = isCut;
  }
  const last = raw.at(-1) ?? "";
  const { quote, opensAt } = unquote(last);
  return {
    words,
    onLine(candidate) {
      if (quote !== "" && opensAt > 0) return undefined;
      return quoteForBash(candidate.slice(head.length), quote);
    },
  };
}

interface Unquoted {
  text: string;
  /** The quote that is open at the end. */
  quote: "" | "'" | '"';
  /** The place of the opening quote. */
  opensAt: number;
}

/** Removes quotes and backslashes from a shell word, and evaluates nothing. */
function unquote(word: string, shell?: "fish"): Unquoted {
  let text = "";
  let quote: Unquoted["quote"] = "";
  let opensAt = -1;
  for (let at = 0; at < word.length; at++) {
    const character = word[at]!;
    if (character === "\\" && isEscaped(word[at + 1], quote, shell)) {
      at++;
      text += word[at];
    } else if ((character === '"' || character === "'") && (quote === "" || quote === character)) {
      quote = quote === "" ? character : "";
      opensAt = at;
    } else text += character;
  }
  return { text, quote, opensAt };
}

/** Whether a backslash escapes this character. */
function isEscaped(next: string | undefined, quote: Unquoted["quote"], shell?: "fish"): boolean {
  if (next === undefined) return false;
  if (quote === '"') return /["\\$`]/.test(next);
  if (quote === "'") return shell === "fish" && /['\\]/.test(next);
  return true;
}

function quoteForBash(text: string, quote: Unquoted["quote"]): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  // Double quotes cannot protect "!" from history expansion.
  if (quote === '"') return text.replace(/["\\$`]/g, "\\$&").replaceAll("!", `"'!'"`);
  return text.replace(/[\s!"#$&'()*;<>?[\\\]^`{|}~]/g, "\\$&");
}

function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

// Values come from the command tree, the profiles, the runs and the remembered names.

/** The values of a flag or an argument that begin with what was typed. `files`: any file name. */
async function listValues(
  context: Context,
  thing: Option | Argument,
  typed: TypedLine,
  unfinished: string,
): Promise<readonly string[] | "files"> {
  const values = thing.argChoices ?? (await listValuesOfKind(context, thing, typed));
  return values === "files" ? values : values.filter((value) => fold(value).startsWith(fold(unfinished)));
}

/** The names of the account that a placeholder stands for. */
const namesByKind: Readonly<Record<string, keyof KnownNames>> = {
  list: "lists",
  tag: "tags",
  field: "fields",
  "field=value": "fields",
  structure: "structures",
  "id-or-label": "structures",
};

async function listValuesOfKind(
  context: Context,
  thing: Option | Argument,
  typed: TypedLine,
): Promise<readonly string[] | "files"> {
  const kind = findValueKind(thing, typed.command);
  if (["file", "dir", "command"].includes(kind)) return "files";
  if (kind === "profile") return (await context.profiles()).names();
  if (kind === "format") return outputFormats;
  if (kind === "run") {
    return ["last", ...(await readdir(join(context.folders.state, "runs"))).toReversed()];
  }
  const part = namesByKind[kind];
  if (!part) return [];
  const names = await readNames(context, typed, part);
  return kind === "field=value" ? names.map((label) => `${label}=`) : names;
}

/** The remembered names of the account that the command line and the environment select. */
async function readNames(context: Context, { values }: TypedLine, part: keyof KnownNames) {
  const { profile, baseUrl } = values;
  const settings = readSettings({ profile, baseUrl }, context.terminal.env);
  const { identity } = await resolveProfile(settings, context.profiles, context.terminal.env);
  return listKnownNames(openNamesFile(context.folders, identity).read() ?? {})[part];
}

/** The kind of a value: the placeholder of a flag, the name of an argument, or `profile`. */
function findValueKind(thing: Option | Argument, command: CommandUnknownOpts): string {
  if (!("flags" in thing)) return command.parent?.name() === "auth" ? "profile" : thing.name();
  return thing.long === "--profile" ? "profile" : (/<(.+)>/.exec(thing.flags)?.[1] ?? "");
}
