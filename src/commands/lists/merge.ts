import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { addBulkFlags } from "../flags/bulk.ts";
import { requireText } from "../flags/questions.ts";
import { verb } from "../verb.ts";
import { addToNewList, requireLists, toMissingName } from "./shared.ts";

export function registerListsMerge(parent: Command, context: Context): void {
  const command = parent
    .command("merge")
    .description("create a list with the contacts of several lists; these stay")
    .argument("[list...]", "the lists' names or ids")
    .option("--into <name>", "the new list's name")
    .option("--delete-sources", "delete the source lists after all contacts are in the new one");
  verb(context, addBulkFlags(command), {
    examples: [
      "ecm lists merge Leads Prospects --into Contacts",
      "ecm lists merge Leads Prospects --into Contacts --delete-sources --yes",
    ],
    output:
      "Nothing; with --json one summary object. `ecm runs undo` empties the new list again, unless the sources were deleted.",
    writes: true,
    asks: "With --delete-sources",
    exitCodes: {
      3: "some contacts were rejected, and no list was deleted; or a list was not deleted, since some of its contacts are not in the new one",
      6: "a list with the new name exists (ignoring case); nothing was changed",
    },
    async run(typedLists, flags) {
      const sources = await requireLists(context, typedLists, "merge");
      const { into: typedName, deleteSources: deletesSources } = flags;
      const into = await requireText(context, typedName, toMissingName(ecm`lists merge LIST… --into NAME`));
      return addToNewList(context, { sources, into, deletesSources, by: "merge" }, flags);
    },
  });
}
