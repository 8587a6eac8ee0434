/** The bulk engine, for the rest of the program: nobody outside imports another of its files. */

export type { Limit } from "./items.ts";
export { applyPlanFile, toPlanName } from "./jobs/apply-file.ts";
export { readRunChanges } from "./jobs/changes.ts";
export {
  type EditOptions,
  editJob,
  type TypedConditions,
} from "./jobs/edit.ts";
export { type ErasedPeople, eraseFromRun } from "./jobs/erase-run.ts";
export type { Closed } from "./jobs/finish.ts";
export {
  type ImportOptions,
  importJob,
  NoListError,
  restoreImportOptions,
} from "./jobs/import.ts";
export type { RowJob } from "./jobs/job.ts";
export { type KeysFileOptions, toReadOptions } from "./jobs/keys-file-options.ts";
export { type ChosenRows, MarkedRowsError, requireChosenRows } from "./jobs/marked-rows.ts";
export { type RejectedRow, readRejectedRows } from "./jobs/rejected.ts";
export { refusalRemark } from "./jobs/removals.ts";
export { foreseeWrites, resumeRun } from "./jobs/resume.ts";
export { type JobOptions, runJob } from "./jobs/run-job.ts";
export { readFirstRejects, readRejects } from "./jobs/shown-rejects.ts";
export { syncJob } from "./jobs/sync.ts";
export { undoRun } from "./jobs/undo.ts";
export type { RunStop } from "./pace/run-stop.ts";
export type { RunEvent, RunProgress } from "./plan/events.ts";
export { describeDoubts, type MissingName, type MissingNames, MissingNamesError } from "./plan/names.ts";
export { type ClosedPlan, readPlanHead, readPlanLines } from "./plan/plan-file.ts";
export { openPlanFile, type PlanFile } from "./plan/plan-import.ts";
export type { PlanChange, PlanLine } from "./plan/plan-line.ts";
export { exportPlan } from "./plan/plan-writer.ts";
export type { Price } from "./plan/price.ts";
export type { BackUp, Engine, ForeseenPlan, RunOptions, ShownReject } from "./plan/run-context.ts";
export { readRunNames } from "./plan/run-names.ts";
export { countPlannedWrites } from "./plan/tally.ts";
export { type AfterStep, findNewList } from "./runs/after.ts";
export { readRunRecord } from "./runs/damage.ts";
export { isFinished, noteFollowed } from "./runs/enter.ts";
export { findRun, listRuns, type StoredRun } from "./runs/find-runs.ts";
export {
  computeFingerprint,
  fileNames,
  type GuardOptions,
  isRunName,
  type Manifest,
  type ManifestError,
  makePlanFolder,
  readManifest,
  toLocksFolder,
  toRunsFolder,
} from "./runs/folder.ts";
export { type RowCounts, type Summary, sumCounts } from "./runs/report.ts";
export { type RunView, type Undone, undoneRuns, viewRun } from "./runs/view.ts";
