/** A run over rows that is entered: priced, worked through, stopped or finished, and reported. */
import { randomBytes } from "node:crypto";
import { access, constants, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EcmError, exitCodes } from "../../errors.ts";
import type { Contact } from "../../wire.ts";
import { createLookup, identityReader } from "../account/lookup.ts";
import { readAccountIfSmaller } from "../account/read-account.ts";
import { openSnapshot, type Snapshot } from "../account/snapshot.ts";
import type { Item, Work } from "../items.ts";
import { asRunStop, RunStop } from "../pacing/run-stop.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { fileOf } from "../runs/files.ts";
import { runsFolder } from "../runs/folder.ts";
import { createLedger, type Ledger } from "../runs/ledger.ts";
import { keepNames, namesFrom } from "../runs/names-file.ts";
import { countRows, type RowCounts, type SettledByInput } from "../runs/report.ts";
import { fingerprintIn } from "./about-run.ts";
import { type Closed, closeRun } from "./finish.ts";
import { runWork } from "./loop.ts";
import { planRemovals, readMembers } from "./members.ts";
import { planningOf } from "./planning.ts";
import { isWorthLookingFirst, lookUpAll, priceWork, requireMonth } from "./pricing.ts";
import { type Engine, type Prepared, type RowJob, type RunOptions, workOf } from "./row-job.ts";
import { writeRowRejects } from "./row-rejects.ts";
import { readSelected, type Selected, selectedLookup, selectedWork } from "./selected.ts";
import { note, type Session } from "./session.ts";

const defaultMostRejected = 50;

/** @param run absent in a dry run */
export async function workThrough(prepared: Prepared, run: EnteredRun | undefined): Promise<Closed> {
  const { engine, job, send, budget, options, names, status, on } = prepared;
  const ledger = run?.ledger ?? createLedger();
  const input = settledByInput(prepared);
  status.rows = () => countRows(input, ledger);
  if (run) {
    on({ kind: "entered", run: run.manifest.id, isResumed: run.isResumed, rows: status.rows() });
    note(
      { journal: run.journal, ledger },
      { kind: "start", at: engine.clock.now(), version: engine.version },
    );
  }
  let stop: RunStop | undefined;
  let snapshot: Snapshot | undefined;
  let chosen: Selected | undefined;
  let rejects: string | null = null;
  let backup: string | undefined;
  let furtherRequests: number | undefined;
  const planning = options.plan && planningOf(prepared, options.plan);
  try {
    if (options.maxRejects) requireFewRejects(options, status.rows());
    status.phase = "looking";
    snapshot = await takeSnapshot(prepared, run, ledger);
    let session = openSession(prepared, run, ledger, snapshot, input);
    const works: Work<Item>[] = job.isWithoutInput ? [] : [workOf(prepared, planning?.passed) as Work<Item>];
    if (job.isWithoutInput) {
      chosen = selectedWork(snapshot!, prepared);
      input.read += chosen.count;
      works.push(chosen.work as Work<Item>);
    }
    if (job.members) {
      const removals = planRemovals(snapshot!, prepared);
      input.read += removals.count;
      works.push(removals.work as Work<Item>);
    }
    if (run) {
      const lookNow = async () => {
        snapshot?.close();
        snapshot = await lookFirst(prepared, run, session, works);
        session = openSession(prepared, run, ledger, snapshot, input, true);
      };
      const isAllKnown = job.isWithoutInput || job.members || snapshot?.isWhole();
      const looksFirst = job.edit?.looksFirst || options.looksFirst || planning;
      if (!isAllKnown && looksFirst && !hasBegun(ledger)) await lookNow();
      // The input of a sync is looked up twice for its plan: its snapshot holds the list's members alone.
      if (planning && job.members) {
        const rehearsal: Session = { ...session, ledger: createLedger(), journal: undefined };
        await planning.during(rehearsal, () => runEach(rehearsal, works, true));
      }
      const priceIt = () => priceWork(prepared, session, works, contactsLeft(input, ledger));
      let price = planning && !job.members ? await planning.during(session, priceIt) : await priceIt();
      if (isWorthLookingFirst(prepared, price)) {
        await lookNow();
        price = await priceIt();
      }
      status.price = price;
      on({ kind: "priced", price });
      requireMonth(prepared, price);
      if (!hasBegun(ledger) && price.left > 0) {
        await options.agree?.(price, names.missing);
        const { account } = prepared;
        const toDelete = contactsToDelete(session, works);
        backup = await options.backUp?.write(toDelete, { folder: run.folder, account });
      }
      await names.create();
      if (job.newFields) await run.become(fingerprintIn(prepared, undefined));
      const known = await prepared.account.known(prepared.structure);
      await keepNames(run.folder, namesFrom(known.structure, known.lists), names.resolved());
    }
    status.phase = "working";
    if (planning && !run) await planning.during(session, () => runEach(session, works, true));
    else await runEach(session, works, run === undefined);
    furtherRequests = session.furtherRequests;
  } catch (error) {
    stop = asRunStop(error);
  }
  status.phase = "reporting";
  try {
    rejects = await writeRowRejects(prepared, run, ledger, stop, chosen);
  } finally {
    snapshot?.close();
  }
  await nameMarked(prepared, ledger, stop);
  const closed = await closeRun({
    kind: job.kind,
    file: job.input.name,
    input,
    ledger,
    run,
    stop,
    send,
    budget,
    clock: engine.clock,
    reserve: options.reserve,
    concurrency: options.concurrency,
    price: status.price,
    requestsToCreate: names.requestsToCreate,
    rejects,
    backup,
    furtherRequests,
    maxRequests: options.maxRequests,
    isSync: job.members !== undefined,
  });
  const monthLeft = closed.price?.monthLeft;
  if (!run && closed.price && monthLeft !== undefined && monthLeft > 0) {
    const share = Math.ceil((closed.price.left / monthLeft) * 1000) / 10;
    on({
      kind: "remark",
      text: `A real run would use ${share} % of the requests left this month`,
      isAside: true,
    });
  }
  return closed;
}

const mostMarkedNamed = 100;

/** Names the contacts that the file marks as not subscribed and the account held as active. */
async function nameMarked(
  { survey, job, on }: Prepared,
  { marked }: Ledger,
  stop: RunStop | undefined,
): Promise<void> {
  if (marked.size === 0) return;
  const contacts: { line: number; key: string }[] = [];
  if (stop?.by !== "signal") {
    for await (const row of survey.rows()) {
      if (row.kind === "row" && marked.has(row.line)) contacts.push({ line: row.line, key: row.key.sent });
      if (contacts.length === Math.min(mostMarkedNamed, marked.size)) break;
    }
  }
  on({ kind: "marked", contacts, total: marked.size, isUnsubscribed: job.unsubscribesMarked ?? false });
}

/** @param isDryRun decides and counts, and writes nothing */
async function runEach(session: Session, works: Work<Item>[], isDryRun: boolean): Promise<void> {
  for (const work of works) await runWork(session, work, isDryRun);
}

/** What is known of a run that ends before it is entered. */
export type Unentered = Pick<Prepared, "engine" | "job" | "options" | "send" | "budget"> &
  Partial<Pick<Prepared, "survey" | "joined">>;

/**
 * Sums up for a run that could not be entered: another process holds it, what it did is not known, or the service refused
 * or failed before. Rows that were read are pending.
 */
export function closeUnentered(unentered: Unentered, stop: RunStop): Promise<Closed> {
  const { engine, job, send, budget, options, survey, joined } = unentered;
  const nothing = { read: 0, rejectedCodes: new Map(), passedOver: 0, passedOverAre: "skipped" as const };
  return closeRun({
    kind: job.kind,
    file: job.input.name,
    input: survey && joined ? settledByInput({ survey, joined, job }) : nothing,
    ledger: createLedger(),
    stop,
    send,
    budget,
    clock: engine.clock,
    reserve: options.reserve,
    concurrency: options.concurrency,
    requestsToCreate: 0,
    rejects: null,
    isSync: job.members !== undefined,
  });
}

function settledByInput({
  survey,
  joined,
  job,
}: Pick<Prepared, "survey" | "joined" | "job">): SettledByInput {
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
  input: SettledByInput,
  isOfAllAsked = false,
): Session {
  const { engine, job, send, budget, structure, survey, options, names } = prepared;
  const lookup = createLookup({
    send,
    keys: prepared.keys,
    clock: engine.clock,
    structureId: structure._id,
    keyType: structure.keyType,
    source: job.source(structure, survey),
    snapshot,
    isFromEarlier: run?.isResumed && !isOfAllAsked,
    behavior: prepared.behavior,
    hidden: asksForHidden(job) ? (isOfAllAsked ? "known" : "ask") : undefined,
    isAbsentOutside: isOfAllAsked || (!job.members && snapshot?.isWhole()),
    listIds: job.listIds(names),
  });
  return {
    send,
    budget,
    lookup: job.isWithoutInput ? selectedLookup(lookup) : lookup,
    behavior: prepared.behavior,
    visibility: { missed: 0, isVain: false },
    ledger,
    journal: run?.journal,
    clock: engine.clock,
    concurrency: options.concurrency,
    onRejected() {
      try {
        requireFewRejects(options, countRows(input, ledger));
      } catch (reason) {
        send.stop(reason as RunStop);
      }
    },
  };
}

/** Whoever names a contact to change it is told why it is not found; an import learns it from the refused create. */
function asksForHidden({ edit, decide, isWithoutInput }: RowJob): boolean {
  return !isWithoutInput && (edit !== undefined || decide.missing === "reject");
}

/** @throws RunStop */
function requireFewRejects({ maxRejects }: RunOptions, rows: RowCounts): void {
  const { rejected, read, created, updated, deleted, unchanged } = rows;
  if (!maxRejects) {
    if (rejected < defaultMostRejected || created + updated + deleted + unchanged > 0) return;
  } else if ("rows" in maxRejects) {
    if (rejected < Math.max(1, maxRejects.rows)) return;
  } else if (rejected === 0 || rejected * 100 < maxRejects.percent * read) return;
  throw new RunStop(
    "max-rejects",
    new EcmError(exitCodes.rejectedRows, `Stopped: ${rejected} rows were rejected`, {
      type: "TooManyRejectsError",
      hint: "Check the mapping, or allow more with --max-rejects",
    }),
  );
}

/** The list's members for a sync; else the account where that is cheaper than asking for blocks of keys. */
async function takeSnapshot(
  prepared: Prepared,
  run: EnteredRun | undefined,
  ledger: Ledger,
): Promise<Snapshot | undefined> {
  const { engine, job, send, structure, survey, options } = prepared;
  const contacts = contactsLeft(settledByInput(prepared), ledger);
  if (contacts === 0 && !job.members && !job.isWithoutInput) return undefined;
  const file = join(run?.folder ?? (await scratchFolder(engine)), run ? fileOf.snapshot : scratchName());
  const opening = { isTemporary: run === undefined, identityOf: identityReader(structure.keyType) };
  if (job.isWithoutInput) return readSelected(prepared, file, opening, hasBegun(ledger));
  const snapshot = await openSnapshot(file, opening);
  const source = job.source(structure, survey);
  const { concurrency } = options;
  try {
    if (job.members) await readMembers(snapshot, prepared, source);
    else {
      const { behavior, keys } = prepared;
      const account = { send, behavior, keys, clock: engine.clock, structureId: structure._id };
      const pages = { ...account, source, concurrency };
      if (!(await readAccountIfSmaller(snapshot, contacts, pages))) {
        snapshot.close();
        return undefined;
      }
    }
    return snapshot;
  } catch (error) {
    snapshot.close();
    throw error;
  }
}

/** For a dry run, which must also work where nothing can be written. */
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

function scratchName(): string {
  return `.dry-run-${randomBytes(6).toString("hex")}`;
}

/** Looks everyone up before the first write, and keeps what was found: what it will cost is then known exactly. */
async function lookFirst(
  { structure }: Prepared,
  run: EnteredRun,
  session: Session,
  works: Work<Item>[],
): Promise<Snapshot> {
  const file = join(run.folder, fileOf.snapshot);
  await rm(file, { force: true });
  const snapshot = await openSnapshot(file, {
    isTemporary: false,
    identityOf: identityReader(structure.keyType),
  });
  try {
    await lookUpAll(session, works, snapshot);
    return snapshot;
  } catch (error) {
    snapshot.close();
    throw error;
  }
}

/** Whether a write has been sent, or may have been. */
function hasBegun({ counts, openCount }: Ledger): boolean {
  return counts.created + counts.updated + counts.removed + counts.deleted + openCount > 0;
}

/** As they are known before the first of them is deleted. */
async function* contactsToDelete(
  { lookup, ledger }: Session,
  works: Work<Item>[],
): AsyncGenerator<Partial<Contact>> {
  for (const work of works) {
    for await (const item of work.items()) {
      if (ledger.isDone(item.ref)) continue;
      const found = lookup.known(item);
      const decision = found && work.decide(item, found.contact);
      if (decision?.kind === "delete") yield decision.contact;
    }
  }
}

/** Contacts that are not done yet. */
function contactsLeft(input: SettledByInput, ledger: Ledger): number {
  return countRows(input, ledger).pending;
}
