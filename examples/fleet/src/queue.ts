/** The queue that all machines share: pg-boss in PostgreSQL. */
import { type ConstructorOptions, PgBoss, type SendOptions } from "pg-boss";

export interface Task {
  /** The same in every job of a task: each slice of an hour, each time of a cron expression. */
  id: string;
  account: string;
  /** What follows `ecm`. */
  words: string[];
  /** How often in a row it met a conflict (exit 6). */
  conflicts: number;
}

export const queue = "ecm";
export const deadLetters = "ecm-dead-letters";
const hour = 3600;
const year = 365 * 24 * hour;

/** Opens the database of DATABASE_URL, or of PGHOST and its like. The queues are made when they are not there. */
export async function openQueue(options: ConstructorOptions): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, ...options });
  // A connection that is lost comes back: workers go on polling meanwhile.
  boss.on("error", (error) => process.stderr.write(`${new Date().toISOString()} ${error.message}\n`));
  await boss.start();
  await boss.createQueue(deadLetters, { retentionSeconds: year });
  await boss.createQueue(queue, {
    // Two workers that count a group at the same moment could both take a job of it. An index refuses the second.
    policy: "singleton",
    heartbeatSeconds: 30,
    expireInSeconds: 24 * hour,
    retentionSeconds: year,
    retryLimit: 10,
    retryDelay: 10,
    retryBackoff: true,
    retryDelayMax: hour,
    deadLetter: deadLetters,
  });
  return boss;
}

/** An account does one thing at a time, and an erasure before anything else; who was erased is not kept for long. */
export function describeJob({ account, words }: Task): SendOptions {
  const isErasure = /^contacts? erase( |$)/.test(words.join(" "));
  return {
    group: { id: account },
    singletonKey: account,
    priority: isErasure ? 10 : 0,
    ...(isErasure && { deleteAfterSeconds: hour }),
  };
}
