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
    .description("delete everything that the sandbox holds")
    .addOption(
      wholeNumber("--seed <n>", "from now on the same ids after every reset, for the same number", 0),
    )
    .addOption(dataOption())
    .action((flags: ResetFlags) => runSandboxReset(context, flags));
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm sandbox reset --yes", "ecm sandbox reset --seed 1 --yes"],
    output:
      "Nothing. Contacts, lists, custom fields, tags, events, other keys, what was spent of the limits and the log of requests are gone. What a running sandbox printed at its start stays true: the address, its own key, and the id of the default structure. Clock, limits, faults and snapshots stay.",
  });
}

async function runSandboxReset(context: Context, flags: ResetFlags): Promise<void> {
  await context.confirm(`Delete everything that the sandbox in ${sandboxFolder(context, flags)} holds?`);
  await withOwner(context, flags, (owner) => owner.reset(flags.seed));
}
