import type { Command } from "commander";
import { isUsualKey, maskKey, regionOf } from "../../config/keys.ts";
import { checkName, type Profile } from "../../config/profiles.ts";
import { profileAsGiven } from "../../config/resolve.ts";
import type { Context } from "../../context.ts";
import { presentValue } from "../../terminal/present.ts";
import { describeCommand } from "../help-text.ts";
import { askBaseUrl, askKey, chooseStructure } from "./login-questions.ts";

interface LoginOptions {
  apiKeyStdin?: boolean;
  apiKeyCommand?: string;
  verify: boolean;
  /** The global flag: given at login, the profile carries it. */
  readOnly?: boolean;
}

export function registerAuthLogin(parent: Command, context: Context): void {
  const command = parent
    .command("login")
    .description("keep an account's address and API key as a profile")
    .option("--api-key-stdin", "read the key from standard input")
    .option(
      "--api-key-command <command>",
      "keep this command in place of a key; it is run whenever the key is needed",
    )
    .option("--no-verify", "keep the key without trying it");
  command.action(() => runAuthLogin(context, command.optsWithGlobals()));
  describeCommand(command, {
    examples: [
      "ecm auth login --base-url https://api.example.com",
      "ecm auth login --profile staging --base-url https://api.example.com --api-key-stdin < key.txt",
      "ecm auth login --profile work --base-url https://api.example.com --api-key-command 'pass show ecm'",
    ],
    output:
      "Nothing; in JSON formats the profile that was kept. The profile's name is --profile, or default; the first one becomes the current one.",
    exitCodes: { 4: "the service refuses the key; nothing was kept" },
  });
}

async function runAuthLogin(context: Context, options: LoginOptions): Promise<void> {
  const { terminal, settings } = context;
  const profiles = await context.profiles();
  const name = settings.profile?.value ?? "default";
  checkName(name);
  const before = profiles.get(name);
  const baseUrl = await askBaseUrl(context, before?.baseUrl);
  // A new key for the same address changes nothing else: what the profile forbade, it goes on forbidding.
  const kept = before?.baseUrl === baseUrl ? before : undefined;
  const profile: Profile = {
    baseUrl,
    structure: settings.structure?.value ?? kept?.structure,
    readOnly: options.readOnly === true || kept?.readOnly ? true : undefined,
    ...(await askKey(context, options)),
  };
  const resolved = profileAsGiven(name, profile, terminal.env, () => context.prompter() !== undefined);
  const { value: key } = await resolved.key(context.signal);
  if (!isUsualKey(key)) terminal.warn("the key does not have the usual form of 50 characters");
  const structures = options.verify ? await (await context.open(resolved)).account.structures() : undefined;
  if (structures) {
    const known = structures.find(({ _id }) => _id === kept?.structure)?._id;
    profile.structure = await chooseStructure(context, structures, settings.structure?.value ?? known);
  }
  profiles.save(name, profile);

  const isCurrent = profiles.current() === name;
  terminal.note(`profile ${name} is kept: ${profile.baseUrl}, key ${maskKey(key)}`);
  if (!isCurrent) terminal.note(`to work with it: ecm auth use ${name}, or --profile ${name}`);
  const { structure = null } = profile;
  const told = { profile: name, baseUrl, apiKey: maskKey(key), region: regionOf(key) ?? null, structure };
  await presentValue(
    terminal,
    context.output(),
    { ...told, current: isCurrent, verified: options.verify },
    "",
  );
}
