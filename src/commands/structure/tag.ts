/** `ecm structure tag add|rename|remove` */
import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { addTags } from "../../structure/edit.ts";
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

const missingLabel = { what: "Label of the new tag", usage: ecm`structure tag add LABEL` };

export function registerStructureTag(parent: Command, context: Context): void {
  const tag = parent.command("tag").description("add, rename and remove tags");
  const add = tag
    .command("add")
    .description("add tags; existing ones do not change")
    .argument("[label...]", "the tags' labels");
  verb(context, addDryRunFlag(add), {
    examples: ["ecm structure tag add vip", 'ecm structure tag add "north, west" south --dry-run'],
    output: `${editOutput} \`unchanged\` on stderr when all existed.`,
    writes: true,
    view: structureView,
    async run(typedLabels, { dryRun }) {
      const typed = typedLabels.length > 0 ? typedLabels : [undefined];
      const labels = await Promise.all(typed.map((label) => requireText(context, label, missingLabel)));
      const structure = await readWholeStructure((await context.connect()).account);
      return editStructure(context, structure, (now) => addTags(now, labels), { dryRun });
    },
  });
  registerRenameAndRemove(tag, context, {
    part: "tag",
    onRename: "contacts keep the tag",
    onRemove: "every contact loses it",
    exampleRename: "vip gold",
    exampleRemove: "vip",
  });
}
