import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { advise, ecm } from "../../hint.ts";
import { createListPages, readAllLists } from "../../service/list-pages.ts";
import { readSinglePage, recordsPerPage } from "../../service/pages.ts";
import { checkColumns, presentList } from "../../terminal/present.ts";
import { announcePage } from "../shared/announce-part.ts";
import { formatForAccount } from "../shared/command-line.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { addPageFlags, type PageFlags } from "../shared/pages.ts";
import { listView } from "./shared/view.ts";

export function registerListsList(parent: Command, context: Context): void {
  const command = parent
    .command("list")
    .description("list the structure's lists, with the number of contacts in each")
    .action((options: PageFlags) => runListsList(context, options));
  describeCommand(addOutputFileFlags(addPageFlags(command, "lists")), {
    examples: ["ecm lists list", "ecm lists list --all --json", "ecm lists list --size 20 --page 2"],
    output: "One row per list; in JSON formats the service's own objects, `[]` when there is none.",
  });
}

async function runListsList(context: Context, options: PageFlags): Promise<void> {
  const { terminal } = context;
  const output = context.output(options);
  checkColumns(output, listView);
  const { send, account, behaviors } = await context.connect();
  const { page = 1, size = recordsPerPage } = options;
  const { lists, total, hasMore } = await account.withRemembered("read", async () => {
    const { _id } = await account.structure();
    const behavior = behaviors(_id);
    // The lists themselves are never remembered ones: these have no numbers.
    if (options.all) return { lists: (await readAllLists(send, _id, behavior)).lists, hasMore: false };
    const read = createListPages(send, _id, behavior);
    const { items, ...rest } = await readSinglePage(read, page, { size, behavior, of: "lists" });
    return { lists: items, ...rest };
  });
  const empty = formatForAccount(
    advise`No lists yet. Create one with: ${ecm`lists create NAME`}`,
    context.settings,
  );
  await presentList(terminal, output, lists, { ...listView, empty });
  context.observer?.page?.({ total, hasMore });
  if (hasMore && (total !== undefined || lists.length >= size)) {
    announcePage(context, "lists", { shown: lists.length, total }, options.page);
  }
}
