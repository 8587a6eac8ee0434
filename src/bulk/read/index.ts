/** Reading: file → rows. What other folders of the engine use. */
export { isOurBookkeeping } from "./columns.ts";
export { findConsentName } from "./consent-names.ts";
export { type OpenedInput, openInput } from "./formats/open.ts";
export { listMissingNames, missingColumn, rejectColumns } from "./missing-cells.ts";
export { foldName } from "./names.ts";
export type { NewField } from "./new-fields.ts";
export {
  countMarkedRows,
  findSecondKeys,
  isTargetWord,
  type Proposal,
  type ProposedColumn,
  proposeLabel,
  proposeLateColumns,
  type SecondKey,
  UnclearColumnsError,
} from "./proposal.ts";
export { readRowBatches, readRows } from "./read-rows.ts";
export type { UnderstoodInput } from "./reading.ts";
export type { InputFile } from "./source.ts";
export { requireClearConsent, requireMapped, understandInput, understandKeys } from "./understand.ts";
