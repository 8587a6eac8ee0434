/** Takes jobs from the queue, and runs `ecm` for each as a child process. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import type { Job, JobResult, PgBoss } from "pg-boss";
import { type Ended, type Outcome, readOutcome } from "./outcome.ts";
import { describeJob, queue, type Task } from "./queue.ts";

/** Works until the signal: then the children are ended, and their jobs retried by another worker. */
export async function work(boss: PgBoss, concurrency: number, signal: AbortSignal): Promise<void> {
  const options = { localConcurrency: concurrency, groupConcurrency: 1, perJobResults: true } as const;
  await boss.work<Task>(queue, options, (jobs) =>
    Promise.all(jobs.map((job) => runJob(boss, job, AbortSignal.any([job.signal, signal])))),
  );
  await new Promise((end) => signal.addEventListener("abort", end));
  await boss.stop({ timeout: 30_000 });
}

async function runJob(boss: PgBoss, job: Job<Task>, signal: AbortSignal): Promise<JobResult> {
  const ended = await runEcm(job.data, signal);
  const { status, at, output } = readOutcome(ended, job.data.conflicts, new Date());
  if (status !== "later") return { id: job.id, status, output };
  // Whoever lost the job leaves the rest to the worker that has it now.
  if (!job.signal.aborted) await putOff(boss, job, at!, output);
  return { id: job.id, status: "completed", output };
}

/** The rest of the task is a new job, so that no retry is used up. Both are written, or neither. */
async function putOff(boss: PgBoss, job: Job<Task>, at: Date, output: Outcome["output"]): Promise<void> {
  const rest: Task = { ...job.data, conflicts: output.exitCode === 6 ? job.data.conflicts + 1 : 0 };
  const transaction = await boss.getDb().beginTransaction!();
  try {
    const { db } = transaction;
    await boss.send(queue, rest, { ...describeJob(rest), startAfter: at, db });
    await boss.complete(queue, job, output, { db });
    await transaction.commit();
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/** The state folder is below the working folder, which all machines share. The profile is the account's name. */
function runEcm({ account, words }: Task, signal: AbortSignal): Promise<Ended> {
  const { ECM_BASE_URL, ECM_API_KEY, ...environment } = process.env;
  const child = spawn("ecm", ["--profile", account, ...words, "--json", "--quiet", "--no-input"], {
    env: { ...environment, ECM_STATE_DIR: resolve("state", account) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = () => {
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), 10_000).unref();
  };
  signal.addEventListener("abort", end);
  const ended: Ended = { exitCode: null, stdout: "", stderr: "" };
  // The summary and the error come last.
  const keep = (stream: "stdout" | "stderr") => (text: string) => {
    ended[stream] = (ended[stream] + text).slice(-65_536);
  };
  child.stdout.setEncoding("utf8").on("data", keep("stdout"));
  child.stderr.setEncoding("utf8").on("data", keep("stderr"));
  child.on("error", (error) => keep("stderr")(error.message));
  return new Promise((done) => {
    child.on("close", (exitCode) => {
      signal.removeEventListener("abort", end);
      done({ ...ended, exitCode: exitCode !== null && exitCode >= 0 ? exitCode : null });
    });
  });
}
