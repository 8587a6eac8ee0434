/** Reading: how the rows of an understood file are read. */

import type { BlankRule } from "./compute/entry.ts";
import type { ConsentColumn } from "./consent.ts";
import type { ComputedColumn } from "./mapping-input.ts";
import type { MissingCells } from "./missing-cells.ts";
import type { InputFacts, Target } from "./rows.ts";
import type { InputFile } from "./source.ts";
import type { System } from "./system-table.ts";

export interface Reading {
  keyType: string;
  /** As `resolveEncoding` gives it. */
  encoding: string;
  /** Bytes of the byte-order mark at the start. */
  markBytes: number;
  delimiter: string;
  /** Our own tsv: its cells are escaped. */
  hasEscapes: boolean;
  /** The text is a table of our own making, in which a cell can be missing. */
  isTable: boolean;
  /** A sheet's row ends with its last value: the cells behind that are blank, not missing. */
  isSheet: boolean;
  /** As we wrote it: quotes are text like any other. A spreadsheet that saved it again has added quotes. */
  hasNoQuotes: boolean;
  /** Physical line on which the header or, without one, the first row starts. */
  startLine: number;
  /** How many physical lines the header covers; 0 without one. */
  headerLines: number;
  /** One for each column, in file order. */
  targets: Target[];
  /** What a mapping makes of a row's cells, after the columns themselves. */
  computed: ComputedColumn[];
  /** Field id → how a blank value of it is written, where the mapping says it. */
  blankRules: ReadonlyMap<string, BlankRule>;
  /** Field id and value, for contacts that are created without a value of their own. */
  defaults: readonly (readonly [fieldId: string, value: string])[];
  /** The recognised system, whose rules apply. */
  system?: System;
  consent: ConsentColumn[];
  /** Flags that put a consent column aside; absent where there is none. */
  consentAside?: readonly string[];
  /** Contacts are named, not made: an id is as good as a key. */
  takesIds?: boolean;
  /** Written with `--safe-cells`: one leading apostrophe of a cell is not its own. */
  hasSafeCells: boolean;
  /** Columns whose cells are all written as `="…"`. */
  formulaColumns: number[];
  /** Of a rejects file: its rows say themselves which of their cells are missing. */
  missing?: MissingCells;
  /** Columns without a name in which nothing was found: a value in one of them rejects its row. */
  emptyColumns: number[];
  /** Columns up to the last that has a name. */
  width: number;
}

/** A file that was understood: everything that reading its rows needs. Made by `understandInput`. */
export interface UnderstoodInput {
  file: InputFile;
  /** Holds the text where that is not the file itself. */
  text: InputFile;
  facts: InputFacts;
  /** For this folder alone. */
  reading: Reading;
}
