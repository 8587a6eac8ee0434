/** `ecm structure tag add|rename|remove` */
import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { resolveTag } from "../../service/names.ts";
import { addTags, removeTag, renameTag } from "../../service/structure-edit.ts";
import { addDryRunFlag } from "../flags.ts";
import { describeCommand } from "../help-text.ts";
import { runEdit, wholeStructure } from "./show.ts";

interface TagOptions {
  dryRun?: boolean;
}

const output = "The structure as it is afterwards.";

export function registerStructureTag(parent: Command, context: Context): void {
  const tag = parent.command("tag").description("add, rename and remove tags");

  const add = tag
    .command("add")
    .description("add tags; those that exist already are left as they are")
    .argument("<label...>", "the tags' labels")
    .action((labels: string[], options: TagOptions) =>
      runEdit(context, (structure) => addTags(structure, labels), options),
    );
  describeCommand(addDryRunFlag(add), {
    examples: ["ecm structure tag add vip", 'ecm structure tag add "north, west" south --dry-run'],
    output: `${output} \`unchanged\` on stderr when all were there.`,
    writes: true,
  });

  const rename = tag
    .command("rename")
    .description("give a tag another label; contacts keep the tag")
    .argument("<tag>", "its label or id")
    .argument("<label>", "the new label")
    .action((wanted: string, label: string, options: TagOptions) =>
      runEdit(context, (structure) => renameTag(structure, wanted, label), options),
    );
  describeCommand(addDryRunFlag(rename), {
    examples: ["ecm structure tag rename vip gold"],
    output,
    writes: true,
    exitCodes: { 6: "another tag has this label, or the structure keeps being changed by others" },
  });

  const remove = tag
    .command("remove")
    .description("remove a tag: every contact loses it (asks first)")
    .argument("<tag>", "its label or id")
    .action((wanted: string, options: TagOptions) => runTagRemove(context, wanted, options));
  describeCommand(addDryRunFlag(remove), {
    examples: ["ecm structure tag remove vip", "ecm structure tag remove vip --yes"],
    output,
    writes: true,
  });
}

async function runTagRemove(context: Context, wanted: string, options: TagOptions): Promise<void> {
  const structure = await wholeStructure((await context.connect()).account);
  const { _id, label } = resolveTag(structure, wanted);
  if (!options.dryRun) {
    await context.confirm(`Remove the tag ${JSON.stringify(label)}? Every contact loses it.`);
  }
  await runEdit(context, (current) => removeTag(current, _id), { ...options, structure });
}
