/**
 * A run over the rows of an input, or over contacts that conditions choose: read → plan → apply. `import`,
 * `mutate`, `lists sync` and the others differ only in their job.
 */

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { exists } from "../../disk/walk.ts";
import { EcmError, readOnlyCommandError, usageError } from "../../errors.ts";
import { type InputFile, openStream, requireFile, spool } from "../../tables/index.ts";
import { RunStop, toErrorStop } from "../pace/run-stop.ts";
import type { RunEvent } from "../plan/events.ts";
import { type Engine, openContext, type RunContext, type RunOptions } from "../plan/run-context.ts";
import type { EnteredRun } from "../runs/enter.ts";
import {
  fileNames,
  type Manifest,
  makeRunFolder,
  requireStatePlace,
  sweepAbandoned,
  toRunsFolder,
} from "../runs/folder.ts";
import type { SettledByInput } from "../runs/report.ts";
import { endedBeforeWrites, enterJob, findSyncedList, leaveRun } from "./enter-job.ts";
import { countSettledByInput } from "./entries.ts";
import { type Closed, closeUnentered, noInput } from "./finish.ts";
import type { RowJob } from "./job.ts";
import { planAndApply } from "./plan-and-apply.ts";
import { computeRunFingerprint, describeRun, openRowRun, type RowRun, readInput } from "./prepare.ts";
import { prepareRows } from "./rows.ts";

export interface JobOptions extends RunOptions {
  /** The run that must be resumed. */
  resumes?: Manifest;
}

/**
 * Runs the job and returns what it did; a run that stopped is returned too, with the stop.
 * @throws UsageError and other failures before the run has begun
 */
export async function runJob(
  engine: Engine,
  job: RowJob,
  options: JobOptions,
  emit: (event: RunEvent) => void,
): Promise<Closed> {
  const { isDryRun, resumes } = options;
  if (engine.account.isReadOnly && !isDryRun) throw readOnlyCommandError();
  emit({ kind: "phase", progress: () => ({ phase: "reading", rowsRead: 0, sent: 0 }) });
  if (!isDryRun) await requireStatePlace(engine.stateFolder);
  await sweepAbandoned(engine.stateFolder, engine.clock.now());
  const context = openContext({ kind: job.kind, subject: job.input.name, engine, options, emit });
  if (resumes?.input.isSpooled && !(await exists(resumes.input.file))) throw inputGoneError(resumes);
  return runInput(context, job, options, await takeInput(engine, job));
}

/** A run from its input on. @throws what failed, where that was refused, is a defect, or the run says it itself */
async function runInput(
  context: RunContext,
  job: RowJob,
  { isDryRun, resumes }: JobOptions,
  taken: SpooledInput,
): Promise<Closed> {
  // Swept later with other abandoned folders if the process is killed.
  const name = `.unpacked-${randomBytes(6).toString("hex")}`;
  const scratch = join(toRunsFolder(context.engine.stateFolder), name);
  let input = noInput;
  let run: EnteredRun | undefined;
  try {
    const read = await readInput(context, job, { ...taken.file, scratch });
    input = countSettledByInput(read);
    const rowRun = await openRowRun(read);
    const work = () => planAndApply(context, prepareRows(rowRun), run);
    if (isDryRun) return await work();
    run = await enter(rowRun, taken, resumes);
    return await leaveRun(context, run, work, (closed) => isInputUnasked(rowRun, closed));
  } catch (error) {
    if (run) throw error instanceof RunStop ? error.failure : error;
    return await closeFailed(context, error, input);
  } finally {
    // What cannot be removed is swept later; it must not take the place of the failure.
    await rm(scratch, { recursive: true, force: true }).catch(() => undefined);
    const spooled = taken.spooled?.folder;
    // The folder of a run keeps what was taken.
    if (spooled !== undefined && spooled !== run?.folder) await rm(spooled, { recursive: true, force: true });
  }
}

/** Of a run that was not entered: rows, as far as they were read, are pending. */
async function closeFailed(context: RunContext, error: unknown, input: SettledByInput): Promise<Closed> {
  const stop = toErrorStop(error);
  const closed = await closeUnentered(context, stop, input);
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
  rowRun: RowRun,
  input: SpooledInput,
  resumes: Manifest | undefined,
): Promise<EnteredRun> {
  if (resumes && computeRunFingerprint(rowRun) !== resumes.fingerprint) throw changedInputError(resumes);
  const { file, spooled } = input;
  try {
    return await enterJob(rowRun, describeRun(rowRun, { file, isSpooled: spooled !== undefined }, resumes), {
      spooled,
      syncs: findSyncedList(rowRun.job.members),
    });
  } catch (error) {
    throw toErrorStop(error);
  }
}

/**
 * Stopped before its last question was answered, with fields to
 * create that no command names: it cannot be resumed.
 */
function isInputUnasked({ job, names }: RowRun, { stop }: Closed): boolean {
  return stop !== undefined && (job.newFields?.length ?? 0) > 0 && names.requestsToCreate > 0;
}

interface SpooledInput {
  file: InputFile;
  spooled?: { id: string; folder: string };
}

/** What can be read only once is copied first, so that the run can be resumed. */
async function takeInput(engine: Engine, { input, open }: RowJob): Promise<SpooledInput> {
  if (!open) return { file: { path: "", name: input.name } };
  const name = input.name === "-" ? "standard input" : input.name;
  const source = resolve(input.path ?? input.name);
  const stream = input.stream ?? (await openStream(source, engine.signal));
  if (!stream) {
    const file = { path: source, name };
    await requireFile(file);
    return { file };
  }
  const spooled = await spoolInput(engine, stream, name);
  return { file: { path: resolve(spooled.folder, fileNames.input), name }, spooled };
}

/**
 * Copies an input into the folder of a run that is yet to be entered.
 * @throws UsageError; the signal's reason
 */
export async function spoolInput(
  { stateFolder, clock, signal }: Engine,
  stream: Readable,
  name: string,
): Promise<{ id: string; folder: string }> {
  const spooled = await makeRunFolder(stateFolder, clock.now());
  try {
    await spool(stream, name, join(spooled.folder, fileNames.input), signal);
    return spooled;
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
