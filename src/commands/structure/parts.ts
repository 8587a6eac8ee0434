/** `ecm structure field add|rename|remove` and `ecm structure tag add|rename|remove`. */
import type { Command } from "@commander-js/extra-typings";
import { resolveField, resolveTag } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { capitalize } from "../../counts.ts";
import { ecm } from "../../hint.ts";
import type { Part } from "../../structure/changes.ts";
import { addField, addTags, removePart, renamePart } from "../../structure/edit.ts";
import type { ContactStructure } from "../../wire.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { type MissingArgument, requireChoice, requireText, toChoices } from "../flags/questions.ts";
import { verb } from "../verb.ts";
import { editStructure, formatRemovalQuestion, readWholeStructure, structureView } from "./shared.ts";

const output = "The updated structure, or at a terminal what changed (old → new).";

export function registerStructureParts(parent: Command, context: Context): void {
  const field = parent.command("field").description("add, rename and remove fields");
  registerAddField(field, context);
  registerRename(field, context, "contacts keep their values", "City Town");
  registerRemove(field, context, "every contact loses its value", "Fax");

  const tag = parent.command("tag").description("add, rename and remove tags");
  registerAddTag(tag, context);
  registerRename(tag, context, "contacts keep the tag", "vip gold");
  registerRemove(tag, context, "every contact loses it", "vip");
}

function registerAddField(field: Command, context: Context): void {
  const adding = field
    .command("add")
    .description("add a field")
    .argument("[label]", "the field's label")
    .option("--type <type>", "the type of its values, in the service's terms", "text")
    .option("--required", "every contact must have a value");
  const missing = { what: "Label of the new field", usage: ecm`structure field add LABEL` };
  verb(context, addDryRunFlag(adding), {
    examples: ["ecm structure field add City", 'ecm structure field add "Customer number" --required'],
    output,
    writes: true,
    exitCodes: { 6: "a field already has this label, or others keep changing the structure" },
    view: structureView,
    async run(typedLabel, { type, required = false, dryRun }) {
      const label = await requireText(context, typedLabel, missing);
      const structure = await readWholeStructure(context);
      const added = { label, dataType: type, required };
      return editStructure(context, structure, (now) => addField(now, added), { dryRun });
    },
  });
}

function registerAddTag(tag: Command, context: Context): void {
  const adding = tag
    .command("add")
    .description("add tags; existing ones do not change")
    .argument("[label...]", "the tags' labels");
  const missing = { what: "Label of the new tag", usage: ecm`structure tag add LABEL` };
  verb(context, addDryRunFlag(adding), {
    examples: ["ecm structure tag add vip", 'ecm structure tag add "north, west" south --dry-run'],
    output: `${output} \`unchanged\` on stderr when all existed.`,
    writes: true,
    view: structureView,
    async run(typedLabels, { dryRun }) {
      const typed = typedLabels.length > 0 ? typedLabels : [undefined];
      const labels = await Promise.all(typed.map((label) => requireText(context, label, missing)));
      const structure = await readWholeStructure(context);
      return editStructure(context, structure, (now) => addTags(now, labels), { dryRun });
    },
  });
}

function registerRename(group: Command, context: Context, effect: string, example: string): void {
  const part = group.name() as Part;
  const renaming = group
    .command("rename")
    .description(`rename a ${part}; ${effect}`)
    .argument(`[${part}]`, "its label or id")
    .argument("[label]", "the new label");
  const usage = ecm`structure ${part} rename ${part.toUpperCase()} LABEL`;
  verb(context, addDryRunFlag(renaming), {
    examples: [`ecm structure ${part} rename ${example}`],
    output,
    writes: true,
    exitCodes: { 6: `another ${part} has this label, or others keep changing the structure` },
    view: structureView,
    async run(typedName, typedLabel, { dryRun }) {
      const missing = { what: `${capitalize(part)} to rename`, usage };
      const nameOrId = await requirePart(context, part, typedName, missing);
      const label = await requireText(context, typedLabel, { what: "New label", usage });
      const structure = await readWholeStructure(context);
      // After somebody else's change it is still the one that was meant at first, whatever it is called then.
      const { _id } = resolvePart(structure, part, nameOrId);
      return editStructure(context, structure, (now) => renamePart(now, part, _id, label), { dryRun });
    },
  });
}

function registerRemove(group: Command, context: Context, effect: string, example: string): void {
  const part = group.name() as Part;
  const removing = group
    .command("remove")
    .description(`remove a ${part}; ${effect} (asks first)`)
    .argument(`[${part}]`, "its label or id");
  const command = `ecm structure ${part} remove ${example}`;
  const usage = ecm`structure ${part} remove ${part.toUpperCase()}`;
  verb(context, addDryRunFlag(removing), {
    examples: [command, `${command} --yes`],
    output,
    writes: true,
    asks: true,
    view: structureView,
    async run(typedName, { dryRun }) {
      const missing = { what: `${capitalize(part)} to remove`, usage };
      const nameOrId = await requirePart(context, part, typedName, missing);
      if (!dryRun) context.requireConfirmable();
      const structure = await readWholeStructure(context);
      const { _id, label } = resolvePart(structure, part, nameOrId);
      if (!dryRun) await context.confirm(() => formatRemovalQuestion(context, structure, [{ part, label }]));
      return editStructure(context, structure, (now) => removePart(now, part, _id), {
        dryRun,
        isAsked: true,
      });
    },
  });
}

function resolvePart(structure: ContactStructure, part: Part, nameOrId: string) {
  return part === "field" ? resolveField(structure, nameOrId) : resolveTag(structure, nameOrId);
}

function requirePart(
  context: Context,
  part: Part,
  typedName: string | undefined,
  missing: MissingArgument,
): Promise<string> {
  return requireChoice(context, typedName, missing, async () => {
    const { fields, tags = [] } = await readWholeStructure(context);
    return toChoices(part === "field" ? fields : tags);
  });
}
