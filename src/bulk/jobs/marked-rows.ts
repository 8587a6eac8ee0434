/** Of a file that names people, whom its marks choose: those whom it marks as not subscribed, or everyone. */

import { formatCount } from "../../counts.ts";
import { UsageError } from "../../errors.ts";
import type { Survey } from "../../tables/index.ts";

export type ChosenRows = "marked" | "all";

/** The file's own columns mark some of its rows as not subscribed: who is meant is for a person to say. */
export class MarkedRowsError extends UsageError {
  readonly rows: { marked: number; all: number };

  constructor(verb: string, rows: { marked: number; all: number }) {
    const [marked, all] = [rows.marked, rows.all].map(formatCount);
    super(
      `The file marks ${marked} of ${all} rows as not subscribed, so that it is not clear whom to ${verb}`,
      `Pass --marked-rows to ${verb} those alone, or --all-rows to ${verb} everyone in the file`,
      { type: "MarkedRowsError" },
    );
    this.rows = rows;
  }
}

/**
 * A table that marks every row, or has no column of consent, is taken whole. So is one that is to be deleted
 * and marks nobody, and our own export, which tells the status of each contact in any case.
 * @param verb what is done to them
 * @throws MarkedRowsError where it must be said who is meant; UsageError where no column says who is marked
 */
export function requireChosenRows(
  verb: "unsubscribe" | "delete" | "suppress",
  rows: ChosenRows | undefined,
  { consent, read }: Survey,
  system: string | undefined,
): void {
  const { clearlyMarked, columns } = consent;
  if (rows === "all") return;
  if (rows === "marked") {
    if (columns.length > 0) return;
    throw new UsageError(
      "--marked-rows: the file has no column that says who is not subscribed",
      "Name it with --consent-column, or leave out --marked-rows",
    );
  }
  if (columns.length === 0 || clearlyMarked === read) return;
  if (clearlyMarked === 0 && (verb === "delete" || system === "ecm")) return;
  throw new MarkedRowsError(verb, { marked: clearlyMarked, all: read });
}
