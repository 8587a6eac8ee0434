import type { Command } from "@commander-js/extra-typings";
import { deleteList, deleteListRequest } from "../../api/lists.ts";
import type { Context } from "../../context.ts";
import { explainDryRun } from "../../terminal/dry-run.ts";
import { addDryRunFlag } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { describeList, describeListWithCount, requireLists, resolveLists } from "./shared/choose.ts";

export function registerListsDelete(parent: Command, context: Context): void {
  const command = parent
    .command("delete")
    .description("delete lists; their contacts stay")
    .argument("[list...]", "their names or ids")
    .action((lists: string[], options: { dryRun?: boolean }) => runListsDelete(context, lists, options));
  describeCommand(addDryRunFlag(command), {
    examples: ["ecm lists delete Leads", "ecm lists delete Leads Prospects --yes"],
    output: "Nothing.",
    writes: true,
    asks: true,
    exitCodes: {
      1: "not confirmed, or the service failed",
      2: "a bad flag or argument, or not confirmed with --yes; nothing was sent",
      5: "no such list; none was deleted",
    },
  });
}

async function runListsDelete(
  context: Context,
  typedLists: string[],
  options: { dryRun?: boolean },
): Promise<void> {
  const { terminal } = context;
  const namesOrIds = await requireLists(context, typedLists, "delete");
  if (!options.dryRun) context.requireConfirmable();
  const connection = await context.connect();
  const { send, account } = connection;
  const structure = await account.structure();
  const lists = await resolveLists(account, structure, namesOrIds);
  const describeLists = async () => {
    const descriptions = await Promise.all(
      lists.map((list) => describeListWithCount(connection, structure._id, list)),
    );
    const which = lists.length === 1 ? "the list" : `${lists.length} lists:`;
    return `${which} ${descriptions.map(describeList).join(", ")}`;
  };
  if (options.dryRun) {
    const requests = lists.map(({ _id }) => deleteListRequest(structure._id, _id));
    return explainDryRun(
      terminal,
      context.output(),
      `delete ${await describeLists()}; the contacts stay`,
      ...requests,
    );
  }
  await context.confirm(
    async () =>
      `Delete ${await describeLists()}? The contacts stay; who was in ${lists.length === 1 ? "it" : "them"} is lost.`,
  );
  for (const list of lists) {
    await deleteList(send, structure._id, list._id);
    terminal.note(`Deleted the list ${JSON.stringify(list.name)}`);
  }
  account.forget();
}
