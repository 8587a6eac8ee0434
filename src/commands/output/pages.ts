/** A list of records that come in pages: one page, or with `--all` every page. */
import type { Command, OptionValues } from "@commander-js/extra-typings";
import type { Context, OutputFileFlags } from "../../context.ts";
import { type ReadPage, readSinglePage, recordsPerPage } from "../../service/pages.ts";
import { readAllRecords } from "../../service/resources.ts";
import type { OutputOptions } from "../../terminal/format.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { wholeNumberOption } from "../flags/flags.ts";
import { announcePage } from "./announce-part.ts";

export interface PageFlags extends OutputFileFlags {
  page?: number;
  size?: number;
  all?: boolean;
}

export function addPageFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
  things: string,
) {
  return command
    .addOption(wholeNumberOption("--page <n>", "the page to read, from 1 (1)").conflicts("all"))
    .addOption(wholeNumberOption("--size <n>", `${things} per page (${recordsPerPage})`).conflicts("all"))
    .option("--all", "read every page");
}

interface PagedList {
  /** Such as `campaigns`. */
  things: string;
  view: View<unknown>;
  read: ReadPage<unknown>;
  /** Of what was read. Default: all of it. */
  isShown?(record: unknown): boolean;
}

export async function showPages(
  { context, output }: { context: Context; output: OutputOptions },
  flags: PageFlags,
  { things, view, read, isShown = () => true }: PagedList,
): Promise<void> {
  const { terminal } = context;
  const { page = 1, size = recordsPerPage } = flags;
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
