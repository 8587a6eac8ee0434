/**
 * Turns: each request's work happens alone among all processes of the folder, and is answered only once it is kept.
 * Requests that arrive together share one transaction, so that many cost little more than one.
 */
import type { Database } from "./database.ts";

// Other processes of the folder wait as long as one transaction lasts.
const mostInOneTransaction = 64;

export type TakeTurn = <T>(work: () => T) => Promise<T>;

/** What takes part in every transaction of the queue. */
export interface Participant {
  begin?(): void;
  /** The work of the transaction is done. What this throws undoes all of it. */
  beforeCommit(): void;
  /** @param isCommitted false: nothing of the transaction has happened */
  afterwards(isCommitted: boolean): void;
}

interface Waiting {
  work: () => unknown;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

/**
 * A promise rejects when any work of its transaction throws, or the transaction cannot begin or be kept: then nothing of it has
 * happened. What is refused is an answer, and no error.
 */
export function transactionQueue(database: Database, participants: Participant[] = []): TakeTurn {
  const queue: Waiting[] = [];
  let isPlanned = false;

  const plan = () => {
    if (isPlanned || queue.length === 0) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      serve(queue.splice(0, mostInOneTransaction));
      plan();
    });
  };

  const serve = (batch: Waiting[]) => {
    const results: unknown[] = [];
    try {
      database.transaction(() => {
        for (const participant of participants) participant.begin?.();
        for (const { work } of batch) results.push(work());
        for (const participant of participants) participant.beforeCommit();
      });
    } catch (error) {
      for (const participant of participants) participant.afterwards(false);
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const participant of participants) participant.afterwards(true);
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as never);
  };

  return (work) =>
    new Promise((resolve, reject) => {
      queue.push({ work, resolve: resolve as (result: never) => void, reject });
      plan();
    });
}
