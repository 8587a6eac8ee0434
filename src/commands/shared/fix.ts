/** `fix` of a JSON error: the command that leads on, where running it harms nobody. */
import type { Command } from "commander";
import { isPlaceholder } from "../../hint.ts";
import { findDangerLevel, findFacts } from "./help-text.ts";
import type { Suggestion } from "./suggestions.ts";
import { findDeepestCommand } from "./tree.ts";

/**
 * What was typed, with the command or flag that is suggested in place of a word that does not exist.
 * @param path the words of the command that were understood
 */
export function correctWords(
  typed: readonly string[],
  { wrong, suggestion, path }: { wrong: string; suggestion: Suggestion | undefined; path: readonly string[] },
): string[] | undefined {
  const at = typed.findIndex((word) => word === wrong || word.startsWith(`${wrong}=`));
  const { word: better, command } = suggestion ?? {};
  if (at === -1) return undefined;
  if (better) return typed.with(at, typed[at]!.replace(wrong, better));
  if (command === undefined) return undefined;
  const before = typed.slice(0, at).filter((word) => !path.includes(word));
  const named = command.words.filter((word) => !isPlaceholder(word));
  return [...before, ...named, ...typed.slice(at + 1)];
}

/**
 * Whether the words are a whole command that only reads, shows, or continues a run that was begun.
 * @param root with the group of the command loaded; of no use afterwards
 */
export function isSafeCommand(root: Command, words: readonly string[]): boolean {
  const command = findDeepestCommand(root, words);
  if (command.commands.length > 0 || !findFacts(command) || words.some(isPlaceholder)) return false;
  if (words.includes("--help")) return true;
  const { registeredArguments: taken } = command;
  const names = readArguments(command, words);
  if (!names || names.length < taken.filter(({ required }) => required).length) return false;
  if (names.length > taken.length && !taken.at(-1)?.variadic) return false;
  const continuesRun = command.name() === "resume" && command.parent?.name() === "runs";
  // What a guard or the month has refused is for a person to allow.
  if (words.some((word) => /^--max-(?:changes|clears|create|delete|remove|rejects|requests)\b/.test(word)))
    return false;
  return findDangerLevel(command) === "safe" || words.includes("--dry-run") || continuesRun;
}

/** The words behind the command that are no flags; undefined for a flag or a value that it does not take. */
function readArguments(command: Command, words: readonly string[]): string[] | undefined {
  let rest = [...words];
  let depth = 0;
  try {
    for (let each: Command | null = command; each; each = each.parent) {
      const { operands, unknown } = each.parseOptions(rest);
      rest = [...operands, ...unknown];
      if (each.parent) depth++;
    }
  } catch {
    return undefined;
  }
  return rest.some((word) => word.startsWith("-")) ? undefined : rest.slice(depth);
}
