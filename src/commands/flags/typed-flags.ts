/** What commander takes in silence although it is likely not meant: flags as values, flags given twice. */
import type { CommandUnknownOpts as Command, Option } from "@commander-js/extra-typings";
import { type EcmError, usageError } from "../../errors.ts";
import { quoteShellWord } from "../../hint.ts";
import { findFlag, toPath } from "../help/tree.ts";
import { findShape } from "./flags.ts";

/**
 * The word after a flag is its value, whatever it looks like: `--list --dry-run` would name a list and write.
 * A value that starts with a dash is taken in the form `--list=-x` only.
 * @param words what was typed @throws UsageError
 */
export function requirePlainValues(command: Command, words: readonly string[]): void {
  const end = words.indexOf("--");
  const last = end === -1 ? words.length - 1 : end;
  for (let at = 0; at < last; at++) {
    const flag = words[at]!;
    if (!findFlag(command, flag)?.required) continue;
    const value = words[++at]!;
    if (value.length < 2 || !value.startsWith("-") || /^-\d/.test(value)) continue;
    const isFlag = value === "--" || value === "-h" || value === "--help" || findFlag(command, value);
    const joined = flag.startsWith("--")
      ? `${flag}=${quoteShellWord(value)}`
      : `${flag}${quoteShellWord(value)}`;
    throw usageError(
      `${flag} has no value: ${JSON.stringify(value)} follows it`,
      `Give ${flag} a value${isFlag ? "" : `; one that starts with a dash is written ${joined}`}`,
    );
  }
}

/**
 * An empty word is a variable that a script has not set: it is no value of a flag, and no file. What else a
 * command takes is looked up by its name, and an empty name is found nowhere. @throws UsageError
 */
export function requireNonEmptyValues(command: Command): void {
  for (const { owner, option } of listFlags(command)) {
    if (!option.required || !isEmpty(owner.getOptionValue(option.attributeName()))) continue;
    throw emptyValueError(option.long!, /<(?:file|dir)>/.test(option.flags));
  }
  const { registeredArguments, processedArgs } = command;
  const file = registeredArguments.findIndex((argument) => argument.name() === "file");
  if (file >= 0 && isEmpty(processedArgs[file])) throw emptyValueError("The name of the file", true);
}

function isEmpty(value: unknown): boolean {
  return value === "" || (Array.isArray(value) && value.includes(""));
}

function listFlags(command: Command): { owner: Command; option: Option }[] {
  const own = command.options.map((option) => ({ owner: command, option }));
  return command.parent ? [...own, ...listFlags(command.parent)] : own;
}

function emptyValueError(what: string, isFile: boolean): EcmError {
  const next = isFile ? "Name a file; an empty name" : "Give a value; an empty one";
  return usageError(`${what} is empty`, `${next} is often a variable that is not set`);
}

/**
 * Refuses a second, different value of a flag that takes one, in a command and those below it.
 * @param names of the flags in code; default: all
 */
export function refuseSecondValues(command: Command, names?: readonly string[]): void {
  for (const option of command.options) {
    if (findShape(option).repeatable || option.variadic) continue;
    if (!names || names.includes(option.attributeName())) refuseSecondValue(command, option);
  }
  for (const child of command.commands) refuseSecondValues(child);
}

function refuseSecondValue(command: Command, option: Option): void {
  let before: { value: unknown } | undefined;
  command.on(`option:${option.name()}`, (value: unknown) => {
    if (before && before.value !== value) throw givenTwiceError(command, option);
    before = { value };
  });
}

function givenTwiceError(command: Command, { long }: Option): EcmError {
  return usageError(
    `${long} is given twice, with different values`,
    long === "--where"
      ? "Join the conditions in one expression with &&"
      : `Give it once; see: ${toPath(command)} --help`,
  );
}
