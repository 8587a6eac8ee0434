#!/usr/bin/env node
/** `fleet`: accounts, tasks, workers and status. Its state is in PostgreSQL alone. */
import { readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { addTask, type Database, openDatabase, saveAccount } from "./database.ts";
import { formatStatus, readStatus } from "./status.ts";
import { bringState, takeOutState } from "./transfer.ts";
import { nextStart, openQueue, schedule, work } from "./worker.ts";

const usage = `fleet: ecm for many accounts, on any number of machines

  fleet account NAME --base-url URL --api-key-command COMMAND [--state DIR]
      Adds or changes an account. Workers run COMMAND to get its API key; the key is stored nowhere. --state:
      the state folder that the account had so far, with its suppression list.
  fleet add ACCOUNT [--cron EXPRESSION] [--no-upload] -- WORDS…
      Runs \`ecm WORDS…\` for the account, hour by hour until it is done; with --cron again and again (UTC).
      A word that is a file here is stored with the task, unless --no-upload.
  fleet work [--concurrency 4] [--ecm PROGRAM] [--folder DIR] [--lease 60] [--store 30] [--retry 30]
      Works until it is stopped. --lease: seconds after which a silent worker counts as dead. --store: seconds
      between two copies of the state while a slice runs. --retry: seconds before a failed slice is tried again.
  fleet status [--json]
  fleet retry TASK
      Puts a failed task in line again.
  fleet remove TASK
      Removes a task that no worker is at work on.
  fleet state ACCOUNT DIR
      Copies the account's state folder into DIR, to read it: ECM_STATE_DIR=DIR ecm runs rejects RUN

PostgreSQL: DATABASE_URL, or PGHOST, PGDATABASE, PGUSER…
`;

class UsageError extends Error {}

const commands: Record<string, (words: string[]) => Promise<void>> = {
  account: runAccount,
  add: runAdd,
  work: runWork,
  status: runStatus,
  retry: runRetry,
  remove: runRemove,
  state: runState,
};

await main(process.argv.slice(2));

async function main([name, ...words]: string[]): Promise<void> {
  const command = commands[name ?? ""];
  if (!command) {
    const isHelp = name === "help" || name === "--help" || name === "-h";
    (isHelp ? process.stdout : process.stderr).write(usage);
    process.exitCode = isHelp ? 0 : 2;
    return;
  }
  try {
    await command(words);
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    process.stderr.write(`error: ${message || code}\n`);
    process.exitCode = error instanceof UsageError || code?.startsWith("ERR_PARSE_ARGS") ? 2 : 1;
  }
}

async function withDatabase<T>(run: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase();
  try {
    return await run(database);
  } finally {
    await database.end();
  }
}

async function runAccount(words: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      "base-url": { type: "string" },
      "api-key-command": { type: "string" },
      state: { type: "string" },
    },
  });
  const [name, ...others] = positionals;
  const { "base-url": baseUrl, "api-key-command": apiKeyCommand } = values;
  if (!name || others.length > 0 || !baseUrl || !apiKeyCommand)
    throw new UsageError("Give NAME, --base-url and --api-key-command");
  // It names a folder on the workers.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
    throw new UsageError(`${name}: use letters, digits and . _ -`);
  await withDatabase(async (database) => {
    await saveAccount(database, { name, baseUrl, apiKeyCommand });
    if (values.state === undefined) return;
    process.stderr.write(`Stored ${await bringState(database, name, values.state)} files of its state\n`);
  });
}

async function runAdd(words: string[]): Promise<void> {
  const end = words.indexOf("--");
  const own = end === -1 ? words : words.slice(0, end);
  const { values, positionals } = parseArgs({
    args: own,
    allowPositionals: true,
    options: { cron: { type: "string" }, "no-upload": { type: "boolean" } },
  });
  const [account] = positionals;
  const task = end === -1 ? [] : words.slice(end + 1);
  if (!account || positionals.length > 1 || task.length === 0) throw new UsageError("Give ACCOUNT -- WORDS…");
  const start = values.cron === undefined ? new Date() : readCron(values.cron);
  const { names, inputs } = values["no-upload"] ? { names: task, inputs: new Map() } : await readInputs(task);
  await withDatabase(async (database) => {
    const { rowCount } = await database.query("SELECT 1 FROM fleet.account WHERE name = $1", [account]);
    if (rowCount === 0)
      throw new UsageError(`There is no account ${account}; add it with: fleet account ${account} …`);
    const id = await addTask(database, { account, words: names, cron: values.cron ?? null }, start, inputs);
    await putInLine(database, account);
    process.stdout.write(`${id}\n`);
  });
}

function readCron(expression: string): Date {
  try {
    return nextStart(expression);
  } catch (error) {
    throw new UsageError(`--cron: ${(error as Error).message}`);
  }
}

/** Files among the words, which workers on other machines do not have: their content, and their names alone. */
async function readInputs(
  words: readonly string[],
): Promise<{ names: string[]; inputs: Map<string, Buffer> }> {
  const inputs = new Map<string, Buffer>();
  const names: string[] = [];
  for (const word of words) {
    const isFile = (await stat(word).catch(() => undefined))?.isFile() === true;
    names.push(isFile ? basename(word) : word);
    if (!isFile) continue;
    if (inputs.has(basename(word))) throw new UsageError(`Two files are named ${basename(word)}`);
    inputs.set(basename(word), await readFile(word));
  }
  return { names, inputs };
}

async function putInLine(database: Database, account: string): Promise<void> {
  const boss = await openQueue(database);
  try {
    await schedule(boss, database, account);
  } finally {
    await boss.stop({ graceful: false, close: false });
  }
}

async function runWork(words: string[]): Promise<void> {
  const option = (value: string) => ({ type: "string", default: value }) as const;
  const { values } = parseArgs({
    args: words,
    options: {
      concurrency: option("4"),
      ecm: option("ecm"),
      folder: option(join(tmpdir(), "ecm-fleet")),
      lease: option("60"),
      store: option("30"),
      retry: option("30"),
    },
  });
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  await withDatabase((database) =>
    work(
      database,
      {
        ecm: values.ecm.split(" "),
        folder: values.folder,
        concurrency: readNumber("--concurrency", values.concurrency),
        leaseSeconds: readNumber("--lease", values.lease),
        storeSeconds: readNumber("--store", values.store),
        retrySeconds: readNumber("--retry", values.retry),
      },
      stop.signal,
    ),
  );
}

function readNumber(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${flag}: ${JSON.stringify(text)} is not a number above 0`);
}

async function runStatus(words: string[]): Promise<void> {
  const { values } = parseArgs({ args: words, options: { json: { type: "boolean" } } });
  const rows = await withDatabase(readStatus);
  process.stdout.write(values.json ? `${JSON.stringify(rows, null, 2)}\n` : formatStatus(rows));
}

async function runRetry(words: string[]): Promise<void> {
  const task = readTaskNumber(words);
  await withDatabase(async (database) => {
    const { rows } = await database.query<{ account: string }>(
      `UPDATE fleet.task SET state = 'waiting', slice_at = now(), deaths = 0, tries = 0, error = NULL
       WHERE id = $1 AND state = 'failed' RETURNING account`,
      [task],
    );
    if (!rows[0]) throw new UsageError(`Task ${task} has not failed`);
    await putInLine(database, rows[0].account);
  });
}

async function runRemove(words: string[]): Promise<void> {
  const task = readTaskNumber(words);
  await withDatabase(async (database) => {
    const { rowCount } = await database.query(
      `DELETE FROM fleet.task AS task USING fleet.account AS account
       WHERE task.id = $1 AND account.name = task.account AND (task.state <> 'running' OR account.holder IS NULL)`,
      [task],
    );
    if (rowCount === 0) throw new UsageError(`There is no task ${task}, or a worker is at work on it`);
  });
}

function readTaskNumber(words: string[]): string {
  const [task, ...others] = parseArgs({ args: words, allowPositionals: true }).positionals;
  if (task && /^\d+$/.test(task) && others.length === 0) return task;
  throw new UsageError("Give the number of the task; see: fleet status");
}

async function runState(words: string[]): Promise<void> {
  const [account, folder, ...others] = parseArgs({ args: words, allowPositionals: true }).positionals;
  if (!account || !folder || others.length > 0) throw new UsageError("Give ACCOUNT DIR");
  const count = await withDatabase((database) => takeOutState(database, account, folder));
  process.stderr.write(`Copied ${count} files of ${account}\n`);
}
