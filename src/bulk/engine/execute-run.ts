/**
 * A run over the rows of an input, from its first byte to its report: survey → names → run folder → price → work →
 * report. `import`, `mutate --keys` and `lists sync` differ only in the job they hand in.
 */

import { randomBytes } from "node:crypto";
import { access, constants, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DeclinedError, EcmError, exitCodes, InterruptedError, UsageError } from "../../errors.ts";
import { type Account, createAccount } from "../../service/account.ts";
import { createBehavior } from "../../service/behavior.ts";
import { createKeySearch } from "../../service/key-search.ts";
import type { ContactStructure } from "../../wire.ts";
import { identityReader } from "../account/lookup.ts";
import { openNameBook } from "../account/names.ts";
import type { InputFile } from "../input/index.ts";
import { joinRows } from "../input/join.ts";
import { surveyOfNothing, withoutInput } from "../input/none.ts";
import { requireFile } from "../input/source.ts";
import { spool, streamAt } from "../input/spool.ts";
import { surveyInput } from "../input/survey.ts";
import { createBudget } from "../pacing/budget.ts";
import { createPacedSend, type PacedSend } from "../pacing/paced-send.ts";
import { asRunStop, RunStop } from "../pacing/run-stop.ts";
import { type EnteredRun, enterRun } from "../runs/enter.ts";
import { fileOf } from "../runs/files.ts";
import {
  type Manifest,
  makeRunFolder,
  requireStatePlace,
  runsFolder,
  sweepAbandoned,
} from "../runs/folder.ts";
import { aboutRun, fingerprintIn } from "./about-run.ts";
import type { Closed } from "./finish.ts";
import type { RunEvent, RunOptions, RunStatus } from "./row-job.ts";
import { type Engine, type Prepared, type RowJob, readOnly } from "./row-job.ts";
import { closeUnentered, type Unentered, workThrough } from "./run-work.ts";

/**
 * Runs the job and returns what it did; a run that stopped is returned too, with the stop.
 * @param resumes the run that must be gone on with
 * @throws UsageError and other failures before the run has begun
 */
export async function runRowJob(
  engine: Engine,
  job: RowJob,
  options: RunOptions,
  on: (event: RunEvent) => void,
  resumes?: Manifest,
): Promise<Closed> {
  if (engine.account.isReadOnly && !options.isDryRun) throw readOnly();
  const status: RunStatus = { phase: "reading" };
  on({ kind: "status", status });
  if (!options.isDryRun) await requireStatePlace(engine.stateFolder);
  await sweepAbandoned(engine.stateFolder, engine.clock.now());
  await requireRejectsPlace(job, options);
  const input = await takeInput(engine, job);
  // Swept later with other abandoned folders if the process is killed.
  const scratch = join(runsFolder(engine.stateFolder), `.unpacked-${randomBytes(6).toString("hex")}`);
  let keeps: string | undefined;
  const budget = createBudget(options);
  if (engine.limits) budget.seed(engine.limits);
  const send = createPacedSend({ ...engine, budget, concurrency: options.concurrency });
  const unentered: Unentered = { engine, job, options, send, budget };
  try {
    const prepared = await prepare(unentered, { ...input.file, scratch }, { status, on });
    if (options.isDryRun) return await workThrough(prepared, undefined);
    if (resumes && fingerprintIn(prepared, resumes) !== resumes.fingerprint) throw changedInput(resumes);
    const run = await enterRun({
      stateFolder: engine.stateFolder,
      now: engine.clock.now(),
      about: aboutRun(prepared, { file: input.file, isSpooled: input.prepared !== undefined }, resumes),
      prepared: input.prepared,
      isFresh: options.isFresh,
      openJournalFile: engine.openJournalFile,
      onChanged: (older) => on({ kind: "input-changed", older: older.id }),
      onUnreadable: ({ message }) => on({ kind: "remark", text: `warning: ${message}` }),
      onTookOver: (whose) => on({ kind: "remark", text: `Took over the run from ${whose}`, isAside: true }),
    }).catch(asRunStop);
    if (run instanceof RunStop) return await closeUnentered(prepared, run);
    keeps = run.folder;
    return await goIn(prepared, run);
  } catch (error) {
    const stop = asRunStop(error);
    if (keeps === undefined) {
      const closed = await closeUnentered(unentered, stop);
      const isOurs = error instanceof RunStop || error instanceof EcmError;
      if (isOurs && !isRefusal(stop.failure)) return closed;
      on({ kind: "refused", summary: closed.summary });
    }
    throw error instanceof RunStop ? error.failure : error;
  } finally {
    // What cannot be removed is swept later; it must not take the place of the failure.
    await rm(scratch, { recursive: true, force: true }).catch(() => undefined);
    const spooled = input.prepared?.folder;
    if (spooled !== undefined && spooled !== keeps) await rm(spooled, { recursive: true, force: true });
  }
}

async function goIn(prepared: Prepared, run: EnteredRun): Promise<Closed> {
  let isRefused = false;
  try {
    const closed = await workThrough(prepared, run);
    isRefused = !run.isResumed && (isRefusal(closed.stop?.failure) || isUnasked(prepared, closed));
    if (isRefused) {
      prepared.on({ kind: "refused", summary: { ...closed.summary, run: null, rejects: null } });
      throw closed.stop!.failure;
    }
    return closed;
  } finally {
    await run.leave();
    // What was refused before it began leaves nothing to resume.
    if (isRefused) await rm(run.folder, { recursive: true, force: true });
  }
}

/** Before the first write: a usage error, a person's no, or Ctrl-C in place of one. */
function isRefusal(failure: EcmError | undefined): boolean {
  if (failure instanceof InterruptedError) return failure.details.applied === "no";
  return failure instanceof UsageError || failure instanceof DeclinedError;
}

/** Stopped before its last question was answered, with fields to create that no command names: it cannot be resumed. */
function isUnasked({ job, names }: Prepared, { stop }: Closed): boolean {
  return stop !== undefined && (job.newFields?.length ?? 0) > 0 && names.requestsToCreate > 0;
}

/** Found out before the run, not after it. @throws UsageError */
async function requireRejectsPlace({ input }: RowJob, { rejects }: RunOptions): Promise<void> {
  if (rejects === undefined) return;
  const file = resolve(rejects);
  if (!input.stream && file === resolve(input.path ?? input.name)) {
    throw new UsageError("--rejects names the input file", "Name another file");
  }
  const isFolder = await stat(file).then(
    (info) => info.isDirectory(),
    () => false,
  );
  const mayWrite = await access(dirname(file), constants.W_OK).then(
    () => true,
    () => false,
  );
  if (isFolder || !mayWrite) {
    throw new UsageError(`--rejects: cannot write ${rejects}`, "Choose a file in a writable folder");
  }
}

interface TakenInput {
  file: InputFile;
  prepared?: { id: string; folder: string };
}

/** What can be read only once is copied first, so that the run can be resumed. */
async function takeInput(engine: Engine, { input, isWithoutInput }: RowJob): Promise<TakenInput> {
  if (isWithoutInput) return { file: { path: "", name: input.name } };
  const name = input.name === "-" ? "standard input" : input.name;
  const source = resolve(input.path ?? input.name);
  const stream = input.stream ?? (await streamAt(source, engine.signal));
  if (!stream) {
    const file = { path: source, name };
    await requireFile(file);
    return { file };
  }
  const prepared = await makeRunFolder(engine.stateFolder, engine.clock.now());
  const path = resolve(prepared.folder, fileOf.input);
  try {
    await spool(stream, name, path, engine.signal);
  } catch (error) {
    await rm(prepared.folder, { recursive: true, force: true });
    throw error;
  }
  return { file: { path, name }, prepared };
}

/** @param unentered takes what is known of the input as soon as it is */
async function prepare(
  unentered: Unentered,
  file: InputFile,
  { status, on }: { status: RunStatus; on: (event: RunEvent) => void },
): Promise<Prepared> {
  const { engine, options, send, budget } = unentered;
  const behaviors = engine.behaviors ?? (() => createBehavior());
  const account = createAccount(send.plain, engine.account.preferredStructure, behaviors);
  status.send = send;
  status.budget = budget;
  const structure = await account.structure();
  await unentered.job.resolve?.(account);
  if (options.clarify) await settled(unentered, (job) => requireNames(send, account, structure, job));
  const understood = await settled(unentered, (job) =>
    job.isWithoutInput ? Promise.resolve(withoutInput) : job.understand(file, structure),
  );
  let { job } = unentered;
  on({ kind: "understood", facts: understood.facts });
  const survey = job.isWithoutInput
    ? surveyOfNothing()
    : await surveyInput(understood, engine.signal, (rows) => {
        status.rowsRead = rows;
      });
  job.requireInput?.(survey);
  const joined = await joinRows(survey.rows(), survey.repeated, job.duplicates);
  Object.assign(unentered, { survey, joined });
  on({ kind: "surveyed", survey, joined, notSubscribedAre: job.notSubscribedAre });
  const suppressions = job.leavesOutSuppressed ? await engine.openSuppressions?.() : undefined;
  const names = await settled(unentered, ({ lists, tags, createMissing, newFields }) =>
    openNameBook({
      send: send.plain,
      account,
      structure,
      lists: [...lists, ...survey.lists],
      tags: [...tags, ...survey.tags],
      createMissing,
      fields: newFields,
    }),
  );
  ({ job } = unentered);
  on({ kind: "names-missing", missing: names.missing });
  const behavior = behaviors(structure._id);
  return {
    engine,
    job,
    options,
    budget,
    send,
    account,
    structure,
    behavior,
    keys: createKeySearch({
      send: send.searches,
      behavior,
      structureId: structure._id,
      identityOf: identityReader(structure.keyType),
    }),
    understood,
    survey,
    joined,
    names,
    suppressions,
    status,
    on,
  };
}

/** A step of the preparation: where it fails, and a person can settle that, it is tried again with the job as it is then. */
async function settled<T>(unentered: Unentered, step: (job: RowJob) => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await step(unentered.job);
    } catch (failure) {
      const { clarify } = unentered.options;
      if (!clarify) throw failure;
      unentered.job = await clarify(failure, unentered.job);
    }
  }
}

/** Asked before anything else is. @throws MissingNamesError for lists and tags that flags name */
async function requireNames(
  send: PacedSend,
  account: Account,
  structure: ContactStructure,
  { lists, tags, createMissing }: RowJob,
): Promise<void> {
  if (createMissing || lists.length + tags.length === 0) return;
  await openNameBook({ send: send.plain, account, structure, lists, tags, createMissing });
}

function changedInput(run: Manifest): EcmError {
  return new EcmError(
    exitCodes.usage,
    `Run ${run.id} cannot be resumed: ${run.input.name}, or what its columns mean in the account, has changed`,
    { type: "InputChangedError", hint: "Restore the file, or run the command on the new file" },
  );
}
