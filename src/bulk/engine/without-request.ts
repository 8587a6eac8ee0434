/** Contacts that are left or skipped, many in one record of the journal. */
import type { Decision } from "../items.ts";
import type { JournalRecord } from "../runs/journal.ts";
import { note, type Session } from "./session.ts";

export interface DecidedContacts {
  /** @returns how many there are */
  add(
    ref: number,
    decision: Extract<Decision, { kind: "leave" | "skip" }>,
    contact: { isInactive: boolean; isMarked: boolean },
  ): number;
  /** Writes them down, and begins anew. */
  note(session: Session): void;
}

export function collectDecided(): DecidedContacts {
  let count = 0;
  let record = emptyRecord();
  return {
    add(ref, decision, { isInactive, isMarked }) {
      if (decision.kind === "leave") record.unchanged.push(ref);
      else {
        record.skipped[decision.code] ??= [];
        record.skipped[decision.code]!.push(ref);
      }
      if (isInactive) record.inactive++;
      if (isMarked) {
        record.marked ??= [];
        record.marked.push(ref);
      }
      return ++count;
    },
    note(session) {
      if (count > 0) note(session, record);
      count = 0;
      record = emptyRecord();
    },
  };
}

function emptyRecord(): Extract<JournalRecord, { kind: "decided" }> {
  return { kind: "decided", unchanged: [], skipped: {}, inactive: 0 };
}
