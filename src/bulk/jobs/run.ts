/**
 * All jobs, and the one driver of every bulk run: open the job, enter its run, plan, apply, leave. A plan
 * that somebody brings and an undo are jobs like the others. A run that goes on does so by its plan and
 * journal alone once the plan is closed; before that by the job that its record states, and its input.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
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
import { createProgress, type RunEvent } from "../plan/events.ts";
import { openPlanFile, type PlanHead, readStoredPlan } from "../plan/plan-file.ts";
import { type Engine, hold, openContext, type RunContext, type RunOptions, toFile } from "../plan/session.ts";
import { enterRun } from "../runs/enter.ts";
import {
  fileNames,
  isInPlanFolder,
  type Manifest,
  makeRunFolder,
  type Run,
  sweepAbandoned,
  writeManifest,
} from "../runs/folder.ts";
import { noteWait } from "../runs/stored-runs.ts";
import { applyJob } from "./apply.ts";
import { editJob } from "./edit.ts";
import { type Closed, closeRun } from "./finish.ts";
import { importJob } from "./import.ts";
import type { Job, JobInput, OpenedJob } from "./job.ts";
import { planAndApply } from "./plan-and-apply.ts";
import { holdPlannedList, syncJob } from "./sync.ts";
import { undoJob } from "./undo.ts";

/** The only way from what a command states, or from what a run has kept, to a job. */
export const jobs = {
  import: importJob,
  mutate: editJob,
  unsubscribe: editJob,
  delete: editJob,
  sync: syncJob,
  undo: undoJob,
  apply: applyJob,
};

type Restore = (record: object) => Job | Promise<Job>;

/** The job of a run, as its command stated it. */
export async function restoreJob({ kind, options, after, input: { name, file } }: Manifest): Promise<Job> {
  // Conditions have no file.
  const input: JobInput | undefined = file === "" ? undefined : { name, path: file };
  return (jobs[kind] as Restore)({ ...options, kind, input, after, title: name });
}

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
  const { stateFolder, clock, account } = engine;
  if (account.isReadOnly && !options.isDryRun) throw readOnlyCommandError();
  await sweepAbandoned(stateFolder, clock.now());
  const place = await makeRunFolder(stateFolder, clock.now());
  const context = openContext({ kind: job.kind, subject: job.input.name, engine, options, emit, place });
  emit({ kind: "phase", progress: () => createProgress(context, "reading", {}) });
  try {
    return await work(context, job, await takeInput(context, job));
  } finally {
    for (const lease of context.leases) await lease.release();
    const isKept = context.run?.folder === place.folder;
    const left = isKept ? toFile(context, "unpacked") : place.folder;
    // What cannot be removed is swept later; it must not take the place of the failure.
    await rm(left, { recursive: true, force: true }).catch(() => undefined);
  }
}

/**
 * What can be read only once is copied first, so that the run can be resumed; so is a plan of our own.
 * @throws UsageError; the signal's reason
 */
async function takeInput(context: RunContext, { input, readsInput }: Job): Promise<InputFile> {
  const { stateFolder, signal } = context.engine;
  const name = input.name === "-" ? "standard input" : input.name;
  const path = resolve(input.path ?? input.name);
  const scratch = toFile(context, "unpacked");
  const isOwn = input.path !== undefined && isInPlanFolder(stateFolder, path);
  if (!readsInput && !(isOwn && !context.options.isDryRun)) return { path: "", name, scratch, signal };
  const stream = input.stream ?? (isOwn ? createReadStream(path) : await openStream(path, signal));
  if (stream) {
    const copy = toFile(context, "input");
    await spool(stream, name, copy, signal);
    return { path: copy, name, scratch, signal };
  }
  await requireFile({ path, name });
  return { path, name, scratch, signal };
}

async function work(context: RunContext, job: Job, file: InputFile): Promise<Closed> {
  try {
    const opened = await job.open(context, file);
    if (context.options.isDryRun) return await planAndApply(context, opened);
    await enter(context, opened, file.path === toFile(context, "input"));
    return await workInRun(context, opened);
  } catch (error) {
    if (context.run) throw error;
    const stop = toErrorStop(error);
    const closed = await closeRun(context, { stop });
    const isOurs = error instanceof RunStop || error instanceof EcmError;
    if (isOurs && !endedBeforeWrites(stop.failure)) return closed;
    context.emit({ kind: "refused", summary: closed.summary });
    throw error instanceof RunStop ? error.failure : error;
  }
}

/**
 * @throws RunStop for whatever keeps the run from being entered; EcmError when the input is not that of the
 *   run that is resumed
 */
async function enter(
  context: RunContext,
  { about, supersedes }: OpenedJob,
  isSpooled: boolean,
): Promise<void> {
  const { kind, engine, clock, options, emit, send, place, leases } = context;
  const { rejects, planFile, reportFile, backUp, guards, resumes, isFresh } = options;
  if (resumes && about.fingerprint !== resumes.fingerprint) throw changedInputError(resumes);
  const toPath = (file: string | undefined) => (file === undefined ? undefined : resolve(file));
  const input = { ...about.input, isSpooled };
  const files = { rejects: toPath(rejects), plan: toPath(planFile), report: toPath(reportFile) };
  try {
    const run = await enterRun({
      stateFolder: engine.stateFolder,
      now: clock.now(),
      about: {
        kind,
        program: engine.version,
        ...files,
        backup: backUp?.target,
        guards,
        ...about,
        input,
      },
      place,
      leases,
      isFresh,
      supersedes,
      openJournalFile: engine.openJournalFile,
      remark: (remark) => emit({ kind: "remark", remark }),
    });
    noteWait(run.folder, undefined, clock.now());
    send.watchWaits((wait) => noteWait(run.folder, wait, clock.now()));
    Object.assign(context, { run, ledger: run.ledger });
  } catch (error) {
    throw toErrorStop(error);
  }
}

/** What was refused before it began leaves nothing to resume. */
async function workInRun(context: RunContext, opened: OpenedJob): Promise<Closed> {
  const { emit } = context;
  const run = context.run!;
  const closed = await planAndApply(context, opened).finally(() =>
    run.journal.close().catch(() => undefined),
  );
  const { stop, summary } = closed;
  if (!stop || run.isResumed) return closed;
  if (!endedBeforeWrites(stop.failure) && !isImpossible(closed)) return closed;
  emit({ kind: "refused", summary: { ...summary, run: null, rejects: null } });
  // The runs that this one took the place of can be resumed again.
  for (const { folder, manifest } of run.superseded) await writeManifest(folder, manifest);
  await rm(run.folder, { recursive: true, force: true });
  throw stop.failure;
}

/** The service lacks what the run needs, and nothing was written: resuming it would change nothing. */
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

function changedInputError(run: Manifest): EcmError {
  return new EcmError(
    "unfit run",
    `Run ${run.id} cannot be resumed: ${run.input.name}, or what its columns mean in the account, has changed`,
    "Restore the file, or run the command on the new file",
    { type: "InputChangedError" },
  );
}

// Resuming.

/** What cannot be taken back of what the run may do: it is confirmed again. */
export async function foreseeWrites({
  manifest,
  folder,
}: Run): Promise<{ deletes: number; unsubscribes: boolean }> {
  const { kind, options, input } = manifest;
  if (kind === "apply") {
    const own = await readStoredPlan(join(folder, fileNames.plan));
    if (!own?.end) return openPlanFile(input.file, input.sha256);
    const { deleted, unsubscribed } = own.end.tally;
    return { deletes: deleted, unsubscribes: unsubscribed > 0 };
  }
  const deletes = kind === "delete" || (kind === "undo" && options.deletesCreated === true);
  return { deletes: deletes ? 1 : 0, unsubscribes: kind === "unsubscribe" };
}

/** @throws what was refused before the first write of this invocation */
export async function resumeRun(
  engine: Engine,
  { manifest, folder }: Run,
  options: RunOptions,
  emit: (event: RunEvent) => void,
): Promise<Closed> {
  const plan = options.isDryRun ? undefined : await readStoredPlan(join(folder, fileNames.plan));
  const isPlanned = plan?.end !== undefined;
  if (!isPlanned && manifest.input.isSpooled && !(await exists(manifest.input.file)))
    throw inputGoneError(manifest);
  const job = isPlanned ? plannedJob(manifest, plan.head) : await restoreJob(manifest);
  return runJob(engine, job, { ...options, isFresh: false, resumes: manifest }, emit);
}

/** The rest of a run whose plan is closed: it needs neither the job nor the input any more. */
function plannedJob(manifest: Manifest, head: PlanHead): Job {
  const { kind, input, account, fingerprint, options, after } = manifest;
  return {
    kind,
    input: { name: input.name },
    readsInput: false,
    async open(context) {
      if (kind !== "apply" && kind !== "undo" && (await hasChanged(input)))
        context.emit({ kind: "remark", remark: { code: "input_changed", file: input.name } });
      if (kind === "undo") await hold(context, input.sha256, `run ${input.name}`);
      else await holdPlannedList(context, head);
      return { about: { account, input, fingerprint, options, after } };
    },
  };
}

/** Whether the file is another one by now; one that is gone, is a pipe or cannot be read says nothing. */
async function hasChanged({ file, isSpooled, sha256, bytes }: Manifest["input"]): Promise<boolean> {
  if (isSpooled || file === "") return false;
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) return false;
  if (found.size !== bytes) return true;
  const hash = createHash("sha256");
  return pipeline(createReadStream(file), hash).then(
    () => hash.digest("hex") !== sha256,
    () => false,
  );
}

function inputGoneError({ id, input }: Manifest): EcmError {
  return usageError(
    `Run ${id} cannot be resumed: its copy of ${input.name} was removed when a person was erased`,
    "It had written nothing yet: run its command again, with the same input",
  );
}
