import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { wholeNumber } from "../flags.ts";
import { describeCommand } from "../help-text.ts";
import { type DataFlag, dataOption, sandboxFolder, withOwner } from "./flags.ts";

interface ResetFlags extends DataFlag {
  seed?: number;
}

export function registerSandboxReset(parent: Command, context: Context): void {
  const command = parent
    .command("reset")
    .description("delete all data of the sandbox")
    .addOption(wholeNumber("--seed <n>", "make ids reproducible after every reset", 0))
    .addOption(dataOption())
    .action((flags: ResetFlags) => runSandboxReset(context, flags));
  describeCommand(command, {
    isLocal: true,
    asks: true,
    examples: ["ecm sandbox reset --yes", "ecm sandbox reset --seed 1 --yes"],
    output:
      "Nothing. Contacts, lists, custom fields, tags, events, other keys, the usage of the limits and the log of requests are deleted. What a running sandbox printed at its start stays valid: the URL, its key, and the id of the default structure. Clock, limits, faults and snapshots stay.",
  });
}

async function runSandboxReset(context: Context, flags: ResetFlags): Promise<void> {
  await context.confirm(`Delete all data of the sandbox in ${sandboxFolder(context, flags)}?`);
  await withOwner(context, flags, (owner) => owner.reset(flags.seed));
}
