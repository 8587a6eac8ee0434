/**
 * The one path of every bulk run: plan, show the plan and its price, have it agreed to, apply it, report.
 * What a job adds is which contacts are planned, and how each is decided.
 */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { requireFreeListName } from "../../api/lists.ts";
import { makeFolder } from "../../disk/make-folder.ts";
import { failedError } from "../../errors.ts";
import type { Contact } from "../../wire.ts";
import { applyPlan } from "../apply/apply-plan.ts";
import { requireRequestsLeft, toErrorStop } from "../pace/run-stop.ts";
import { makePlan } from "../plan/make-plan.ts";
import { requireKeptNames, toStandInId } from "../plan/names.ts";
import { findGuardFailure, findMonthStop } from "../plan/numbers.ts";
import {
  type ClosedPlan,
  PlanWriter,
  readPlanLines,
  readStoredPlan,
  requireWholePlan,
  type StoredPlan,
} from "../plan/plan-file.ts";
import { isPlanned } from "../plan/plan-line.ts";
import {
  beginPhase,
  countRunRows,
  findMaxRejectsStop,
  hasBegun,
  noInput,
  type RunContext,
  readMaxRejects,
  recordInJournal,
} from "../plan/session.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { countRequestsAfter, fileNames, findNewList, toRunsFolder } from "../runs/folder.ts";
import { Ledger } from "../runs/ledger.ts";
import {
  type Closed,
  closeRun,
  type Ending,
  findPlanPrice,
  foreseeSummary,
  subtractSettled,
} from "./finish.ts";
import { type Contacts, type ContactsToPlan, type OpenedJob, openAccount, openPlanned } from "./job.ts";
import { readFirstRejects, writeRejected } from "./rejects.ts";

/** Once the run's plan is closed, it says all that its job would: then that need not have any contacts. */
export async function planAndApply(context: RunContext, opened: OpenedJob): Promise<Closed> {
  const { run, emit, ledger, clock, engine } = context;
  const place = choosePlanPlace(context);
  const kept = run && (await readStoredPlan(place.file!));
  if (run) requireWholePlan(place.file!, kept, hasBegun(ledger));
  context.input = kept?.end?.input ?? opened.contacts?.input ?? noInput;
  if (kept) context.tally = kept.tally;
  if (run) {
    emit({ kind: "entered", run: run.manifest.id, isResumed: run.isResumed, rows: countRunRows(context) });
    recordInJournal(context, { kind: "start", at: clock.now(), program: engine.version });
  }
  const ending: Ending = {};
  try {
    await perform(context, opened, { place, kept, ending });
  } catch (error) {
    ending.stop = toErrorStop(error);
  }
  return close(context, place, ending);
}

interface PlanPlace {
  /** Undefined where nobody wants to read the plan of a dry run. */
  file: string | undefined;
  /** Where pages of the account are kept until the plan is closed. */
  scratch: string;
}

/** A real run keeps its plan in its folder; a dry run in a place of its own. */
function choosePlanPlace({ engine, options, run }: RunContext): PlanPlace {
  if (run) return { file: join(run.folder, fileNames.plan), scratch: join(run.folder, fileNames.snapshot) };
  const folder = toRunsFolder(engine.stateFolder);
  makeFolder(folder);
  const name = join(folder, `.dry-run-${randomBytes(6).toString("hex")}`);
  const isPlanNeeded = options.takePlan !== undefined || options.rejects !== undefined;
  return { file: isPlanNeeded ? `${name}.ndjson` : undefined, scratch: name };
}

interface Steps {
  place: PlanPlace;
  /** What is there of the run's plan. */
  kept: StoredPlan | undefined;
  /** What the run has come to when it stops. */
  ending: Ending;
}

/** @throws whatever stops the run */
async function perform(context: RunContext, opened: OpenedJob, steps: Steps): Promise<void> {
  const { run, options, emit } = context;
  const { place, kept, ending } = steps;
  const tooMany = readMaxRejects(options) && findMaxRejectsStop(context);
  if (tooMany) throw tooMany;
  const oldPlan = kept?.end && { ...kept, end: kept.end, lines: () => readPlanLines(place.file!) };
  const plan = oldPlan ?? (await planContacts(context, opened.contacts!, steps));
  const contacts = oldPlan ? await reopen(context, oldPlan, opened) : opened.contacts!;
  const { after } = opened.about;
  const price = await findPlanPrice(context, contacts, { oldPlan, after });
  Object.assign(ending, { price, refusal: findRefusal(context, plan.head, place) });
  emit({ kind: "priced", price });
  await options.takePlan?.({
    ...plan,
    end: { ...plan.end, refused: ending.refusal?.message },
  });
  if (!run) return;
  await prepare(context, contacts, plan, ending);
  await createNames(context, opened, contacts, plan);
  const { judging, lookup } = contacts;
  const session = { ...context, lookup, judging: { ...judging, isSecondLook: true as const } };
  beginPhase(session, "working", price);
  await applyPlan(session, place.file!);
  const { maxRequests } = options;
  requireRequestsLeft(countRequestsAfter(after), { sent: context.send.counts.total, maxRequests });
}

/** Looks everyone up and decides; a plan that was cut off continues. */
async function planContacts(
  context: RunContext,
  contacts: ContactsToPlan,
  { place, kept }: Steps,
): Promise<ClosedPlan> {
  const { file, scratch } = place;
  const { run, options } = context;
  beginPhase(context, "looking");
  const source = await contacts.source(scratch);
  const { removals, read = context.input.read, lookup = contacts.lookup, entries } = source;
  const head = { ...contacts.head, ...(removals && { removals }) };
  const creations = contacts.names?.creations ?? [];
  try {
    const usable = file && kept ? await readStoredPlan(file, source.stableEntries) : undefined;
    const writer =
      usable && usable.taken > 0
        ? PlanWriter.resume(file!, usable)
        : PlanWriter.create(file, head, creations);
    context.input = { ...context.input, read };
    context.tally = writer.tally;
    const session = { ...context, judging: contacts.judging, lookup };
    // Who reads along may have those listed who stay as they are, or are skipped.
    const isListed = options.takePlan !== undefined || run?.manifest.plan !== undefined;
    const isComplete = isListed || options.isAtTerminal === true;
    try {
      await makePlan({ session, entries, writer, names: head.names, isComplete });
    } catch (error) {
      writer.release();
      throw error;
    }
    const refusal = findRefusal(context, head, place);
    const end = writer.close(context.input, refusal?.message);
    await rm(scratch, { force: true });
    if (run?.manifest.input.isSpooled) await rm(join(run.folder, fileNames.input), { force: true });
    return { head, creations, end, lines: () => readPlanLines(file!) };
  } finally {
    source.close?.();
  }
}

/** A plan that was closed by an earlier invocation. @throws UsageError where a name of it is another by now */
async function reopen(context: RunContext, plan: ClosedPlan, opened: OpenedJob): Promise<Contacts> {
  const account = opened.contacts?.account ?? openAccount(context, plan.head.account.structureId);
  await requireKeptNames(plan, account);
  return openPlanned(context, plan, account);
}

/** Once it has begun to write, a run is held against the guards of its invocation alone. */
function findRefusal(context: RunContext, head: ClosedPlan["head"], { file }: PlanPlace) {
  const { run, options, ledger } = context;
  const isFirst = !hasBegun(ledger);
  // A run keeps its guards: to leave them out the next time is not to allow more.
  const guards = isFirst ? { ...run?.manifest.guards, ...options.guards } : options.guards;
  return findGuardFailure(context.tally, guards, { head, file: run && file, isFirst });
}

/** Everything that comes before the first write: limits, consent, the backup. */
async function prepare(
  context: RunContext,
  { account, names }: Contacts,
  plan: ClosedPlan,
  ending: Ending,
): Promise<void> {
  const { options, ledger } = context;
  const { folder, isResumed } = context.run!;
  const price = ending.price!;
  const monthStop = findMonthStop(price, options);
  if (monthStop) throw monthStop;
  if (ending.refusal) throw ending.refusal;
  if (price.left === 0) return;
  const isFirst = !hasBegun(ledger);
  const isShown = isFirst && options.isAtTerminal;
  const foreseen = isShown && {
    ...plan,
    summary: foreseeSummary(context, price),
    firstRejects: await readFirstRejects({ plan: join(folder, fileNames.plan), ledger: new Ledger() }),
    isResumed,
  };
  await options.agree?.(price, subtractSettled(context), names?.creations, foreseen || undefined);
  if (isFirst) ending.backup = await options.backUp?.write(readContactsToDelete(plan), { folder, account });
}

async function* readContactsToDelete({ lines }: ClosedPlan): AsyncGenerator<Partial<Contact>> {
  for await (const { apply } of lines()) {
    if (isPlanned(apply) && apply.before?.contact) yield apply.before.contact;
  }
}

/** Creates what the plan names and the account does not have yet, once for the run. */
async function createNames(
  context: RunContext,
  { about, created }: OpenedJob,
  { names }: Contacts,
  { creations }: ClosedPlan,
): Promise<void> {
  const { run, ledger } = context as { run: EnteredRun; ledger: Ledger };
  const newList = findNewList(about);
  // A list of its name that somebody else has made, while the run that makes one was stopped, is not the new list.
  if (newList !== undefined && !ledger.isNaming) {
    const isMissing = (missing: ClosedPlan["creations"] = []) => missing.some(({ name }) => name === newList);
    if (!isMissing(creations) || !isMissing(names?.creations))
      requireFreeListName(newList, [{ _id: names?.listId(newList) ?? "", name: newList }]);
  }
  if (!names || creations.length === 0 || ledger.names.size > 0) return;
  recordInJournal(context, { kind: "names", ids: {} });
  await run.journal.sync();
  await names.create();
  if (names.creations.length > 0)
    throw failedError(`The service did not say what it created: ${names.creations[0]!.name}`);
  const ids = Object.fromEntries(creations.map((each) => [toStandInId(each), names.toId(each)]));
  recordInJournal(context, { kind: "names", ids });
  await run.journal.sync();
  await created?.(run);
}

async function close(context: RunContext, { file }: PlanPlace, ending: Ending): Promise<Closed> {
  const { run, tally, options, emit, ledger } = context;
  beginPhase(context, "reporting", ending.price);
  // An interrupted person waits for nothing that reads the plan again.
  const plan = ending.stop?.by === "signal" ? undefined : file;
  ending.rejects = plan === undefined ? null : await writeRejected(context, ending.stop, plan);
  const isShown = options.isAtTerminal && plan !== undefined && countRunRows(context).rejected > 0;
  // The run is over, and its summary must not be lost over this.
  const firstRejects = isShown ? await readFirstRejects({ plan, ledger }).catch(() => []) : [];
  const { marked: total, markedContacts: contacts } = tally;
  if (total > 0) emit({ kind: "marked", contacts, total });
  if (!run && file) await rm(file, { force: true }).catch(() => undefined);
  return { ...(await closeRun(context, ending)), firstRejects };
}
