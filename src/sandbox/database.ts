/**
 * The one place that uses the database binding: opening, statements prepared once, one write transaction at a
 * time.
 *
 * Nothing else in this process may open the database, its log (`-wal`) or its index (`-shm`), not even to
 * read: on POSIX, closing any descriptor of a file ends all locks that the process holds on it, and the
 * binding closes its own descriptors only when its statements are collected. Other processes then overwrite
 * what this one relies on. Looking at a file by its path (stat, chmod, rename, unlink) opens nothing.
 */
import { rmSync, statSync } from "node:fs";
import type Libsql from "libsql";
import { failedError, usageError } from "../errors.ts";

/** A parameter of a statement. */
export type Value = string | number | null | Uint8Array;
/** No column of ours holds bytes. */
export type DatabaseRow = Record<string, string | number | null>;

// Values go in as one array: as separate arguments, which the binding flattens, an insert of ten costs 1.5
// times as much.
type Statement = Libsql.Statement<[Value[]]>;

/** A handle on the connection to a file; each opener of the file has its own. */
export class Database {
  private readonly connection: Connection;
  private isClosed = false;

  constructor(connection: Connection) {
    this.connection = connection;
    connection.users += 1;
  }

  /** How often `run` was called: shows whether some work has written. */
  get runs(): number {
    return this.connection.runs;
  }

  run(sql: string, ...values: Value[]): { changes: number; lastInsertRowid: number } {
    this.connection.runs += 1;
    const { changes, lastInsertRowid } = this.connection.prepare(sql).run(values);
    return { changes, lastInsertRowid: Number(lastInsertRowid) };
  }

  /** The first row, or undefined. */
  get<T = DatabaseRow>(sql: string, ...values: Value[]): T | undefined {
    return this.connection.prepare(sql).get(values) as T | undefined;
  }

  all<T = DatabaseRow>(sql: string, ...values: Value[]): T[] {
    return this.connection.prepare(sql).all(values) as T[];
  }

  /** Several statements without values. */
  exec(sql: string): void {
    this.connection.binding.exec(sql);
  }

  /**
   * Does the work alone among all processes of the folder, and keeps it when it returns. What it throws
   * undoes it.
   */
  transaction<T>(work: () => T): T {
    this.connection.prepare("BEGIN IMMEDIATE").run([]);
    try {
      const result = work();
      this.connection.prepare("COMMIT").run([]);
      return result;
    } catch (error) {
      this.connection.rollBack();
      throw error;
    }
  }

  /** The connection is closed when the last of its users has closed it. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.connection.release();
  }
}

/** Access to some tables of a database. */
export abstract class Tables {
  protected readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }
}

class Connection {
  readonly binding: Libsql.Database;
  users = 0;
  runs = 0;
  private readonly identity: string;
  private readonly prepared = new Map<string, Statement>();

  /** @param identity of the file; absent: it is in memory */
  constructor(binding: Libsql.Database, identity = "") {
    this.binding = binding;
    this.identity = identity;
  }

  /** The statement, which is prepared once. */
  prepare(sql: string): Statement {
    let statement = this.prepared.get(sql);
    if (!statement) {
      statement = this.binding.prepare<[Value[]]>(sql);
      this.prepared.set(sql, statement);
    }
    return statement;
  }

  /** A full disk has ended the transaction by itself. */
  rollBack(): void {
    if (this.binding.inTransaction) this.prepare("ROLLBACK").run([]);
  }

  release(): void {
    this.users -= 1;
    if (this.users > 0) return;
    connections.delete(this.identity);
    this.prepared.clear();
    this.binding.close();
  }
}

// Longer than any transaction of ours takes, a reset of a full folder included.
const busyMilliseconds = 30_000;

/** The connections of this process: one for each file, by its identity, however often it is opened. */
const connections = new Map<string, Connection>();

/**
 * Opens a file that several processes may use at once; within a process all who open it share one connection.
 * A transaction that has ended survives the death of its process; it is the operating system's to survive a
 * loss of power (write-ahead log, synchronous NORMAL).
 * @throws UsageError when the binding is not installed, or the file is no database
 */
export async function openDatabase(file: string): Promise<Database> {
  const Binding = await loadBinding();
  const known = connections.get(fileIdentity(file) ?? "");
  if (known) return new Database(known);
  const binding = connect(Binding, file);
  const identity = fileIdentity(file)!;
  const connection = new Connection(binding, identity);
  connections.set(identity, connection);
  return new Database(connection);
}

/**
 * A database of this process alone, which is gone once it is closed.
 * @throws UsageError when the binding is not installed
 */
export async function openMemoryDatabase(): Promise<Database> {
  const Binding = await loadBinding();
  const binding = new Binding(":memory:");
  binding.pragma("temp_store = MEMORY");
  return new Database(new Connection(binding));
}

/**
 * Undefined where there is no such file. A path is not enough: links lead to a file, and another may take its
 * place.
 */
function fileIdentity(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

function connect(Binding: typeof Libsql, file: string): Libsql.Database {
  let binding: Libsql.Database;
  try {
    binding = new Binding(file);
    binding.pragma(`busy_timeout = ${busyMilliseconds}`);
    useWriteAheadLog(binding);
  } catch (error) {
    if (hasCode(error, "full")) {
      throw failedError(
        `The sandbox's data in ${file} cannot be opened: the disk is full`,
        "Make room on the disk, then run the same command again",
        { type: "SystemError", cause: error },
      );
    }
    throw usageError(
      `The sandbox's data in ${file} cannot be opened: ${(error as Error).message}`,
      "Check the folder's permissions, or use another one",
      { cause: error },
    );
  }
  binding.pragma("synchronous = NORMAL");
  binding.pragma("temp_store = MEMORY");
  // 64 MiB, in place of 4: a page that many transactions change, as those of the log of requests, is carried
  // over once.
  binding.pragma("wal_autocheckpoint = 16000");
  binding.pragma("cache_size = -32000");
  return binding;
}

/** SQLite's numbers for its failures. */
const codes = { busy: 5, locked: 6, corrupt: 11, full: 13, notADatabase: 26, shortRead: 522 };

/** Whether SQLite failed so. Extended numbers hold the plain one in their last byte. */
function hasCode(error: unknown, ...wanted: (keyof typeof codes)[]): boolean {
  const { rawCode = 0 } = error as { rawCode?: number };
  return wanted.some((each) => codes[each] === rawCode || codes[each] === (rawCode & 0xff));
}

/** SQLite's reason, where a file holds no database, or one that cannot be read any more. */
export function findDamage(error: unknown): string | undefined {
  const { message, cause } = error as Error;
  if (hasCode(error, "corrupt", "notADatabase", "shortRead")) return message;
  return cause === undefined ? undefined : findDamage(cause);
}

/**
 * Deletes a database with its side files. Processes that have it open go on with a file that no other process
 * sees.
 */
export function discardDatabase(file: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(`${file}${ending}`, { force: true });
}

async function loadBinding(): Promise<typeof Libsql> {
  try {
    return (await import("libsql")).default;
  } catch (error) {
    throw usageError(
      "The sandbox needs the package libsql, which is not installed here",
      "It is an optional dependency without a build for every platform: npm install --include=optional",
      { cause: error },
    );
  }
}

// Two processes that open a new file at the same moment: the change of mode does not wait for the lock by
// itself.
function useWriteAheadLog(binding: Libsql.Database): void {
  for (let attempt = 1; ; attempt++) {
    try {
      binding.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      if (attempt === 200 || !hasCode(error, "busy", "locked")) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

// Other processes of the folder wait as long as one transaction lasts.
const maxInOneTransaction = 64;

interface WaitingWork {
  work: () => unknown;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

/**
 * Transactions of requests: each request's work happens alone among all processes of the folder, and is
 * answered only once it is kept. Requests that arrive together share one transaction, so that many cost
 * little more than one.
 */
export class TransactionQueue {
  private readonly database: Database;
  private readonly waiting: WaitingWork[] = [];
  private isPlanned = false;

  constructor(database: Database) {
    this.database = database;
  }

  /**
   * Rejects when any work of its transaction throws, or the transaction cannot begin or be kept: then nothing
   * of it has happened. A refused request is an answer, and no error.
   */
  runInTransaction<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ work, resolve: resolve as (result: never) => void, reject });
      this.plan();
    });
  }

  private plan(): void {
    if (this.isPlanned || this.waiting.length === 0) return;
    this.isPlanned = true;
    setImmediate(() => {
      this.isPlanned = false;
      this.serve(this.waiting.splice(0, maxInOneTransaction));
      this.plan();
    });
  }

  private serve(batch: WaitingWork[]): void {
    try {
      const results = this.database.transaction(() => batch.map(({ work }) => work()));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as never);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
