import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { describeCommand } from "../help-text.ts";
import { type DataFlag, dataOption, sandboxFolder, withOwner } from "./flags.ts";

export function registerSandboxReset(parent: Command, context: Context): void {
  const command = parent
    .command("reset")
    .description("delete everything that the sandbox holds")
    .addOption(dataOption())
    .action((flags: DataFlag) => runSandboxReset(context, flags));
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm sandbox reset --yes"],
    output:
      "Nothing. Contacts, lists, fields, tags, keys and limits are gone; what a running sandbox printed at its start stays true: the address, its own key, and the id of the default structure.",
  });
}

async function runSandboxReset(context: Context, flags: DataFlag): Promise<void> {
  await context.confirm(`Delete everything that the sandbox in ${sandboxFolder(context, flags)} holds?`);
  await withOwner(context, flags, (owner) => owner.reset());
}
