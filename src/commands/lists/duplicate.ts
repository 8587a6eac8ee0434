import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { addBulkFlags } from "../flags/bulk.ts";
import { requireText } from "../flags/questions.ts";
import { verb } from "../verb.ts";
import { addToNewList, requireList, toMissingName } from "./shared.ts";

export function registerListsDuplicate(parent: Command, context: Context): void {
  const command = parent
    .command("duplicate")
    .description("create a list with the same contacts as another")
    .argument("[list]", "the list's name or id")
    .argument("[name]", "the new list's name");
  verb(context, addBulkFlags(command), {
    examples: ["ecm lists duplicate Newsletter Newsletter-2026", "ecm lists duplicate Leads Copy --dry-run"],
    output: "Nothing; with --json one summary object. `ecm runs undo` empties the new list again.",
    writes: true,
    exitCodes: {
      3: "finished, and some contacts were rejected",
      6: "a list with the new name exists (ignoring case); nothing was changed",
    },
    async run(typedList, typedName, flags) {
      const source = await requireList(context, typedList, "duplicate");
      const into = await requireText(context, typedName, toMissingName(ecm`lists duplicate LIST NAME`));
      return addToNewList(context, { sources: [source], into, by: "duplicate" }, flags);
    },
  });
}
