/**
 * The one path of every bulk run: plan, show the plan and its price, have it agreed to, apply it, report.
 * What a job adds is which contacts are planned, and how each is decided.
 */
import { rm } from "node:fs/promises";
import { requireFreeListName } from "../../api/lists.ts";
import type { Contact } from "../../wire.ts";
import { applyPlan } from "../apply/apply-plan.ts";
import { type RunStop, requireRequestsLeft, toErrorStop } from "../pace/run-stop.ts";
import { openPlannedNames, requireKeptNames, toStandInId } from "../plan/names.ts";
import { createTally, findGuardFailure, findMonthStop, type Price } from "../plan/numbers.ts";
import { type ClosedPlan, readStoredPlan, requireWholePlan, type StoredPlan } from "../plan/plan-file.ts";
import { isPlanned } from "../plan/plan-line.ts";
import {
  announceEntered,
  beginPhase,
  countRunRows,
  type ForeseenPlan,
  hasBegun,
  type Reject,
  type RunContext,
  type RunState,
  recordInJournal,
} from "../plan/session.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { countRequestsAfter, findNewList } from "../runs/folder.ts";
import { Ledger } from "../runs/ledger.ts";
import { type Closed, closeRun, foreseeSummary, noInput } from "./finish.ts";
import type { Contacts, ContactsToPlan } from "./job.ts";
import { openAccount, openJudging } from "./open-account.ts";
import {
  choosePlanPlace,
  createSession,
  findMaxRejectsStop,
  findPlanPrice,
  makePlanFile,
  type PlanPlace,
  planPath,
  readClosedPlan,
  subtractSettled,
} from "./plan-job.ts";
import { readFirstRejects, writeRejected } from "./rejected.ts";

/**
 * @param contacts of the job; once the run's plan is closed, that says all of it
 * @param run absent in a dry run
 */
export async function planAndApply(
  context: RunContext,
  contacts: ContactsToPlan | undefined,
  run: EnteredRun | undefined,
): Promise<Closed> {
  const storedPlan = run && (await readStoredPlan(planPath(run)));
  const ledger = run?.ledger ?? new Ledger();
  if (run) requireWholePlan(planPath(run), storedPlan, hasBegun(ledger));
  const input = storedPlan?.end?.input ?? contacts?.input ?? noInput;
  const tally = storedPlan?.tally ?? createTally();
  const state: RunState = { ...context, input, tally, ledger, run };
  const work = new PlannedWork(state, await choosePlanPlace(context, run));
  announceEntered(state);
  let stop: RunStop | undefined;
  try {
    await work.planAndApply(contacts, storedPlan);
  } catch (error) {
    stop = toErrorStop(error);
  }
  return work.close(stop);
}

/** How far a run has come: what it has reached when it stops is reported too. */
class PlannedWork {
  private readonly place: PlanPlace;
  private readonly startedAt: number;
  private state: RunState;
  private contacts!: Contacts;
  private price: Price | undefined;
  private backup: string | undefined;

  constructor(state: RunState, place: PlanPlace) {
    this.place = place;
    this.state = state;
    this.startedAt = state.clock.now();
  }

  /** @param kept what is there of the run's plan @throws whatever stops the run */
  async planAndApply(stated: ContactsToPlan | undefined, kept: StoredPlan | undefined): Promise<void> {
    const { options, run, emit } = this.state;
    const tooMany = options.guards?.maxRejects && findMaxRejectsStop(this.state);
    if (tooMany) throw tooMany;
    const old = kept?.end && readClosedPlan(this.place.file!, { ...kept, end: kept.end });
    const plan = old ? await this.open(old, stated) : await this.make(stated!, kept);
    const price = await findPlanPrice(this.state, this.contacts, plan, old !== undefined);
    this.price = price;
    emit({ kind: "priced", price });
    if (plan) await options.takePlan?.(plan);
    if (!run) return;
    await this.prepare(run, plan!, price);
    await this.apply(run, price);
  }

  /** A closed plan says all that its job would. */
  private async open(plan: ClosedPlan, stated: ContactsToPlan | undefined): Promise<ClosedPlan> {
    this.contacts = await openPlanned(this.state, plan, stated?.account);
    return plan;
  }

  private async make(stated: ContactsToPlan, kept: StoredPlan | undefined): Promise<ClosedPlan | undefined> {
    this.contacts = stated;
    const { state, plan } = await makePlanFile(this.state, stated, kept, this.place);
    this.state = state;
    return plan;
  }

  async close(stop: RunStop | undefined): Promise<Closed> {
    const { state, price, backup, place } = this;
    beginPhase(state, "reporting", price);
    const rejects = await writeRejected(state, stop, place.file);
    const firstRejects = await this.firstRejects(stop);
    reportMarkedContacts(state, stop);
    if (!state.run) {
      if (place.file) await rm(place.file, { force: true }).catch(() => undefined);
    }
    return { ...(await closeRun(state, { stop, price, rejects, backup })), firstRejects };
  }

  /** For whoever reads along; not of a run that is interrupted, whose end is waited for. */
  private async firstRejects(stop: RunStop | undefined): Promise<Reject[]> {
    const { state, place } = this;
    const isShown = state.options.isAtTerminal && stop?.by !== "signal" && countRunRows(state).rejected > 0;
    return isShown && place.file !== undefined ? readFirstRejects(place.file, state.ledger) : [];
  }

  /**
   * Everything that comes before the first write to a contact:
   * limits, consent, the backup, names that are missing.
   */
  private async prepare(run: EnteredRun, plan: ClosedPlan, price: Price): Promise<void> {
    const { state, contacts } = this;
    const { options, ledger, tally } = state;
    const monthStop = findMonthStop(price, options);
    if (monthStop) throw monthStop;
    const isFirst = !hasBegun(ledger);
    // The run keeps its guards: to leave them out the next time is not to allow more.
    const guards = isFirst ? { ...run.manifest.guards, ...options.guards } : state.typedGuards;
    const refusal = findGuardFailure(tally, guards, { file: planPath(run), isFirst });
    if (refusal) throw refusal;
    if (price.left > 0) {
      const foreseen = isFirst ? await this.foresee(run, plan, price) : undefined;
      await options.agree?.(price, subtractSettled(state), contacts.names?.creations, foreseen);
    }
    if (isFirst && price.left > 0) {
      const { account } = contacts;
      this.backup = await options.backUp?.write(readContactsToDelete(plan), { folder: run.folder, account });
    }
    await createNames(state, contacts, run, plan);
  }

  /** Undefined where nobody is asked. */
  private async foresee(
    { isResumed }: EnteredRun,
    plan: ClosedPlan,
    price: Price,
  ): Promise<ForeseenPlan | undefined> {
    const { state, place } = this;
    if (!state.options.isAtTerminal) return undefined;
    const firstRejects = await readFirstRejects(place.file!, new Ledger());
    return { ...plan, summary: foreseeSummary(state, price), firstRejects, isResumed };
  }

  private async apply(run: EnteredRun, price: Price): Promise<void> {
    const { state, contacts } = this;
    const judging = { ...contacts.judging, isSecondLook: true as const };
    const session = createSession(state, { ...contacts, judging }, this.startedAt);
    beginPhase(session, "working", price);
    await applyPlan(session, planPath(run));
    const { maxRequests } = state.options;
    requireRequestsLeft(countRequestsAfter(contacts.after), { sent: state.send.counts.total, maxRequests });
  }
}

async function openPlanned(
  state: RunState,
  plan: ClosedPlan,
  account = openAccount(state, plan.head.account.structureId),
): Promise<Contacts> {
  const { send, options, run } = state;
  const { head, creations } = plan;
  await requireKeptNames(plan, account);
  // Read now, so that the price counts what the backup needs.
  if (options.backUp) {
    const structure = await account.structure();
    await Promise.all([account.readableLists(structure), account.complete(structure)]);
  }
  const names =
    creations.length === 0 ? undefined : await openPlannedNames({ send: send.plain, account, creations });
  return {
    account,
    ...(await openJudging(state, account, head.account, head)),
    input: plan.end.input,
    names,
    after: run?.manifest.after,
  };
}

/** Names the contacts that the file marks as not subscribed and the account held as active. */
function reportMarkedContacts({ tally, emit }: RunState, stop: RunStop | undefined): void {
  const { marked: total, markedContacts } = tally;
  const contacts = stop?.by === "signal" ? [] : markedContacts;
  if (total > 0) emit({ kind: "marked", contacts, total });
}

async function* readContactsToDelete({ lines }: ClosedPlan): AsyncGenerator<Partial<Contact>> {
  for await (const { apply } of lines()) {
    if (isPlanned(apply) && apply.before?.contact) yield apply.before.contact;
  }
}

/**
 * A list of its name that somebody else has made, while the run that makes one was stopped, is not the new list.
 * @throws EcmError (exit 6)
 */
function requireNewList({ ledger }: RunState, { after, names }: Contacts, plan: ClosedPlan): void {
  const name = findNewList(after)?.name;
  if (name === undefined || ledger.isNaming) return;
  const isMissing = (creations: ClosedPlan["creations"] = []) => creations.some((each) => each.name === name);
  if (isMissing(plan.creations) && isMissing(names?.creations)) return;
  requireFreeListName(name, [{ _id: names?.listId(name) ?? "", name }]);
}

/** Creates what the plan names and the account does not have yet, once for the run. */
async function createNames(
  state: RunState,
  contacts: Contacts,
  run: EnteredRun,
  plan: ClosedPlan,
): Promise<void> {
  const { names } = contacts;
  const { creations } = plan;
  requireNewList(state, contacts, plan);
  if (!names || creations.length === 0 || state.ledger.names.size > 0) return;
  recordInJournal(state, { kind: "names", ids: {} });
  await run.journal.sync();
  await names.create();
  const ids = Object.fromEntries(creations.map((each) => [toStandInId(each), names.toId(each)]));
  recordInJournal(state, { kind: "names", ids });
  await run.journal.sync();
  await contacts.created?.(run);
}
