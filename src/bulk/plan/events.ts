/** What a run reports while it works, and how far it is. */

import type { InputFacts, JoinedRows, Survey } from "../../tables/index.ts";
import type { Budget } from "../pace/budget.ts";
import type { PacedSend } from "../pace/paced-send.ts";
import type { RowCounts, Summary } from "../runs/report.ts";
import type { MissingNames } from "./names.ts";
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
  | { kind: "surveyed"; survey: Survey; joined: JoinedRows; notSubscribedAre: string; unclearAre?: string }
  | { kind: "names-missing"; missing: MissingNames }
  | { kind: "input-changed"; older: string }
  | { kind: "entered"; run: string; isResumed: boolean; rows: RowCounts }
  | { kind: "priced"; price: Price }
  | {
      kind: "marked";
      contacts: { line: number | null; key: string }[];
      total: number;
    }
  /** `isAside`: nothing to be warned of. */
  | { kind: "remark"; text: string; isAside?: boolean }
  /** Refused before the first write: the error is thrown besides. */
  | { kind: "refused"; summary: Summary };

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
