/** What reading an input returns: valid rows and rejected rows. */
import type { Cells, ContactKey } from "./cells.ts";
import type { Mark } from "./consent/cells.ts";

/** Why a row is rejected: a stable snake_case name, and a sentence. */
export interface Reason {
  code: string;
  message: string;
}

export interface Row {
  kind: "row";
  /** Physical line on which the record starts; the first line of the file is 1. */
  line: number;
  /** The input's own cells, for the rejects file. */
  cells: Cells;
  key: ContactKey;
  /**
   * Why no contact is created with this key, although one that has it is looked for: our own export and a
   * file that names contacts can hold any key.
   */
  keyFault?: Reason;
  /** Field id → value. An empty string is a blank cell; a field whose cell is missing is absent. */
  fields: Map<string, string>;
  /** Names or ids as the cells hold them, split by the rules of the file. */
  lists: string[];
  tags: string[];
  /** The row's own file says that this person is not subscribed. */
  mark?: Mark;
  /** Identities of the other addresses that its key cell holds: a mark of the row is theirs too. */
  alsoNames?: string[];
  /** The file ends with it and without a line end, where the rows before have one: its key may be cut off. */
  isOpen?: true;
  /** What looks odd without being wrong. */
  warnings: Warning[];
}

export type Warning = "likely_typo" | "role_address" | "first_of_several";

/** A row that is wrong alone; reading continues after it. */
export interface RejectedRow extends Reason {
  kind: "rejected";
  line: number;
  cells: Cells;
  /** Where the file speaks of consent: of all addresses that its cells have for its person. */
  identities?: string[];
  /** The row says all the same that these people are not subscribed. */
  mark?: Mark;
}

export type ReadRow = Row | RejectedRow;

/** `keys`: the file names contacts, and all columns but the key and those of consent are ignored. */
export type RowKind = "contacts" | "keys";

/**
 * Where a column goes, as it is written: `key`, `lists`, `tags`, `consent`, `consent=opt-in`, `ignore`, or a
 * field's label or id; of lists and tags also what is between the names in a cell.
 */
export type ColumnTarget = string | { target: string; split: string };

/** How the input is read, by flags and the mapping file. With an array of columns a run can keep it. */
export interface ReadOptions {
  /** Column name → target; later entries win. */
  map: Iterable<readonly [column: string, target: ColumnTarget]>;
  /** Field by label or id, and its value in every row. */
  set?: readonly (readonly [field: string, value: string])[];
  /** A target that names no field of the account is a field to be created: a person is asked before that. */
  createsFields?: boolean;
  /** Columns of `map` that the file need not have. */
  mayBeGone?: readonly string[];
  /** A known system's name, in place of recognising it by the header. */
  from?: string;
  /** The sheet of a workbook: its name, or its number from 1. */
  sheet?: string;
  delimiter?: string;
  encoding?: string;
  skipLines?: number;
  hasNoHeader?: boolean;
  ignoreUnmapped?: boolean;
  /** A person looks at the columns, even where all are clear. */
  isReviewed?: boolean;
  /**
   * Columns of consent, each with how it is read where its name does not say so:
   * `NAME`, `NAME=opt-in`, `NAME=opt-out`.
   */
  consentColumns?: readonly string[];
  /** The consent columns of a file that names contacts matter too. */
  readsConsent?: boolean;
  /** A mark decides whether its row is meant at all, and `--all-rows` takes every row. */
  consentChoosesRows?: boolean;
  /**
   * Contacts are named, not made: an id is as good as a key, and a
   * column `_id` names them where no key column does.
   */
  takesIds?: boolean;
}

/** Where a column's cells go. */
export type Target =
  | { kind: "key" }
  /** `split`: what is between the names in a cell, where a mapping file says it. */
  | { kind: "lists" | "tags"; split?: string }
  | { kind: "ignore" }
  /** Without a reading, the column's name says which way round a yes is read. */
  | { kind: "consent"; reading?: "opt-in" | "opt-out" }
  | { kind: "field"; fieldId: string; label: string };

/** How a table is written down, so that a file of its rows opens wherever the input did. */
export interface SourceForm {
  kind: "text" | "workbook" | "json";
  encoding: string;
  /** The text begins with a byte order mark. */
  hasMark: boolean;
}

/** What was understood of a file, and said to the reader before anything is sent. */
export interface InputFacts {
  /** SHA-256 of the bytes, hexadecimal. */
  sha256: string;
  bytes: number;
  delimiter: string;
  /** Cells are escaped, as in our own tsv, in place of quoted. */
  hasEscapes: boolean;
  /** What kind of file holds the table. */
  form: SourceForm;
  /** Name of the recognised system, such as `mailchimp`. */
  system?: string;
  /** What the structure calls the key of a contact. */
  keyName: string;
  /** `isConsent`: a column of the file's own is read as consent, whatever else it fills. */
  columns: { name: string; target: Target; isConsent?: boolean }[];
  /** The fields that `--set` fills. */
  constants: readonly { fieldId: string; label: string; value: string }[];
  /** What was detected, and what to be careful about. */
  notes: Note[];
  /** Cells of the first rows, for people. */
  sample: readonly Cells[];
}

/** What a person is told of how a file was read. */
export type Note =
  | { code: "sheet"; sheet: string }
  | { code: "hidden_rows"; count: number }
  | { code: "merged_ranges"; count: number }
  | { code: "counted_elements" }
  /** What is between cells, where it is not a comma. */
  | { code: "delimiter"; delimiter: string }
  /** The line of a header that is not the first one. */
  | { code: "header"; line: number }
  | { code: "encoding"; encoding: string; isGuess: boolean; firstForeign?: { line: number; text: string } }
  /** A recognised system, by its title. */
  | { code: "system"; system: string }
  | { code: "system_without_consent"; system: string }
  | { code: "system_columns"; system: string; columns: readonly string[] }
  | { code: "unmapped"; columns: readonly string[] }
  | { code: "no_rows" }
  /** The mapping of the last time names them. */
  | { code: "columns_gone"; columns: readonly string[] }
  /** A column that looks like consent is put aside by a flag. */
  | { code: "consent_ignored"; column: string }
  | { code: "consent_of_other_channel"; column: string }
  | { code: "consent_empty"; column: string }
  | { code: "consent_is_field"; column: string };

/** What looks odd in the rows of a file, although they are read. */
export interface RowsNote extends OddCells {
  code: "unknown_value" | "lost_zeros" | "formatted_amount" | Warning;
  /** The column of the cells; absent where rows are counted. */
  column?: string;
}

export interface OddCells {
  count: number;
  /** The line of the first one. */
  line: number;
  /** The first cell; the key, where rows are counted. */
  cell: string;
}
