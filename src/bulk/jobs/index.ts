/** All jobs: the only way from what a command states, or from what a run has kept, to a job. */
import type { Manifest } from "../runs/folder.ts";
import { applyJob } from "./apply.ts";
import { editJob } from "./edit.ts";
import { importJob } from "./import.ts";
import type { Job, JobInput } from "./job.ts";
import { syncJob } from "./sync.ts";
import { undoJob } from "./undo.ts";

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

/** The job of a run, as its command stated it. @param input in place of the run's own */
export async function restoreJob(manifest: Manifest, input = findInput(manifest)): Promise<Job> {
  const { kind, options, after } = manifest;
  return (jobs[kind] as Restore)({ ...options, kind, input, after, title: manifest.input.name });
}

/** Conditions have no file. */
function findInput({ input: { name, file } }: Manifest): JobInput | undefined {
  return file === "" ? undefined : { name, path: file };
}
