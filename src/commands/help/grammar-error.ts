/** What is wrong with the words of a command line that commander refuses, and what was probably meant. */
import type { CommandUnknownOpts as Command, CommanderError } from "@commander-js/extra-typings";
import { type EcmError, usageError } from "../../errors.ts";
import { advise, ecm, type Hint } from "../../hint.ts";
import { capitalize } from "../bulk/format.ts";
import { suggestChoice, suggestCommand, suggestFlag, suggestForSurplus } from "./suggestions.ts";
import { findDeepestCommand, toPath, toWords } from "./tree.ts";

/**
 * A failure of the command line's grammar, as ours.
 * @param words what was typed
 */
export function toUsageError(error: CommanderError, program: Command, words: readonly string[]): EcmError {
  const command = findDeepestCommand(program, words);
  const path = toPath(command);
  const group = toWords(command);
  const help = advise`See: ${ecm`${group} --help`}`;
  const message = error.message.replace(/^error: /, "");
  const quotedName = /'(.*)'$/s.exec(message)?.[1] ?? "";
  if (error.code === "commander.unknownCommand") {
    const names = command
      .createHelp()
      .visibleCommands(command)
      .map((each) => each.name());
    const hint = suggestCommand(group.join(" "), quotedName, names);
    return usageError(`There is no command "${path} ${quotedName}"`, hint ?? help);
  }
  if (error.code === "commander.missingArgument") {
    const usage = ecm`${[...group, ...command.registeredArguments.map(toPlaceholder)]}`;
    return usageError(`The argument ${quotedName.toUpperCase()} is missing`, advise`Name it: ${usage}`);
  }
  let hint: Hint | undefined;
  if (error.code === "commander.unknownOption") {
    const names = command.registeredArguments.map((argument) => argument.name());
    hint = suggestFlag(quotedName, listVisibleFlags(command), names);
  }
  if (error.code === "commander.invalidArgument") hint = suggestChoice(message);
  if (error.code === "commander.conflictingOption") hint = "Leave out one of the two";
  if (error.code === "commander.excessArguments") hint = suggestForSurplus(path);
  return usageError(capitalize(message), hint ?? help);
}

/** As a usage shows it: `FILE`, `KEY…`. */
function toPlaceholder(argument: Command["registeredArguments"][number]): string {
  return `${argument.name().toUpperCase()}${argument.variadic ? "…" : ""}`;
}

/** The long names of a command's flags and of those above it. */
function listVisibleFlags(command: Command): string[] {
  const own = command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
  return command.parent ? [...own, ...listVisibleFlags(command.parent)] : own;
}
