/** `fleet status`: every account with its tasks, as a table or as JSON. */
import type { Database } from "./database.ts";

export interface StatusRow {
  account: string;
  /** Null for an account that has no task. */
  task: string | null;
  command: string | null;
  state: "waiting" | "running" | "done" | "failed" | null;
  /** When the next slice is due. */
  next: string | null;
  slices: number | null;
  pending: number | null;
  rejected: number | null;
  hourLeft: string | null;
  monthLeft: string | null;
  worker: string | null;
  exitCode: number | null;
  error: string | null;
}

export async function readStatus(database: Database): Promise<StatusRow[]> {
  const { rows } = await database.query<StatusRow & { next: Date | null }>(
    `SELECT account.name AS account, task.id AS task, array_to_string(task.words, ' ') AS command,
       CASE WHEN task.state = 'running' AND account.holder IS NULL THEN 'waiting' ELSE task.state END AS state,
       CASE WHEN task.state IN ('waiting', 'running') THEN task.slice_at END AS next,
       task.slices, (task.summary -> 'rows' ->> 'pending')::int AS pending,
       (task.summary -> 'rows' ->> 'rejected')::int AS rejected,
       account.limits ->> 'hour' AS "hourLeft", account.limits ->> 'month' AS "monthLeft",
       CASE WHEN task.state = 'running' THEN account.holder END AS worker,
       task.exit_code AS "exitCode", task.error ->> 'message' AS error
     FROM fleet.account AS account LEFT JOIN fleet.task AS task ON task.account = account.name
     ORDER BY account.name, task.id`,
  );
  return rows.map((row) => ({ ...row, next: row.next?.toISOString() ?? null }));
}

const columns: [title: string, value: (row: StatusRow) => string | number | null][] = [
  ["ACCOUNT", (row) => row.account],
  ["TASK", (row) => row.task],
  ["STATE", (row) => row.state],
  ["NEXT SLICE", (row) => (row.state === "waiting" ? row.next : null)],
  ["SLICES", (row) => row.slices],
  ["PENDING", (row) => row.pending],
  ["REJECTED", (row) => row.rejected],
  ["HOUR LEFT", (row) => row.hourLeft],
  ["MONTH LEFT", (row) => row.monthLeft],
  ["COMMAND", (row) => row.command],
  ["ERROR", (row) => row.error],
];

/** Columns that are as wide as what stands in them; control characters of messages are taken out. */
export function formatStatus(rows: readonly StatusRow[]): string {
  const cells = [
    columns.map(([title]) => title),
    ...rows.map((row) =>
      columns.map(([, value]) => String(value(row) ?? "").replace(/[\u0000-\u001f\u007f-\u009f]/g, " ")),
    ),
  ];
  const widths = columns.map((_column, at) => Math.max(...cells.map((line) => line[at]!.length)));
  return cells
    .map(
      (line) =>
        `${line
          .map((cell, at) => cell.padEnd(widths[at]!))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
