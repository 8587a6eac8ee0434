/**
 * What is known of a run's contacts: the sum of its journal's records. The same function takes a record when it is
 * written and when it is read again, so that the counts after a resume are those of an undisturbed run.
 */
import type { Operation, Outcome, Remark } from "../items.ts";
import type { JournalRecord } from "./journal.ts";

export interface OpenIntent {
  key: string;
  at: number;
  operation: Operation;
}

export interface Ledger {
  take(record: JournalRecord): void;
  isDone(ref: number): boolean;
  /** An intent without an outcome: it may have been applied. */
  openIntent(ref: number): OpenIntent | undefined;
  readonly openCount: number;
  readonly counts: Readonly<Record<Outcome, number>>;
  /** How often each code of a skip or rejection occurred. */
  readonly codes: { skipped: ReadonlyMap<string, number>; rejected: ReadonlyMap<string, number> };
  readonly rejections: ReadonlyMap<number, Remark>;
  /** What is to be said of contacts that were written all the same. */
  readonly remarks: ReadonlyMap<number, Remark>;
  /** Contacts that the account holds as inactive. */
  readonly inactive: number;
  /** What was created in the account: stand-in → id. */
  readonly names: ReadonlyMap<string, string>;
  /** Whether a write of a contact that is not done yet was applied. */
  isBegun(ref: number): boolean;
  readonly isEnded: boolean;
  readonly stoppedBy: string | undefined;
}

export function createLedger(): Ledger {
  let done = new Uint8Array(1024);
  const intents = new Map<number, OpenIntent>();
  const counts: Record<Outcome, number> = {
    created: 0,
    updated: 0,
    removed: 0,
    deleted: 0,
    unchanged: 0,
    skipped: 0,
    rejected: 0,
  };
  const skipped = new Map<string, number>();
  const rejected = new Map<string, number>();
  const rejections = new Map<number, Remark>();
  const remarks = new Map<number, Remark>();
  const names = new Map<string, string>();
  const begun = new Set<number>();
  let inactive = 0;
  let isEnded = false;
  let stoppedBy: string | undefined;

  function markDone(ref: number, outcome: Outcome, code?: string): boolean {
    if (done[ref]) return false;
    if (ref >= done.length) {
      const larger = new Uint8Array(Math.max(ref + 1, done.length * 2));
      larger.set(done);
      done = larger;
    }
    done[ref] = 1;
    counts[outcome]++;
    intents.delete(ref);
    if (outcome === "skipped") count(skipped, code ?? "skipped");
    if (outcome === "rejected") count(rejected, code ?? "rejected");
    return true;
  }

  return {
    take(record) {
      switch (record.kind) {
        case "intent":
          intents.set(record.ref, { key: record.key, at: record.at, operation: record.operation });
          break;
        case "void":
          intents.delete(record.ref);
          break;
        case "applied":
          intents.delete(record.ref);
          begun.add(record.ref);
          break;
        case "done":
          if (!markDone(record.ref, record.outcome, record.code)) break;
          if (record.inactive) inactive++;
          begun.delete(record.ref);
          if (record.outcome === "rejected" || record.message !== undefined) {
            const remark = { code: record.code ?? "", message: record.message ?? "" };
            (record.outcome === "rejected" ? rejections : remarks).set(record.ref, remark);
          }
          break;
        case "decided":
          for (const ref of record.unchanged) markDone(ref, "unchanged");
          for (const [code, refs] of Object.entries(record.skipped)) {
            for (const ref of refs) markDone(ref, "skipped", code);
          }
          inactive += record.inactive;
          break;
        case "names":
          for (const [standIn, id] of Object.entries(record.ids)) names.set(standIn, id);
          break;
        case "start":
          stoppedBy = undefined;
          break;
        case "stop":
          stoppedBy = record.by;
          break;
        case "end":
          isEnded = true;
      }
    },
    isDone: (ref) => done[ref] === 1,
    openIntent: (ref) => intents.get(ref),
    get openCount() {
      return intents.size;
    },
    counts,
    codes: { skipped, rejected },
    rejections,
    remarks,
    names,
    isBegun: (ref) => begun.has(ref),
    get inactive() {
      return inactive;
    },
    get isEnded() {
      return isEnded;
    },
    get stoppedBy() {
      return stoppedBy;
    },
  };
}

function count(counts: Map<string, number>, code: string): void {
  counts.set(code, (counts.get(code) ?? 0) + 1);
}
