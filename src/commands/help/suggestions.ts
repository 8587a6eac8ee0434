/** Errors of the command line's grammar, with what was probably meant. */

import type { CommandUnknownOpts as Command, CommanderError } from "@commander-js/extra-typings";
import { findClosest } from "../../api/names.ts";
import { capitalize } from "../../counts.ts";
import { type EcmError, usageError } from "../../errors.ts";
import { advise, ecm, type Hint, type ShownCommand } from "../../hint.ts";
import { groupsInSections } from "../groups.ts";
import {
  type CommandTree,
  findChild,
  findDeepestCommand,
  listFlags,
  listLeaves,
  toPath,
  toWords,
} from "./tree.ts";

/** Turns commander's error into one of ours. @param words what was typed */
export async function toUsageError(
  error: CommanderError,
  tree: CommandTree,
  words: readonly string[],
): Promise<EcmError> {
  const command = findDeepestCommand(tree.root, words);
  const group = toWords(command);
  const help = advise`See: ${ecm`${group} --help`}`;
  const message = error.message.replace(/^error: /, "");
  const quotedName = /'(.*)'$/s.exec(message)?.[1] ?? "";
  switch (error.code) {
    case "commander.unknownCommand": {
      if (command === tree.root) await tree.loadAll();
      const meant = findMeantCommands(command, words.slice(words.indexOf(quotedName)));
      const [first, ...others] = meant.slice(0, maxCommandsSuggested).map(toUsage);
      const use =
        first && others.reduce<Hint>((hint, each) => advise`${hint}, or ${each}`, advise`Use: ${first}`);
      return usageError(`There is no command "${toPath(command)} ${quotedName}"`, use ?? help);
    }
    case "commander.missingArgument":
      return usageError(
        `The argument ${quotedName.toUpperCase()} is missing`,
        advise`Name it: ${toUsage(command)}`,
      );
    case "commander.unknownOption":
      return usageError(capitalize(message), suggestFlag(command, quotedName) ?? help);
    case "commander.conflictingOption":
      return usageError(capitalize(message), "Leave out one of the two");
    case "commander.excessArguments":
      return usageError(
        capitalize(message),
        advise`A value with blanks needs quotes; see: ${ecm`${group} --help`}`,
      );
    default:
      return usageError(capitalize(message), help);
  }
}

const maxCommandsSuggested = 3;

/** The command with its arguments: `ecm lists rename LIST NAME`. */
function toUsage(command: Command): ShownCommand {
  const values = command.registeredArguments.map(
    (argument) => `${argument.name().toUpperCase()}${argument.variadic ? "…" : ""}`,
  );
  return ecm`${[...toWords(command), ...values]}`;
}

/**
 * The commands that an unknown word probably means: in a group the one with the nearest name; as the first
 * word also every command with such a verb (`ecm login`).
 */
function findMeantCommands(group: Command, [word = "", ...further]: readonly string[]): Command[] {
  const isFirst = group.parent === null;
  const known = isFirst ? listLeaves(group) : [...group.commands];
  const toNames = (each: Command) => [...(isFirst ? toWords(each) : [each.name()]), ...each.aliases()];
  const names = known.flatMap(toNames);
  const name = names.includes(word) ? word : findClosest(word, names);
  // Such as "resubscribe" for "unsubscribe", which does the opposite.
  if (name === undefined || (name !== word && toStem(name) === toStem(word))) return [];
  const child = findChild(group, name);
  if (child) return [findDeepestCommand(child, further)];
  const meant = known.filter((each) => toNames(each).includes(name));
  return meant.sort((one, other) => rank(one) - rank(other));
}

/** Sorts the most used groups first: `ecm ls` rather means `contact search` than `auth list`. */
function rank(command: Command): number {
  const words = toWords(command);
  const place = groupsInSections.indexOf(words[0]!);
  return (place < 0 ? groupsInSections.length : place) + words.length / 10;
}

/** The word without a prefix that reverses its meaning. */
function toStem(word: string): string {
  return word.toLowerCase().replace(/^(?:un|re)-?/, "");
}

/** Flags that override a safeguard or choose everything: no hint names them. */
const neverSuggested = /^--(?:include-(?:suppressed|unsubscribed)|yes|all|delete-|prune)/;

/** The hint for a flag that a command does not have. */
function suggestFlag(command: Command, flag: string): Hint | undefined {
  const [name = ""] = flag.split("=");
  if (/(?:api-?key|token|secret|password)$/i.test(name)) {
    return advise`No flag takes a key, since other users could see it; set ECM_API_KEY, or use: ${ecm`auth login --api-key-stdin`}`;
  }
  const names = listFlags(command).flatMap(({ long }) =>
    long && !neverSuggested.test(long) ? [long.slice(2)] : [],
  );
  // The longer of two names that are equally near: a missing letter is likelier than a wrong one.
  names.sort((one, other) => other.length - one.length);
  const likely = name.startsWith("--") ? findClosest(name.slice(2), names) : undefined;
  return likely && `Did you mean --${likely}?`;
}
