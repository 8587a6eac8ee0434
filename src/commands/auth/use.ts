import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { describeCommand } from "../help-text.ts";

export function registerAuthUse(parent: Command, context: Context): void {
  const command = parent
    .command("use")
    .description("choose the profile that commands work with")
    .argument("<name>", "a profile's name; sandbox is the embedded service")
    .action((name: string) => runAuthUse(context, name));
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm auth use production", "ecm auth use sandbox"],
    output: "Nothing.",
  });
}

async function runAuthUse(context: Context, name: string): Promise<void> {
  const profiles = await context.profiles();
  profiles.use(name);
  context.terminal.note(`commands now work with profile ${name}`);
}
