import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { addBulkFlags, type BulkFlags } from "../bulk/flags.ts";
import { requireTextOrAsk } from "../flags/questions.ts";
import { describeCommand } from "../help/help-text.ts";
import { requireList } from "./shared/choose.ts";
import { addToNewList } from "./shared/into-new-list.ts";

export function registerListsDuplicate(parent: Command, context: Context): void {
  const command = parent
    .command("duplicate")
    .description("create a list with the same contacts as another")
    .argument("[list]", "the list's name or id")
    .argument("[name]", "the new list's name")
    .action((list: string | undefined, name: string | undefined, flags: BulkFlags) =>
      runListsDuplicate(context, list, name, flags),
    );
  describeCommand(addBulkFlags(command), {
    examples: ["ecm lists duplicate Newsletter Newsletter-2026", "ecm lists duplicate Leads Copy --dry-run"],
    output: "Nothing; with --json one summary object. `ecm runs undo` empties the new list again.",
    writes: true,
    exitCodes: {
      3: "finished, and some contacts were rejected",
      6: "a list with the new name exists (ignoring case); nothing was changed",
    },
  });
}

async function runListsDuplicate(
  context: Context,
  typedList: string | undefined,
  typedName: string | undefined,
  flags: BulkFlags,
): Promise<void> {
  const source = await requireList(context, typedList, "duplicate");
  const usage = ecm`lists duplicate LIST NAME`;
  const into = await requireTextOrAsk(context, typedName, {
    question: "Name of the new list",
    what: "the new list's name",
    usage,
  });
  await addToNewList(context, { sources: [source], into, by: "duplicate" }, flags);
}
