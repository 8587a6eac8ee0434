import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { verb } from "../verb.ts";

export function registerAuthLogout(parent: Command, context: Context): void {
  const command = parent
    .command("logout")
    .description("remove a profile and its API key; the key itself stays valid")
    .argument("[name]", "the profile to remove (default: the selected one)");
  verb(context, command, {
    isLocal: true,
    examples: ["ecm auth logout", "ecm auth logout staging"],
    output: "Nothing.",
    async run(typedName) {
      const profiles = await context.profiles();
      const name = typedName ?? context.settings.profile?.value ?? profiles.current();
      if (name === undefined)
        throw usageError("No profile is selected", `Profiles: ${profiles.names().join(", ")}`);
      const wasCurrent = profiles.current() === name;
      profiles.remove(name);
      const left = profiles.names().filter((each) => each !== "sandbox");
      const note = `Removed profile "${name}" and its key; the key itself stays valid in the account`;
      if (!wasCurrent || left.length === 0) return { note };
      const next = left.length === 1 ? left[0] : `NAME (${left.join(", ")})`;
      return { note: `${note}\nNo profile selected. Select one with: ecm auth use ${next}` };
    },
  });
}
