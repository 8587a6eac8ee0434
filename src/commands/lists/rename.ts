import type { Command } from "@commander-js/extra-typings";
import { renameListRequest, requireFreeListName } from "../../api/lists.ts";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import type { ContactList } from "../../wire.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { requireText } from "../flags/questions.ts";
import { formatChanges } from "../output/change-lines.ts";
import { verb } from "../verb.ts";
import { listView, requireList } from "./shared.ts";

const missingName = { what: "New name", usage: ecm`lists rename LIST NAME` };

export function registerListsRename(parent: Command, context: Context): void {
  const command = parent
    .command("rename")
    .description("rename a list")
    .argument("[list]", "its name or id")
    .argument("[name]", "its new name");
  verb(context, addDryRunFlag(command), {
    examples: ['ecm lists rename Leads "Old leads"', "ecm lists rename Leads leads-2026 --dry-run"],
    output:
      "The renamed list, or at a terminal its old and new name; in JSON formats the service's own object.",
    writes: true,
    exitCodes: { 6: "another list has this name (ignoring case); nothing was changed" },
    view: listView,
    async run(typedList, typedName, { dryRun }) {
      const nameOrId = await requireList(context, typedList, "rename");
      const name = await requireText(context, typedName, missingName);
      const { send, account } = await context.connect();
      const structure = await account.structure();
      // Nobody gives a list this name between the look and the renaming.
      return account.names.creating(structure._id, async () => {
        const list = await account.list(structure, nameOrId);
        requireFreeListName(name, await account.lists(structure), list._id);
        const request = renameListRequest(structure._id, list._id, name);
        const [before, after] = [list.name, name].map((each) => JSON.stringify(each));
        if (list.name === name) {
          context.terminal.note("unchanged");
          return { one: list };
        }
        if (dryRun) return { request, would: `rename the list ${before} to ${after}` };
        const { body } = await send<Partial<ContactList> | undefined>(request);
        account.forget();
        const screen = () => formatChanges(context.terminal, [`~ list ${before} → ${after}`]);
        // What the answer leaves out is known.
        const isList = typeof body?._id === "string";
        const known: ContactList = { ...list, name, ...(isList ? body : {}) };
        return { one: isList ? (body as ContactList) : known, known, screen };
      });
    },
  });
}
