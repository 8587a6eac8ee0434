import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { requireChoice } from "../flags/questions.ts";
import { verb } from "../verb.ts";

export function registerAuthUse(parent: Command, context: Context): void {
  const command = parent
    .command("use")
    .description("select the profile that commands use")
    .argument("[name]", "a profile's name; sandbox is the embedded service");
  verb(context, command, {
    isLocal: true,
    examples: ["ecm auth use production", "ecm auth use sandbox"],
    output: "Nothing.",
    async run(typedName) {
      const profiles = await context.profiles();
      const missing = { what: "Profile to use", usage: ecm`auth use NAME` };
      const name = await requireChoice(context, typedName, missing, async () => {
        const current = profiles.current();
        return profiles.names().map((each) => {
          const where = profiles.get(each)?.baseUrl ?? "the embedded service";
          return {
            name: `${each}  ${where}${each === current ? " (current)" : ""}`,
            short: each,
            value: each,
          };
        });
      });
      profiles.use(name);
      const isSandbox = profiles.get(name)?.baseUrl === undefined;
      const what = isSandbox ? ": the embedded sandbox, which reaches no real account" : "";
      warnOfVariables(context, name);
      return { note: `Selected profile "${name}"${what}` };
    },
  });
}

/** A variable would send the next command to another account than the one that was selected. */
function warnOfVariables({ terminal, settings }: Context, name: string): void {
  const { profile, baseUrl, apiKey } = settings;
  if (profile?.source === "environment" && profile.value !== name) {
    terminal.warn(`ECM_PROFILE is set: commands here use ${JSON.stringify(profile.value)} until it is unset`);
  } else if (profile === undefined && baseUrl?.source === "environment" && apiKey) {
    terminal.warn(
      `ECM_BASE_URL and ECM_API_KEY are set: commands here use ${baseUrl.value} until they are unset`,
    );
  }
}
