/**
 * All jobs, and a run that goes on: by its plan and journal alone once the plan is closed; before that by the job
 * that its record states, and its input.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { takeLease } from "../../disk/lease.ts";
import type { RunEvent } from "../plan/events.ts";
import { openPlanFile, type PlanHead, readStoredPlan } from "../plan/plan-file.ts";
import type { Engine, RunContext, RunOptions } from "../plan/session.ts";
import { fileNames, type Manifest, type Run, toLocksFolder } from "../runs/folder.ts";
import { applyJob } from "./apply.ts";
import { editJob } from "./edit.ts";
import type { Closed } from "./finish.ts";
import { importJob } from "./import.ts";
import type { Job, JobInput, OpenedJob } from "./job.ts";
import { runJob } from "./run.ts";
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
  const job = plan?.end ? plannedJob(manifest, plan.head) : await restoreJob(manifest);
  return runJob(engine, job, { ...options, isFresh: false, resumes: manifest }, emit);
}

/** The rest of a run whose plan is closed: it needs neither the job nor the input any more. */
function plannedJob(manifest: Manifest, head: PlanHead): Job {
  const { kind, input } = manifest;
  return {
    kind,
    input: { name: input.name },
    readsInput: false,
    open: (context) => openPlanned(context, manifest, head),
  };
}

async function openPlanned(context: RunContext, manifest: Manifest, head: PlanHead): Promise<OpenedJob> {
  const { engine, emit } = context;
  const { kind, account, input, fingerprint, options, after } = manifest;
  if (kind !== "apply" && kind !== "undo" && (await hasChanged(input))) {
    emit({ kind: "remark", remark: { code: "input_changed", file: input.name } });
  }
  const about = { account, input, fingerprint, options, after };
  if (kind !== "undo") return { about, ...(await holdPlannedList(context, head)) };
  // No other process can work on the run that is undone.
  const lease = await takeLease(toLocksFolder(engine.stateFolder), input.sha256, `run ${input.name}`);
  return { about, release: () => lease.release() };
}

/** Whether the file is another one by now; one that is gone, is a pipe or cannot be read says nothing. */
async function hasChanged({ file, isSpooled, sha256, bytes }: Manifest["input"]): Promise<boolean> {
  if (isSpooled || file === "") return false;
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) return false;
  if (found.size !== bytes) return true;
  const hash = createHash("sha256");
  const isRead = await pipeline(createReadStream(file), hash).then(
    () => true,
    () => false,
  );
  return isRead && hash.digest("hex") !== sha256;
}
