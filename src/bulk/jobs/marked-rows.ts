/** Of a file that names people, whom its marks choose: those whom it marks as not subscribed, or everyone. */

import { formatCount } from "../../counts.ts";
import { usageError } from "../../errors.ts";
import type { Survey } from "../../tables/index.ts";

export type ChosenRows = "marked" | "all";

/** Has a person say who is meant by a file that marks so many of its rows. */
export type AskRows = (rows: { marked: number; all: number }) => Promise<ChosenRows>;

/**
 * A table that marks every row, or has no column of consent, is taken whole. So is one that is to be deleted
 * and marks nobody, and our own export, which tells the status of each contact in any case.
 * @param verb what is done to them
 * @param rows as a flag says @param askRows absent where nobody is asked
 * @throws UsageError where it must be said who is meant, and where no column says who is marked
 */
export async function chooseRows(
  verb: "unsubscribe" | "delete" | "suppress",
  rows: ChosenRows | undefined,
  { consent, read }: Survey,
  { system, askRows }: { system?: string; askRows?: AskRows },
): Promise<ChosenRows | undefined> {
  const { clearlyMarked, columns } = consent;
  if (rows === "all") return rows;
  if (rows === "marked") {
    if (columns.length > 0) return rows;
    throw usageError(
      "--marked-rows: the file has no column that says who is not subscribed",
      "Name it with --consent-column, or leave out --marked-rows",
    );
  }
  if (columns.length === 0 || clearlyMarked === read) return undefined;
  if (clearlyMarked === 0 && (verb === "delete" || system === "ecm")) return undefined;
  if (askRows) return askRows({ marked: clearlyMarked, all: read });
  const [marked, all] = [clearlyMarked, read].map(formatCount);
  throw usageError(
    `The file marks ${marked} of ${all} rows as not subscribed, so that it is not clear whom to ${verb}`,
    `Pass --marked-rows to ${verb} those alone, or --all-rows to ${verb} everyone in the file`,
    { type: "MarkedRowsError" },
  );
}
