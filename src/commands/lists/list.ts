import type { Command } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import { fetchAllLists, listPages } from "../../service/list-pages.ts";
import { openPages } from "../../service/pages.ts";
import { checkColumns, presentList } from "../../terminal/present.ts";
import { addOutputFileFlags, wholeNumber } from "../flags.ts";
import { describeCommand } from "../help-text.ts";
import { listView } from "./view.ts";

interface ListsListOptions extends OutputFileFlags {
  page?: number;
  size?: number;
  all?: boolean;
}

const defaultSize = 100;

export function registerListsList(parent: Command, context: Context): void {
  const command = parent
    .command("list")
    .description("list the structure's lists, with the number of contacts in each")
    .addOption(wholeNumber("--page <n>", "the page to read, from 1 (1)").conflicts("all"))
    .addOption(wholeNumber("--size <n>", `lists per page (${defaultSize})`).conflicts("all"))
    .option("--all", "read every page")
    .action((options: ListsListOptions) => runListsList(context, options));
  describeCommand(addOutputFileFlags(command), {
    examples: ["ecm lists list", "ecm lists list --all --json", "ecm lists list --size 20 --page 2"],
    output: "One row per list; in JSON formats the service's own objects, `[]` when there is none.",
  });
}

async function runListsList(context: Context, options: ListsListOptions): Promise<void> {
  const { terminal } = context;
  const output = context.output(options);
  checkColumns(output, listView);
  const { send, account, behaviors } = await context.connect();
  const { page = 1 } = options;
  const { lists, total, size } = await account.withRemembered("read", async () => {
    const { _id } = await account.structure();
    const behavior = behaviors(_id);
    const { size = Math.min(defaultSize, behavior.get("maxListSize") ?? defaultSize) } = options;
    // The lists themselves are never remembered ones: these have no numbers.
    if (options.all) return { lists: await fetchAllLists(send, _id, behavior), size };
    const read = listPages(send, _id, behavior);
    const isUsual = options.size === undefined && page === 1;
    const { items, total } = isUsual
      ? (await openPages(read, { size, behavior, of: "lists" })).first
      : await read(page, size);
    return { lists: items, total, size };
  });
  await presentList(terminal, output, lists, listView);
  const hasMore = total !== undefined && lists.length > 0 && (page - 1) * size + lists.length < total;
  context.observer?.page?.({ total, hasMore });
  if (hasMore) {
    terminal.note(`${lists.length} of ${total} lists · all: --all · next page: --page ${page + 1}`);
  }
}
