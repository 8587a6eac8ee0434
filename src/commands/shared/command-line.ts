/** Commands as a person can type them, for messages. */
import type { Command, Option } from "commander";
import type { Settings } from "../../config/settings.ts";
import { formatShellArguments, quoteShellWord } from "../../shell-word.ts";
import { toPath } from "./tree.ts";

/**
 * The whole command as it was typed, with other flags: arguments first, then flags in the order of the help.
 * Arguments that look like flags come last.
 * @param changes by the flag's name in code; undefined leaves a flag out
 */
export function formatCommandLine(
  command: Command,
  args: readonly string[],
  changes: Readonly<Record<string, unknown>> = {},
): string {
  const typedArgs = formatShellArguments(...args);
  const isLast = typedArgs.startsWith("-- ");
  const words = [toPath(command), ...(isLast || args.length === 0 ? [] : [typedArgs])];
  for (let each: Command | null = command; each; each = each.parent) {
    const typed = each;
    const readValue = (name: string): unknown => {
      if (name in changes) return changes[name];
      return typed.getOptionValueSource(name) === "cli" ? typed.getOptionValue(name) : undefined;
    };
    for (const option of each.options) words.push(...toFlagWords(option, readValue(option.attributeName())));
  }
  return [...words, ...(isLast ? [typedArgs] : [])].join(" ");
}

function toFlagWords(option: Option, value: unknown): string[] {
  const flag = option.long ?? option.short!;
  if (value === undefined || option.negate !== (value === false)) return [];
  if (typeof value === "boolean") return [flag];
  const values = Array.isArray(value) ? value : [value];
  return values.map((each) => formatFlag(flag, String(each)));
}

function formatFlag(flag: string, value: string): string {
  return `${flag}${value.startsWith("-") ? "=" : " "}${quoteShellWord(value)}`;
}

/**
 * A command that works on an account, up to the word that says what it
 * is about; not one that names its own profile.
 */
const accountCommand =
  /\becm (?=(auth (?:login|status)|api|contact|doctor|campaigns|domains|events|export|import|limits|lists|probe|reports|runs|structure|suppressions|templates|apply)\b)(?![^;\n]*--(?:help|profile)\b)/g;

/**
 * The commands that a message shows, for the account of the command that was typed: without its flags they
 * would work on another one. What the environment says holds for them too.
 * @param loginProfile the profile that `auth login` is to replace, where no flag names one
 */
export function addAccountFlags(
  text: string,
  { profile, baseUrl, structure, apiKey }: Settings,
  loginProfile?: string,
): string {
  const toTypedFlag = (flag: string, value: Settings["profile"]) =>
    value?.source === "flag" ? [formatFlag(flag, value.value)] : [];
  // No login replaces a key of the environment.
  const about = apiKey ? text.replace("log in again: ecm auth login", "set ECM_API_KEY to it") : text;
  return about.replace(accountCommand, (_command, name: string) => {
    const isLogin = name === "auth login";
    const chosen = toTypedFlag("--profile", profile);
    if (isLogin && chosen.length === 0 && loginProfile !== undefined) {
      chosen.push(formatFlag("--profile", loginProfile));
    }
    const others = [
      ...toTypedFlag("--base-url", baseUrl),
      ...(isLogin ? [] : toTypedFlag("--structure", structure)),
    ];
    return ["ecm", ...chosen, ...others, ""].join(" ");
  });
}
