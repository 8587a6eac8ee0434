/** `ecm structure field add|rename|remove` */
import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { resolveField } from "../../service/names.ts";
import { addField, removeField, renameField } from "../../service/structure-edit.ts";
import { addDryRunFlag } from "../flags.ts";
import { describeCommand } from "../help-text.ts";
import { runEdit, wholeStructure } from "./show.ts";

interface FieldAddOptions {
  type: string;
  required?: boolean;
  dryRun?: boolean;
}

const output = "The structure as it is afterwards.";

export function registerStructureField(parent: Command, context: Context): void {
  const field = parent.command("field").description("add, rename and remove fields");

  const add = field
    .command("add")
    .description("add a field")
    .argument("<label>", "the field's label")
    .option("--type <type>", "the type of its values, as the service names it", "text")
    .option("--required", "every contact must have a value")
    .action((label: string, options: FieldAddOptions) => {
      const { type, required = false, dryRun } = options;
      return runEdit(context, (structure) => addField(structure, { label, dataType: type, required }), {
        dryRun,
      });
    });
  describeCommand(addDryRunFlag(add), {
    examples: ["ecm structure field add City", 'ecm structure field add "Customer number" --required'],
    output,
    writes: true,
    exitCodes: { 6: "a field has this label already, or the structure keeps being changed by others" },
  });

  const rename = field
    .command("rename")
    .description("give a field another label; contacts keep their values")
    .argument("<field>", "its label or id")
    .argument("<label>", "the new label")
    .action((wanted: string, label: string, options: { dryRun?: boolean }) =>
      runEdit(context, (structure) => renameField(structure, wanted, label), options),
    );
  describeCommand(addDryRunFlag(rename), {
    examples: ["ecm structure field rename City Town"],
    output,
    writes: true,
    exitCodes: { 6: "another field has this label, or the structure keeps being changed by others" },
  });

  const remove = field
    .command("remove")
    .description("remove a field: every contact loses its value (asks first)")
    .argument("<field>", "its label or id")
    .action((wanted: string, options: { dryRun?: boolean }) => runFieldRemove(context, wanted, options));
  describeCommand(addDryRunFlag(remove), {
    examples: ["ecm structure field remove Fax", "ecm structure field remove Fax --yes"],
    output,
    writes: true,
  });
}

async function runFieldRemove(
  context: Context,
  wanted: string,
  options: { dryRun?: boolean },
): Promise<void> {
  const structure = await wholeStructure((await context.connect()).account);
  const { _id, label } = resolveField(structure, wanted);
  if (!options.dryRun) {
    await context.confirm(`Remove the field ${JSON.stringify(label)}? Every contact loses its value.`);
  }
  await runEdit(context, (current) => removeField(current, _id), { ...options, structure });
}
