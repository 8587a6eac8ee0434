/**
 * A worker: takes accounts whose next slice is due, one at a time for each account. pg-boss schedules the
 * slices and tries again; the leases say who may work; what nobody has heard of is started again by whoever looks.
 */
import { hostname } from "node:os";
import cronParser from "cron-parser";
import PgBoss from "pg-boss";
import { type Database, findNextStart, type Task, type Transaction } from "./database.ts";
import { endStaleLeases, type Lease, LeaseLostError, takeLease } from "./lease.ts";
import type { Outcome, Report } from "./outcome.ts";
import { runSlice, type SliceOptions } from "./slice.ts";

export const queue = "slices";
export const deadLetters = "failed-tasks";
/** Workers that one task may take with it before it is given up. */
const maxDeaths = 5;
/** Tries in a row in which the service was not reached, or the run was held by another process. */
const maxTries = 10;

export interface WorkerOptions extends Omit<SliceOptions, "signal" | "record"> {
  concurrency: number;
  retrySeconds: number;
}

interface Slice {
  account: string;
}

export async function openQueue(database: Database): Promise<PgBoss> {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => database.query(text, values) },
    schedule: false,
  });
  boss.on("error", (error) => log(`queue: ${error.message}`));
  await boss.start();
  // At most one job of an account is in line; how long a slice takes is the lease's concern, not the queue's.
  await boss.createQueue(deadLetters);
  await boss.createQueue(queue, { name: queue, policy: "short", deadLetter: deadLetters });
  return boss;
}

/** Puts the account in line for the time at which its next slice is due. */
export async function schedule(boss: PgBoss, database: Database, account: string): Promise<void> {
  const start = await findNextStart(database, account);
  if (!start) return;
  const slice: Slice = { account };
  await boss.send(queue, slice, {
    singletonKey: account,
    startAfter: start,
    retryLimit: 10,
    retryBackoff: true,
    expireInHours: 23,
  });
}

/** Works until the signal fires; slices under way are stopped, and resumed by another worker. */
export async function work(database: Database, options: WorkerOptions, signal: AbortSignal): Promise<void> {
  const boss = await openQueue(database);
  const worker = new Worker(database, boss, options, signal);
  for (let slot = 0; slot < options.concurrency; slot++) {
    await boss.work<Slice>(queue, { pollingIntervalSeconds: 0.5 }, ([job]) => worker.take(job!));
  }
  const sweep = setInterval(() => worker.sweep(), Math.max(500, options.leaseSeconds * 200));
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  clearInterval(sweep);
  await boss.stop({ graceful: true, wait: true, timeout: 60_000, close: false });
}

class Worker {
  readonly holder = `${hostname()}:${process.pid}`;
  readonly #database: Database;
  readonly #boss: PgBoss;
  readonly #options: WorkerOptions;
  readonly #signal: AbortSignal;

  constructor(database: Database, boss: PgBoss, options: WorkerOptions, signal: AbortSignal) {
    this.#database = database;
    this.#boss = boss;
    this.#options = options;
    this.#signal = signal;
  }

  /** @throws to have pg-boss try the job again, later and later */
  async take({ id, data: { account } }: PgBoss.Job<Slice>): Promise<void> {
    const { leaseSeconds: seconds } = this.#options;
    const lease = await takeLease(this.#database, account, { holder: this.holder, job: id, seconds });
    // Somebody is at work on it, and puts it in line again afterwards.
    if (!lease) return;
    try {
      const task = await this.#startTask(account);
      if (task) await this.#run(lease, task);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      log(error.message);
      return;
    } finally {
      await this.#release(account, lease.fence);
    }
    await schedule(this.#boss, this.#database, account);
  }

  async #run(lease: Lease, task: Task): Promise<void> {
    const { retrySeconds } = this.#options;
    const { outcome, exitCode, error } = await runSlice(this.#database, lease, task, {
      ...this.#options,
      signal: this.#signal,
      record: (transaction, report) => recordSlice(transaction, task, report, retrySeconds),
    });
    log(`${task.account}: task ${task.id}: exit ${exitCode}, ${outcome.kind}`);
    const isGivenUp = outcome.kind === "failed" || (outcome.kind === "retry" && task.tries + 1 >= maxTries);
    if (isGivenUp)
      await this.#boss.send(deadLetters, { account: task.account, task: task.id, exitCode, error });
  }

  /** The account's first task that is due. */
  async #startTask(account: string): Promise<Task | undefined> {
    const { rows } = await this.#database.query<Task>(
      `UPDATE fleet.task SET state = 'running', slices = slices + 1
       WHERE id = (SELECT id FROM fleet.task
                   WHERE account = $1 AND state IN ('waiting', 'running') AND slice_at <= now()
                   ORDER BY id LIMIT 1)
       RETURNING id, account, words, cron, tries`,
      [account],
    );
    return rows[0];
  }

  async #release(account: string, fence: string): Promise<void> {
    await this.#database
      .query("UPDATE fleet.account SET holder = NULL, job = NULL WHERE name = $1 AND fence = $2", [
        account,
        fence,
      ])
      // Then it ends by itself.
      .catch(() => undefined);
  }

  /** Takes over from workers that have died, and puts in line what is due and was lost from it. */
  async sweep(): Promise<void> {
    try {
      for (const { name, job } of await endStaleLeases(this.#database)) {
        log(`${name}: its worker has not been heard of; taking over`);
        if (job) await this.#boss.deleteJob(queue, job);
        await this.#countDeath(name);
      }
      const { rows } = await this.#database.query<{ account: string }>(
        `SELECT DISTINCT account FROM fleet.task
         JOIN fleet.account AS owner ON owner.name = account
         WHERE state IN ('waiting', 'running') AND slice_at <= now() AND owner.holder IS NULL
           AND NOT EXISTS (SELECT 1 FROM pgboss.job AS job WHERE job.name = $1
                           AND job.singleton_key = account AND job.state < 'completed')`,
        [queue],
      );
      for (const { account } of rows) await schedule(this.#boss, this.#database, account);
    } catch (error) {
      log(`sweep: ${(error as Error).message}`);
    }
  }

  /** A task that takes its worker with it each time must not go round for ever. */
  async #countDeath(account: string): Promise<void> {
    await this.#database.query(
      `UPDATE fleet.task SET deaths = deaths + 1,
         state = CASE WHEN deaths + 1 >= $2 THEN 'failed' ELSE 'waiting' END,
         error = CASE WHEN deaths + 1 >= $2 THEN jsonb_build_object('message', 'its worker died each time') ELSE error END
       WHERE account = $1 AND state = 'running'`,
      [account, maxDeaths],
    );
  }
}

/** What became of the task; committed together with the state that it left. */
async function recordSlice(
  transaction: Transaction,
  task: Task,
  { outcome, exitCode, summary, error, limits }: Report,
  retrySeconds: number,
): Promise<void> {
  const tries = outcome.kind === "retry" ? task.tries + 1 : 0;
  const isOver = outcome.kind === "done" || outcome.kind === "failed" || tries >= maxTries;
  const state = !isOver || task.cron ? "waiting" : outcome.kind === "done" ? "done" : "failed";
  await transaction.query(
    `UPDATE fleet.task SET state = $2, slice_at = $3, exit_code = $4, summary = $5, error = $6,
       tries = $7, deaths = 0, ended_at = CASE WHEN $8 THEN now() END
     WHERE id = $1`,
    [
      task.id,
      state,
      isOver && task.cron ? nextStart(task.cron) : findNextTry(outcome, tries, retrySeconds),
      exitCode,
      JSON.stringify(summary),
      JSON.stringify(error),
      isOver ? 0 : tries,
      isOver,
    ],
  );
  if (state === "done") await forgetPeople(transaction, task);
  if (!limits) return;
  const values = [task.account, JSON.stringify(limits)];
  await transaction.query("UPDATE fleet.account SET limits = $2 WHERE name = $1", values);
}

/** Of a task that is done nobody needs the input any more, nor whom it erased. */
async function forgetPeople(transaction: Transaction, { id, words }: Task): Promise<void> {
  await transaction.query("DELETE FROM fleet.input WHERE task = $1", [id]);
  if (!/^contacts? erase( |$)/.test(words.join(" "))) return;
  const rest = words.filter((word, at) => at < 2 || word.startsWith("-"));
  await transaction.query("UPDATE fleet.task SET words = $2 WHERE id = $1", [id, rest]);
}

/** At the time that the service named; after a failure later each time, at most an hour. */
function findNextTry(outcome: Outcome, tries: number, retrySeconds: number): Date {
  if (outcome.kind === "later") return outcome.at;
  return new Date(Date.now() + Math.min(3600, retrySeconds * 2 ** (tries - 1)) * 1000);
}

/** @throws Error for what is no cron expression */
export function nextStart(cron: string): Date {
  return cronParser.parseExpression(cron, { tz: "UTC" }).next().toDate();
}

function log(message: string): void {
  process.stderr.write(`${new Date().toISOString()} ${message}\n`);
}
