import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { updateNames } from "../../structure/edit.ts";
import { addDryRunFlag } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { runEdit } from "./show.ts";

interface StructureUpdateOptions {
  label?: string;
  keyName?: string;
  dryRun?: boolean;
}

export function registerStructureUpdate(parent: Command, context: Context): void {
  const command = parent
    .command("update")
    .description("change a structure's label or the name of its key; fields and tags stay")
    .argument("[structure]", "its label or id (default: the one in use)")
    .option("--label <label>", "the structure's new label")
    .option("--key-name <name>", "the new name of the key column")
    .action((nameOrId: string | undefined, options: StructureUpdateOptions) =>
      runStructureUpdate(context, nameOrId, options),
    );
  describeCommand(addDryRunFlag(command), {
    examples: ['ecm structure update --label "Customers"', "ecm structure update Default --key-name E-mail"],
    output:
      "The updated structure, or at a terminal what changed (old → new); `unchanged` on stderr when nothing changed.",
    writes: true,
  });
}

async function runStructureUpdate(
  context: Context,
  nameOrId: string | undefined,
  options: StructureUpdateOptions,
): Promise<void> {
  const { label, keyName, dryRun } = options;
  if (label === undefined && keyName === undefined) {
    throw new UsageError("No change given", "Pass --label, --key-name, or both");
  }
  if ([label, keyName].some((name) => name?.trim() === ""))
    throw new UsageError("A name cannot be blank", "Give a name with letters");
  await runEdit(context, (structure) => updateNames(structure, { label, keyName }), { nameOrId, dryRun });
}
