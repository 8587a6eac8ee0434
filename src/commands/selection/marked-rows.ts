/** For a command that takes everyone in a file: whom its marks choose, and how its columns are read. */
import type { Command, OptionValues } from "@commander-js/extra-typings";
import type { ChosenRows, KeysFileOptions } from "../../bulk/index.ts";
import { usageError } from "../../errors.ts";
import { addTableFlags, type TableFlags, toTableOptions } from "../flags/flags.ts";

export interface MarkedRowsFlags extends TableFlags {
  markedRows?: boolean;
  allRows?: boolean;
}

export function addMarkedRowsFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return addTableFlags(command)
    .option("--marked-rows", "with --keys: only the rows that the file marks as not subscribed")
    .option("--all-rows", "with --keys: every row, also where the file marks only some as not subscribed");
}

export interface MarkedRowsReading {
  read?: KeysFileOptions;
  rows?: ChosenRows;
}

/**
 * @param keys the file of `--keys`
 * @throws UsageError for flags that contradict one another, or that are about a file where there is none
 */
export function readMarkedRowsFlags(
  keys: string | undefined,
  { markedRows, allRows, map, consentColumn, sheet }: MarkedRowsFlags,
): MarkedRowsReading {
  if (markedRows && allRows) {
    throw usageError("--marked-rows and --all-rows cannot be used together", "Leave out one of the two");
  }
  const hasFileFlags = [markedRows, allRows, map, consentColumn, sheet].some((each) => each !== undefined);
  if (!hasFileFlags) return {};
  if (keys === undefined) {
    throw usageError(
      "--marked-rows, --all-rows, --map, --sheet and --consent-column apply to the file given with --keys",
      "Name the file with --keys, or leave them out",
    );
  }
  return {
    read: toTableOptions({ map, consentColumn, sheet }),
    rows: allRows ? "all" : markedRows ? "marked" : undefined,
  };
}
