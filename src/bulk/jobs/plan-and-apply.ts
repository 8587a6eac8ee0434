/**
 * The one path of every bulk run: plan, show the plan and its price, have it agreed to, apply it, report. What a job adds is
 * which contacts are planned, and how each is decided.
 */
import { randomBytes } from "node:crypto";
import { access, constants, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Account } from "../../service/account.ts";
import type { Behavior } from "../../service/behavior.ts";
import type { Contact } from "../../wire.ts";
import { applyPlan } from "../apply/apply-plan.ts";
import type { Work } from "../items.ts";
import { asRunStop, type RunStop, requireFurther } from "../pace/run-stop.ts";
import { guardFailure } from "../plan/guards.ts";
import type { Lookup } from "../plan/lookup.ts";
import { type Entries, makePlan } from "../plan/make-plan.ts";
import type { NameBook } from "../plan/name-book.ts";
import { standInFor } from "../plan/names.ts";
import {
  type ClosedPlan,
  type KeptPlan,
  type PlanEnd,
  type PlanHead,
  readKeptPlan,
  readPlanLines,
  requireWholePlan,
} from "../plan/plan-file.ts";
import { planNames } from "../plan/plan-line.ts";
import { PlanWriter } from "../plan/plan-writer.ts";
import { type PlanRest, type Price, priceOfPlan, requireMonth } from "../plan/price.ts";
import type { Engine, RunContext } from "../plan/run-context.ts";
import {
  announceEntered,
  beginPhase,
  hasBegun,
  note,
  openSession,
  type RunState,
  type Session,
} from "../plan/session.ts";
import { emptyTally, plannedWrites, requestsFor } from "../plan/tally.ts";
import { identityReader } from "../read/keys.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { fileOf } from "../runs/files.ts";
import { runsFolder } from "../runs/folder.ts";
import { type RunKind, runCommands } from "../runs/kinds.ts";
import { Ledger } from "../runs/ledger.ts";
import type { SettledByInput } from "../runs/report.ts";
import { requireFewRejects, stopAtRejects } from "./few-rejects.ts";
import { type Closed, closeRun } from "./finish.ts";
import { writeRejected } from "./rejected.ts";

/** What a job puts into a plan. */
export interface PlanSource {
  entries: Entries;
  /** Rows, and contacts that no row names. */
  input: SettledByInput;
  /** So many entries are the same each time that they are read: a plan can continue within them. */
  stableEntries: number;
  lookup: Lookup;
  close(): void;
}

/** What a job says of its plan. */
export type PlanAbout = Omit<PlanHead, "version" | "program" | "command" | "createdAt" | "kind"> & {
  kind: RunKind;
};

/** A job that is ready to be planned and applied. */
export interface ReadyJob {
  readonly account: Account;
  readonly keyType: string;
  readonly behavior: Behavior;
  readonly work: Work;
  /** Without what is kept of pages: for the second looks. */
  readonly lookup: Lookup;
  /** Rows that stand for no contact; all rows, as far as they are known. */
  readonly input: SettledByInput;
  /** What the run creates in the account first. */
  readonly names?: Pick<NameBook, "missing" | "creations" | "requestsToCreate" | "create" | "idOf">;
  /** Requests that follow on the run once it is complete. */
  readonly requestsAfter: number;
  readonly isUnsubscribingMarked?: boolean;
  /** Rejected rows stop it only where a limit was given. */
  readonly isLenient?: boolean;
  head(): Promise<PlanAbout>;
  /** Reads the pages that are needed first, if any. @throws RunStop; UsageError when a sync would remove too many */
  source(state: RunState, scratch: string): Promise<PlanSource>;
  /** After what is missing was created. */
  created?(run: EnteredRun): Promise<void>;
}

/** @param run absent in a dry run */
export async function planAndApply(
  context: RunContext,
  job: ReadyJob,
  run: EnteredRun | undefined,
): Promise<Closed> {
  const { options } = context;
  const kept = run && (await readKeptPlan(planFileOf(run)));
  const ledger = run?.ledger ?? new Ledger();
  if (run) requireWholePlan(planFileOf(run), kept, hasBegun(ledger));
  const input = kept?.end?.input ?? job.input;
  let state: RunState = { ...context, input, tally: kept?.tally ?? emptyTally(), ledger, run };
  const place = await planPlace(context, run);
  const startedAt = context.clock.now();
  let price: Price | undefined;
  let backup: string | undefined;
  let stop: RunStop | undefined;
  announceEntered(state);
  try {
    if (options.maxRejects) requireFewRejects(options, state);
    const plan = kept?.end ? closedPlan(place.file!, { ...kept, end: kept.end }) : undefined;
    const made = plan ? undefined : await makeWholePlan(state, job, kept, place);
    if (made) state = made.state;
    const closed = plan ?? made!.plan;
    price = await priceOf(state, job, closed, plan !== undefined);
    context.emit({ kind: "priced", price });
    if (closed) await options.takePlan?.(closed);
    if (run) {
      requireMonth(options, price);
      const isFirst = !hasBegun(ledger);
      const refusal = isFirst ? guardFailure(state.tally, options.guards, planFileOf(run)) : undefined;
      if (refusal) throw refusal;
      if (price.left > 0) await options.agree?.(price, leftOf(state), job.names?.missing);
      if (isFirst && price.left > 0) backup = await backUp(state, job, run, closed!);
      await createNames(state, job, run, closed!);
      const session = sessionFor(state, job, job.lookup, startedAt);
      beginPhase(session, "working", price);
      await applyPlan(session, planFileOf(run));
      requireFurther(job.requestsAfter, { sent: state.send.counts.total, maxRequests: options.maxRequests });
    }
  } catch (error) {
    stop = asRunStop(error);
  }
  beginPhase(state, "reporting", price);
  const rejects = await writeRejected(state, stop, place.file);
  if (!run) await place.remove();
  nameMarked(state, job, stop);
  return closeRun(state, { stop, price, rejects, backup });
}

/** Names the contacts that the file marks as not subscribed and the account held as active. */
function nameMarked({ tally, emit }: RunState, job: ReadyJob, stop: RunStop | undefined): void {
  const { marked, doubtful, markedContacts } = tally;
  const named = stop?.by === "signal" ? [] : markedContacts;
  const isUnsubscribed = job.isUnsubscribingMarked ?? false;
  const groups = [
    { isDoubtful: false, total: marked - doubtful, isUnsubscribed },
    { isDoubtful: true, total: doubtful, isUnsubscribed: false },
  ];
  for (const group of groups) {
    const contacts = named.filter((each) => (each.isDoubtful ?? false) === group.isDoubtful);
    if (group.total > 0) emit({ kind: "marked", contacts, ...group });
  }
}

function planFileOf({ folder }: EnteredRun): string {
  return join(folder, fileOf.plan);
}

interface PlanPlace {
  /** Undefined where nobody wants to read the plan of a dry run. */
  file: string | undefined;
  /** Where pages of the account are kept until the plan is closed. */
  scratch: string;
  remove(): Promise<void>;
}

/** A real run keeps its plan in its folder; a dry run in a place of its own, which must also be found where nothing can be written. */
async function planPlace({ engine, options }: RunContext, run: EnteredRun | undefined): Promise<PlanPlace> {
  if (run) {
    const scratch = join(run.folder, fileOf.snapshot);
    return { file: planFileOf(run), scratch, remove: async () => undefined };
  }
  const folder = await scratchFolder(engine);
  const name = join(folder, `.dry-run-${randomBytes(6).toString("hex")}`);
  const isWanted = options.takePlan !== undefined || options.rejects !== undefined;
  const file = isWanted ? `${name}.ndjson` : undefined;
  return {
    file,
    scratch: name,
    async remove() {
      if (file) await rm(file, { force: true }).catch(() => undefined);
    },
  };
}

async function scratchFolder({ stateFolder }: Engine): Promise<string> {
  const folder = runsFolder(stateFolder);
  const isWritable = await mkdir(folder, { recursive: true, mode: 0o700 })
    .then(() => access(folder, constants.W_OK))
    .then(
      () => true,
      () => false,
    );
  return isWritable ? folder : tmpdir();
}

/** Looks everyone up and decides; a plan that was cut off continues. */
async function makeWholePlan(
  state: RunState,
  job: ReadyJob,
  kept: KeptPlan | undefined,
  { file, scratch }: PlanPlace,
): Promise<{ state: RunState; plan: ClosedPlan | undefined }> {
  const { engine, clock, run, options } = state;
  beginPhase(state, "looking");
  const source = await job.source(state, scratch);
  try {
    const about = await job.head();
    const head: PlanHead = {
      version: 1,
      program: engine.version,
      command: runCommands[about.kind],
      createdAt: new Date(clock.now()).toISOString(),
      ...about,
    };
    const creations = job.names?.creations ?? [];
    const usable = file && kept ? await readKeptPlan(file, source.stableEntries) : undefined;
    const writer =
      usable && usable.taken > 0
        ? await PlanWriter.resume(file!, usable)
        : PlanWriter.create(file, head, creations);
    const session = sessionFor(
      { ...state, input: source.input, tally: writer.tally },
      job,
      source.lookup,
      clock.now(),
    );
    beginPhase(session, "looking");
    const names = planNames(head.names);
    const isComplete = options.takePlan !== undefined || run?.manifest.plan !== undefined;
    try {
      await makePlan({ session, entries: source.entries, writer, names, isComplete });
    } catch (error) {
      writer.release();
      throw error;
    }
    const end = writer.close(restOf(session.tally).requests, source.input);
    const plan = file === undefined ? undefined : closedPlan(file, { head, creations, end });
    if (run) await forgetSources(run, scratch);
    return { state: session, plan };
  } finally {
    source.close();
  }
}

/** What only the plan needed: pages of the account, and an input that could be read only once. */
async function forgetSources({ folder, manifest }: EnteredRun, scratch: string): Promise<void> {
  await rm(scratch, { force: true });
  if (manifest.input.isSpooled) await rm(join(folder, fileOf.input), { force: true });
}

function closedPlan(
  file: string,
  { head, creations, end }: Pick<KeptPlan, "head" | "creations"> & { end: PlanEnd },
): ClosedPlan {
  return { head, creations, end, lines: () => readPlanLines(file) };
}

function sessionFor(state: RunState, job: ReadyJob, lookup: Lookup, startedAt: number): Session {
  const identityOf = identityReader(job.keyType);
  const { work, behavior } = job;
  const isLimited = state.options.maxRejects !== undefined || !job.isLenient;
  const onRejected = isLimited ? () => stopAtRejects(state) : undefined;
  return openSession(state, { work, behavior, lookup, identityOf, startedAt, onRejected });
}

/** What the plan still writes. */
function leftOf({ tally, ledger: { counts } }: RunState): RunState["tally"] {
  const { created, updated, removed, deleted } = tally;
  return {
    ...tally,
    created: Math.max(0, created - counts.created),
    updated: Math.max(0, updated - counts.updated),
    removed: Math.max(0, removed - counts.removed),
    deleted: Math.max(0, deleted - counts.deleted),
  };
}

/** Of a plan that was not applied yet. */
function restOf(tally: RunState["tally"]): PlanRest {
  const { requests, updated, removed, deleted } = tally;
  return { writes: plannedWrites(tally), requests, changes: updated + removed + deleted, areOld: false };
}

/** With everything decided the price is exact. */
async function priceOf(
  state: RunState,
  job: ReadyJob,
  plan: ClosedPlan | undefined,
  areOld: boolean,
): Promise<Price> {
  const rest = areOld && plan ? await restOfOld(plan, state.ledger, job) : restOf(state.tally);
  const further = (state.ledger.names.size > 0 ? 0 : (job.names?.requestsToCreate ?? 0)) + job.requestsAfter;
  // Who is read by the id is read right before the write in any case.
  const changes = job.work.readsAlone ? 0 : rest.changes;
  return priceOfPlan(state, { ...rest, changes }, { further, blockSize: job.lookup.blockSize });
}

async function restOfOld({ lines }: ClosedPlan, ledger: Ledger, { work }: ReadyJob): Promise<PlanRest> {
  const rest = { writes: 0, requests: 0, changes: 0, areOld: true };
  for await (const { apply } of lines()) {
    if (!apply || apply.isErased || ledger.isDone(apply.ref)) continue;
    const { operation } = apply;
    rest.writes++;
    rest.requests += requestsFor(operation);
    if (operation.kind === "create") continue;
    rest.changes++;
    if (work.readsAlone) rest.requests++;
  }
  return rest;
}

/** @returns the backup's path; undefined where nothing is backed up */
async function backUp(
  { options }: RunState,
  { account }: ReadyJob,
  { folder }: EnteredRun,
  plan: ClosedPlan,
): Promise<string | undefined> {
  return options.backUp?.write(contactsToDelete(plan), { folder, account });
}

async function* contactsToDelete({ lines }: ClosedPlan): AsyncGenerator<Partial<Contact>> {
  for await (const { apply } of lines()) {
    if (apply && !apply.isErased && apply.operation.kind === "delete") yield apply.operation.contact;
  }
}

/** Creates what the plan names and the account does not have yet, once for the run. */
async function createNames(
  state: RunState,
  { names, created }: ReadyJob,
  run: EnteredRun,
  { creations }: ClosedPlan,
): Promise<void> {
  if (!names || creations.length === 0 || state.ledger.names.size > 0) return;
  await names.create();
  const ids = Object.fromEntries(creations.map((each) => [standInFor(each), names.idOf(each)]));
  note(state, { kind: "names", ids });
  await run.journal.sync();
  await created?.(run);
}
