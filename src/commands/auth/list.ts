import type { Command } from "@commander-js/extra-typings";
import { maskKey } from "../../config/keys.ts";
import type { Profile } from "../../config/profiles.ts";
import type { Context } from "../../context.ts";
import type { View } from "../../terminal/present.ts";
import { addOutputFileFlags } from "../flags/flags.ts";
import { verb } from "../verb.ts";

type ListedProfile = ReturnType<typeof toListedProfile>;

const view: View<ListedProfile> = {
  columns: [
    { name: "profile", value: (profile) => profile.name },
    { name: "current", value: (profile) => (profile.current ? "yes" : "") },
    { name: "base address", value: (profile) => profile.baseUrl ?? "(embedded)" },
    { name: "key", value: (profile) => profile.apiKey ?? (profile.hasKeyCommand ? "(by command)" : "") },
    { name: "structure", value: (profile) => profile.structure },
    { name: "read-only", value: (profile) => (profile.readOnly ? "yes" : "") },
  ],
  id: (profile) => profile.name,
};

export function registerAuthList(parent: Command, context: Context): void {
  const command = addOutputFileFlags(parent.command("list")).description("list the profiles");
  verb(context, command, {
    isLocal: true,
    examples: ["ecm auth list", "ecm auth list -o json"],
    output:
      "Each profile's name, base URL and masked key. The profile sandbox, the embedded service, always exists.",
    view,
    async run() {
      const profiles = await context.profiles();
      const current = profiles.current();
      const names = profiles.names();
      return { many: names.map((name) => toListedProfile(name, profiles.get(name)!, name === current)) };
    },
  });
}

/** The command that prints a key is not shown: it may hold the key. */
function toListedProfile(name: string, profile: Profile, current: boolean) {
  const { baseUrl, apiKey, apiKeyCommand, structure, readOnly = false } = profile;
  const masked = apiKey === undefined ? undefined : maskKey(apiKey);
  const hasKeyCommand = apiKeyCommand !== undefined;
  return { name, current, baseUrl, apiKey: masked, hasKeyCommand, structure, readOnly };
}
