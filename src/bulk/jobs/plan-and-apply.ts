/**
 * The one path of every bulk run: plan, show the plan and its price, have it agreed to, apply it, report.
 * What a job adds is which contacts are planned, and how each is decided.
 */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { requireFreeListName } from "../../api/lists.ts";
import { makeFolder } from "../../disk/make-folder.ts";
import type { EcmError } from "../../errors.ts";
import { createIdentityReader } from "../../tables/index.ts";
import type { Contact } from "../../wire.ts";
import { applyPlan } from "../apply/apply-plan.ts";
import { type RunStop, requireRequestsLeft, toErrorStop } from "../pace/run-stop.ts";
import { makePlan } from "../plan/make-plan.ts";
import { openPlannedNames, requireKeptNames, toStandInId } from "../plan/names.ts";
import { createTally, findGuardFailure, findMonthStop, type Price } from "../plan/numbers.ts";
import {
  type ClosedPlan,
  type PlanEnd,
  type PlanHead,
  PlanWriter,
  planVersion,
  readPlanLines,
  readStoredPlan,
  requireWholePlan,
  type StoredPlan,
} from "../plan/plan-file.ts";
import { isPlanned } from "../plan/plan-line.ts";
import {
  announceEntered,
  beginPhase,
  countRunRows,
  hasBegun,
  openSession,
  type Reject,
  type RunContext,
  type RunState,
  recordInJournal,
  type Session,
} from "../plan/session.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { countRequestsAfter, fileNames, findNewList, runCommands, toRunsFolder } from "../runs/folder.ts";
import { Ledger } from "../runs/ledger.ts";
import { type Closed, closeRun, foreseeSummary, noInput } from "./finish.ts";
import { type Contacts, type ContactsToPlan, openAccount, openJudging, readForBackup } from "./job.ts";
import { findMaxRejectsStop, findPlanPrice, subtractSettled } from "./price.ts";
import { keyTableFacts, readFirstRejects, writeRejected } from "./rejects.ts";

/**
 * @param contacts of the job; once the run's plan is closed, that says all of it
 * @param run absent in a dry run
 */
export async function planAndApply(
  context: RunContext,
  contacts: ContactsToPlan | undefined,
  run: EnteredRun | undefined,
): Promise<Closed> {
  const place = choosePlanPlace(context, run);
  const kept = run && (await readStoredPlan(place.file!));
  const ledger = run?.ledger ?? new Ledger();
  if (run) requireWholePlan(place.file!, kept, hasBegun(ledger));
  const input = kept?.end?.input ?? contacts?.input ?? noInput;
  const work = new Work({ ...context, input, tally: kept?.tally ?? createTally(), ledger, run }, place);
  return work.perform(contacts, kept);
}

interface PlanPlace {
  /** Undefined where nobody wants to read the plan of a dry run. */
  file: string | undefined;
  /** Where pages of the account are kept until the plan is closed. */
  scratch: string;
}

/** A real run keeps its plan in its folder; a dry run in a place of its own. */
function choosePlanPlace({ engine, options }: RunContext, run: EnteredRun | undefined): PlanPlace {
  if (run) return { file: join(run.folder, fileNames.plan), scratch: join(run.folder, fileNames.snapshot) };
  const folder = toRunsFolder(engine.stateFolder);
  makeFolder(folder);
  const name = join(folder, `.dry-run-${randomBytes(6).toString("hex")}`);
  const isPlanNeeded = options.takePlan !== undefined || options.rejects !== undefined;
  return { file: isPlanNeeded ? `${name}.ndjson` : undefined, scratch: name };
}

/** How far a run has come: what it has reached when it stops is reported too. */
class Work {
  private readonly place: PlanPlace;
  private readonly startedAt: number;
  private state: RunState;
  private price: Price | undefined;
  private backup: string | undefined;

  constructor(state: RunState, place: PlanPlace) {
    this.place = place;
    this.state = state;
    this.startedAt = state.clock.now();
  }

  /** @param kept what is there of the run's plan */
  async perform(stated: ContactsToPlan | undefined, kept: StoredPlan | undefined): Promise<Closed> {
    announceEntered(this.state);
    let stop: RunStop | undefined;
    try {
      await this.planAndApply(stated, kept);
    } catch (error) {
      stop = toErrorStop(error);
    }
    return this.close(stop);
  }

  /** @throws whatever stops the run */
  private async planAndApply(
    stated: ContactsToPlan | undefined,
    kept: StoredPlan | undefined,
  ): Promise<void> {
    const { options, run, emit } = this.state;
    const tooMany = options.guards?.maxRejects && findMaxRejectsStop(this.state);
    if (tooMany) throw tooMany;
    const old = kept?.end && toClosedPlan(this.place.file!, { ...kept, end: kept.end });
    const plan = old ?? (await this.makePlan(stated!, kept));
    // A closed plan says all that its job would.
    const contacts = old ? await openPlanned(this.state, old, stated?.account) : stated!;
    const price = await findPlanPrice(this.state, contacts, old);
    this.price = price;
    emit({ kind: "priced", price });
    if (plan)
      await options.takePlan?.({ ...plan, end: { ...plan.end, refused: this.findRefusal()?.message } });
    if (!run || !plan) return;
    await this.prepare(run, contacts, plan, price);
    await this.apply(contacts, price);
  }

  /** Looks everyone up and decides; a plan that was cut off continues. */
  private async makePlan(
    contacts: ContactsToPlan,
    kept: StoredPlan | undefined,
  ): Promise<ClosedPlan | undefined> {
    const { file, scratch } = this.place;
    const { run, options } = this.state;
    beginPhase(this.state, "looking");
    const source = await contacts.source(this.state, scratch);
    const { removals, input = this.state.input, lookup = contacts.lookup, entries } = source;
    try {
      const head = { ...describeHead(this.state, contacts), ...(removals && { removals }) };
      const creations = contacts.names?.creations ?? [];
      const usable = file && kept ? await readStoredPlan(file, source.stableEntries) : undefined;
      const writer =
        usable && usable.taken > 0
          ? await PlanWriter.resume(file!, usable)
          : PlanWriter.create(file, head, creations);
      this.state = { ...this.state, input, tally: writer.tally };
      const session = this.openSession({ ...contacts, lookup });
      beginPhase(session, "looking");
      // Who reads along may have those listed who stay as they are, or are skipped.
      const isListed = options.takePlan !== undefined || run?.manifest.plan !== undefined;
      const isComplete = isListed || options.isAtTerminal === true;
      try {
        await makePlan({ session, entries, writer, names: head.names, isComplete });
      } catch (error) {
        writer.release();
        throw error;
      }
      const end = writer.close(input, this.findRefusal()?.message);
      await rm(scratch, { force: true });
      if (run?.manifest.input.isSpooled) await rm(join(run.folder, fileNames.input), { force: true });
      return file === undefined ? undefined : toClosedPlan(file, { head, creations, end });
    } finally {
      source.close?.();
    }
  }

  private openSession({ judging, lookup }: Pick<Contacts, "judging" | "lookup">): Session {
    const { state, startedAt } = this;
    const toIdentity = createIdentityReader(lookup.keyType);
    // What an undo cannot restore stops it only where a limit was given.
    const isLimited = state.options.guards?.maxRejects !== undefined || state.kind !== "undo";
    const onRejected = () => {
      const tooMany = isLimited && findMaxRejectsStop(state);
      if (tooMany) state.send.stop(tooMany);
    };
    return openSession(state, { judging, lookup, toIdentity, startedAt, onRejected });
  }

  /**
   * Everything that comes before the first write to a contact:
   * limits, consent, the backup, names that are missing.
   */
  private async prepare(run: EnteredRun, contacts: Contacts, plan: ClosedPlan, price: Price): Promise<void> {
    const { state } = this;
    const { options, ledger } = state;
    const monthStop = findMonthStop(price, options);
    if (monthStop) throw monthStop;
    const isFirst = !hasBegun(ledger);
    const refusal = this.findRefusal();
    if (refusal) throw refusal;
    if (price.left > 0) {
      const isShown = isFirst && options.isAtTerminal;
      const firstRejects = isShown ? await readFirstRejects(this.place.file!, new Ledger()) : [];
      const summary = foreseeSummary(state, price);
      const foreseen = isShown ? { ...plan, summary, firstRejects, isResumed: run.isResumed } : undefined;
      await options.agree?.(price, subtractSettled(state), contacts.names?.creations, foreseen);
    }
    if (isFirst && price.left > 0) {
      const { account } = contacts;
      this.backup = await options.backUp?.write(readContactsToDelete(plan), { folder: run.folder, account });
    }
    await createNames(state, contacts, run, plan);
  }

  /** What the plan does beyond its guards. */
  private findRefusal(): EcmError | undefined {
    const { run, options, ledger, tally, typedGuards } = this.state;
    const isFirst = !hasBegun(ledger);
    // The run keeps its guards: to leave them out the next time is not to allow more.
    const guards = isFirst ? { ...run?.manifest.guards, ...options.guards } : typedGuards;
    return findGuardFailure(tally, guards, { file: this.place.file, isFirst });
  }

  private async apply(contacts: Contacts, price: Price): Promise<void> {
    const { send, options } = this.state;
    const session = this.openSession({ ...contacts, judging: { ...contacts.judging, isSecondLook: true } });
    beginPhase(session, "working", price);
    await applyPlan(session, this.place.file!);
    const { maxRequests } = options;
    requireRequestsLeft(countRequestsAfter(contacts.after), { sent: send.counts.total, maxRequests });
  }

  private async close(stop: RunStop | undefined): Promise<Closed> {
    const { state, price, backup, place } = this;
    const { marked: total, markedContacts } = state.tally;
    const isInterrupted = stop?.by === "signal";
    beginPhase(state, "reporting", price);
    const rejects = await writeRejected(state, stop, place.file);
    let firstRejects: Reject[] = [];
    // For whoever reads along; not of a run that is interrupted, whose end is waited for.
    if (state.options.isAtTerminal && !isInterrupted && place.file && countRunRows(state).rejected > 0)
      firstRejects = await readFirstRejects(place.file, state.ledger);
    if (total > 0) state.emit({ kind: "marked", contacts: isInterrupted ? [] : markedContacts, total });
    if (!state.run && place.file) await rm(place.file, { force: true }).catch(() => undefined);
    return { ...(await closeRun(state, { stop, price, rejects, backup })), firstRejects };
  }
}

function toClosedPlan(
  file: string,
  { head, creations, end }: Pick<StoredPlan, "head" | "creations"> & { end: PlanEnd },
): ClosedPlan {
  return { head, creations, end, lines: () => readPlanLines(file) };
}

function describeHead({ kind, engine, clock }: RunState, contacts: ContactsToPlan): PlanHead {
  const { structureId, keyType } = contacts.lookup;
  return {
    version: planVersion,
    program: engine.version,
    command: runCommands[kind],
    createdAt: new Date(clock.now()).toISOString(),
    kind,
    account: { baseUrl: engine.account.baseUrl, structureId, keyType },
    input: null,
    table: keyTableFacts,
    ...contacts.head,
  };
}

async function openPlanned(
  state: RunState,
  plan: ClosedPlan,
  account = openAccount(state, plan.head.account.structureId),
): Promise<Contacts> {
  const { send, options, run } = state;
  const { head, creations } = plan;
  await requireKeptNames(plan, account);
  if (options.backUp) await readForBackup(account);
  const names =
    creations.length === 0 ? undefined : await openPlannedNames({ send: send.plain, account, creations });
  const opened = await openJudging(state, account, head.account, head);
  return { account, ...opened, names, after: run?.manifest.after };
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
function requireNewList(run: EnteredRun, { names }: Contacts, plan: ClosedPlan): void {
  const name = findNewList(run.manifest);
  if (name === undefined || run.ledger.isNaming) return;
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
  requireNewList(run, contacts, plan);
  if (!names || creations.length === 0 || state.ledger.names.size > 0) return;
  recordInJournal(state, { kind: "names", ids: {} });
  await run.journal.sync();
  await names.create();
  const ids = Object.fromEntries(creations.map((each) => [toStandInId(each), names.toId(each)]));
  recordInJournal(state, { kind: "names", ids });
  await run.journal.sync();
  await contacts.created?.(run);
}
