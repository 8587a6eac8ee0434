import type { Command } from "commander";
import { parseBaseUrl } from "../../config/base-url.ts";
import { checkKey, isUsualKey, maskKey, regionOf } from "../../config/keys.ts";
import { checkName, type Profile } from "../../config/profiles.ts";
import { profileAsGiven } from "../../config/resolve.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { readDataInput } from "../../terminal/data-input.ts";
import { presentValue } from "../../terminal/present.ts";
import { mayNotAsk } from "../../terminal/prompts.ts";
import type { ContactStructure } from "../../wire.ts";
import { describeCommand } from "../help-text.ts";

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
  const profile: Profile = {
    baseUrl: await askBaseUrl(context, profiles.get(name)?.baseUrl),
    structure: settings.structure?.value,
    readOnly: options.readOnly === true ? true : undefined,
    ...(await askKey(context, options)),
  };
  const resolved = profileAsGiven(name, profile, terminal.env);
  const { value: key } = await resolved.key(context.signal);
  if (!isUsualKey(key)) terminal.note("warning: the key does not have the usual form of 50 characters");
  const structures = options.verify ? await (await context.open(resolved)).account.structures() : undefined;
  if (structures) profile.structure = await chooseStructure(context, structures, settings.structure?.value);
  profiles.save(name, profile);

  const isCurrent = profiles.current() === name;
  terminal.note(`profile ${name} is kept: ${profile.baseUrl}, key ${maskKey(key)}`);
  if (!isCurrent) terminal.note(`to work with it: ecm auth use ${name}, or --profile ${name}`);
  const { baseUrl, structure = null } = profile;
  const kept = { profile: name, baseUrl, apiKey: maskKey(key), region: regionOf(key) ?? null, structure };
  await presentValue(
    terminal,
    context.output(),
    { ...kept, current: isCurrent, verified: options.verify },
    "",
  );
}

async function askBaseUrl(context: Context, known: string | undefined): Promise<string> {
  const { baseUrl } = context.settings;
  if (baseUrl) return parseBaseUrl(baseUrl.value, baseUrl.source === "flag" ? "--base-url" : "ECM_BASE_URL");
  const prompter = context.prompter();
  if (prompter)
    return parseBaseUrl(await prompter.input("Base address of the account's API", known), "base address");
  if (known !== undefined) return parseBaseUrl(known, "profile");
  throw mayNotAsk(
    "the account's base address is needed",
    "pass --base-url, such as --base-url https://api.example.com",
  );
}

async function askKey(
  context: Context,
  options: LoginOptions,
): Promise<Pick<Profile, "apiKey" | "apiKeyCommand">> {
  const { apiKeyCommand, apiKeyStdin } = options;
  if (apiKeyCommand !== undefined && apiKeyStdin) {
    throw new UsageError("--api-key-stdin and --api-key-command exclude each other", "choose one of the two");
  }
  if (apiKeyCommand !== undefined) return { apiKeyCommand };
  if (apiKeyStdin) {
    return {
      apiKey: checkKey(await readDataInput(context.terminal, "-", "--api-key-stdin"), "--api-key-stdin"),
    };
  }
  const prompter = context.prompter();
  if (prompter) return { apiKey: checkKey(await prompter.secret("API key (not shown)"), "API key") };
  throw mayNotAsk("the API key is needed", "pass --api-key-stdin and pipe the key, or --api-key-command");
}

/** The id to keep: of the named structure, else of the one that a person chooses among several. */
async function chooseStructure(
  context: Context,
  structures: ContactStructure[],
  named: string | undefined,
): Promise<string | undefined> {
  if (named !== undefined) {
    const { chooseStructure } = await import("../../service/account.ts");
    return chooseStructure(structures, named)._id;
  }
  const prompter = structures.length > 1 ? context.prompter() : undefined;
  if (!prompter) return undefined;
  const choices = structures.map(({ _id, label }) => ({ name: `${label} (${_id})`, value: _id }));
  return prompter.select("Contact structure to work in", choices);
}
