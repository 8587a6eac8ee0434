/**
 * What is known of a run's contacts: the sum of its journal's records. The same function takes a record when
 * it is written and when it is read again, so that the counts after a resume are those of an undisturbed run.
 * And whether the journal can still be believed: damage is never taken for a crash.
 */

import { join } from "node:path";
import { EcmError } from "../../errors.ts";
import type { Outcome, Remark, Write } from "../desired.ts";
import { fileNames, type Run } from "./folder.ts";
import { type JournalRecord, readJournal } from "./journal.ts";
import type { Summary } from "./report.ts";

export interface OpenIntent {
  key: string;
  at: number;
  operation: Write;
}

type DoneRecord = Extract<JournalRecord, { kind: "done" }>;

export class Ledger {
  readonly counts: Record<Outcome, number> = {
    created: 0,
    updated: 0,
    removed: 0,
    deleted: 0,
    unchanged: 0,
    skipped: 0,
    rejected: 0,
  };
  /** How often each code of a skip or rejection occurred. */
  readonly codes: Summary["codes"] = { skipped: {}, rejected: {} };
  readonly rejections = new Map<number, Remark>();
  /** What is to be said of contacts that were written all the same. */
  readonly remarks = new Map<number, Remark>();
  /** What was created in the account: stand-in → id. */
  readonly names = new Map<string, string>();
  /** It may have been created: what was made is noted after the attempt. */
  isNaming = false;
  /** Contacts that the account holds as inactive. */
  inactive = 0;
  isEnded = false;
  stoppedBy: string | undefined;

  private done = new Uint8Array(1024);
  private readonly intents = new Map<number, OpenIntent>();

  take(record: JournalRecord): void {
    switch (record.kind) {
      case "intent":
        this.intents.set(record.ref, { key: record.key, at: record.at, operation: record.operation });
        break;
      case "void":
        this.intents.delete(record.ref);
        break;
      case "done":
        this.takeDone(record);
        break;
      case "names":
        this.isNaming = true;
        for (const [standIn, id] of Object.entries(record.ids)) this.names.set(standIn, id);
        break;
      case "start":
        this.stoppedBy = undefined;
        break;
      case "stop":
        this.stoppedBy = record.by;
        break;
      case "end":
        this.isEnded = true;
    }
  }

  isDone(ref: number): boolean {
    return this.done[ref] === 1;
  }

  /** An intent without an outcome: it may have been applied. */
  openIntent(ref: number): OpenIntent | undefined {
    return this.intents.get(ref);
  }

  get openCount(): number {
    return this.intents.size;
  }

  private takeDone({ ref, outcome, code = "", message, inactive }: DoneRecord): void {
    if (this.done[ref]) return;
    if (ref >= this.done.length) {
      const larger = new Uint8Array(Math.max(ref + 1, this.done.length * 2));
      larger.set(this.done);
      this.done = larger;
    }
    this.done[ref] = 1;
    this.intents.delete(ref);
    this.counts[outcome]++;
    if (inactive) this.inactive++;
    if (outcome === "skipped" || outcome === "rejected") {
      const codes = this.codes[outcome];
      codes[code] = (codes[code] ?? 0) + 1;
    }
    if (outcome === "rejected") this.rejections.set(ref, { code, message: message ?? "" });
    else if (message !== undefined) this.remarks.set(ref, { code, message });
  }
}

interface RunRecord {
  ledger: Ledger;
  /** Bytes of the journal up to the end of its last whole record: what follows is a crash's torn tail. */
  end: number;
  /** In words, where the journal cannot be believed: the ledger then holds what can still be read. */
  damage?: string;
}

/**
 * Reads what a run has done so far, without entering it. A journal is damaged when it is missing (its first
 * record is on the disk before the manifest is), when a bad line precedes a good one, and when it knows of
 * less than the summary that the run wrote when it stopped.
 */
export async function readRunRecord({ folder, manifest: { summary } }: Run): Promise<RunRecord> {
  const file = join(folder, fileNames.journal);
  const ledger = new Ledger();
  let end = 0;
  let damage: string | undefined;
  const records = readJournal(file, (line) => {
    damage ??= `line ${line} of ${file} cannot be read`;
  });
  for await (const read of records) {
    ledger.take(read.record);
    end = read.end;
  }
  const [written, expected] = [countWritten(ledger.counts), countWritten(summary?.rows)];
  if (end === 0) damage = `${file} is missing or empty`;
  else if (written < expected) damage ??= `${file} ends too early: it has ${written} of ${expected} outcomes`;
  return { ledger, end, damage };
}

/** Contacts that the journal alone knows of; the others may be known from the plan. */
function countWritten(counts: Partial<Record<Outcome, number>> = {}): number {
  const { created = 0, updated = 0, removed = 0, deleted = 0 } = counts;
  return created + updated + removed + deleted;
}

/** Neither resumed nor undone as if nothing were missing: done contacts would be written over others' changes. */
export function damagedJournalError(id: string, damage: string): EcmError {
  return new EcmError(
    "damaged journal",
    `The journal of run ${id} is damaged: ${damage}`,
    "Nothing was sent. Restore the file from a backup; to start over, run the same command with --fresh",
  );
}
