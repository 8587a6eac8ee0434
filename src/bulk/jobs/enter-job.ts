/** Coming into a job's run and leaving it: the same for every job, whatever it plans. */

import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { EcmError, isInterruption, isKind, isNotOffered, readOnlyCommandError } from "../../errors.ts";
import { RunStop, toErrorStop } from "../pace/run-stop.ts";
import type { PlanHead } from "../plan/plan-file.ts";
import type { RunContext } from "../plan/run-context.ts";
import { type EnteredRun, enterRun, type SyncedList } from "../runs/enter.ts";
import { type Manifest, requireStatePlace } from "../runs/folder.ts";
import type { SettledByInput } from "../runs/report.ts";
import { noteWait } from "../runs/stored-runs.ts";
import { type Closed, closeUnentered } from "./finish.ts";
import type { MembersOptions } from "./job.ts";
import { planAndApply } from "./plan-and-apply.ts";
import type { ReadyJob } from "./ready-job.ts";

/** What a job says of its run. */
export type RunDescription = Omit<
  Manifest,
  "version" | "id" | "kind" | "program" | "startedAt" | "rejects" | "plan" | "report" | "backup" | "guards"
>;

/** A run that reads no rows: what it does, and what is said of it. */
export interface PreparedRun {
  job: ReadyJob;
  about: RunDescription;
  /** A folder made for an input that can be read only once. */
  spooled?: { id: string; folder: string };
  /** The list that its plan makes the same as an input. */
  syncs?: SyncedList;
  /** Before its plan is made. */
  entered?(run: EnteredRun): Promise<void>;
}

/**
 * Prepares, enters and does a run that reads no rows; what stops it is in the result.
 * @throws what it was refused for before the first write
 */
export async function runPrepared(context: RunContext, prepare: () => Promise<PreparedRun>): Promise<Closed> {
  const { engine, options } = context;
  if (engine.account.isReadOnly && !options.isDryRun) throw readOnlyCommandError();
  if (!options.isDryRun) await requireStatePlace(engine.stateFolder);
  try {
    const { job, about, spooled, syncs, entered } = await prepare();
    if (options.isDryRun) return await planAndApply(context, job, undefined);
    const run = await enterJob(context, about, { spooled, syncs });
    return await leaveRun(context, run, async () => {
      await entered?.(run);
      return planAndApply(context, job, run);
    });
  } catch (error) {
    return closeUnlessRefused(context, error);
  }
}

/** @param input rows, as far as they are known @throws what was refused before the first write, and defects */
export function closeUnlessRefused(
  context: RunContext,
  error: unknown,
  input?: SettledByInput,
): Promise<Closed> {
  // What a damaged journal can still prove is for a person to say.
  const isRefused =
    error instanceof EcmError
      ? endedBeforeWrites(error) || (context.kind === "undo" && isKind(error, "damaged journal"))
      : !(error instanceof RunStop);
  if (isRefused) throw error;
  return closeUnentered(context, toErrorStop(error), input);
}

/**
 * @param spooled a folder made for an input that can be read only once
 * @throws LockedError; JournalDamagedError
 */
export async function enterJob(
  { kind, engine, clock, options, emit, send }: RunContext,
  about: RunDescription,
  {
    spooled,
    syncs,
    isFresh = options.isFresh,
  }: { spooled?: { id: string; folder: string }; syncs?: SyncedList; isFresh?: boolean } = {},
): Promise<EnteredRun> {
  const { rejects, planFile, reportFile, backUp, guards } = options;
  const run = await enterRun({
    stateFolder: engine.stateFolder,
    now: clock.now(),
    about: {
      kind,
      program: engine.version,
      rejects: rejects === undefined ? undefined : resolve(rejects),
      plan: planFile === undefined ? undefined : resolve(planFile),
      report: reportFile === undefined ? undefined : resolve(reportFile),
      backup: backUp?.target,
      guards,
      ...about,
    },
    spooled,
    syncs,
    isFresh,
    openJournalFile: engine.openJournalFile,
    onChanged: (older) => emit({ kind: "input-changed", older: older.id }),
    onUnreadable: (failure) => emit({ kind: "remark", remark: { code: "run_unreadable", failure } }),
    onTookOver: (whose) => emit({ kind: "remark", remark: { code: "took_over", whose } }),
  });
  noteWait(run.folder, undefined, clock.now());
  send.watchWaits((wait) => noteWait(run.folder, wait, clock.now()));
  return run;
}

/**
 * Does the work of a run that was entered, and leaves it. What was
 * refused before it began leaves nothing to resume.
 */
export async function leaveRun(
  context: RunContext,
  run: EnteredRun,
  work: () => Promise<Closed>,
  isUnfit: (closed: Closed) => boolean = () => false,
): Promise<Closed> {
  let isRefused = false;
  try {
    const closed = await work();
    isRefused =
      !run.isResumed && (endedBeforeWrites(closed.stop?.failure) || isImpossible(closed) || isUnfit(closed));
    if (isRefused) {
      context.emit({ kind: "refused", summary: { ...closed.summary, run: null, rejects: null } });
      throw closed.stop!.failure;
    }
    return closed;
  } finally {
    await run.leave();
    if (isRefused) await rm(run.folder, { recursive: true, force: true });
  }
}

/** The service does not have what the run needs, and nothing was written: resuming it would change nothing. */
function isImpossible({ stop, summary: { rows } }: Closed): boolean {
  return isNotOffered(stop?.failure) && rows.created + rows.updated + rows.deleted === 0;
}

/** Before the first write: a usage error, a person's no, or Ctrl-C in place of one. */
export function endedBeforeWrites(failure: EcmError | undefined): boolean {
  if (isInterruption(failure)) return failure.details.applied === "no";
  // A plan that a guard has stopped stays, to be looked at.
  if (failure?.type === "GuardError") return false;
  return isKind(failure, "usage", "read-only", "unreadable data", "declined");
}

/** Which list a run makes the same as its input: two at once would leave one that is like neither. */
export function findSyncedList(members: MembersOptions | undefined): SyncedList | undefined {
  return members && { listId: members.listId, name: members.listName };
}

/** Of a plan: it alone removes members of a list that its input does not name. */
export function findPlannedSync({ removals, listIds, names }: PlanHead): SyncedList | undefined {
  const [listId] = listIds;
  if (!removals || listId === undefined) return undefined;
  return { listId, name: names.lists[listId] ?? listId };
}
