/** What a run's journal says, and whether it can still be believed: damage is never taken for a crash. */
import { join } from "node:path";
import { EcmError, exitCodes } from "../../errors.ts";
import type { Hint } from "../../hint.ts";
import { fileNames, type Manifest } from "./folder.ts";
import { readJournal } from "./journal.ts";
import { Ledger } from "./ledger.ts";
import type { RowCounts } from "./report.ts";

/** The journal lost something that was on the disk: what the run did is not known any more. */
export class JournalDamagedError extends EcmError {
  constructor(message: string, hint: Hint) {
    super(exitCodes.failed, message, { type: "JournalDamagedError", hint });
  }
}

export interface RunRecord {
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
export async function readRunRecord(run: { manifest: Manifest; folder: string }): Promise<RunRecord> {
  const file = join(run.folder, fileNames.journal);
  const ledger = new Ledger();
  let end = 0;
  let badLine: number | undefined;
  const records = readJournal(file, (line) => {
    badLine ??= line;
  });
  for await (const read of records) {
    ledger.take(read.record);
    end = read.end;
  }
  return { ledger, end, damage: findDamage(run.manifest, file, { ledger, end, badLine }) };
}

function findDamage(
  { summary }: Manifest,
  file: string,
  { ledger, end, badLine }: { ledger: Ledger; end: number; badLine: number | undefined },
): string | undefined {
  if (badLine !== undefined) return `line ${badLine} of ${file} cannot be read`;
  if (end === 0) return `${file} is missing or empty`;
  const settledInJournal = countSettled(ledger.counts);
  const settledInSummary = summary ? countSettled(summary.rows) : 0;
  return settledInJournal < settledInSummary
    ? `${file} ends too early: it has ${settledInJournal} of ${settledInSummary} outcomes`
    : undefined;
}

/** Contacts that the journal alone knows of; the others may be known from the plan. */
function countSettled(counts: Readonly<Ledger["counts"]> | RowCounts): number {
  let sum = 0;
  for (const [outcome, count] of Object.entries(counts) as [string, number][]) {
    if (["created", "updated", "removed", "deleted"].includes(outcome)) sum += count;
  }
  return sum;
}

/**
 * A run that must not be resumed as if nothing were missing: done
 * contacts would be written again over others' changes.
 */
export function cannotResumeError(id: string, damage: string): JournalDamagedError {
  return new JournalDamagedError(
    `The journal of run ${id} is damaged: ${damage}`,
    "Nothing was sent. Restore the file from a backup, or start over with the same command and --fresh",
  );
}
