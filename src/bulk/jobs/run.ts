/**
 * The one driver of every bulk run, whatever its job: open the job, enter its run, plan, apply, leave. A run that
 * goes on, a plan that somebody brings and an undo are jobs like the others.
 */

import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { exists } from "../../disk/walk.ts";
import {
  EcmError,
  isInterruption,
  isKind,
  isNotOffered,
  readOnlyCommandError,
  usageError,
} from "../../errors.ts";
import { type InputFile, openStream, requireFile, spool } from "../../tables/index.ts";
import { RunStop, toErrorStop } from "../pace/run-stop.ts";
import type { RunEvent } from "../plan/events.ts";
import { type Engine, openContext, type RunContext, type RunOptions } from "../plan/session.ts";
import { type EnteredRun, enterRun } from "../runs/enter.ts";
import {
  fileNames,
  isInPlanFolder,
  type Manifest,
  makeRunFolder,
  requireStatePlace,
  sweepAbandoned,
  toRunsFolder,
} from "../runs/folder.ts";
import { noteWait } from "../runs/stored-runs.ts";
import { type Closed, closeUnentered } from "./finish.ts";
import type { Job, OpenedJob } from "./job.ts";
import { planAndApply } from "./plan-and-apply.ts";

/**
 * Runs the job and returns what it did; a run that stopped is returned too, with the stop.
 * @throws UsageError and other failures before the run has begun
 */
export async function runJob(
  engine: Engine,
  job: Job,
  options: RunOptions,
  emit: (event: RunEvent) => void,
): Promise<Closed> {
  const { isDryRun, resumes } = options;
  if (engine.account.isReadOnly && !isDryRun) throw readOnlyCommandError();
  emit({ kind: "phase", progress: () => ({ phase: "reading", rowsRead: 0, sent: 0 }) });
  if (!isDryRun) await requireStatePlace(engine.stateFolder);
  await sweepAbandoned(engine.stateFolder, engine.clock.now());
  const context = openContext({ kind: job.kind, subject: job.input.name, engine, options, emit });
  if (job.readsInput && resumes?.input.isSpooled && !(await exists(resumes.input.file)))
    throw inputGoneError(resumes);
  const { file, spooled } = await takeInput(engine, job, isDryRun);
  // Swept later with other abandoned folders if the process is killed.
  const name = `.unpacked-${randomBytes(6).toString("hex")}`;
  const scratch = join(toRunsFolder(engine.stateFolder), name);
  let opened: OpenedJob | undefined;
  let run: EnteredRun | undefined;
  try {
    opened = await job.open(context, { ...file, scratch });
    if (isDryRun) return await planAndApply(context, opened.contacts, undefined);
    run = await enter(context, opened, spooled, resumes);
    return await work(context, opened, run);
  } catch (error) {
    if (run) throw error instanceof RunStop ? error.failure : error;
    return await closeFailed(context, error);
  } finally {
    await opened?.release?.();
    // What cannot be removed is swept later; it must not take the place of the failure.
    await rm(scratch, { recursive: true, force: true }).catch(() => undefined);
    // The folder of a run keeps what was taken.
    if (spooled && spooled.folder !== run?.folder) await rm(spooled.folder, { recursive: true, force: true });
  }
}

/** Of a run that was not entered. @throws what was refused, and what is a defect */
async function closeFailed(context: RunContext, error: unknown): Promise<Closed> {
  const stop = toErrorStop(error);
  const closed = await closeUnentered(context, stop);
  const isOurs = error instanceof RunStop || error instanceof EcmError;
  if (isOurs && !endedBeforeWrites(stop.failure)) return closed;
  context.emit({ kind: "refused", summary: closed.summary });
  throw error instanceof RunStop ? error.failure : error;
}

/**
 * @throws RunStop for whatever keeps the run from being entered; EcmError when the input is not that of
 * `resumes`
 */
async function enter(
  context: RunContext,
  { about }: OpenedJob,
  spooled: TakenInput["spooled"],
  resumes: Manifest | undefined,
): Promise<EnteredRun> {
  const { kind, engine, clock, options, emit, send } = context;
  if (resumes && about.fingerprint !== resumes.fingerprint) throw changedInputError(resumes);
  const { rejects, planFile, reportFile, backUp, guards } = options;
  const toPath = (file: string | undefined) => (file === undefined ? undefined : resolve(file));
  try {
    const run = await enterRun({
      stateFolder: engine.stateFolder,
      now: clock.now(),
      about: {
        kind,
        program: engine.version,
        rejects: toPath(rejects),
        plan: toPath(planFile),
        report: toPath(reportFile),
        backup: backUp?.target,
        guards,
        ...about,
        input: { ...about.input, isSpooled: spooled !== undefined || resumes?.input.isSpooled === true },
      },
      spooled,
      isFresh: options.isFresh,
      openJournalFile: engine.openJournalFile,
      onUnreadable: (failure) => emit({ kind: "remark", remark: { code: "run_unreadable", failure } }),
      onTookOver: (whose) => emit({ kind: "remark", remark: { code: "took_over", whose } }),
    });
    noteWait(run.folder, undefined, clock.now());
    send.watchWaits((wait) => noteWait(run.folder, wait, clock.now()));
    return run;
  } catch (error) {
    throw toErrorStop(error);
  }
}

/**
 * Does the work of a run that was entered, and leaves it. What was
 * refused before it began leaves nothing to resume.
 */
async function work(context: RunContext, opened: OpenedJob, run: EnteredRun): Promise<Closed> {
  let isRefused = false;
  try {
    await opened.entered?.(run);
    const closed = await planAndApply(context, opened.contacts, run);
    const { stop, summary } = closed;
    if (!stop || run.isResumed) return closed;
    isRefused = endedBeforeWrites(stop.failure) || isImpossible(closed) || opened.isUnfit?.() === true;
    if (!isRefused) return closed;
    context.emit({ kind: "refused", summary: { ...summary, run: null, rejects: null } });
    throw stop.failure;
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
function endedBeforeWrites(failure: EcmError): boolean {
  if (isInterruption(failure)) return failure.details.applied === "no";
  // A plan that a guard has stopped stays, to be looked at.
  if (failure.type === "GuardError") return false;
  return isKind(failure, "usage", "read-only", "unreadable data", "declined");
}

interface TakenInput {
  file: InputFile;
  /** The folder of a run that is yet to be entered. */
  spooled?: { id: string; folder: string };
}

/**
 * What can be read only once is copied first, so that the run can be resumed. So is a file of our own that goes.
 * @throws UsageError; the signal's reason
 */
async function takeInput(
  { stateFolder, clock, signal }: Engine,
  { input, readsInput }: Job,
  isDryRun: boolean,
): Promise<TakenInput> {
  const name = input.name === "-" ? "standard input" : input.name;
  const path = resolve(input.path ?? input.name);
  const isOwn = input.path !== undefined && isInPlanFolder(stateFolder, path);
  if (!readsInput && !(isOwn && !isDryRun)) return { file: { path: "", name } };
  const stream = input.stream ?? (isOwn ? createReadStream(path) : await openStream(path, signal));
  if (!stream) {
    await requireFile({ path, name });
    return { file: { path, name } };
  }
  const spooled = await makeRunFolder(stateFolder, clock.now());
  const copy = resolve(spooled.folder, fileNames.input);
  try {
    await spool(stream, name, copy, signal);
    return { file: { path: copy, name }, spooled };
  } catch (error) {
    await rm(spooled.folder, { recursive: true, force: true });
    throw error;
  }
}

function inputGoneError(run: Manifest): EcmError {
  return usageError(
    `Run ${run.id} cannot be resumed: its copy of ${run.input.name} was removed when a person was erased`,
    "It had written nothing yet: run its command again, with the same input",
  );
}

function changedInputError(run: Manifest): EcmError {
  return new EcmError(
    "unfit run",
    `Run ${run.id} cannot be resumed: ${run.input.name}, or what its columns mean in the account, has changed`,
    "Restore the file, or run the command on the new file",
    { type: "InputChangedError" },
  );
}
