#!/usr/bin/env node
/** `fleet`: ecm for many accounts, on any number of machines that share a folder and a database. */
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { parseArgs, promisify } from "node:util";
import { describeJob, openQueue, queue, type Task } from "./queue.ts";
import { formatStatus, readStatus } from "./status.ts";
import { work } from "./worker.ts";

const usage = `fleet: ecm for many accounts, on any number of machines

  fleet add ACCOUNT [--cron EXPRESSION] -- WORDS…   run \`ecm --profile ACCOUNT WORDS…\`, once or again and again (UTC)
  fleet work [--concurrency 4]                      run what is due, in the folder that all machines share
  fleet status [--json]                             what became of each task, and when it goes on

PostgreSQL: DATABASE_URL, or PGHOST, PGDATABASE, PGUSER…
`;

class UsageError extends Error {}

const commands: Record<string, (args: string[]) => Promise<void>> = { add, work: workHere, status };
/** A short visit: workers look after the queue. */
const visit = { supervise: false, schedule: false };

async function add(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: { cron: { type: "string" } },
    allowPositionals: true,
  });
  const [account = "", ...words] = positionals;
  if (!/^\w[\w.-]*$/.test(account) || words.length === 0)
    throw new UsageError("fleet add ACCOUNT [--cron …] -- WORDS…");
  const help = await promisify(execFile)("ecm", [...words, "--help"]).catch((error) => {
    throw new UsageError(error.stderr || error.message);
  });
  if (help.stdout.includes("--no-wait")) words.push("--no-wait");
  const digest = createHash("sha256").update(words.join("\0")).digest("hex").slice(0, 12);
  const id = values.cron === undefined ? randomUUID() : `${account}/${digest}`;
  const task: Task = { id, account, words, conflicts: 0 };
  const boss = await openQueue(visit);
  const options = describeJob(task);
  if (values.cron === undefined) await boss.send(queue, task, options);
  // Of the times that passed while no worker ran, the last is made up for.
  else await boss.schedule(queue, values.cron, task, { ...options, key: id, tz: "UTC", missed: "once" });
  await boss.stop();
}

async function workHere(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { concurrency: { type: "string", default: "4" } } });
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());
  // A worker that has not been heard of for 30 s is noticed at the next look.
  const boss = await openQueue({ superviseIntervalSeconds: 10, monitorIntervalSeconds: 10 });
  await work(boss, Number(values.concurrency), stopping.signal);
}

async function status(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { json: { type: "boolean" } } });
  const boss = await openQueue(visit);
  const rows = await readStatus(boss);
  process.stdout.write(values.json ? `${JSON.stringify(rows, null, 2)}\n` : formatStatus(rows));
  await boss.stop();
}

const [name = "", ...args] = process.argv.slice(2);
try {
  if (!commands[name]) throw new UsageError(usage);
  await commands[name](args);
} catch (error) {
  const { message, code } = error as Error & { code?: string };
  process.stderr.write(`${message}\n`);
  process.exitCode = error instanceof UsageError || code?.startsWith("ERR_PARSE_ARGS") ? 2 : 1;
}
