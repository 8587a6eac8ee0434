/**
 * The one path of every bulk run: plan, show the plan and its price, have it agreed to, apply it, report. What a job adds is
 * which contacts are planned, and how each is decided.
 */
import type { Contact } from "../../wire.ts";
import { applyPlan } from "../apply/apply-plan.ts";
import { asRunStop, type RunStop, requireFurther } from "../pace/run-stop.ts";
import { guardFailure } from "../plan/guards.ts";
import { standInFor } from "../plan/names.ts";
import { type ClosedPlan, type KeptPlan, readKeptPlan, requireWholePlan } from "../plan/plan-file.ts";
import { type Price, requireMonth } from "../plan/price.ts";
import type { RunContext } from "../plan/run-context.ts";
import { announceEntered, beginPhase, hasBegun, note, type RunState } from "../plan/session.ts";
import { emptyTally } from "../plan/tally.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { Ledger } from "../runs/ledger.ts";
import { requireFewRejects } from "./few-rejects.ts";
import { type Closed, closeRun } from "./finish.ts";
import { closedPlan, makeWholePlan, sessionFor } from "./plan-job.ts";
import { type PlanPlace, planFileOf, planPlace } from "./plan-place.ts";
import { leftOf, priceOf } from "./plan-price.ts";
import type { ReadyJob } from "./ready-job.ts";
import { writeRejected } from "./rejected.ts";

/** @param run absent in a dry run */
export async function planAndApply(
  context: RunContext,
  job: ReadyJob,
  run: EnteredRun | undefined,
): Promise<Closed> {
  const kept = run && (await readKeptPlan(planFileOf(run)));
  const ledger = run?.ledger ?? new Ledger();
  if (run) requireWholePlan(planFileOf(run), kept, hasBegun(ledger));
  const input = kept?.end?.input ?? job.input;
  const state: RunState = { ...context, input, tally: kept?.tally ?? emptyTally(), ledger, run };
  const work = new PlannedWork(job, state, await planPlace(context, run));
  announceEntered(state);
  let stop: RunStop | undefined;
  try {
    await work.planAndApply(kept);
  } catch (error) {
    stop = asRunStop(error);
  }
  return work.close(stop);
}

/** How far a run has come: what it has reached when it stops is reported too. */
class PlannedWork {
  private readonly job: ReadyJob;
  private readonly place: PlanPlace;
  private readonly startedAt: number;
  private state: RunState;
  private price: Price | undefined;
  private backup: string | undefined;

  constructor(job: ReadyJob, state: RunState, place: PlanPlace) {
    this.job = job;
    this.place = place;
    this.state = state;
    this.startedAt = state.clock.now();
  }

  /** @param kept what is there of the run's plan @throws whatever stops the run */
  async planAndApply(kept: KeptPlan | undefined): Promise<void> {
    const { options, run, emit } = this.state;
    if (options.maxRejects) requireFewRejects(options, this.state);
    const old = kept?.end && closedPlan(this.place.file!, { ...kept, end: kept.end });
    const plan = old ?? (await this.plan(kept));
    const price = await priceOf(this.state, this.job, plan, old !== undefined);
    this.price = price;
    emit({ kind: "priced", price });
    if (plan) await options.takePlan?.(plan);
    if (!run) return;
    await this.prepare(run, plan!, price);
    await this.apply(run, price);
  }

  async close(stop: RunStop | undefined): Promise<Closed> {
    const { state, job, price, backup, place } = this;
    beginPhase(state, "reporting", price);
    const rejects = await writeRejected(state, stop, place.file);
    if (!state.run) await place.remove();
    nameMarked(state, job, stop);
    return closeRun(state, { stop, price, rejects, backup });
  }

  private async plan(kept: KeptPlan | undefined): Promise<ClosedPlan | undefined> {
    const { state, plan } = await makeWholePlan(this.state, this.job, kept, this.place);
    this.state = state;
    return plan;
  }

  /** Everything that comes before the first write to a contact: limits, consent, the backup, names that are missing. */
  private async prepare(run: EnteredRun, plan: ClosedPlan, price: Price): Promise<void> {
    const { state, job } = this;
    const { options, ledger, tally } = state;
    requireMonth(options, price);
    const isFirst = !hasBegun(ledger);
    const refusal = isFirst ? guardFailure(tally, options.guards, planFileOf(run)) : undefined;
    if (refusal) throw refusal;
    if (price.left > 0) await options.agree?.(price, leftOf(state), job.names?.missing);
    if (isFirst && price.left > 0) this.backup = await backUp(state, job, run, plan);
    await createNames(state, job, run, plan);
  }

  private async apply(run: EnteredRun, price: Price): Promise<void> {
    const { state, job } = this;
    const session = sessionFor(state, job, job.lookup, this.startedAt);
    beginPhase(session, "working", price);
    await applyPlan(session, planFileOf(run));
    const { maxRequests } = state.options;
    requireFurther(job.requestsAfter, { sent: state.send.counts.total, maxRequests });
  }
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
