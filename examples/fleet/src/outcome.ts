/** What the end of an `ecm` process means for its job. Pure. */

export interface Ended {
  /** Null where it was killed, or could not be started. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface Outcome {
  status: "completed" | "failed" | "deadletter" | "later";
  /** When a later job is due. */
  at?: Date;
  output: { exitCode: number | null; summary: unknown; error: string | null };
}

/** Done, some rows perhaps rejected. */
const done = [0, 3];
/** The service refused or was not reached, or the worker was stopped. */
const retried = [null, 1, 8, 130, 143];
const conflict = 6;
const outOfBudget = 7;
const hour = 3600;

/** @param conflicts how often in a row the task has met a conflict before */
export function readOutcome(ended: Ended, conflicts: number, now: Date): Outcome {
  const { exitCode, stdout, stderr } = ended;
  const summary = parseObject(stdout);
  const lines = stderr.split("\n").filter((line) => line !== "");
  const error = parseObject(lines.findLast((line) => line.startsWith('{"error":')) ?? "")?.error;
  const output = {
    exitCode,
    summary,
    error: done.includes(exitCode ?? -1) ? null : String(error?.message ?? lines.at(-1) ?? "killed"),
  };
  const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1000);
  if (done.includes(exitCode ?? -1)) return { status: "completed", output };
  if (retried.includes(exitCode)) return { status: "failed", output };
  if (exitCode === conflict) {
    return { status: "later", at: inSeconds(Math.min(30 * 2 ** conflicts, hour)), output };
  }
  if (exitCode !== outOfBudget) return { status: "deadletter", output };
  const resumableAt = new Date(summary?.resumableAt ?? error?.resumableAt);
  const isNamed = !Number.isNaN(resumableAt.getTime());
  return { status: "later", at: isNamed ? resumableAt : inSeconds(error?.retryAfterSeconds ?? hour), output };
}

/** biome-ignore lint/suspicious/noExplicitAny: what another program prints */
function parseObject(text: string): Record<string, any> | null {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
