/**
 * The one path of every bulk run: plan, show the plan and its price, have it agreed to, apply it, report.
 * What a job adds is which contacts are planned, and how each is decided.
 */
import { rm } from "node:fs/promises";
import { requireFreeListName } from "../../api/lists.ts";
import { toStandInId } from "../../api/names.ts";
import { failedError } from "../../errors.ts";
import type { Contact } from "../../wire.ts";
import { applyPlan } from "../apply/apply-plan.ts";
import { requireRequestsLeft, toErrorStop } from "../pace/run-stop.ts";
import { makePlan } from "../plan/make-plan.ts";
import { requireKeptNames } from "../plan/name-book.ts";
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
  toFile,
} from "../plan/session.ts";
import { countRequestsAfter, findNewList, writeManifest } from "../runs/folder.ts";
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
  const file = toFile(context, "plan");
  const stored = run && (await readStoredPlan(file));
  if (run) requireWholePlan(file, stored, hasBegun(ledger));
  context.input = stored?.end?.input ?? opened.contacts?.input ?? noInput;
  if (stored) context.tally = stored.tally;
  if (run) {
    const { id, isAgreed = false } = run.manifest;
    emit({ kind: "entered", run: id, isResumed: run.isResumed, isAgreed, rows: countRunRows(context) });
    recordInJournal(context, { kind: "start", at: clock.now(), program: engine.version });
  }
  const ending: Ending = {};
  try {
    await perform(context, opened, stored, ending);
  } catch (error) {
    ending.stop = toErrorStop(error);
  }
  return close(context, ending);
}

/**
 * @param stored what is there of the run's plan
 * @param ending what the run has come to when it stops
 * @throws whatever stops the run
 */
async function perform(
  context: RunContext,
  opened: OpenedJob,
  stored: StoredPlan | undefined,
  ending: Ending,
): Promise<void> {
  const { run, options, emit, send } = context;
  const tooMany = readMaxRejects(options) && findMaxRejectsStop(context);
  if (tooMany) throw tooMany;
  const file = toFile(context, "plan");
  const oldPlan = stored?.end && { ...stored, end: stored.end, lines: () => readPlanLines(file) };
  const plan = oldPlan ?? (await planContacts(context, opened.contacts!, stored));
  const contacts = oldPlan ? await reopen(context, oldPlan, opened) : opened.contacts!;
  const { after } = opened.about;
  const price = await findPlanPrice(context, contacts, { oldPlan, after });
  Object.assign(ending, { price, refusal: findRefusal(context, plan.head) });
  emit({ kind: "priced", price });
  await options.takePlan?.({ ...plan, end: { ...plan.end, refused: ending.refusal?.message } });
  if (!run) return;
  await prepare(context, contacts, plan, ending);
  await createNames(context, opened, contacts, plan);
  const { judging, lookup } = contacts;
  const session = { ...context, lookup, judging: { ...judging, isSecondLook: true as const } };
  beginPhase(session, "working", price);
  await applyPlan(session, file);
  requireRequestsLeft(countRequestsAfter(after), {
    sent: send.counts.total,
    maxRequests: options.maxRequests,
  });
}

/** A dry run keeps no plan where nobody wants to read it. */
function isPlanKept({ run, options }: RunContext): boolean {
  return run !== undefined || options.takePlan !== undefined || options.rejects !== undefined;
}

/** Looks everyone up and decides; a plan that was cut off continues. */
async function planContacts(
  context: RunContext,
  contacts: ContactsToPlan,
  stored: StoredPlan | undefined,
): Promise<ClosedPlan> {
  const { run, options } = context;
  const file = toFile(context, "plan");
  beginPhase(context, "looking");
  const source = await contacts.source();
  const { removals, read = context.input.read, lookup = contacts.lookup, entries } = source;
  const head = { ...contacts.head, ...(removals && { removals }) };
  const creations = contacts.names?.creations ?? [];
  try {
    const usable = stored && (await readStoredPlan(file, source.stableEntries));
    const writer =
      usable && usable.taken > 0
        ? PlanWriter.resume(file, usable)
        : PlanWriter.create(isPlanKept(context) ? file : undefined, head, creations);
    context.input = { ...context.input, read };
    context.tally = writer.tally;
    const session = { ...context, judging: contacts.judging, lookup };
    // A person at a terminal may have unchanged and skipped contacts listed.
    const isListed = options.takePlan !== undefined || run?.manifest.plan !== undefined;
    const isComplete = isListed || options.isAtTerminal === true;
    try {
      await makePlan({ session, entries, writer, names: head.names, isComplete });
    } catch (error) {
      writer.release();
      throw error;
    }
    const end = writer.close(context.input, findRefusal(context, head)?.message);
    for (const name of ["snapshot", "unpacked", "input"] as const)
      await rm(toFile(context, name), { recursive: true, force: true });
    return { head, creations, end, lines: () => readPlanLines(file) };
  } finally {
    source.close?.();
  }
}

/** Opens a plan that an earlier invocation closed. @throws UsageError where a name of it has changed since */
async function reopen(context: RunContext, plan: ClosedPlan, opened: OpenedJob): Promise<Contacts> {
  const account = opened.contacts?.account ?? openAccount(context, plan.head.account.structureId);
  await requireKeptNames(plan, account);
  return openPlanned(context, plan, account);
}

/** Once it has begun to write, a run is held against the guards of its invocation alone. */
function findRefusal(context: RunContext, head: ClosedPlan["head"]) {
  const { run, options, ledger, tally } = context;
  const isFirst = !hasBegun(ledger);
  // A run keeps its guards: to leave them out the next time is not to allow more.
  const guards = isFirst ? { ...run?.manifest.guards, ...options.guards } : options.guards;
  return findGuardFailure(tally, guards, { head, file: run && toFile(context, "plan"), isFirst });
}

/** Everything that comes before the first write: limits, consent, the backup. */
async function prepare(
  context: RunContext,
  { account, names }: Contacts,
  plan: ClosedPlan,
  ending: Ending,
): Promise<void> {
  const { options, ledger } = context;
  const { folder, manifest, isResumed } = context.run!;
  const price = ending.price!;
  const monthStop = findMonthStop(price, options);
  if (monthStop) throw monthStop;
  if (ending.refusal) throw ending.refusal;
  if (price.left === 0) return;
  const isFirst = !hasBegun(ledger);
  if (!manifest.isAgreed) {
    const isShown = isFirst && options.isAtTerminal;
    const foreseen = isShown && {
      ...plan,
      summary: foreseeSummary(context, price),
      firstRejects: await readFirstRejects({ plan: toFile(context, "plan"), ledger: new Ledger() }),
      isResumed,
    };
    const planned = subtractSettled(context);
    const isAgreed = await options.agree?.(price, planned, names?.creations, foreseen || undefined);
    if (isAgreed) await writeManifest(folder, Object.assign(manifest, { isAgreed }));
  }
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
  { about }: OpenedJob,
  { names }: Contacts,
  { creations }: ClosedPlan,
): Promise<void> {
  const { ledger } = context;
  const newList = findNewList(about);
  // A list of its name that somebody else has made while the run was stopped is not the new list.
  if (newList !== undefined && !ledger.isNaming) {
    const isMissing = (missing: ClosedPlan["creations"] = []) => missing.some(({ name }) => name === newList);
    if (!isMissing(creations) || !isMissing(names?.creations))
      requireFreeListName(newList, [{ _id: names?.listId(newList) ?? "", name: newList }]);
  }
  if (!names || creations.length === 0 || ledger.names.size > 0) return;
  const note = async (ids: Record<string, string>) => {
    recordInJournal(context, { kind: "names", ids });
    await context.run!.journal.sync();
  };
  await note({});
  await names.create();
  if (names.creations.length > 0)
    throw failedError(`The service did not say what it created: ${names.creations[0]!.name}`);
  await note(Object.fromEntries(creations.map((each) => [toStandInId(each), names.toId(each)])));
}

/** A plan of more rows is not read again when a person interrupts. */
const maxRowsAtInterrupt = 100_000;

async function close(context: RunContext, ending: Ending): Promise<Closed> {
  const { tally, options, emit, ledger, input } = context;
  beginPhase(context, "reporting", ending.price);
  const isRead = ending.stop?.by !== "signal" || input.read <= maxRowsAtInterrupt;
  const plan = isRead && isPlanKept(context) ? toFile(context, "plan") : undefined;
  ending.rejects = plan === undefined ? null : await writeRejected(context, ending.stop, plan);
  const isShown = options.isAtTerminal && plan !== undefined && countRunRows(context).rejected > 0;
  // The run is over, and its summary must not be lost over this.
  const firstRejects = isShown ? await readFirstRejects({ plan, ledger }).catch(() => []) : [];
  const { marked: total, markedContacts: contacts } = tally;
  if (total > 0) emit({ kind: "marked", contacts, total });
  return { ...(await closeRun(context, ending)), firstRejects };
}
