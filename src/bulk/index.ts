/**
 * The bulk engine, for the rest of the program: nobody outside imports
 * another of its files, but what erases its runs.
 */

export { isOurBookkeeping } from "../tables/columns/map-columns.ts";
export { type Mapping, readMapping, writeMapping } from "../tables/columns/mapping-file.ts";
export { type NewField, parseNewFieldId } from "../tables/columns/new-fields.ts";
export {
  countMarkedRows,
  type Proposal,
  type ProposedColumn,
  proposeLabel,
  proposeLateColumns,
  UnclearColumnsError,
} from "../tables/columns/proposal.ts";
export { isTargetWord, UnknownFieldError } from "../tables/columns/targets.ts";
export { findConsentName } from "../tables/consent/names.ts";
export type { ColumnTally, ConsentTally } from "../tables/consent/tally.ts";
export { openInput } from "../tables/formats/open.ts";
export { SeveralSheetsError } from "../tables/input-errors.ts";
export { createIdentityReader, createKeyReader } from "../tables/keys.ts";
export { findNearestName, foldName } from "../tables/names.ts";
export { readRows } from "../tables/read-rows.ts";
export type { InputFacts, ReadOptions, ReadRow, Target } from "../tables/rows.ts";
export { surveyInput } from "../tables/survey.ts";
export { listSystemNames } from "../tables/systems.ts";
export { type InputFile, requireFile } from "../tables/text/source.ts";
export { openStream, spool } from "../tables/text/spool.ts";
export { placeholderStructure, understandKeys } from "../tables/understand.ts";
export { findUnknown } from "../tables/unknown-cells.ts";
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
export { readRunRecord } from "./runs/damage.ts";
export { isFinished } from "./runs/enter.ts";
export { fileNames } from "./runs/file-names.ts";
export { findRun, listRuns } from "./runs/find-runs.ts";
export { computeFingerprint } from "./runs/fingerprint.ts";
export {
  type GuardOptions,
  isRunName,
  type Manifest,
  makePlanFolder,
  toLocksFolder,
  toRunsFolder,
} from "./runs/folder.ts";
export { type RowCounts, type Summary, sumCounts } from "./runs/report.ts";
export { type Undone, undoneRuns } from "./runs/undone.ts";
export { type RunView, viewRun } from "./runs/view.ts";
