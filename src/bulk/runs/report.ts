/** What a run did, in numbers: the summary that `--json` prints and that a run folder keeps. Pure. */

import { sumCounts } from "../../counts.ts";
import type { Outcome } from "../items.ts";
import type { RequestCounts } from "../pace/paced-send.ts";
import type { StopReason } from "../pace/run-stop.ts";

export interface RowCounts {
  read: number;
  created: number;
  updated: number;
  deleted: number;
  unchanged: number;
  skipped: number;
  rejected: number;
  /** Not attempted yet. */
  pending: number;
}

export interface Summary {
  /** Null in a dry run, which leaves nothing behind. */
  run: string | null;
  kind: string;
  status: "completed" | "stopped" | "dry-run";
  file: string;
  /** The whole run's, over all its invocations. */
  rows: RowCounts;
  /** This invocation's. */
  requests: RequestCounts;
  estimate: { requests: number; seconds: number };
  /** Path of the rejects file. */
  rejects: string | null;
  /** Path of the file with the contacts that a deletion took. */
  backup?: string;
  stoppedBy: StopReason | null;
  /** RFC 3339: when the limit that stopped it allows requests again, where that is known. */
  resumableAt?: string;
  /** Rows skipped and rejected, by code. */
  codes: { skipped: Record<string, number>; rejected: Record<string, number> };
  /** Contacts of these rows that the account holds as inactive. */
  inactive: number;
  /**
   * Contacts that were not created, or are not mailed, because of what the
   * file, the suppression list or the account says.
   */
  consent: {
    not_subscribed: number;
    suppressed: number;
    /** As `inactive`. */
    inactive: number;
    /** The file marks them as not subscribed, and the account held them as active. */
    marked: number;
  };
  /** Of an undo: contacts of `updated` that were restored in part; the rest is as others have made it. */
  partial?: number;
  /**
   * Of a list sync: members taken in and out. Their removals
   * count in `rows` too, as contacts read and updated.
   */
  members?: { added: number; removed: number };
}

/** Rows that stand for no contact: known from the input alone. */
export interface SettledByInput {
  /** All rows, and contacts that no row names. */
  read: number;
  rejectedCodes: Readonly<Record<string, number>>;
  /** Rows that another row of the same contact represents. */
  passedOver: number;
  passedOverAre: "skipped" | "rejected";
}

/** What a plan holds, as far as the report needs it. */
interface PlanCounts {
  created: number;
  updated: number;
  removed: number;
  deleted: number;
  unchanged: number;
  skipped: Readonly<Record<string, number>>;
  rejected: Readonly<Record<string, number>>;
}

/** What a run has counted so far. */
export interface Counted {
  input: SettledByInput;
  tally: PlanCounts;
  ledger: {
    counts: Readonly<Record<Outcome, number>>;
    codes: Record<"skipped" | "rejected", ReadonlyMap<string, number>>;
  };
}

/** @param isDryRun counts what would be written as written */
export function countRows({ input, tally, ledger }: Counted, isDryRun: boolean): RowCounts {
  const { counts } = ledger;
  const written = isDryRun ? tally : counts;
  const { created, deleted } = written;
  const updated = written.updated + written.removed;
  const unchanged = tally.unchanged + counts.unchanged;
  const isSkipped = input.passedOverAre === "skipped";
  const skipped = sumCounts(tally.skipped) + counts.skipped + (isSkipped ? input.passedOver : 0);
  const rejected =
    sumCounts(input.rejectedCodes) +
    sumCounts(tally.rejected) +
    counts.rejected +
    (isSkipped ? 0 : input.passedOver);
  const settled = created + updated + deleted + unchanged + skipped + rejected;
  const pending = input.read - settled;
  return { read: input.read, created, updated, deleted, unchanged, skipped, rejected, pending };
}

export function countCodes({ input, tally, ledger }: Counted): Summary["codes"] {
  const skipped = new Map(ledger.codes.skipped);
  const rejected = new Map(ledger.codes.rejected);
  addCodes(rejected, input.rejectedCodes);
  addCodes(rejected, tally.rejected);
  addCodes(skipped, tally.skipped);
  if (input.passedOver > 0) {
    addCodes(input.passedOverAre === "skipped" ? skipped : rejected, { duplicate: input.passedOver });
  }
  return { skipped: Object.fromEntries(skipped), rejected: Object.fromEntries(rejected) };
}

function addCodes(codes: Map<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [code, count] of Object.entries(more)) codes.set(code, (codes.get(code) ?? 0) + count);
}
