/** Which profile, base address and key a command works with, and where each came from. */
import { createHash } from "node:crypto";
import { type EcmError, noKeyError, usageError } from "../errors.ts";
import { advise, ecm, type Hint, logInAgain, type ShownCommand } from "../hint.ts";
import { isInsecure, isSameOrigin, parseBaseUrl, requireNoKeyWithin, toAccountAddress } from "./base-url.ts";
import { checkKey, runKeyCommand } from "./keys.ts";
import { type Profile, type ProfileStore, sandboxProfile, unknownProfileError } from "./profiles.ts";
import type { Environment, Settings, Sourced } from "./settings.ts";

export interface ResolvedProfile {
  /** Absent when address and key both come from the environment. */
  name?: Sourced<string>;
  /** True for the embedded service in this process; then there is no address and no key of the user's. */
  isSandbox: boolean;
  baseUrl: Sourced<string>;
  /** The address by which what is kept of the account is found, whichever of its names was given. */
  accountAddress: string;
  structure?: Sourced<string>;
  readOnly: boolean;
  /**
   * Said before the first request: the key goes to an address that its profile does not know, or unencrypted.
   */
  warning?: string;
  /**
   * Tells what is remembered of this account from what is of another; fit for a file name, and holds no key.
   */
  identity: string;
  /** Obtains the key; runs the profile's key command where there is one. @throws NoKeyError */
  key(signal?: AbortSignal): Promise<Sourced<string>>;
}

/** Stands for the embedded service where an address is due; nothing listens there. */
const embeddedBaseUrl = "http://sandbox.localhost";

/**
 * Flag before environment before profile, for each value by itself. Three rules guard a key:
 * a named `sandbox` is always the embedded service, whatever address the environment holds;
 * every address is https, or loopback; and where a variable alone parts the current
 * profile's key from its address, or both of a named profile are replaced, there is a warning.
 * @param canAsk whether a key command may ask at standard input; asked only when one is run
 * @param openProfiles asked only when a profile is needed: address and key of the environment need none
 * @throws NoKeyError when no profile is configured and none named;
 *   UsageError for a bad address or unknown profile.
 */
export async function resolveProfile(
  settings: Settings,
  openProfiles: () => Promise<ProfileStore>,
  env: Environment,
  canAsk = () => false,
): Promise<ResolvedProfile> {
  const { profile: profileName, baseUrl, apiKey } = settings;
  if (profileName?.value === sandboxProfile) return resolveSandboxProfile(settings, profileName);
  if (!profileName && baseUrl && apiKey) return assemble(settings, undefined, {}, { env, canAsk });

  const profiles = await openProfiles();
  const current = profiles.current();
  const name =
    profileName ?? (current === undefined ? undefined : { value: current, source: "default" as const });
  if (!name) {
    if (apiKey) throw noAddressError("ECM_API_KEY is set, but no base URL", "Set ECM_BASE_URL too");
    throw noProfileError(profiles.names(), canAsk());
  }
  if (name.value === sandboxProfile && !baseUrl) return resolveSandboxProfile(settings, name);
  if (name.value === sandboxProfile && !apiKey) {
    const hint = advise`Set ECM_API_KEY, or log in: ${ecm`auth login`}`;
    throw noKeyError(`There is no API key for ${baseUrl!.value}`, hint);
  }
  const profile = profiles.get(name.value);
  if (!profile) throw unknownProfileError(name.value, profiles.names());
  return assemble(settings, name, profile, { env, canAsk });
}

/** A profile by itself, without flags and environment: to try it before it is saved. */
export function resolveStoredProfile(
  name: string,
  profile: Profile,
  env: Environment,
  canAsk: () => boolean,
): ResolvedProfile {
  const bare = { readOnly: false, insecureHttp: env.ECM_INSECURE_HTTP || undefined } as Settings;
  return assemble(bare, { value: name, source: "flag" }, profile, { env, canAsk });
}

function resolveSandboxProfile(settings: Settings, name: Sourced<string>): ResolvedProfile {
  if (settings.baseUrl?.source === "flag") {
    throw usageError(
      "--base-url cannot be used with the profile sandbox: the embedded service has no URL",
      "Leave out one of the two",
    );
  }
  return {
    name,
    isSandbox: true,
    baseUrl: { value: embeddedBaseUrl, source: "default" },
    accountAddress: embeddedBaseUrl,
    structure: settings.structure,
    readOnly: settings.readOnly,
    identity: hash("sandbox"),
    key: () => Promise.reject(noKeyError("The embedded service makes its own key")),
  };
}

function assemble(
  settings: Settings,
  name: Sourced<string> | undefined,
  profile: Profile,
  { env, canAsk }: { env: Environment; canAsk: () => boolean },
): ResolvedProfile {
  const place = name ? `profile ${name.value}` : "environment";
  const { baseUrl, warning } = chooseBaseUrl(settings, name, profile, place);
  let key: Promise<Sourced<string>> | undefined;
  return {
    name,
    isSandbox: false,
    baseUrl,
    accountAddress: toAccountAddress(baseUrl.value),
    structure:
      settings.structure ??
      (profile.structure === undefined ? undefined : { value: profile.structure, source: "profile" }),
    readOnly: settings.readOnly || profile.readOnly === true,
    warning,
    // A profile's key is not asked for: that could run its command.
    identity: settings.apiKey
      ? hash(`key ${baseUrl.value} ${settings.apiKey.value}`)
      : hash(`profile ${baseUrl.value} ${name?.value}`),
    key(signal) {
      // Once: a key command may ask a person.
      key ??= obtainKey(settings, profile, { place, name }, (command) =>
        runKeyCommand(command, place, { env, canAsk: canAsk(), signal }),
      ).then((found) => {
        requireNoKeyWithin(baseUrl.value, place, found.value);
        return found;
      });
      return key;
    },
  };
}

async function obtainKey(
  settings: Settings,
  profile: Profile,
  { place, name }: { place: string; name: Sourced<string> | undefined },
  run: (command: string) => Promise<string>,
): Promise<Sourced<string>> {
  if (settings.apiKey) {
    return { value: checkKey(settings.apiKey.value, "ECM_API_KEY"), source: settings.apiKey.source };
  }
  if (profile.apiKeyCommand !== undefined)
    return { value: await run(profile.apiKeyCommand), source: "profile" };
  if (profile.apiKey !== undefined) return { value: checkKey(profile.apiKey, place), source: "profile" };
  throw noKeyError(
    `${place}: no API key is stored`,
    advise`Log in again with: ${loginCommand(name)}; or set ECM_API_KEY`,
  );
}

function chooseBaseUrl(
  settings: Settings,
  name: Sourced<string> | undefined,
  profile: Profile,
  place: string,
): { baseUrl: Sourced<string>; warning?: string } {
  const knownKey = settings.apiKey?.value.trim() ?? profile.apiKey;
  const parse = (text: string, where: string) => {
    requireNoKeyWithin(text, where, knownKey);
    return parseBaseUrl(text, where, settings.insecureHttp);
  };
  const own = profile.baseUrl === undefined ? undefined : parse(profile.baseUrl, place);
  if (!settings.baseUrl) {
    if (own !== undefined)
      return { baseUrl: { value: own, source: "profile" }, warning: findPlainHttpWarning(own) };
    throw noAddressError(
      `${place}: no base URL is stored`,
      advise`Pass --base-url, or ${logInAgain(loginCommand(name))}`,
    );
  }
  const { source } = settings.baseUrl;
  const value = parse(settings.baseUrl.value, source === "flag" ? "--base-url" : "ECM_BASE_URL");
  const isTyped = source === "flag" || name?.source === "flag";
  const isOwn = own !== undefined && isSameOrigin(own, value);
  const warnings = [findPlainHttpWarning(value)].filter((each) => each !== undefined);
  if (!isOwn && !isTyped && !settings.apiKey)
    warnings.unshift(`ECM_BASE_URL is set: the key of the ${place} goes to ${value}`);
  if (!isOwn && name && source === "environment" && settings.apiKey)
    warnings.unshift(`ECM_BASE_URL and ECM_API_KEY are set: ${value} is used, not the account of ${place}`);
  return { baseUrl: { value, source }, warning: warnings.length > 0 ? warnings.join("; ") : undefined };
}

function findPlainHttpWarning(baseUrl: string): string | undefined {
  return isInsecure(baseUrl)
    ? `ECM_INSECURE_HTTP is set: the API key goes to ${baseUrl} without encryption`
    : undefined;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

/** Without a name, a login makes the profile "default". */
function loginCommand(name: Sourced<string> | undefined): ShownCommand {
  return name === undefined || name.value === "default"
    ? ecm`auth login`
    : ecm`auth login --profile ${name.value}`;
}

function noAddressError(message: string, hint: Hint): EcmError {
  return usageError(message, hint, { type: "BaseUrlError" });
}

/** Not the same: there is no profile, and none of several is chosen. */
function noProfileError(names: string[], canAsk: boolean): EcmError {
  const own = names.filter((name) => name !== sandboxProfile);
  if (own.length > 0) {
    return noKeyError(
      "No profile is selected",
      advise`Select one with: ${ecm`auth use ${own.length === 1 ? own : ["NAME"]}`}${own.length === 1 ? "" : ` (${own.join(", ")})`}, or pass --profile`,
    );
  }
  return noKeyError(
    "You are not logged in",
    canAsk
      ? advise`Log in with: ${ecm`auth login`}; to try it without an account: --profile sandbox`
      : advise`Set ECM_BASE_URL and ECM_API_KEY, or log in with: ${ecm`auth login --base-url URL --api-key-stdin`}; to try it without an account: --profile sandbox`,
  );
}
