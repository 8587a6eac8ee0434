import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { describeCommand } from "../shared/help-text.ts";
import { requireChoice } from "../shared/questions.ts";

export function registerAuthUse(parent: Command, context: Context): void {
  const command = parent
    .command("use")
    .description("select the profile that commands use")
    .argument("[name]", "a profile's name; sandbox is the embedded service")
    .action((name?: string) => runAuthUse(context, name));
  describeCommand(command, {
    isLocal: true,
    danger: "mutating",
    examples: ["ecm auth use production", "ecm auth use sandbox"],
    output: "Nothing.",
  });
}

const missingName = { question: "Profile to use", what: "the profile", usage: ecm`auth use NAME` };

async function runAuthUse(context: Context, typedName?: string): Promise<void> {
  const profiles = await context.profiles();
  const name = await requireChoice(context, typedName, missingName, async () => {
    const current = profiles.current();
    return profiles.names().map((each) => {
      const where = profiles.get(each)?.baseUrl ?? "the embedded service";
      return { name: `${each}  ${where}${each === current ? " (current)" : ""}`, short: each, value: each };
    });
  });
  profiles.use(name);
  context.terminal.note(`Selected profile "${name}"`);
}
