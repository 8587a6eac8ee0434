/** A command as a person can type it again. */
import type { Command, Option } from "commander";
import { shellWord } from "../shell-word.ts";
import { pathOf } from "./tree.ts";

/**
 * The whole command as it was typed, with other flags: arguments first, then flags in the order of the help.
 * @param changes by the flag's name in code; undefined leaves a flag out
 */
export function commandLine(
  command: Command,
  args: readonly string[],
  changes: Readonly<Record<string, unknown>> = {},
): string {
  const words = [...pathOf(command).split(" "), ...args.map(shellWord)];
  for (let each: Command | null = command; each; each = each.parent) {
    const typed = each;
    const valueNow = (name: string): unknown => {
      if (name in changes) return changes[name];
      return typed.getOptionValueSource(name) === "cli" ? typed.getOptionValue(name) : undefined;
    };
    for (const option of each.options) words.push(...flagWords(option, valueNow(option.attributeName())));
  }
  return words.join(" ");
}

function flagWords(option: Option, value: unknown): string[] {
  const flag = option.long ?? option.short!;
  if (value === undefined || option.negate !== (value === false)) return [];
  if (typeof value === "boolean") return [flag];
  const values = Array.isArray(value) ? value : [value];
  return values.map(String).map((text) => `${flag}${text.startsWith("-") ? "=" : " "}${shellWord(text)}`);
}
