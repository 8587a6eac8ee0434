/** What the end of an `ecm` process means for its task. Pure. */

export interface Ended {
  /** Null where it was killed, or could not be started: `stderr` says why. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export type Outcome =
  /** Done; exit 3 says that some rows were rejected. */
  | { kind: "done" }
  /** Out of budget: it goes on at this time. */
  | { kind: "later"; at: Date }
  /** Held by another process, or the service was not reached: tried again, later each time. */
  | { kind: "retry" }
  /** Nothing that waiting mends. */
  | { kind: "failed" };

export interface Report {
  outcome: Outcome;
  exitCode: number | null;
  /** The command's JSON: of a bulk run, its summary. Null where it printed none. */
  summary: unknown;
  /** Its error line, or what it said last. */
  error: unknown;
  limits: Limits | null;
}

export interface Limits {
  hour?: string;
  month?: string;
  reset?: string;
}

export function readReport(ended: Ended, now: Date): Report {
  const { exitCode, stdout, stderr } = ended;
  const summary = parseJson(stdout.trim());
  const error = exitCode === 0 ? null : readError(stderr);
  return {
    outcome: decide(exitCode, summary, error, now),
    exitCode,
    summary,
    error,
    limits: readLimits(stderr),
  };
}

function decide(exitCode: number | null, summary: unknown, error: unknown, now: Date): Outcome {
  switch (exitCode) {
    case 0:
    case 3:
      return { kind: "done" };
    case 7:
      return { kind: "later", at: findResumeTime(summary, error, now) };
    case 130:
    case 143:
      // Stopped with its worker: another one resumes it at once.
      return { kind: "later", at: now };
    case 6:
    case 8:
    // Killed, or never started.
    case null:
      return { kind: "retry" };
    default:
      return { kind: "failed" };
  }
}

/** The summary says when; else the error says how long; else the next hour begins a new budget. */
function findResumeTime(summary: unknown, error: unknown, now: Date): Date {
  for (const place of [summary, error]) {
    const at = new Date(String(findMember(place, "resumableAt")));
    if (!Number.isNaN(at.getTime())) return at;
  }
  const seconds = findMember(error, "retryAfterSeconds");
  if (typeof seconds === "number") return new Date(now.getTime() + seconds * 1000);
  const hour = 3_600_000;
  return new Date((Math.floor(now.getTime() / hour) + 1) * hour);
}

function findMember(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function readError(stderr: string): unknown {
  const lines = stderr.split("\n").filter((line) => line !== "");
  const line = lines.findLast((each) => each.startsWith('{"error":'));
  const parsed = line === undefined ? undefined : findMember(parseJson(line), "error");
  return parsed ?? { message: lines.at(-1) ?? "nothing was said" };
}

/** `rate-limit: hour=3541/3600 reset=2026-11-21T14:00:00Z month=98742/100000` */
function readLimits(stderr: string): Limits | null {
  const line = stderr.split("\n").findLast((each) => each.startsWith("rate-limit: "));
  if (line === undefined) return null;
  return Object.fromEntries(
    line.split(" ").flatMap((part) => {
      const [, name, value] = /^(hour|reset|month)=(.*)$/.exec(part) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
