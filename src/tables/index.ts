/**
 * Tables: a file of any format → its rows. It knows no account; the rest of the program imports no other file
 * of this folder.
 */
export { type Cells, type ContactKey, findUnknown } from "./cells.ts";
export { readMapping, writeMapping } from "./columns/mapping-file.ts";
export { type Proposal, type ProposedColumn, toTargetWord } from "./columns/proposal.ts";
export { toUnclearError, type UnclearInput } from "./columns/unclear.ts";
export type { ColumnTally, ConsentTally } from "./consent/cells.ts";
export { readRecords } from "./csv.ts";
export { isTargetWord } from "./header-names.ts";
export { createIdentityReader, createKeyReader, listPossibleKeys } from "./keys.ts";
export { readRows, type UnderstoodInput } from "./read-rows.ts";
export { rejectsColumns } from "./rejects-columns.ts";
export type {
  InputFacts,
  Note,
  ReadOptions,
  ReadRow,
  RejectedRow,
  Row,
  RowsNote,
  SourceForm,
  Target,
  Warning,
} from "./rows.ts";
export { type InputFile, openStream, readBytes, requireFile, spool } from "./source.ts";
export { type Duplicates, findRole, type JoinedRows, joinRows, type Survey, surveyInput } from "./survey.ts";
export type { SeveralSheets } from "./table.ts";
export { openClearInput, requireUnderstood, understandInput } from "./understand.ts";
