/** `ecm structure field add|rename|remove` */
import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { addField } from "../../structure/edit.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { requireText } from "../flags/questions.ts";
import { verb } from "../verb.ts";
import {
  editOutput,
  editStructure,
  readWholeStructure,
  registerRenameAndRemove,
  structureView,
} from "./shared.ts";

const missingLabel = { what: "Label of the new field", usage: ecm`structure field add LABEL` };

export function registerStructureField(parent: Command, context: Context): void {
  const field = parent.command("field").description("add, rename and remove fields");
  const add = field
    .command("add")
    .description("add a field")
    .argument("[label]", "the field's label")
    .option("--type <type>", "the type of its values, in the service's terms", "text")
    .option("--required", "every contact must have a value");
  verb(context, addDryRunFlag(add), {
    examples: ["ecm structure field add City", 'ecm structure field add "Customer number" --required'],
    output: editOutput,
    writes: true,
    exitCodes: { 6: "a field already has this label, or others keep changing the structure" },
    view: structureView,
    async run(typedLabel, { type, required = false, dryRun }) {
      const label = await requireText(context, typedLabel, missingLabel);
      const structure = await readWholeStructure((await context.connect()).account);
      const field = { label, dataType: type, required };
      return editStructure(context, structure, (now) => addField(now, field), { dryRun });
    },
  });
  registerRenameAndRemove(field, context, {
    part: "field",
    onRename: "contacts keep their values",
    onRemove: "every contact loses its value",
    exampleRename: "City Town",
    exampleRemove: "Fax",
  });
}
