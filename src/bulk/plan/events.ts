/** What a run reports while it works, and how far it is. */

import type { InputFacts, JoinedRows, Survey } from "../../tables/index.ts";
import type { Budget } from "../pace/budget.ts";
import type { PacedSend } from "../pace/paced-send.ts";
import type { EntryRemark } from "../runs/enter.ts";
import type { RowCounts, Summary } from "../runs/report.ts";
import type { Creation } from "./name-book.ts";
import type { Price } from "./numbers.ts";

export type Phase = "reading" | "looking" | "working" | "reporting";

/** How far a run is at one moment. */
export interface RunProgress {
  phase: Phase;
  /** While reading. */
  rowsRead: number;
  /** Once everything is read. */
  rows?: RowCounts;
  /** Once it is known. */
  price?: Price;
  /** Requests sent so far. */
  sent: number;
  waiting?: PacedSend["waiting"];
  /** Requests left in this hour, where the service said so. */
  hourLeft?: number;
}

export type RunEvent =
  /** A phase begins; `progress` can be asked at any time until the next one does. */
  | { kind: "phase"; progress: () => RunProgress }
  | { kind: "understood"; facts: InputFacts }
  | {
      kind: "surveyed";
      survey: Survey;
      joined: JoinedRows;
      notSubscribedAre: MarkedAre;
      unclearAre?: MarkedAre;
    }
  | { kind: "names-missing"; missing: readonly Creation[] }
  | { kind: "entered"; run: string; isResumed: boolean; isAgreed: boolean; rows: RowCounts }
  | { kind: "priced"; price: Price }
  | {
      kind: "marked";
      contacts: { line: number | null; key: string }[];
      total: number;
    }
  | { kind: "remark"; remark: RunRemark }
  /** Refused before the first write: the error is thrown besides. */
  | { kind: "refused"; summary: Summary };

/** What becomes of contacts that a file marks as not subscribed. `imported`, `added`: as of any other. */
export type MarkedAre =
  | "imported"
  | "added"
  | "added_to_no_list"
  | "not_created"
  | "not_added"
  | "not_added_nor_created"
  | "chosen"
  | "not_chosen";

/** What is worth saying of a run besides; the commands have the words. */
export type RunRemark =
  /** The last row of a sync's file may be cut off: nobody is taken out of the list. */
  | { code: "cut_off" }
  /** The input has changed since the plan was made of it. */
  | { code: "input_changed"; file: string }
  /** Contacts came and went while the account was read. */
  | { code: "account_changed" }
  | EntryRemark
  /** A contact that an undo creates again is a new one. */
  | { code: "recreates" }
  | { code: "no_rejects_file"; failure: Error }
  /** Only the run's folder has a rejects file. `folder`: it cannot be written to; absent: standard input. */
  | { code: "rejects_in_run_only"; folder?: string; failure?: Error };

/** The progress of a phase, from the counters as they are now. */
export function createProgress(
  { send, budget }: { send: PacedSend; budget: Budget },
  phase: Phase,
  counted: Pick<RunProgress, "rows" | "price"> & { rowsRead?: number },
): RunProgress {
  const { waiting, counts } = send;
  const hourLeft = budget.limits.hour?.remaining;
  return { phase, rowsRead: 0, sent: counts.total, waiting, hourLeft, ...counted };
}
