/** A run that is entered: priced, worked through, stopped or finished, and reported. */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { EcmError, exitCodes } from "../errors.ts";
import { readAccountIfSmaller } from "./account-snapshot.ts";
import type { Budget, BudgetOptions } from "./budget.ts";
import { type Price, priceOf } from "./estimate.ts";
import type { Joined } from "./join.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { createLookup, identityReader, type Lookup, largestBlock } from "./lookup.ts";
import { asEcmError, type PacedSend, RunStop } from "./paced-send.ts";
import { countCodes, countRows, type RowCounts, type SettledByInput, type Summary } from "./report.ts";
import { writeRowRejects } from "./row-rejects.ts";
import { type Prepared, workOf } from "./row-run.ts";
import type { InputFacts } from "./rows.ts";
import type { EnteredRun } from "./run-entry.ts";
import { fileOf } from "./run-files.ts";
import { runsFolder, writeManifest } from "./run-folder.ts";
import { runWork } from "./runner.ts";
import { note, type Session } from "./session.ts";
import { openSnapshot, type Snapshot } from "./snapshot.ts";
import type { Survey } from "./survey.ts";

export interface RunOptions extends BudgetOptions {
  isDryRun: boolean;
  isFresh: boolean;
  concurrency: number;
  /** Stops the run. Default: 50 with none accepted. */
  maxRejects?: { rows: number } | { percent: number };
  /** Where the rejects file goes besides the run folder. */
  rejects?: string;
}

/** What a run is doing, read whenever it is drawn. */
export interface RunStatus {
  phase: "reading" | "looking" | "working" | "reporting";
  /** While reading. */
  rowsRead?: number;
  /** Once everything is read. */
  rows?: () => RowCounts;
  price?: Price;
  send?: PacedSend;
  budget?: Budget;
}

export type RunEvent =
  | { kind: "status"; status: RunStatus }
  | { kind: "understood"; facts: InputFacts }
  | { kind: "surveyed"; survey: Survey; joined: Joined }
  | { kind: "input-changed"; older: string }
  | { kind: "entered"; run: string; isResumed: boolean; rows: RowCounts }
  | { kind: "priced"; price: Price; missing: { lists: string[]; tags: string[] } };

const defaultMostRejected = 50;

/** @param run absent in a dry run */
export async function workThrough(
  prepared: Prepared,
  run: EnteredRun | undefined,
): Promise<{ summary: Summary; stop?: RunStop }> {
  const ledger = run?.ledger ?? createLedger();
  const input = settledByInput(prepared);
  const { status, on } = prepared;
  status.rows = () => countRows(input, ledger);
  if (run) {
    on({ kind: "entered", run: run.manifest.id, isResumed: run.isResumed, rows: status.rows() });
    const { version } = prepared.engine;
    note({ journal: run.journal, ledger }, { kind: "start", at: prepared.engine.clock.now(), version });
  }
  let stop: RunStop | undefined;
  let snapshot: Snapshot | undefined;
  try {
    guardRejects(prepared, ledger, input);
    status.phase = "looking";
    snapshot = await openAccountSnapshot(prepared, run, ledger);
    const session = openSession(prepared, run, ledger, snapshot);
    await priceWork(prepared, session, input);
    status.phase = "working";
    if (run) await prepared.names.create();
    await runWork(session, workOf(prepared), run === undefined);
  } catch (error) {
    stop = error instanceof RunStop ? error : new RunStop("error", asEcmError(error));
  } finally {
    snapshot?.close();
  }
  status.phase = "reporting";
  return finish(prepared, run, ledger, input, stop);
}

function settledByInput({ survey, joined, job }: Prepared): SettledByInput {
  return {
    read: survey.read,
    rejectedCodes: survey.rejectedCodes,
    passedOver: joined.passedOver,
    passedOverAre: job.duplicates === "reject" ? "rejected" : "skipped",
  };
}

function openSession(
  prepared: Prepared,
  run: EnteredRun | undefined,
  ledger: Ledger,
  snapshot: Snapshot | undefined,
): Session {
  const { engine, job, send, budget, structure, survey, options } = prepared;
  const lookup: Lookup = createLookup({
    send,
    structureId: structure._id,
    keyType: structure.keyType,
    source: job.source(structure, survey),
    snapshot,
    isSnapshotOfAll: true,
  });
  const session: Session = {
    send,
    budget,
    lookup,
    ledger,
    journal: run?.journal,
    clock: engine.clock,
    concurrency: options.concurrency,
  };
  const input = settledByInput(prepared);
  session.onRejected = () => {
    const reason = tooManyRejects(options, countRows(input, ledger));
    if (reason) send.stop(reason);
  };
  return session;
}

/** Rows that are wrong as they stand may already be too many. */
function guardRejects({ options }: Prepared, ledger: Ledger, input: SettledByInput): void {
  const rows = countRows(input, ledger);
  const reason = options.maxRejects && tooManyRejects(options, rows);
  if (reason) throw reason;
}

function tooManyRejects({ maxRejects }: RunOptions, rows: RowCounts): RunStop | undefined {
  const { rejected, read, created, updated, unchanged } = rows;
  if (!maxRejects) {
    if (rejected < defaultMostRejected || created + updated + unchanged > 0) return undefined;
  } else if ("rows" in maxRejects) {
    if (rejected < Math.max(1, maxRejects.rows)) return undefined;
  } else if (rejected === 0 || rejected * 100 < maxRejects.percent * read) return undefined;
  return new RunStop(
    "max-rejects",
    new EcmError(exitCodes.rejectedRows, `stopped: ${rejected} rows were rejected`, {
      type: "TooManyRejectsError",
      hint: "is the mapping right? --max-rejects sets how many are too many",
    }),
  );
}

/** Undefined where asking for blocks of keys is cheaper. */
async function openAccountSnapshot(
  prepared: Prepared,
  run: EnteredRun | undefined,
  ledger: Ledger,
): Promise<Snapshot | undefined> {
  const { engine, job, send, structure, survey, options } = prepared;
  const contacts = contactsLeft(prepared, ledger);
  if (contacts === 0) return undefined;
  const root = runsFolder(engine.stateFolder);
  if (!run) await mkdir(root, { recursive: true, mode: 0o700 });
  const file = run
    ? join(run.folder, fileOf.snapshot)
    : join(root, `.dry-run-${randomBytes(6).toString("hex")}`);
  const snapshot = await openSnapshot(file, {
    isTemporary: run === undefined,
    identityOf: identityReader(structure.keyType),
  });
  try {
    const isUseful = await readAccountIfSmaller(snapshot, contacts, {
      send,
      structureId: structure._id,
      source: job.source(structure, survey),
      concurrency: options.concurrency,
    });
    if (isUseful) return snapshot;
  } catch (error) {
    snapshot.close();
    throw error;
  }
  snapshot.close();
  return undefined;
}

/** Contacts that are not done yet. */
function contactsLeft({ survey, joined }: Prepared, ledger: Ledger): number {
  const { created, updated, unchanged, skipped, rejected } = ledger.counts;
  const contacts = survey.read - survey.rejected - joined.passedOver;
  return contacts - created - updated - unchanged - skipped - rejected;
}

/**
 * Says what the rest will cost; refuses to begin what the month cannot hold.
 * With the whole account at hand the price is exact; else it is the most that can be needed.
 */
async function priceWork(prepared: Prepared, session: Session, input: SettledByInput): Promise<void> {
  const { budget, send, options, engine, names, status, on } = prepared;
  if (options.isDryRun) return;
  const { lookup, ledger } = session;
  const contacts = contactsLeft(prepared, ledger);
  const writes = lookup.isComplete ? await countWrites(prepared, session) : contacts;
  const lookUps = lookup.isComplete ? 0 : Math.ceil(contacts / largestBlock);
  const price = priceOf({
    spent: send.counts.total,
    left: lookUps + writes + names.requestsToCreate,
    isExact: lookup.isComplete || contacts === 0,
    limits: budget.limits,
    reserve: options.reserve,
    concurrency: options.concurrency,
    now: engine.clock.now() + budget.clockOffset,
  });
  status.price = price;
  on({ kind: "priced", price, missing: names.missing });
  if (price.fitsMonth || options.maxRequests !== undefined) return;
  void input;
  throw new RunStop(
    "month",
    new EcmError(
      exitCodes.outOfBudget,
      `this needs ${price.estimate.isExact ? "" : "up to "}${price.left} requests, and the month has ${price.monthLeft} left`,
      {
        type: "OutOfBudgetError",
        hint: "limit the run with --max-requests, and go on when the month is over",
      },
    ),
  );
}

/** Writes that deciding on everything, without sending anything, comes to. */
async function countWrites(prepared: Prepared, session: Session): Promise<number> {
  const work = workOf(prepared);
  let writes = 0;
  const rehearsal: Session = {
    ...session,
    journal: undefined,
    ledger: createLedger(),
    onRejected: undefined,
  };
  const rest = {
    ...work,
    async *items() {
      for await (const item of work.items()) if (!session.ledger.isDone(item.ref)) yield item;
    },
  };
  await runWork(rehearsal, rest, true);
  writes = rehearsal.ledger.counts.created + rehearsal.ledger.counts.updated;
  return writes;
}

async function finish(
  prepared: Prepared,
  run: EnteredRun | undefined,
  ledger: Ledger,
  input: SettledByInput,
  stop: RunStop | undefined,
): Promise<{ summary: Summary; stop?: RunStop }> {
  const { engine, job, send, names, status } = prepared;
  const rows = countRows(input, ledger);
  const at = engine.clock.now();
  const rejects = await writeRowRejects(prepared, run, ledger, stop);
  const spent = send.counts.total;
  const dryTotal = spent + rows.created + rows.updated + names.requestsToCreate;
  const dryPrice = () =>
    priceOf({
      spent,
      left: dryTotal - spent,
      isExact: true,
      limits: prepared.budget.limits,
      reserve: prepared.options.reserve,
      concurrency: prepared.options.concurrency,
      now: at + prepared.budget.clockOffset,
    });
  const price = run ? status.price : dryPrice();
  status.price = price;
  const summary: Summary = {
    run: run?.manifest.id ?? null,
    kind: job.kind,
    status: stop ? "stopped" : run ? "completed" : "dry-run",
    file: job.input.name,
    rows,
    requests: { ...send.counts },
    estimate: {
      requests: price?.estimate.requests ?? spent,
      seconds: price?.estimate.seconds ?? 0,
    },
    rejects,
    stoppedBy: stop?.by ?? null,
    codes: countCodes(input, ledger),
    inactive: ledger.inactive,
  };
  if (!run) return { summary, stop };
  try {
    run.journal.append(stop ? { kind: "stop", at, by: stop.by } : { kind: "end", at });
    await run.journal.sync();
    await writeManifest(run.folder, { ...run.manifest, summary });
  } catch (error) {
    // The journal is the truth; a stop that is under way says more than a disk that cannot take its note.
    if (!stop)
      return {
        summary: { ...summary, status: "stopped", stoppedBy: "error" },
        stop: new RunStop("error", asEcmError(error)),
      };
  }
  return { summary, stop };
}
