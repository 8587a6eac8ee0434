/** `ecm structure tag add|rename|remove` */
import type { Command } from "@commander-js/extra-typings";
import { resolveTag } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { addTags, removeTag, renameTag } from "../../structure/edit.ts";
import { addDryRunFlag } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { requireTextOrAsk } from "../shared/questions.ts";
import { editOutput, registerRenameAndRemove } from "./shared/rename-and-remove.ts";
import { readWholeStructure, runEdit } from "./show.ts";

interface TagAddOptions {
  dryRun?: boolean;
}

export function registerStructureTag(parent: Command, context: Context): void {
  const tag = parent.command("tag").description("add, rename and remove tags");
  const add = tag
    .command("add")
    .description("add tags; existing ones do not change")
    .argument("[label...]", "the tags' labels")
    .action((labels: string[], options: TagAddOptions) => runTagAdd(context, labels, options));
  describeCommand(addDryRunFlag(add), {
    examples: ["ecm structure tag add vip", 'ecm structure tag add "north, west" south --dry-run'],
    output: `${editOutput} \`unchanged\` on stderr when all existed.`,
    writes: true,
  });
  registerRenameAndRemove(tag, context, {
    part: "tag",
    onRename: "contacts keep the tag",
    onRemove: "every contact loses it",
    exampleRename: "vip gold",
    exampleRemove: "vip",
    list: async (account) => (await readWholeStructure(account)).tags ?? [],
    resolve: resolveTag,
    rename: renameTag,
    remove: removeTag,
  });
}

async function runTagAdd(context: Context, typedLabels: string[], options: TagAddOptions): Promise<void> {
  const missing = {
    question: "Label of the new tag",
    what: "the tag's label",
    usage: ecm`structure tag add LABEL`,
  };
  const typed = typedLabels.length > 0 ? typedLabels : [undefined];
  const labels = await Promise.all(typed.map((label) => requireTextOrAsk(context, label, missing)));
  await runEdit(context, (structure) => addTags(structure, labels), options);
}
