/** `ecm structure field add|rename|remove` */
import type { Command } from "commander";
import { resolveField } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { ecm, type Hint } from "../../hint.ts";
import { addField, removeField, renameField, type StructureEdit } from "../../structure/edit.ts";
import { addDryRunFlag } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { requireChoice, requireTextOrAsk, toChoices } from "../shared/questions.ts";
import { formatRemovalQuestion } from "./shared/losses.ts";
import { readWholeStructure, runEdit } from "./show.ts";

interface FieldAddOptions {
  type: string;
  required?: boolean;
  dryRun?: boolean;
}

const output = "The updated structure, or at a terminal what changed (old → new).";

export function registerStructureField(parent: Command, context: Context): void {
  const field = parent.command("field").description("add, rename and remove fields");

  const add = field
    .command("add")
    .description("add a field")
    .argument("[label]", "the field's label")
    .option("--type <type>", "the type of its values, in the service's terms", "text")
    .option("--required", "every contact must have a value")
    .action((label: string | undefined, options: FieldAddOptions) => runFieldAdd(context, label, options));
  describeCommand(addDryRunFlag(add), {
    examples: ["ecm structure field add City", 'ecm structure field add "Customer number" --required'],
    output,
    writes: true,
    exitCodes: { 6: "a field already has this label, or others keep changing the structure" },
  });

  const rename = field
    .command("rename")
    .description("rename a field; contacts keep their values")
    .argument("[field]", "its label or id")
    .argument("[label]", "the new label")
    .action((typedField: string | undefined, label: string | undefined, options: { dryRun?: boolean }) =>
      runFieldRename(context, typedField, label, options),
    );
  describeCommand(addDryRunFlag(rename), {
    examples: ["ecm structure field rename City Town"],
    output,
    writes: true,
    exitCodes: { 6: "another field has this label, or others keep changing the structure" },
  });

  const remove = field
    .command("remove")
    .description("remove a field; every contact loses its value (asks first)")
    .argument("[field]", "its label or id")
    .action((typedField: string | undefined, options: { dryRun?: boolean }) =>
      runFieldRemove(context, typedField, options),
    );
  describeCommand(addDryRunFlag(remove), {
    examples: ["ecm structure field remove Fax", "ecm structure field remove Fax --yes"],
    output,
    writes: true,
    asks: true,
  });
}

async function runFieldAdd(
  context: Context,
  typedLabel: string | undefined,
  { type, required = false, dryRun }: FieldAddOptions,
): Promise<void> {
  const usage = ecm`structure field add LABEL`;
  const label = await requireTextOrAsk(context, typedLabel, {
    question: "Label of the new field",
    what: "the field's label",
    usage,
  });
  await runEdit(context, (structure) => addField(structure, { label, dataType: type, required }), { dryRun });
}

async function runFieldRename(
  context: Context,
  typedField: string | undefined,
  typedLabel: string | undefined,
  options: { dryRun?: boolean },
): Promise<void> {
  const usage = ecm`structure field rename FIELD LABEL`;
  const nameOrId = await requireField(context, typedField, "Field to rename", usage);
  const label = await requireTextOrAsk(context, typedLabel, {
    question: "New label",
    what: "the new label",
    usage,
  });
  // Planned again after somebody else's change, it is the field that was meant at first, whatever it is
  // called by then.
  let id: string | undefined;
  const edit: StructureEdit = (structure) => {
    id ??= resolveField(structure, nameOrId)._id;
    return renameField(structure, id, label);
  };
  await runEdit(context, edit, options);
}

function requireField(context: Context, typedField: string | undefined, question: string, usage: Hint) {
  return requireChoice(context, typedField, { question, what: "the field", usage }, async () => {
    const { account } = await context.connect();
    return toChoices((await account.structure()).fields, (field) => field.label);
  });
}

async function runFieldRemove(
  context: Context,
  typedField: string | undefined,
  options: { dryRun?: boolean },
): Promise<void> {
  const nameOrId = await requireField(
    context,
    typedField,
    "Field to remove",
    ecm`structure field remove FIELD`,
  );
  if (!options.dryRun) context.requireConfirmable();
  const connection = await context.connect();
  const structure = await readWholeStructure(connection.account);
  const { _id, label } = resolveField(structure, nameOrId);
  if (!options.dryRun) {
    await context.confirm(() => formatRemovalQuestion(connection, structure, [{ part: "field", label }]));
  }
  await runEdit(context, (current) => removeField(current, _id), { ...options, structure });
}
