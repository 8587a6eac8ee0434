/** `ecm structure tag add|rename|remove` */
import type { Command } from "commander";
import { resolveTag } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { ecm, type Hint } from "../../hint.ts";
import { addTags, removeTag, renameTag, type StructureEdit } from "../../structure/edit.ts";
import { addDryRunFlag } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { requireChoice, requireTextOrAsk, toChoices } from "../shared/questions.ts";
import { formatRemovalQuestion } from "./shared/losses.ts";
import { readWholeStructure, runEdit } from "./show.ts";

interface TagOptions {
  dryRun?: boolean;
}

const output = "The updated structure, or at a terminal what changed (old → new).";

export function registerStructureTag(parent: Command, context: Context): void {
  const tag = parent.command("tag").description("add, rename and remove tags");

  const add = tag
    .command("add")
    .description("add tags; existing ones do not change")
    .argument("[label...]", "the tags' labels")
    .action((labels: string[], options: TagOptions) => runTagAdd(context, labels, options));
  describeCommand(addDryRunFlag(add), {
    examples: ["ecm structure tag add vip", 'ecm structure tag add "north, west" south --dry-run'],
    output: `${output} \`unchanged\` on stderr when all existed.`,
    writes: true,
  });

  const rename = tag
    .command("rename")
    .description("rename a tag; contacts keep the tag")
    .argument("[tag]", "its label or id")
    .argument("[label]", "the new label")
    .action((typedTag: string | undefined, label: string | undefined, options: TagOptions) =>
      runTagRename(context, typedTag, label, options),
    );
  describeCommand(addDryRunFlag(rename), {
    examples: ["ecm structure tag rename vip gold"],
    output,
    writes: true,
    exitCodes: { 6: "another tag has this label, or others keep changing the structure" },
  });

  const remove = tag
    .command("remove")
    .description("remove a tag; every contact loses it (asks first)")
    .argument("[tag]", "its label or id")
    .action((typedTag: string | undefined, options: TagOptions) => runTagRemove(context, typedTag, options));
  describeCommand(addDryRunFlag(remove), {
    examples: ["ecm structure tag remove vip", "ecm structure tag remove vip --yes"],
    output,
    writes: true,
    asks: true,
  });
}

async function runTagAdd(context: Context, typedLabels: string[], options: TagOptions): Promise<void> {
  const missing = {
    question: "Label of the new tag",
    what: "the tag's label",
    usage: ecm`structure tag add LABEL`,
  };
  const typed = typedLabels.length > 0 ? typedLabels : [undefined];
  const labels = await Promise.all(typed.map((label) => requireTextOrAsk(context, label, missing)));
  await runEdit(context, (structure) => addTags(structure, labels), options);
}

async function runTagRename(
  context: Context,
  typedTag: string | undefined,
  typedLabel: string | undefined,
  options: TagOptions,
): Promise<void> {
  const usage = ecm`structure tag rename TAG LABEL`;
  const nameOrId = await requireTag(context, typedTag, "Tag to rename", usage);
  const label = await requireTextOrAsk(context, typedLabel, {
    question: "New label",
    what: "the new label",
    usage,
  });
  // Planned again after somebody else's change, it is the tag that was
  // meant at first, whatever it is called by then.
  let id: string | undefined;
  const edit: StructureEdit = (structure) => {
    id ??= resolveTag(structure, nameOrId)._id;
    return renameTag(structure, id, label);
  };
  await runEdit(context, edit, options);
}

function requireTag(context: Context, typedTag: string | undefined, question: string, usage: Hint) {
  return requireChoice(context, typedTag, { question, what: "the tag", usage }, async () => {
    const { tags = [] } = await readWholeStructure((await context.connect()).account);
    return toChoices(tags, (tag) => tag.label);
  });
}

async function runTagRemove(
  context: Context,
  typedTag: string | undefined,
  options: TagOptions,
): Promise<void> {
  const nameOrId = await requireTag(context, typedTag, "Tag to remove", ecm`structure tag remove TAG`);
  if (!options.dryRun) context.requireConfirmable();
  const connection = await context.connect();
  const structure = await readWholeStructure(connection.account);
  const { _id, label } = resolveTag(structure, nameOrId);
  if (!options.dryRun) {
    await context.confirm(() => formatRemovalQuestion(connection, structure, [{ part: "tag", label }]));
  }
  await runEdit(context, (current) => removeTag(current, _id), { ...options, structure });
}
