/** One slice of a task: `ecm` as a child process on the account's state, under the account's lease. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Database, Task, Transaction } from "./database.ts";
import { type Lease, LeaseLostError, renewLease, storeUnderLease } from "./lease.ts";
import { type Ended, type Report, readReport } from "./outcome.ts";
import { fetchState, type StoredFiles, storeState } from "./state.ts";

export interface SliceOptions {
  /** The program and its first words. */
  ecm: readonly string[];
  /** Empty folders for accounts are made here, and removed again. */
  folder: string;
  leaseSeconds: number;
  storeSeconds: number;
  /** Stops the slice; it is resumed elsewhere. */
  signal: AbortSignal;
  /** Notes what becomes of the task, in the transaction that stores the last of the state. */
  record(transaction: Transaction, report: Report): Promise<void>;
}

/** Commands that wait for the next hour by themselves: here the queue waits. */
const waiting =
  /^(import|apply|lists (sync|merge|duplicate)|contacts? (mutate|move|unsubscribe|delete)|runs (resume|retry|undo))( |$)/;

/**
 * Runs the task until it ends or is out of budget.
 * @throws LeaseLostError when another worker has taken over: nothing of the rest is stored
 */
export async function runSlice(
  database: Database,
  lease: Lease,
  task: Task,
  options: SliceOptions,
): Promise<Report> {
  const home = join(options.folder, `${lease.account.name}-${lease.fence}`);
  const folders = { state: join(home, "state"), work: join(home, "work") };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    let files = await fetchState(database, lease.account.name, folders.state);
    await fetchInputs(database, task, folders.work);
    const store = (transaction: Transaction, known: StoredFiles) =>
      storeState(transaction, lease.account.name, folders.state, known);
    const storeMeanwhile = async () => {
      files = (await storeUnderLease(database, lease, (transaction) => store(transaction, files))).files;
    };
    const ended = await runEcm(database, lease, task, { ...options, home, store: storeMeanwhile });
    const report = readReport(ended, new Date());
    await untilStored(database, lease, async (transaction) => {
      await store(transaction, files);
      await options.record(transaction, report);
    });
    return report;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function fetchInputs(database: Database, task: Task, folder: string): Promise<void> {
  const { rows } = await database.query<{ name: string; content: Buffer }>(
    "SELECT name, content FROM fleet.input WHERE task = $1",
    [task.id],
  );
  for (const { name, content } of rows) await writeFile(join(folder, name), content, { mode: 0o600 });
}

interface EcmOptions extends SliceOptions {
  home: string;
  /** Stores what the state folder holds by now. */
  store(): Promise<void>;
}

/** A key that cannot be had, or a program that cannot be started, ends the slice as a failure of its own would. */
async function runEcm(database: Database, lease: Lease, task: Task, options: EcmOptions): Promise<Ended> {
  try {
    const child = await startEcm(lease, task, options);
    const watch = watchLease(database, lease, child, options);
    const ended = await waitForEnd(child).finally(watch.stop);
    await watch.finished;
    return ended;
  } catch (error) {
    return { exitCode: null, stdout: "", stderr: (error as Error).message };
  }
}

async function startEcm(lease: Lease, task: Task, { ecm, home }: EcmOptions): Promise<ChildProcess> {
  const { baseUrl, apiKeyCommand } = lease.account;
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", apiKeyCommand], { encoding: "utf8" });
  const [program, ...first] = ecm;
  const words = waiting.test(task.words.join(" ")) ? [...task.words, "--no-wait"] : task.words;
  return spawn(program!, [...first, ...words, "--json", "--no-input"], {
    cwd: join(home, "work"),
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ECM_BASE_URL: baseUrl,
      ECM_API_KEY: stdout.split("\n")[0]!.trim(),
      ECM_STATE_DIR: join(home, "state"),
      ECM_CONFIG_DIR: join(home, "config"),
      ECM_CACHE_DIR: join(home, "cache"),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/**
 * Renews the lease and stores the state while the child runs. Where the lease was lost, or could not be
 * renewed until it is nearly over, the child is stopped before somebody else starts.
 */
function watchLease(
  database: Database,
  lease: Lease,
  child: ChildProcess,
  { leaseSeconds, storeSeconds, signal, store }: EcmOptions,
): { stop(): void; finished: Promise<void> } {
  const end = new AbortController();
  const terminate = () => child.kill("SIGTERM");
  signal.addEventListener("abort", terminate);
  const repeat = async (seconds: number, step: () => Promise<void>) => {
    while (!end.signal.aborted) {
      await sleep(seconds * 1000, undefined, { signal: end.signal }).catch(() => undefined);
      if (!end.signal.aborted) await step();
    }
  };
  let renewedAt = performance.now();
  const isNearlyOver = () => performance.now() - renewedAt > leaseSeconds * 700;
  const renew = async () => {
    // A machine that was stopped and comes back asks nobody first.
    if (isNearlyOver()) child.kill("SIGKILL");
    const startedAt = performance.now();
    // A server that hangs must not hold up the look at the clock.
    const tooLate = sleep(leaseSeconds * 250, "late" as const, { ref: false });
    const renewal = renewLease(database, lease, leaseSeconds).then(
      () => "renewed" as const,
      (error: unknown) => (error instanceof LeaseLostError ? ("lost" as const) : ("late" as const)),
    );
    const result = await Promise.race([renewal, tooLate]);
    if (result === "renewed") renewedAt = startedAt;
    if (result === "lost" || isNearlyOver()) child.kill("SIGKILL");
  };
  const finished = Promise.all([
    repeat(leaseSeconds / 5, renew),
    repeat(storeSeconds, () => store().catch(() => undefined)),
  ]).then(() => signal.removeEventListener("abort", terminate));
  if (signal.aborted) terminate();
  return { stop: () => end.abort(), finished };
}

function waitForEnd(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    // The error line and the rate-limit line come last.
    stderr = (stderr + text).slice(-65_536);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}

const longestPauseMilliseconds = 5000;

/**
 * A server that is away comes back: what was done is not thrown away for it.
 * @throws LeaseLostError as soon as another worker has taken over
 */
async function untilStored(
  database: Database,
  lease: Lease,
  store: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  for (let pause = 200; ; pause = Math.min(pause * 2, longestPauseMilliseconds)) {
    try {
      return await storeUnderLease(database, lease, store);
    } catch (error) {
      if (error instanceof LeaseLostError || !isAway(error)) throw error;
      await sleep(pause);
    }
  }
}

/** The connection was refused or lost, the server starts or stops (classes 08 and 57 of its codes), or has waited too long for us (25P03). */
function isAway(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string };
  if (code === undefined) return /terminated|timeout|connection error/i.test(message);
  return /^(08|57P|25P03|ECONN|ENOENT|EPIPE|ETIMEDOUT)/.test(code);
}
