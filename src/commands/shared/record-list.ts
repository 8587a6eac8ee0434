/** A list of records that come in pages: one page, or with `--all` every page. */
import type { Command } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import { type ReadPage, readSinglePage } from "../../service/pages.ts";
import { readAllRecords, recordsPerPage } from "../../service/records.ts";
import { checkColumns, presentList, type View } from "../../terminal/present.ts";
import type { Send } from "../../wire.ts";
import { announcePage } from "./announce-part.ts";
import { addOutputFileFlags, wholeNumberOption } from "./flags.ts";

export interface PageFlags extends OutputFileFlags {
  page?: number;
  size?: number;
  all?: boolean;
}

export function addPageFlags(command: Command, things: string): Command {
  return addOutputFileFlags(
    command
      .addOption(wholeNumberOption("--page <n>", "the page to read, from 1 (1)").conflicts("all"))
      .addOption(wholeNumberOption("--size <n>", `${things} per page (${recordsPerPage})`).conflicts("all"))
      .option("--all", "read every page"),
  );
}

interface PagedList {
  /** Such as `campaigns`. */
  things: string;
  view: View<unknown>;
  pages(send: Send): ReadPage<unknown>;
  /** Of what was read. Default: all of it. */
  isShown?(record: unknown): boolean;
}

export async function showPages(context: Context, flags: PageFlags, list: PagedList): Promise<void> {
  const { terminal } = context;
  const { things, view, isShown = () => true } = list;
  const output = context.output(flags);
  checkColumns(output, view);
  const { send } = await context.connect();
  const { page = 1, size = recordsPerPage } = flags;
  const read = list.pages(send);
  const all = flags.all ? await readAllRecords(read) : undefined;
  const { items, total, hasMore } = all
    ? { items: all.records, total: undefined, hasMore: false }
    : await readSinglePage(read, page, { size });
  const records = items.filter(isShown);
  await presentList(terminal, output, records, view);
  if (all && all.records.length < all.total)
    terminal.warn(`${all.records.length} of ${all.total} ${things} were read: some may be missing`);
  context.observer?.page?.({ total: total ?? (flags.all ? records.length : undefined), hasMore });
  if (hasMore && (total !== undefined || items.length >= size)) {
    announcePage(context, things, { shown: records.length, total }, flags.page);
  }
}
