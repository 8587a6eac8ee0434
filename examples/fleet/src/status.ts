/** `fleet status`: a row for each task. */
import type { JobWithMetadata, PgBoss, Schedule } from "pg-boss";
import type { Outcome } from "./outcome.ts";
import { deadLetters, queue, type Task } from "./queue.ts";

export interface StatusRow {
  account: string;
  command: string;
  state: string;
  next: string | null;
  /** Of the last start that ended, in this slice of an hour or an earlier one. */
  summary: unknown;
  error: string | null;
}

/** What a job leaves; where its worker died, pg-boss says so in `value`. */
type Output = Partial<Outcome["output"]> & { value?: { message?: string } };

const most = { limit: 100_000 };

export async function readStatus(boss: PgBoss): Promise<StatusRow[]> {
  const jobs = [
    ...(await boss.findJobs<Task>(queue, most)),
    ...(await boss.findJobs<Task>(deadLetters, most)),
  ];
  jobs.sort((a, b) => a.createdOn.getTime() - b.createdOn.getTime());
  const tasks = Map.groupBy(jobs, ({ data }) => data.id);
  const schedules = new Map((await boss.getSchedules(queue)).map((schedule) => [schedule.key, schedule]));
  return [...new Set([...tasks.keys(), ...schedules.keys()])].map((id) => {
    const own = tasks.get(id) ?? [];
    const schedule = schedules.get(id);
    const { account, words } = own.at(-1)?.data ?? (schedule!.data as Task);
    const output = own.map((job) => (job.sourceOutput ?? job.output) as Output | null).findLast(Boolean);
    const { summary = null, error, value } = output ?? {};
    const state = describeState(own.at(-1));
    const next = state === "waiting" ? own.at(-1)!.startAfter : schedule && nextTime(boss, schedule);
    return {
      account,
      command: words.join(" "),
      state,
      next: next?.toISOString() ?? null,
      summary,
      error: error ?? value?.message ?? null,
    };
  });
}

function describeState(newest: JobWithMetadata<Task> | undefined): string {
  if (newest?.name === deadLetters || newest?.state === "failed") return "dead letter";
  if (newest === undefined) return "scheduled";
  const names = { created: "waiting", retry: "waiting", active: "running", completed: "done" } as const;
  return names[newest.state as keyof typeof names] ?? newest.state;
}

function nextTime(boss: PgBoss, { cron, timezone }: Schedule): Date | undefined {
  return boss.previewSchedule(cron, { tz: timezone, count: 1 })[0];
}

/** Columns as wide as their longest cell; the error last, since it is the longest. */
export function formatStatus(rows: StatusRow[]): string {
  const cells = [
    ["ACCOUNT", "COMMAND", "STATE", "NEXT", "LAST", "ERROR"],
    ...rows.map((row) => [
      row.account,
      row.command,
      row.state,
      row.next ?? "",
      describeRows(row.summary),
      row.error ?? "",
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const lines = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join("  "));
  // What a file or a service said must not move the cursor.
  return lines.map((line) => `${line.trimEnd().replaceAll(/\p{Cc}/gu, " ")}\n`).join("");
}

function describeRows(summary: unknown): string {
  const { rows = {} } = (summary ?? {}) as { rows?: Record<string, number> };
  const counts = Object.entries(rows).filter(([, count]) => count > 0);
  return counts.map(([name, count]) => `${count} ${name}`).join(", ");
}
