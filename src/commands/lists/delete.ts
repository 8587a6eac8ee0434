import type { Command } from "@commander-js/extra-typings";
import { deleteListRequest } from "../../api/lists.ts";
import type { Context } from "../../context.ts";
import { deleteList } from "../../service/lists.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { verb } from "../verb.ts";
import { describeList, requireLists, resolveLists } from "./shared.ts";

export function registerListsDelete(parent: Command, context: Context): void {
  const command = parent
    .command("delete")
    .description("delete lists; their contacts stay")
    .argument("[list...]", "their names or ids");
  verb(context, addDryRunFlag(command), {
    examples: ["ecm lists delete Leads", "ecm lists delete Leads Prospects --yes"],
    output: "Nothing.",
    writes: true,
    asks: true,
    async run(typedLists, { dryRun }) {
      const namesOrIds = await requireLists(context, typedLists, "delete");
      if (!dryRun) context.requireConfirmable();
      const connection = await context.connect();
      const { send, account } = connection;
      const structure = await account.structure();
      const lists = await resolveLists(account, structure, namesOrIds);
      const describeLists = async () => {
        const described = lists.map((list) => describeList(connection, structure._id, list));
        const which = lists.length === 1 ? "the list" : `${lists.length} lists:`;
        return `${which} ${(await Promise.all(described)).join(", ")}`;
      };
      if (dryRun) {
        const request = lists.map(({ _id }) => deleteListRequest(structure._id, _id));
        return { request, would: `delete ${await describeLists()}; the contacts stay` };
      }
      const them = lists.length === 1 ? "it" : "them";
      await context.confirm(
        async () => `Delete ${await describeLists()}? The contacts stay; who was in ${them} is lost.`,
      );
      for (const list of lists) {
        await deleteList(send, structure._id, list._id);
        context.terminal.note(`Deleted the list ${JSON.stringify(list.name)}`);
      }
      account.forget();
      return undefined;
    },
  });
}
