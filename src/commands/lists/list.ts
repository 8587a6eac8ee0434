import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { advise, ecm } from "../../hint.ts";
import { createListPages } from "../../service/lists.ts";
import { readSinglePage, recordsPerPage } from "../../service/pages.ts";
import { addOutputFileFlags, addPageFlags, toNextPage } from "../flags/flags.ts";
import { verb } from "../verb.ts";
import { listView } from "./shared.ts";

const empty = advise`No lists yet. Create one with: ${ecm`lists create NAME`}`;

export function registerListsList(parent: Command, context: Context): void {
  const command = parent
    .command("list")
    .description("list the structure's lists, with the number of contacts in each");
  verb(context, addOutputFileFlags(addPageFlags(command, "lists")), {
    examples: ["ecm lists list", "ecm lists list --all --json", "ecm lists list --size 20 --page 2"],
    output: "One row per list; in JSON formats the service's own objects, `[]` when there is none.",
    view: listView,
    async run({ page: typedPage, size = recordsPerPage, all }) {
      const { send, account, behaviors } = await context.connect();
      const { lists, ...rest } = await account.withRemembered("read", async () => {
        const structure = await account.structure();
        // The lists themselves are never remembered ones: these have no numbers.
        if (all) return { lists: await account.freshLists(structure), hasMore: false };
        const read = createListPages(send, structure._id);
        const options = { size, behavior: behaviors(structure._id), of: "lists" } as const;
        const requestedAt = account.names.now();
        const { items, total, hasMore } = await readSinglePage(read, typedPage ?? 1, options);
        if (items.length === total) account.rememberLists(structure, items, requestedAt);
        return { lists: items, total, hasMore };
      });
      return { many: lists, empty, page: { things: "lists", size, ...toNextPage(typedPage), ...rest } };
    },
  });
}
