import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { updateNames } from "../../structure/edit.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { verb } from "../verb.ts";
import { editStructure, readWholeStructure, structureView } from "./shared.ts";

export function registerStructureUpdate(parent: Command, context: Context): void {
  const command = parent
    .command("update")
    .description("change a structure's label or the name of its key; fields and tags stay")
    .argument("[structure]", "its label or id (default: the one in use)")
    .option("--label <label>", "the structure's new label")
    .option("--key-name <name>", "the new name of the key column");
  verb(context, addDryRunFlag(command), {
    examples: ['ecm structure update --label "Customers"', "ecm structure update Default --key-name E-mail"],
    output:
      "The updated structure, or at a terminal what changed (old → new); `unchanged` on stderr when nothing changed.",
    writes: true,
    view: structureView,
    async run(nameOrId, { label, keyName, dryRun }) {
      if (label === undefined && keyName === undefined) {
        throw usageError("No change given", "Pass --label, --key-name, or both");
      }
      if ([label, keyName].some((name) => name?.trim() === ""))
        throw usageError("A name cannot be blank", "Give a name with letters");
      const structure = await readWholeStructure(context, nameOrId);
      return editStructure(context, structure, (now) => updateNames(now, { label, keyName }), { dryRun });
    },
  });
}
