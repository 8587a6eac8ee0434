/**
 * The bulk engine, for the rest of the program: nobody outside imports
 * another of its files, but what erases its runs.
 */
export type { Limit } from "./items.ts";
export { applyPlanFile, openPlannedFile, toPlanName } from "./jobs/apply-file.ts";
export { readRunChanges } from "./jobs/changes.ts";
export { type ComposeOptions, composeListJob, restoreComposeOptions } from "./jobs/compose-list.ts";
export {
  type EditOptions,
  editJob,
  restoreEditOptions,
  type TypedConditions,
} from "./jobs/edit.ts";
export type { Closed } from "./jobs/finish.ts";
export {
  type ImportOptions,
  importJob,
  NoListError,
  restoreImportOptions,
  toSubscriptionRule,
} from "./jobs/import.ts";
export type { RowJob } from "./jobs/job.ts";
export { type KeysFileOptions, toReadOptions } from "./jobs/keys-file-options.ts";
export { type ChosenRows, MarkedRowsError, requireChosenRows } from "./jobs/marked-rows.ts";
export { type RejectedRow, readRejectedRows } from "./jobs/rejected.ts";
export { refusalRemark } from "./jobs/removals.ts";
export { type JobOptions, requireWritableRejects, runJob } from "./jobs/run-job.ts";
export { readFirstRejects, readRejects } from "./jobs/shown-rejects.ts";
export { restoreSyncOptions, syncJob } from "./jobs/sync.ts";
export { undoRun } from "./jobs/undo.ts";
export type { RunStop } from "./pace/run-stop.ts";
export type { RunEvent, RunProgress } from "./plan/events.ts";
export { describeDoubts, type MissingName, type MissingNames, MissingNamesError } from "./plan/names.ts";
export { exportPlan } from "./plan/plan-export.ts";
export type { ClosedPlan, PlanEnd, PlanHead } from "./plan/plan-file.ts";
export { openPlanFile, type PlanFile } from "./plan/plan-import.ts";
export type { PlanChange, PlanLine } from "./plan/plan-line.ts";
export type { Price } from "./plan/price.ts";
export type { BackUp, Engine, ForeseenPlan, RunOptions, ShownReject } from "./plan/run-context.ts";
export { readRunNames } from "./plan/run-names.ts";
export { countPlannedWrites } from "./plan/tally.ts";
export { isOurBookkeeping } from "./read/columns/map-columns.ts";
export { type Mapping, readMapping, writeMapping } from "./read/columns/mapping-file.ts";
export { type NewField, parseNewFieldId } from "./read/columns/new-fields.ts";
export {
  countMarkedRows,
  type Proposal,
  type ProposedColumn,
  proposeLabel,
  proposeLateColumns,
  UnclearColumnsError,
} from "./read/columns/proposal.ts";
export { isTargetWord, UnknownFieldError } from "./read/columns/targets.ts";
export { findConsentName } from "./read/consent/names.ts";
export type { ColumnTally, ConsentTally } from "./read/consent/tally.ts";
export { openInput } from "./read/formats/open.ts";
export { SeveralSheetsError } from "./read/input-errors.ts";
export { createIdentityReader, createKeyReader } from "./read/keys.ts";
export { findNearestName, foldName } from "./read/names.ts";
export { readRows } from "./read/read-rows.ts";
export type { InputFacts, ReadOptions, ReadRow, Target } from "./read/rows.ts";
export { surveyInput } from "./read/survey.ts";
export { listSystemNames } from "./read/systems.ts";
export { type InputFile, requireFile } from "./read/text/source.ts";
export { openStream, spool } from "./read/text/spool.ts";
export { placeholderStructure, understandKeys } from "./read/understand.ts";
export { findUnknown } from "./read/unknown-cells.ts";
export { readRunRecord } from "./runs/damage.ts";
export { isFinished } from "./runs/enter.ts";
export { fileNames } from "./runs/file-names.ts";
export { findRun, listRuns } from "./runs/find-runs.ts";
export { computeFingerprint } from "./runs/fingerprint.ts";
export {
  type GuardOptions,
  isInPlanFolder,
  isRunName,
  type Manifest,
  makePlanFolder,
  toLocksFolder,
  toRunsFolder,
} from "./runs/folder.ts";
export { type RowCounts, type Summary, sumCounts } from "./runs/report.ts";
export { type Undone, undoneRuns } from "./runs/undone.ts";
export { type RunView, viewRun } from "./runs/view.ts";
