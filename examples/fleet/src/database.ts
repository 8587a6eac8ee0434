/** The tables of the fleet, beside those of pg-boss: accounts with their leases, tasks, inputs and state folders. */
import pg from "pg";

/** A lock that is held while the tables are made, so that two programs may start at once. */
const schemaLock = 7_305_021;

const schema = `
  CREATE SCHEMA IF NOT EXISTS fleet;
  CREATE TABLE IF NOT EXISTS fleet.account (
    name text PRIMARY KEY,
    base_url text NOT NULL,
    api_key_command text NOT NULL,
    -- Grows with every lease: who holds an older number can store nothing.
    fence bigint NOT NULL DEFAULT 0,
    holder text,
    lease_until timestamptz,
    job uuid,
    -- What was left of hour and month after the last slice.
    limits jsonb
  );
  CREATE TABLE IF NOT EXISTS fleet.task (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account text NOT NULL REFERENCES fleet.account ON DELETE CASCADE,
    words text[] NOT NULL,
    cron text,
    state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    slice_at timestamptz NOT NULL DEFAULT now(),
    slices integer NOT NULL DEFAULT 0,
    -- Since its last slice that did something.
    tries integer NOT NULL DEFAULT 0,
    -- Workers that died with it in their hands, since its last slice that ended.
    deaths integer NOT NULL DEFAULT 0,
    exit_code integer,
    summary jsonb,
    error jsonb,
    ended_at timestamptz
  );
  CREATE TABLE IF NOT EXISTS fleet.input (
    task bigint NOT NULL REFERENCES fleet.task ON DELETE CASCADE,
    name text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (task, name)
  );
  CREATE TABLE IF NOT EXISTS fleet.state_part (
    account text NOT NULL REFERENCES fleet.account ON DELETE CASCADE,
    path text NOT NULL,
    start bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (account, path, start)
  );
`;

export interface Account {
  name: string;
  baseUrl: string;
  /** Run by a shell of the worker; its first line is the API key, which is stored nowhere. */
  apiKeyCommand: string;
}

export interface Task {
  id: string;
  account: string;
  /** The words after `ecm`. */
  words: string[];
  cron: string | null;
  /** Failures in a row that may pass. */
  tries: number;
}

export type Database = pg.Pool;
export type Transaction = pg.PoolClient;

const longestIdleMilliseconds = 10_000;

/** Connects as libpq does: `DATABASE_URL`, or `PGHOST`, `PGDATABASE`, `PGUSER`… */
export async function openDatabase(): Promise<Database> {
  const database = new pg.Pool({
    connectionString: process.env.DATABASE_URL,
    max: 10,
    // A machine that was suspended within a transaction locks its account until the server gives it up.
    idle_in_transaction_session_timeout: longestIdleMilliseconds,
  });
  // A lost connection is found by the query that needs it; the pool opens another.
  database.on("error", () => undefined);
  await inTransaction(database, async (transaction) => {
    await transaction.query("SELECT pg_advisory_xact_lock($1)", [schemaLock]);
    await transaction.query(schema);
  });
  return database;
}

/** Commits what `work` did, or nothing of it. */
export async function inTransaction<T>(
  database: Database,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const client = await database.connect();
  // Without a listener, a server that goes away would end the process.
  const ignore = () => undefined;
  client.on("error", ignore);
  let failure: unknown;
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    failure = error;
    await client.query("ROLLBACK").catch(ignore);
    throw error;
  } finally {
    client.off("error", ignore);
    client.release(failure instanceof Error ? failure : undefined);
  }
}

export async function saveAccount(database: Database, account: Account): Promise<void> {
  await database.query(
    `INSERT INTO fleet.account (name, base_url, api_key_command) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET base_url = excluded.base_url, api_key_command = excluded.api_key_command`,
    [account.name, account.baseUrl, account.apiKeyCommand],
  );
}

/** @returns the id of the new task */
export async function addTask(
  database: Database,
  task: Pick<Task, "account" | "words" | "cron">,
  start: Date,
  inputs: ReadonlyMap<string, Buffer>,
): Promise<string> {
  return inTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<{ id: string }>(
      "INSERT INTO fleet.task (account, words, cron, slice_at) VALUES ($1, $2, $3, $4) RETURNING id",
      [task.account, task.words, task.cron, start],
    );
    const id = rows[0]!.id;
    for (const [name, content] of inputs) {
      await transaction.query("INSERT INTO fleet.input VALUES ($1, $2, $3)", [id, name, content]);
    }
    return id;
  });
}

/** When the account's next slice is due; undefined when nothing is left to do. */
export async function findNextStart(database: Database, account: string): Promise<Date | undefined> {
  const { rows } = await database.query<{ next: Date | null }>(
    "SELECT min(slice_at) AS next FROM fleet.task WHERE account = $1 AND state IN ('waiting', 'running')",
    [account],
  );
  return rows[0]?.next ?? undefined;
}
