/** The bulk engine, for the rest of the program: nobody outside imports another of its files. */

export type { CodedReason } from "./desired.ts";
export { readingsOf } from "./jobs/changes.ts";
export { type ChosenRows, chooseRows, type EditOptions, type TypedConditions } from "./jobs/edit.ts";
export { type ErasedPeople, eraseFromRun } from "./jobs/erase-run.ts";
export type { Closed } from "./jobs/finish.ts";
export type { ImportOptions, ImportQuestions } from "./jobs/import.ts";
export type { Job } from "./jobs/job.ts";
export { foreseeWrites, jobs, resumeRun, runJob } from "./jobs/run.ts";
export type { RunStop } from "./pace/run-stop.ts";
export type { MarkedAre, RunEvent, RunProgress, RunRemark } from "./plan/events.ts";
export type { Creation } from "./plan/name-book.ts";
export type { Price } from "./plan/numbers.ts";
export { type ClosedPlan, exportPlan, openPlanFile, type PlanFile } from "./plan/plan-file.ts";
export type { PlanChange, PlanLine } from "./plan/plan-line.ts";
export type { BackUp, Engine, ForeseenPlan, Reject, RunOptions } from "./plan/session.ts";
export type { Limit } from "./runs/folder.ts";
export {
  fileNames,
  findNewList,
  isRunName,
  type ListDeletion,
  type Manifest,
  makePlanFolder,
  noteFollowed,
  readManifest,
  toLocksFolder,
  toRunsFolder,
} from "./runs/folder.ts";
export type { RowCounts, Summary } from "./runs/report.ts";
export { findRun, listRuns, type RunView, type StoredRun, viewRun } from "./runs/stored-runs.ts";
