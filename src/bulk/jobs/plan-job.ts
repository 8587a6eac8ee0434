/**
 * The plan part of a bulk run: who is planned, and what is decided of each, is in a closed plan at its end.
 */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createIdentityReader } from "../../tables/index.ts";
import type { Lookup } from "../plan/lookup.ts";
import { makePlan } from "../plan/make-plan.ts";
import {
  type ClosedPlan,
  type PlanEnd,
  type PlanHead,
  planVersion,
  readPlanLines,
  readStoredPlan,
  type StoredPlan,
} from "../plan/plan-file.ts";
import { toPlanNames } from "../plan/plan-line.ts";
import { PlanWriter } from "../plan/plan-writer.ts";
import { beginPhase, openSession, type RunState, type Session } from "../plan/session.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { fileNames, runCommands } from "../runs/folder.ts";
import { findMaxRejectsStop } from "./max-rejects.ts";
import type { PlanPlace } from "./plan-place.ts";
import type { ReadyJob } from "./ready-job.ts";
import { keyTableFacts } from "./rejected.ts";

/** Looks everyone up and decides; a plan that was cut off continues. */
export async function makePlanFile(
  state: RunState,
  job: ReadyJob,
  storedPlan: StoredPlan | undefined,
  { file, scratch }: PlanPlace,
): Promise<{ state: RunState; plan: ClosedPlan | undefined }> {
  const { clock, run, options } = state;
  beginPhase(state, "looking");
  const source = await job.source!(state, scratch);
  const { removals, input = state.input, lookup = job.lookup } = source;
  try {
    const head = { ...(await headFor(state, job)), ...(removals && { removals }) };
    const creations = job.names?.creations ?? [];
    const usable = file && storedPlan ? await readStoredPlan(file, source.stableEntries) : undefined;
    const writer =
      usable && usable.taken > 0
        ? await PlanWriter.resume(file!, usable)
        : PlanWriter.create(file, head, creations);
    const planning = { ...state, input, tally: writer.tally };
    const session = createSession(planning, job, lookup, clock.now());
    beginPhase(session, "looking");
    const names = toPlanNames(head.names);
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
    const end = writer.close(session.tally.requests, input);
    const plan = file === undefined ? undefined : readClosedPlan(file, { head, creations, end });
    if (run) await removeSources(run, scratch);
    return { state: session, plan };
  } finally {
    source.close?.();
  }
}

async function headFor({ kind, engine, clock }: RunState, job: ReadyJob): Promise<PlanHead> {
  const { structureId, keyType } = job.lookup;
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
    ...(await job.head!()),
    looks: job.judging.looks,
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

export function createSession(state: RunState, job: ReadyJob, lookup: Lookup, startedAt: number): Session {
  const { judging } = job;
  const toIdentity = createIdentityReader(lookup.keyType);
  const isLimited = state.options.guards?.maxRejects !== undefined || !job.isLenient;
  const onRejected = () => {
    const tooMany = isLimited && findMaxRejectsStop(state);
    if (tooMany) state.send.stop(tooMany);
  };
  return openSession(state, { judging, lookup, toIdentity, startedAt, onRejected });
}
