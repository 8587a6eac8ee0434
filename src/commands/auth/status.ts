import type { Command } from "@commander-js/extra-typings";
import { findRegion, maskKey } from "../../config/keys.ts";
import type { ResolvedProfile } from "../../config/resolve.ts";
import type { Sourced } from "../../config/settings.ts";
import type { Context } from "../../context.ts";
import { EcmError, exitCodes } from "../../errors.ts";
import type { View } from "../../terminal/present.ts";
import { verb } from "../verb.ts";

type SettingSource = Sourced<string>["source"];

type AuthStatus = ReturnType<typeof toAuthStatus>;

/** @param isForPeople each value says where it comes from */
function createStatusView(isForPeople: boolean): View<AuthStatus> {
  const formatValue = (value: string | null, source?: SettingSource, otherwise = "") =>
    isForPeople && source && value ? `${value} (${sourceDescriptions[source]})` : (value ?? otherwise);
  return {
    columns: [
      { name: "profile", value: ({ profile, sources }) => formatValue(profile, sources.profile, "(none)") },
      {
        name: "base address",
        value: ({ baseUrl, sources }) => formatValue(baseUrl, sources.baseUrl, "(embedded)"),
      },
      { name: "key", value: ({ apiKey, sources }) => formatValue(apiKey, sources.apiKey, "(none needed)") },
      { name: "region", value: ({ region }) => region },
      { name: "structure", value: ({ structure, sources }) => formatValue(structure, sources.structure) },
      { name: "read-only", value: ({ readOnly }) => (readOnly ? "yes" : "no") },
      { name: "key works", value: ({ works }) => (works === null ? "not known" : works ? "yes" : "no") },
    ],
    id: ({ profile }) => profile ?? "",
  };
}

const sourceDescriptions: Record<SettingSource, string> = {
  flag: "from a flag",
  environment: "from the environment",
  profile: "from the profile",
  default: "the current one",
};

export function registerAuthStatus(parent: Command, context: Context): void {
  const command = parent
    .command("status")
    .description("show which account and key are in use, and whether the key works");
  verb(context, command, {
    examples: ["ecm auth status", "ecm auth status --profile staging --json"],
    output:
      "Profile, base URL, masked key, region, structure, whether the key works, and where each comes from. Sends one request.",
    async run() {
      const profile = await context.profile();
      const key = profile.isSandbox ? undefined : await profile.key(context.signal);
      const failure = await findProblem(context);
      const isRefused = failure instanceof EcmError && failure.exitCode === exitCodes.notAuthorized;
      const works = failure === undefined ? true : isRefused ? false : null;
      const view = createStatusView(context.output().format === "table");
      return { one: toAuthStatus(profile, key, works), view, failure };
    },
  });
}

async function findProblem(context: Context): Promise<unknown> {
  try {
    const { account } = await context.connect();
    await account.structures();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** @param works whether the service took the key; null when it could not be asked */
function toAuthStatus(profile: ResolvedProfile, key: Sourced<string> | undefined, works: boolean | null) {
  const { name, structure, readOnly } = profile;
  const baseUrl = profile.isSandbox ? undefined : profile.baseUrl;
  return {
    profile: name?.value ?? null,
    baseUrl: baseUrl?.value ?? null,
    /** Masked; null when there is none of the user's. */
    apiKey: key ? maskKey(key.value) : null,
    region: (key && findRegion(key.value)) ?? null,
    structure: structure?.value ?? null,
    readOnly,
    works,
    sources: {
      profile: name?.source,
      baseUrl: baseUrl?.source,
      apiKey: key?.source,
      structure: structure?.source,
    },
  };
}
