import type { Command } from "@commander-js/extra-typings";
import { getListRequest, readList } from "../../api/lists.ts";
import type { Context } from "../../context.ts";
import { hasStatus, isNotOffered } from "../../errors.ts";
import type { View } from "../../terminal/present.ts";
import type { ContactList } from "../../wire.ts";
import { verb } from "../verb.ts";
import { listView, requireList } from "./shared.ts";

const wholeView: View<ContactList> = {
  ...listView,
  columns: listView.columns.map((column) => ({ ...column, optional: column.name === "__v" })),
};

export function registerListsShow(parent: Command, context: Context): void {
  const command = parent
    .command("show")
    .description("show one list, with the number of its contacts")
    .argument("[list]", "its name or id");
  verb(context, command, {
    examples: ["ecm lists show Newsletter", "ecm lists show Newsletter --json"],
    output: "The list; in JSON formats the service's own object. Its members: ecm contact search --list LIST",
    view: wholeView,
    async run(typedList) {
      const nameOrId = await requireList(context, typedList, "show");
      const { send, account } = await context.connect();
      const structure = await account.structure();
      const cachedList = await account.list(structure, nameOrId);
      const one = await send(getListRequest(structure._id, cachedList._id)).then(readList, (error) => {
        // Only the listing is specified; without this endpoint there is nothing more to read.
        if (hasStatus(error, 403) || isNotOffered(error)) return cachedList;
        throw error;
      });
      return { one, known: { ...cachedList, ...one } };
    },
  });
}
