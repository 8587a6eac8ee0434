/** What a run did, in numbers: the summary that `--json` prints and that a run folder keeps. Pure. */

import { sumCounts } from "../../counts.ts";
import type { Outcome } from "../desired.ts";
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
  rejects: string | null;
  backup?: string;
  stoppedBy: StopReason | null;
  /** RFC 3339: when the limit that stopped it allows requests again, where that is known. */
  resumableAt?: string;
  codes: { skipped: Record<string, number>; rejected: Record<string, number> };
  /** Contacts of these rows that the account holds as inactive. */
  inactive: number;
  /** Contacts that the file, the suppression list or the account keeps from being created or mailed. */
  consent: {
    not_subscribed: number;
    suppressed: number;
    /** As `inactive`. */
    inactive: number;
    /** The file marks them as not subscribed, and the account held them as active. */
    marked: number;
  };
  /** Contacts of `updated` that an undo restored in part; the rest is as others have made it. */
  partial?: number;
  /** What a sync does to its list. Removals count in `rows` too, as contacts read and updated. */
  members?: { added: number; removed: number };
}

/** Rows that stand for no contact, by code: known from the input alone. */
export interface SettledByInput {
  /** All rows, and contacts that no row names. */
  read: number;
  skipped: Readonly<Record<string, number>>;
  rejected: Readonly<Record<string, number>>;
}

/** What a plan holds, in contacts, for the report. Rows that stand for none count with the input. */
export interface PlanCounts {
  created: number;
  updated: number;
  /** Taken out of a list by a sync. */
  removed: number;
  deleted: number;
  unchanged: number;
  /** By code. */
  skipped: Record<string, number>;
  rejected: Record<string, number>;
}

/** What a run has counted so far. */
interface Counted {
  input: SettledByInput;
  tally: PlanCounts;
  ledger: { counts: Readonly<Record<Outcome, number>>; codes: Summary["codes"] };
}

/** @param isDryRun counts what would be written as written */
export function countRows(counted: Counted, isDryRun: boolean): RowCounts {
  const { input, tally, ledger } = counted;
  const { created, updated: changed, removed, deleted } = isDryRun ? tally : ledger.counts;
  const updated = changed + removed;
  const unchanged = tally.unchanged + ledger.counts.unchanged;
  const codes = countCodes(counted);
  const [skipped, rejected] = [sumCounts(codes.skipped), sumCounts(codes.rejected)];
  const settled = created + updated + deleted + unchanged + skipped + rejected;
  const pending = input.read - settled;
  return { read: input.read, created, updated, deleted, unchanged, skipped, rejected, pending };
}

export function countCodes({
  input,
  tally,
  ledger,
}: Omit<Counted, "ledger"> & { ledger?: Counted["ledger"] }): Summary["codes"] {
  return {
    skipped: addCounts(ledger?.codes.skipped, tally.skipped, input.skipped),
    rejected: addCounts(ledger?.codes.rejected, tally.rejected, input.rejected),
  };
}

function addCounts(...parts: (Readonly<Record<string, number>> | undefined)[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const part of parts) {
    for (const [code, count] of Object.entries(part ?? {})) sum[code] = (sum[code] ?? 0) + count;
  }
  return sum;
}
