/** Commands as a person can type them, for messages. */
import type { Command, Option } from "commander";
import type { Settings } from "../config/settings.ts";
import { shellArguments, shellWord } from "../shell-word.ts";
import { pathOf } from "./tree.ts";

/**
 * The whole command as it was typed, with other flags: arguments first, then flags in the order of the help. Arguments
 * that look like flags come last.
 * @param changes by the flag's name in code; undefined leaves a flag out
 */
export function commandLine(
  command: Command,
  args: readonly string[],
  changes: Readonly<Record<string, unknown>> = {},
): string {
  const typedArgs = shellArguments(...args);
  const isLast = typedArgs.startsWith("-- ");
  const words = [pathOf(command), ...(isLast || args.length === 0 ? [] : [typedArgs])];
  for (let each: Command | null = command; each; each = each.parent) {
    const typed = each;
    const valueNow = (name: string): unknown => {
      if (name in changes) return changes[name];
      return typed.getOptionValueSource(name) === "cli" ? typed.getOptionValue(name) : undefined;
    };
    for (const option of each.options) words.push(...flagWords(option, valueNow(option.attributeName())));
  }
  return [...words, ...(isLast ? [typedArgs] : [])].join(" ");
}

function flagWords(option: Option, value: unknown): string[] {
  const flag = option.long ?? option.short!;
  if (value === undefined || option.negate !== (value === false)) return [];
  if (typeof value === "boolean") return [flag];
  const values = Array.isArray(value) ? value : [value];
  return values.map((each) => flagWith(flag, String(each)));
}

function flagWith(flag: string, value: string): string {
  return `${flag}${value.startsWith("-") ? "=" : " "}${shellWord(value)}`;
}

/** A command that works on an account, up to the word that says what it is about; not one that names its own profile. */
const onAccount =
  /\becm (?=(auth (?:login|status)|api|contact|doctor|campaigns|domains|events|export|import|limits|lists|probe|reports|runs|structure|suppressions|templates|apply)\b)(?![^;\n]*--(?:help|profile)\b)/g;

/**
 * The commands that a message shows, for the account of the command that was typed: without its flags they would work on
 * another one. What the environment says holds for them too.
 * @param loginProfile the profile that `auth login` is to replace, where no flag names one
 */
export function inSameAccount(
  text: string,
  { profile, baseUrl, structure }: Settings,
  loginProfile?: string,
): string {
  const typed = (flag: string, value: Settings["profile"]) =>
    value?.source === "flag" ? [flagWith(flag, value.value)] : [];
  return text.replace(onAccount, (_command, about: string) => {
    const isLogin = about === "auth login";
    const chosen = typed("--profile", profile);
    if (isLogin && chosen.length === 0 && loginProfile !== undefined) {
      chosen.push(flagWith("--profile", loginProfile));
    }
    const others = [...typed("--base-url", baseUrl), ...(isLogin ? [] : typed("--structure", structure))];
    return ["ecm", ...chosen, ...others, ""].join(" ");
  });
}
