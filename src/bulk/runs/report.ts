/** What a run did, in numbers: the summary that `--json` prints and that a run folder keeps. Pure. */

import type { RequestCounts } from "../pacing/paced-send.ts";
import type { StopReason } from "../pacing/run-stop.ts";
import type { Ledger } from "./ledger.ts";

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
  /** Contacts that were not created, or are not mailed, because of what the file, the suppression list or the account says. */
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
  /** Of a list sync: members taken in and out. Their removals count in `rows` too, as contacts read and updated. */
  members?: { added: number; removed: number };
}

/** Rows that were settled without a request: known from the input alone. */
export interface SettledByInput {
  read: number;
  rejectedCodes: ReadonlyMap<string, number>;
  /** Rows that another row of the same contact represents. */
  passedOver: number;
  passedOverAre: "skipped" | "rejected";
}

export function countRows(input: SettledByInput, ledger: Ledger): RowCounts {
  const { created, deleted, unchanged } = ledger.counts;
  const updated = ledger.counts.updated + ledger.counts.removed;
  const isSkipped = input.passedOverAre === "skipped";
  const skipped = ledger.counts.skipped + (isSkipped ? input.passedOver : 0);
  const rejected = ledger.counts.rejected + sumOf(input.rejectedCodes) + (isSkipped ? 0 : input.passedOver);
  const settled = created + updated + deleted + unchanged + skipped + rejected;
  const pending = input.read - settled;
  return { read: input.read, created, updated, deleted, unchanged, skipped, rejected, pending };
}

export function countCodes(input: SettledByInput, ledger: Ledger): Summary["codes"] {
  const skipped = new Map(ledger.codes.skipped);
  const rejected = new Map(ledger.codes.rejected);
  for (const [code, count] of input.rejectedCodes) rejected.set(code, (rejected.get(code) ?? 0) + count);
  const target = input.passedOverAre === "skipped" ? skipped : rejected;
  if (input.passedOver > 0) target.set("duplicate", (target.get("duplicate") ?? 0) + input.passedOver);
  return { skipped: Object.fromEntries(skipped), rejected: Object.fromEntries(rejected) };
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}
