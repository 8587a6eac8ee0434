import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { type DataFlag, dataOption, sandboxFolder } from "./flags.ts";
import { withOwner } from "./keys.ts";

export function registerSandboxReset(parent: Command, context: Context): void {
  parent
    .command("reset")
    .description("delete everything that the sandbox holds")
    .addOption(dataOption())
    .addHelpText(
      "after",
      `
Contacts, lists, fields, tags, keys, limits and what is spent of them. What a running sandbox printed at its start
stays true: the address, its own key, and the id of the default structure.

Example:
  ecm sandbox reset --yes`,
    )
    .action((flags: DataFlag) => runSandboxReset(context, flags));
}

async function runSandboxReset(context: Context, flags: DataFlag): Promise<void> {
  await context.confirm(`Delete everything that the sandbox in ${sandboxFolder(context, flags)} holds?`);
  await withOwner(context, flags, (owner) => owner.reset());
}
