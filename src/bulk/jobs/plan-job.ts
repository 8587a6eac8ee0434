/**
 * The plan part of a bulk run: who is planned, and what is decided of each, is in a closed plan at its end.
 */

import { randomBytes } from "node:crypto";
import { access, constants, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatCounted } from "../../counts.ts";
import { makeFolder } from "../../disk/make-folder.ts";
import { EcmError } from "../../errors.ts";
import { createIdentityReader } from "../../tables/index.ts";
import { RunStop } from "../pace/run-stop.ts";
import type { Lookup } from "../plan/lookup.ts";
import { makePlan } from "../plan/make-plan.ts";
import { computePlanPrice, countPlannedWrites, type PlanRest, type Price } from "../plan/numbers.ts";
import {
  type ClosedPlan,
  type PlanEnd,
  type PlanHead,
  planVersion,
  readPlanLines,
  readStoredPlan,
  type StoredPlan,
} from "../plan/plan-file.ts";
import { isPlanned } from "../plan/plan-line.ts";
import { PlanWriter } from "../plan/plan-writer.ts";
import {
  beginPhase,
  countRunRows,
  type Engine,
  openSession,
  type RunContext,
  type RunState,
  type Session,
} from "../plan/session.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { countRequestsAfter, fileNames, runCommands, toRunsFolder } from "../runs/folder.ts";
import type { Ledger } from "../runs/ledger.ts";
import type { Contacts, ContactsToPlan } from "./job.ts";
import { keyTableFacts } from "./rejected.ts";

/** Looks everyone up and decides; a plan that was cut off continues. */
export async function makePlanFile(
  state: RunState,
  contacts: ContactsToPlan,
  storedPlan: StoredPlan | undefined,
  { file, scratch }: PlanPlace,
): Promise<{ state: RunState; plan: ClosedPlan | undefined }> {
  const { clock, run, options } = state;
  beginPhase(state, "looking");
  const source = await contacts.source(state, scratch);
  const { removals, input = state.input, lookup = contacts.lookup } = source;
  try {
    const head = { ...headFor(state, contacts), ...(removals && { removals }) };
    const creations = contacts.names?.creations ?? [];
    const usable = file && storedPlan ? await readStoredPlan(file, source.stableEntries) : undefined;
    const writer =
      usable && usable.taken > 0
        ? await PlanWriter.resume(file!, usable)
        : PlanWriter.create(file, head, creations);
    const planning = { ...state, input, tally: writer.tally };
    const session = createSession(planning, { ...contacts, lookup }, clock.now());
    beginPhase(session, "looking");
    const names = head.names;
    // Of a rejects file every row counts: whether it was imported again is asked later.
    const isOfRejects = head.table?.columns.some(({ name }) => name === "ecm_line") ?? false;
    // Who reads along may have the rows listed.
    const isAsked = options.takePlan !== undefined || options.isAtTerminal === true;
    const isComplete = isAsked || run?.manifest.plan !== undefined || isOfRejects;
    try {
      await makePlan({ session, entries: source.entries, writer, names, isComplete });
    } catch (error) {
      writer.release();
      throw error;
    }
    const end = writer.close(input);
    const plan = file === undefined ? undefined : readClosedPlan(file, { head, creations, end });
    if (run) await removeSources(run, scratch);
    return { state: session, plan };
  } finally {
    source.close?.();
  }
}

function headFor({ kind, engine, clock }: RunState, contacts: ContactsToPlan): PlanHead {
  const { structureId, keyType } = contacts.lookup;
  return {
    version: planVersion,
    program: engine.version,
    command: runCommands[kind],
    createdAt: new Date(clock.now()).toISOString(),
    kind,
    account: { baseUrl: engine.account.baseUrl, structureId, keyType },
    input: null,
    listIds: [],
    table: keyTableFacts,
    ...contacts.head,
  };
}

/** What only the plan needed: pages of the account, and an input that could be read only once. */
async function removeSources({ folder, manifest }: EnteredRun, scratch: string): Promise<void> {
  await rm(scratch, { force: true });
  if (manifest.input.isSpooled) await rm(join(folder, fileNames.input), { force: true });
}

export function readClosedPlan(
  file: string,
  { head, creations, end }: Pick<StoredPlan, "head" | "creations"> & { end: PlanEnd },
): ClosedPlan {
  return { head, creations, end, lines: () => readPlanLines(file) };
}

/** @param startedAt what was looked up before is looked up again */
export function createSession(
  state: RunState,
  { judging, lookup }: Pick<Contacts, "judging" | "lookup">,
  startedAt: number,
): Session {
  const toIdentity = createIdentityReader(lookup.keyType);
  // What an undo cannot restore stops it only where a limit was given.
  const isLimited = state.options.guards?.maxRejects !== undefined || state.kind !== "undo";
  const onRejected = () => {
    const tooMany = isLimited && findMaxRejectsStop(state);
    if (tooMany) state.send.stop(tooMany);
  };
  return openSession(state, { judging, lookup, toIdentity, startedAt, onRejected });
}

/** Rejected rows that stop a run of which nothing was accepted. */
const defaultMaxRejects = 50;

/** Too many rejected rows stop a run: the mapping is probably wrong. Undefined where they are not too many so far. */
export function findMaxRejectsStop(state: RunState): RunStop | undefined {
  const { maxRejects } = state.options.guards ?? {};
  const { rejected, read, created, updated, deleted, unchanged } = countRunRows(state);
  if (!maxRejects) {
    const isAccepted = created + updated + deleted + unchanged > 0;
    // While it is planned, a row that will be written is accepted.
    const isPlanning = state.ledger.counts.rejected === 0;
    if (rejected < defaultMaxRejects || isAccepted || (isPlanning && countPlannedWrites(state.tally) > 0))
      return undefined;
  } else if ("rows" in maxRejects) {
    if (rejected < Math.max(1, maxRejects.rows)) return undefined;
  } else if (rejected === 0 || rejected * 100 < maxRejects.percent * read) return undefined;
  return new RunStop(
    "max-rejects",
    new EcmError(
      "rejected rows",
      `Stopped: ${formatCounted(rejected, "row was", "rows were")} rejected`,
      "Check the mapping, or allow more with --max-rejects",
      { allowedBy: ["--max-rejects", `${rejected + 1}`] },
    ),
  );
}

export function planPath({ folder }: EnteredRun): string {
  return join(folder, fileNames.plan);
}

export interface PlanPlace {
  /** Undefined where nobody wants to read the plan of a dry run. */
  file: string | undefined;
  /** Where pages of the account are kept until the plan is closed. */
  scratch: string;
}

/**
 * A real run keeps its plan in its folder; a dry run in a place of its own, which must also be found where
 * nothing can be written.
 */
export async function choosePlanPlace(
  { engine, options }: RunContext,
  run: EnteredRun | undefined,
): Promise<PlanPlace> {
  if (run) return { file: planPath(run), scratch: join(run.folder, fileNames.snapshot) };
  const folder = await createScratchFolder(engine);
  const name = join(folder, `.dry-run-${randomBytes(6).toString("hex")}`);
  const isPlanNeeded = options.takePlan !== undefined || options.rejects !== undefined;
  return { file: isPlanNeeded ? `${name}.ndjson` : undefined, scratch: name };
}

async function createScratchFolder({ stateFolder }: Engine): Promise<string> {
  const folder = toRunsFolder(stateFolder);
  try {
    makeFolder(folder);
    await access(folder, constants.W_OK);
    return folder;
  } catch {
    return tmpdir();
  }
}

/** What the plan still writes. */
export function subtractSettled({ tally, ledger: { counts } }: RunState): RunState["tally"] {
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
function toPlanRest(tally: RunState["tally"], { behavior, blockSize }: Lookup): PlanRest {
  const { requests, updated, removed, deleted, unsubscribed } = tally;
  const changes = updated + removed + deleted;
  const writes = countPlannedWrites(tally);
  const leaving = unsubscribed + deleted;
  // Where no search tells the status, each is read by its id as well.
  const readById = behavior.get("source") === "common" ? leaving : 0;
  const secondLooks = leaving === 0 ? 0 : Math.ceil(writes / blockSize) + readById;
  return { writes, requests, changes, secondLooks };
}

/** With everything decided the price is exact. */
export async function findPlanPrice(
  state: RunState,
  contacts: Contacts,
  plan: ClosedPlan | undefined,
  areOld: boolean,
): Promise<Price> {
  const rest =
    areOld && plan
      ? await computeRestOfOldPlan(plan, state.ledger, contacts)
      : toPlanRest(state.tally, contacts.lookup);
  const creations = state.ledger.names.size > 0 ? 0 : (contacts.names?.requestsToCreate ?? 0);
  const statuses = contacts.lookup.readsStatusById ? (rest.secondLooks ?? 0) : 0;
  const further = creations + statuses + countRequestsAfter(contacts.after);
  // Who is read by the id is read right before the write in any case.
  const lookedUpTogether =
    contacts.judging.looks.by === "id" ? { ...rest, changes: 0, secondLooks: 0 } : rest;
  return computePlanPrice(state, lookedUpTogether, { further, blockSize: contacts.lookup.blockSize });
}

async function computeRestOfOldPlan(
  { lines }: ClosedPlan,
  ledger: Ledger,
  contacts: Contacts,
): Promise<PlanRest> {
  const isReadById = contacts.judging.looks.by === "id";
  const rest = { writes: 0, requests: 0, changes: 0, searches: 0 };
  const group = new SearchCount(contacts.lookup);
  for await (const { apply } of lines()) {
    if (!isPlanned(apply) || ledger.isDone(apply.ref)) continue;
    const isExisting = apply.before !== undefined;
    rest.writes++;
    rest.requests += 1 + (isExisting && isReadById ? 1 : 0);
    rest.searches += group.add(isExisting && !isReadById);
  }
  return { ...rest, searches: rest.searches + group.end() };
}

/** Contacts are looked up again in groups of so many lines of the plan, whoever of them has to be. */
class SearchCount {
  private readonly blockSize: number;
  private lines = 0;
  private keys = 0;

  constructor({ blockSize }: Lookup) {
    this.blockSize = blockSize;
  }

  /** @returns the searches of the group that this line ends */
  add(isLookedUp: boolean): number {
    if (isLookedUp) this.keys++;
    return ++this.lines === this.blockSize ? this.end() : 0;
  }

  end(): number {
    const searches = Math.ceil(this.keys / this.blockSize);
    this.lines = 0;
    this.keys = 0;
    return searches;
  }
}
