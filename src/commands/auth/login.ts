import { type Command, Option } from "@commander-js/extra-typings";
import { parseBaseUrl } from "../../config/base-url.ts";
import { checkKey, findRegion, isUsualKey, maskKey } from "../../config/keys.ts";
import { checkName, type Profile } from "../../config/profiles.ts";
import { type ResolvedProfile, resolveStoredProfile } from "../../config/resolve.ts";
import type { Context } from "../../context.ts";
import { EcmError } from "../../errors.ts";
import { advise } from "../../hint.ts";
import { readDataInput } from "../../terminal/data-input.ts";
import { cannotAskError } from "../../terminal/prompts.ts";
import type { ContactStructure } from "../../wire.ts";
import type { OptionsOf } from "../flags/flags.ts";
import { toChoices } from "../flags/questions.ts";
import { type Result, verb } from "../verb.ts";

/** The global flag, given at login, is carried by the profile. */
type LoginOptions = OptionsOf<typeof declareLogin> & { readOnly?: boolean };

function declareLogin(parent: Command) {
  return parent
    .command("login")
    .description("save an account's base URL and API key as a profile")
    .addOption(new Option("--api-key-stdin", "read the key from standard input").conflicts("apiKeyCommand"))
    .option("--api-key-command <command>", "run this command to get the key instead of storing it")
    .option("--no-verify", "save the key without checking it");
}

export function registerAuthLogin(parent: Command, context: Context): void {
  const command = declareLogin(parent);
  verb(context, command, {
    examples: [
      "ecm auth login --base-url https://api.example.com",
      "ecm auth login --profile staging --base-url https://api.example.com --api-key-stdin < key.txt",
      "ecm auth login --profile work --base-url https://api.example.com --api-key-command 'pass show ecm'",
    ],
    output:
      "Nothing; in JSON formats the saved profile. Its name is --profile, or default; the first profile becomes the current one.",
    exitCodes: { 4: "the service refuses the key; nothing was saved" },
    run: () => logIn(context, command.optsWithGlobals()),
  });
}

async function logIn(context: Context, options: LoginOptions): Promise<Result<unknown>> {
  const { terminal, settings } = context;
  const profiles = await context.profiles();
  const name = settings.profile?.value ?? "default";
  checkName(name);
  const before = profiles.get(name);
  const baseUrl = await askBaseUrl(context, before?.baseUrl);
  // A script has named the profile and means it.
  if (before && context.prompter())
    await context.confirm(
      `A profile "${name}" already exists (${before.baseUrl}, key ${before.apiKey ? maskKey(before.apiKey) : "by command"}). Replace it? (Another name: --profile NAME)`,
    );
  // A new key for the same address changes nothing else: a read-only profile stays read-only.
  const sameAccount = before?.baseUrl === baseUrl ? before : undefined;
  const profile: Profile = {
    baseUrl,
    structure: settings.structure?.value ?? sameAccount?.structure,
    readOnly: options.readOnly === true || sameAccount?.readOnly ? true : undefined,
    ...(await askKey(context, options)),
  };
  const resolved = resolveStoredProfile(name, profile, terminal.env, () => context.prompter() !== undefined);
  const { value: key } = await resolved.key(context.signal);
  if (!isUsualKey(key)) terminal.warn("The key does not look like an API key of 50 characters");
  const structures = options.verify ? await tryKey(context, resolved) : undefined;
  if (structures) {
    const currentStructure = structures.find(({ _id }) => _id === sameAccount?.structure)?._id;
    const requested = settings.structure?.value ?? currentStructure;
    profile.structure = await askStructure(context, structures, requested);
  }
  profiles.save(name, profile);

  const isCurrent = profiles.current() === name;
  terminal.note(`Saved profile "${name}": ${baseUrl}, key ${maskKey(key)}`);
  if (!isCurrent) terminal.note(`Select it with: ecm auth use ${name}, or pass --profile ${name}`);
  const { structure = null } = profile;
  const report = { profile: name, baseUrl, apiKey: maskKey(key), region: findRegion(key) ?? null, structure };
  return { value: { ...report, current: isCurrent, verified: options.verify }, text: "" };
}

/** The account's structures: proof that address and key work. @throws what went wrong, with what to do */
async function tryKey(context: Context, profile: ResolvedProfile): Promise<ContactStructure[]> {
  try {
    return await (await context.open(profile)).account.structures();
  } catch (error) {
    if (!(error instanceof EcmError)) throw error;
    const { status, hint } = error.details;
    const address = "Check --base-url (see the account's API Keys page)";
    if (status === 401)
      error.details.hint =
        "Nothing was saved. Copy the whole key from the account's API Keys page, check that it is active and belongs to this base address, and log in again";
    else if (status === 403) error.details.hint = advise`Nothing was saved. ${hint ?? address}`;
    else
      error.details.hint = advise`Nothing was saved. ${status === 429 && hint ? hint : address}; to save the key without checking it, pass --no-verify`;
    throw error;
  }
}

// What `ecm auth login` needs to know: from flags, the environment and standard input, else by asking.

/** @throws UsageError when it is unsafe, or nobody can be asked */
async function askBaseUrl(context: Context, currentBaseUrl: string | undefined): Promise<string> {
  const { baseUrl, insecureHttp } = context.settings;
  if (baseUrl) {
    const where = baseUrl.source === "flag" ? "--base-url" : "ECM_BASE_URL";
    return parseBaseUrl(baseUrl.value, where, insecureHttp);
  }
  const typed = await context.prompter()?.input("Base URL of the account's API", currentBaseUrl);
  const known = typed ?? currentBaseUrl;
  if (known !== undefined) return parseBaseUrl(known, "base URL", insecureHttp);
  throw cannotAskError(
    context.terminal,
    "The account's base URL is missing",
    "Pass it, such as --base-url https://api.example.com",
  );
}

/** @throws UsageError when it can be no key, or nobody can be asked */
async function askKey(
  context: Context,
  { apiKeyCommand, apiKeyStdin }: LoginOptions,
): Promise<Pick<Profile, "apiKey" | "apiKeyCommand">> {
  if (apiKeyCommand !== undefined) return { apiKeyCommand };
  // At a terminal the key would be shown while it is typed.
  if (apiKeyStdin && !context.terminal.isStdinTerminal)
    return { apiKey: checkKey(await readDataInput(context, "-", "--api-key-stdin"), "--api-key-stdin") };
  const prompter = context.prompter();
  if (prompter) return { apiKey: checkKey(await prompter.secret("API key"), "API key") };
  throw cannotAskError(
    context.terminal,
    "The API key is missing",
    "Pipe the key to --api-key-stdin, or pass --api-key-command",
  );
}

/** The id to keep: of the named structure, else of the one that a person chooses among several. */
async function askStructure(
  context: Context,
  structures: ContactStructure[],
  requestedStructure: string | undefined,
): Promise<string | undefined> {
  if (requestedStructure !== undefined) {
    const { chooseStructure } = await import("../../service/account.ts");
    return chooseStructure(structures, requestedStructure)._id;
  }
  const prompter = structures.length > 1 ? context.prompter() : undefined;
  return prompter?.select("Contact structure", toChoices(structures));
}
