/** Commands to type, for messages. */
import type { CommandUnknownOpts as Command, Option } from "@commander-js/extra-typings";
import { toAccountAddress } from "../../config/base-url.ts";
import type { Settings } from "../../config/settings.ts";
import type { Context } from "../../context.ts";
import {
  forEnvironmentKey,
  formatCommand,
  formatHint,
  type Hint,
  mapCommands,
  type ShownCommand,
  toOperands,
} from "../../hint.ts";
import { toWords } from "./tree.ts";

/**
 * The command as it was typed, with changed flags: first arguments, then flags in the order of the help.
 * Arguments that look like flags come last.
 * @param changes by the flag's name in code; undefined leaves a flag out
 */
export function formatCommandLine(
  command: Command,
  args: readonly string[],
  changes: Readonly<Record<string, unknown>> = {},
): string {
  const typedArgs = toOperands(...args);
  const isLast = typedArgs[0] === "--";
  const words = [...toWords(command), ...(isLast ? [] : typedArgs)];
  for (let each: Command | null = command; each; each = each.parent) {
    const typed = each;
    const readValue = (name: string): unknown => {
      if (name in changes) return changes[name];
      return typed.getOptionValueSource(name) === "cli" ? typed.getOptionValue(name) : undefined;
    };
    for (const option of each.options) words.push(...toFlagWords(option, readValue(option.attributeName())));
  }
  return formatCommand({ words: [...words, ...(isLast ? typedArgs : [])] });
}

function toFlagWords(option: Option, value: unknown): string[] {
  const flag = option.long ?? option.short!;
  if (value === undefined || option.negate !== (value === false)) return [];
  if (typeof value === "boolean") return [flag];
  const values = Array.isArray(value) ? value : [value];
  return values.flatMap((each) => toFlagWithValue(flag, String(each)));
}

function toFlagWithValue(flag: string, value: string): string[] {
  return value.startsWith("-") ? [`${flag}=${value}`] : [flag, value];
}

/** Commands that work on an account. */
const accountCommands = new Set(
  "api contact doctor campaigns domains events export import limits lists reports runs structure suppressions templates apply".split(
    " ",
  ),
);

/**
 * Adds the typed account flags to the commands of a hint, which would else work on another account. What the
 * environment says holds for them anyway.
 * @param loginProfile the profile that `auth login` is to replace, where no flag names one
 */
export function addAccountFlags(hint: Hint, settings: Settings, loginProfile?: string): Hint {
  const known = settings.apiKey ? forEnvironmentKey(hint) : hint;
  return mapCommands(known, (command) => addFlagsToCommand(command, settings, loginProfile));
}

/** The hint with these flags, as text. */
export function formatForAccount(hint: Hint, settings: Settings): string {
  return formatHint(addAccountFlags(hint, settings));
}

/** Adds the flags to one command, unless it names a profile. */
export function addFlagsToCommand(
  command: ShownCommand,
  { profile, baseUrl, structure }: Settings,
  loginProfile?: string,
): ShownCommand {
  const { words } = command;
  const [group = "", verb] = words;
  const isLogin = group === "auth" && verb === "login";
  const isOnAccount = isLogin || (group === "auth" && verb === "status") || accountCommands.has(group);
  if (!isOnAccount || words.includes("--help") || words.includes("--profile")) return command;
  const toTypedFlag = (flag: string, value: Settings["profile"]) =>
    value?.source === "flag" ? toFlagWithValue(flag, value.value) : [];
  const chosen = toTypedFlag("--profile", profile);
  if (isLogin && chosen.length === 0 && loginProfile !== undefined) {
    chosen.push(...toFlagWithValue("--profile", loginProfile));
  }
  const others = [
    ...toTypedFlag("--base-url", baseUrl),
    ...(isLogin ? [] : toTypedFlag("--structure", structure)),
  ];
  return { words: [...chosen, ...others, ...words] };
}

/**
 * A command on a run, with the flag that selects the run's account: its profile, or else a profile with its
 * base URL. Not needed where the typed command works on that account.
 * @param command such as `ecm runs resume 20261121-1402-3fa9c1`
 */
export async function commandOnRun(
  context: Context,
  { baseUrl, profile }: { baseUrl: string; profile?: string },
  command: ShownCommand,
): Promise<ShownCommand> {
  const now = await context.profile().catch(() => undefined);
  // Several accounts may have one base URL.
  const isSameProfile = profile === undefined || profile === now?.name?.value;
  if (now?.accountAddress === baseUrl && isSameProfile) return addFlagsToCommand(command, context.settings);
  const profiles = await context.profiles().catch(() => undefined);
  const isThere = (name: string) => toAccountAddress(profiles?.get(name)?.baseUrl ?? "") === baseUrl;
  const name = profile ?? profiles?.names().find(isThere);
  const flag = name === undefined ? ["--base-url", baseUrl] : ["--profile", name];
  return { words: [...flag, ...command.words] };
}
