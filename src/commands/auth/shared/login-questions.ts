/** What `ecm auth login` needs to know: from flags, the environment and standard input, else by asking. */
import { parseBaseUrl } from "../../../config/base-url.ts";
import { checkKey } from "../../../config/keys.ts";
import type { Profile } from "../../../config/profiles.ts";
import type { Context } from "../../../context.ts";
import { usageError } from "../../../errors.ts";
import { readDataInput } from "../../../terminal/data-input.ts";
import { cannotAskError } from "../../../terminal/prompts.ts";
import type { ContactStructure } from "../../../wire.ts";

/** @param known the profile's address so far. @throws UsageError when it is unsafe, or nobody can be asked */
export async function askBaseUrl(context: Context, currentBaseUrl: string | undefined): Promise<string> {
  const { baseUrl, insecureHttp } = context.settings;
  const parse = (text: string, where: string) => parseBaseUrl(text, where, insecureHttp);
  if (baseUrl) return parse(baseUrl.value, baseUrl.source === "flag" ? "--base-url" : "ECM_BASE_URL");
  const prompter = context.prompter();
  if (prompter)
    return parse(await prompter.input("Base URL of the account's API", currentBaseUrl), "base URL");
  if (currentBaseUrl !== undefined) return parse(currentBaseUrl, "profile");
  throw cannotAskError(
    "The account's base URL is missing",
    "Pass it, such as --base-url https://api.example.com",
  );
}

/** @throws UsageError when it can be no key, or nobody can be asked */
export async function askKey(
  context: Context,
  options: { apiKeyStdin?: boolean; apiKeyCommand?: string },
): Promise<Pick<Profile, "apiKey" | "apiKeyCommand">> {
  const { apiKeyCommand, apiKeyStdin } = options;
  if (apiKeyCommand !== undefined && apiKeyStdin) {
    throw usageError(
      "--api-key-stdin and --api-key-command cannot be used together",
      "Choose one of the two",
    );
  }
  if (apiKeyCommand !== undefined) return { apiKeyCommand };
  // At a terminal the key would be shown while it is typed.
  if (apiKeyStdin && !context.terminal.isStdinTerminal) {
    return {
      apiKey: checkKey(await readDataInput(context, "-", "--api-key-stdin"), "--api-key-stdin"),
    };
  }
  const prompter = context.prompter();
  if (prompter) return { apiKey: checkKey(await prompter.secret("API key"), "API key") };
  throw cannotAskError(
    "The API key is missing",
    "Pipe the key to --api-key-stdin, or pass --api-key-command",
  );
}

/** The id to keep: of the named structure, else of the one that a person chooses among several. */
export async function askStructure(
  context: Context,
  structures: ContactStructure[],
  requestedStructure: string | undefined,
): Promise<string | undefined> {
  if (requestedStructure !== undefined) {
    const { chooseStructure } = await import("../../../service/account.ts");
    return chooseStructure(structures, requestedStructure)._id;
  }
  const prompter = structures.length > 1 ? context.prompter() : undefined;
  if (!prompter) return undefined;
  const choices = structures.map(({ _id, label }) => ({ name: `${label} (${_id})`, value: _id }));
  return prompter.select("Contact structure", choices);
}
