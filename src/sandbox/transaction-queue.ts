/**
 * Transactions of requests: each request's work happens alone among all processes of the folder, and is
 * answered only once it is kept. Requests that arrive together share one transaction, so that many cost
 * little more than one.
 */
import type { Database } from "./database.ts";

// Other processes of the folder wait as long as one transaction lasts.
const maxInOneTransaction = 64;

/** An object that keeps state for the length of one transaction of the queue. */
export interface Participant {
  begin(): void;
  /** The work of the transaction is done. What this throws undoes all of it. */
  beforeCommit?(): void;
  /** The transaction has been committed or undone. */
  afterwards(): void;
}

interface WaitingWork {
  work: () => unknown;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

export class TransactionQueue {
  private readonly database: Database;
  private readonly participants: Participant[];
  private readonly waiting: WaitingWork[] = [];
  private isPlanned = false;

  constructor(database: Database, participants: Participant[] = []) {
    this.database = database;
    this.participants = participants;
  }

  /**
   * Rejects when any work of its transaction throws, or the transaction cannot begin or be kept: then nothing
   * of it has happened. A refused request is an answer, and no error.
   */
  runInTransaction<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ work, resolve: resolve as (result: never) => void, reject });
      this.plan();
    });
  }

  private plan(): void {
    if (this.isPlanned || this.waiting.length === 0) return;
    this.isPlanned = true;
    setImmediate(() => {
      this.isPlanned = false;
      this.serve(this.waiting.splice(0, maxInOneTransaction));
      this.plan();
    });
  }

  private serve(batch: WaitingWork[]): void {
    const results: unknown[] = [];
    try {
      this.database.transaction(() => {
        for (const participant of this.participants) participant.begin();
        for (const { work } of batch) results.push(work());
        for (const participant of this.participants) participant.beforeCommit?.();
      });
    } catch (error) {
      for (const participant of this.participants) participant.afterwards();
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const participant of this.participants) participant.afterwards();
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as never);
  }
}
