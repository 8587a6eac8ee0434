/**
 * The journal of a run: an append-only file of lines `crc32 {json}`. What `sync` has returned for is on the
 * disk; a torn tail is cut off when the journal is opened again.
 */

import { stat, truncate } from "node:fs/promises";
import { describeDiskError, diskFullHint } from "../../disk/disk-errors.ts";
import {
  decodeLine,
  formatCheckedLine,
  type LogFile,
  openLog,
  readCheckedLine,
  readLines,
} from "../../disk/log.ts";
import { EcmError, failedError } from "../../errors.ts";
import type { Outcome, Write } from "../desired.ts";

/** What happened, one line each. `ref` names the contact within the run: its line in the input. */
export type JournalRecord =
  | { kind: "start"; at: number; program: string }
  /** On disk before its request leaves. `at`: milliseconds, by the service's clock as far as it is known. */
  | { kind: "intent"; ref: number; key: string; at: number; operation: Write }
  /** It is certain that the intent was not applied. */
  | { kind: "void"; ref: number }
  | {
      kind: "done";
      ref: number;
      outcome: Outcome;
      code?: string;
      message?: string;
      contactId?: string;
      inactive?: boolean;
    }
  /** What was created in the account before the first write: stand-in → id. */
  | { kind: "names"; ids: Record<string, string> }
  | { kind: "stop"; at: number; by: string }
  | { kind: "end"; at: number };

/** A ledger has a place for each up to this one. */
export const maxRef = 2 ** 27;

function isRef(ref: unknown): boolean {
  return Number.isInteger(ref) && (ref as number) >= 0 && (ref as number) <= maxRef;
}

/** The journal could not be written: nothing more may be sent. */
export function journalError(file: string, cause: unknown): EcmError {
  return failedError(
    `Cannot write the journal ${file}: ${describeDiskError(cause)}`,
    `Nothing was sent after this. ${diskFullHint(cause, file) ?? "Fix the disk, then run the same command again"}`,
    { type: "JournalError", cause },
  );
}

/** What a journal needs of its file. */
export type JournalFile = Omit<LogFile, "sync">;

export class Journal {
  private readonly file: string;
  private readonly handle: JournalFile;
  private readonly requireHeld: () => void;
  private queued: string[] = [];
  private failure: EcmError | undefined;
  private writing: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  /**
   * @param openFile replaces the opening of the file, in tests of a disk that fails
   * @param requireHeld throws when the run is not ours any more: checked last, so that no write leaves after
   *   that
   * @throws JournalError
   */
  constructor(
    file: string,
    openFile: (file: string) => JournalFile = openLog,
    requireHeld: () => void = () => undefined,
  ) {
    this.file = file;
    this.requireHeld = requireHeld;
    try {
      this.handle = openFile(file);
    } catch (error) {
      throw journalError(file, error);
    }
  }

  /**
   * Queues a record; it is on the disk when a later `sync` returns.
   * @throws JournalError when writing has failed before
   */
  append(record: JournalRecord): void {
    if (this.failure) throw this.failure;
    this.queued.push(formatCheckedLine(record));
  }

  /**
   * Resolves when everything appended so far is on the disk. Calls at the same time share one sync.
   * @throws JournalError
   */
  sync(): Promise<void> {
    if (!this.writing) return this.startFlush();
    // A sync that is under way may not hold the newest lines: wait for it, then share one more.
    this.next ??= this.writing
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.startFlush();
      });
    return this.next;
  }

  async close(): Promise<void> {
    await this.writing?.catch(() => undefined);
    this.handle.close();
  }

  private startFlush(): Promise<void> {
    this.writing = this.flush().finally(() => {
      this.writing = undefined;
    });
    return this.writing;
  }

  private async flush(): Promise<void> {
    if (this.failure) throw this.failure;
    if (this.queued.length === 0) return;
    const lines = this.queued;
    this.queued = [];
    try {
      this.handle.append(lines.join(""));
      await this.handle.datasync();
    } catch (error) {
      // What a failed sync has left on the disk is unknown: it is never tried again.
      this.failure = journalError(this.file, error);
      throw this.failure;
    }
    this.requireHeld();
  }
}

/** Makes the file, with its first record on the disk. @throws JournalError */
export function createJournal(file: string, first: JournalRecord): void {
  try {
    const log = openLog(file, "w");
    log.append(formatCheckedLine(first));
    log.sync();
    log.close();
  } catch (error) {
    throw journalError(file, error);
  }
}

/**
 * Yields the records of a journal. What a crash leaves behind the last whole record is passed over.
 * @param onDamage called with the number of each first bad line that whole records follow, and of each whole one
 *   that no run writes: no crash leaves either
 * @throws JournalDamagedError there, where nothing is to be called
 */
export async function* readJournal(
  file: string,
  onDamage: (line: number) => void = (line) => {
    throw new EcmError(
      "damaged journal",
      `Line ${line} of ${file} is damaged`,
      "Restore the folder of the run from a backup",
    );
  },
): AsyncGenerator<{ record: JournalRecord; end: number }> {
  let end = 0;
  let number = 0;
  let firstBad: number | undefined;
  for await (const line of readLines(file)) {
    end += line.length + 1;
    number++;
    const record = readCheckedLine<JournalRecord>(decodeLine(line));
    const isForeign = record && "ref" in record && !isRef(record.ref);
    if (!record || isForeign) firstBad ??= number;
    if (!record) continue;
    if (firstBad !== undefined) onDamage(firstBad);
    firstBad = undefined;
    if (!isForeign) yield { record, end };
  }
}

/** Cuts off what follows the last whole record. @param end of that, in bytes */
export async function cutTornTail(file: string, end: number): Promise<void> {
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  if (size > end) await truncate(file, end);
}
