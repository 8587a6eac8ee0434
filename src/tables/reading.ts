/** Reading: how the rows of an understood file are read. */
import type { Constant } from "./columns/targets.ts";
import type { ConsentColumn } from "./consent/cells.ts";
import type { TableLayout } from "./layout.ts";
import type { InputFacts, Target } from "./rows.ts";
import type { InputFile } from "./source.ts";
import type { System } from "./system-table.ts";

export interface Reading {
  table: TableLayout;
  keyType: string;
  /** The recognised system, whose rules apply. */
  system?: System;
  /** One for each column, in file order. */
  targets: Target[];
  /** After the columns themselves. */
  constants: readonly Constant[];
  consent: ConsentColumn[];
  /** Contacts are named, not made: an id is as good as a key. */
  takesIds?: boolean;
  /** Columns without a name in which nothing was found: a value in one of them rejects its row. */
  emptyColumns: number[];
}

/** A file that was understood: everything that reading its rows needs. Made by `understandInput`. */
export interface UnderstoodInput {
  file: InputFile;
  facts: InputFacts;
  /** For this folder alone. */
  reading: Reading;
}

/** How rows are read as long as nothing is known of their columns: for their cells alone. */
export function readPlainly(table: TableLayout, keyType: string, system: System | undefined): Reading {
  return {
    table,
    keyType,
    system,
    targets: table.names.map(() => ({ kind: "ignore" })),
    constants: [],
    consent: [],
    emptyColumns: [],
  };
}

/**
 * How rows are read, as plain data, without where their columns go. A run keeps a digest of it, by which the same
 * command is known again: another form of it would make all unfinished runs those of other commands.
 */
export function describeReading({ table, ...reading }: Reading): Record<string, unknown> {
  const { source, dialect, startLine, headerLines, isSheet, hasSafeCells, formulaColumns, missing, width } =
    table;
  const { targets: _targets, ...rules } = reading;
  const text = { encoding: source.encoding, markBytes: source.markBytes, ...dialect };
  return { ...rules, ...text, startLine, headerLines, isSheet, hasSafeCells, formulaColumns, missing, width };
}

const file = { path: "", name: "" };
const encoding = "utf-8";
const delimiter = ",";

const table: TableLayout = {
  source: { file, encoding, markBytes: 0 },
  dialect: { delimiter, hasNoQuotes: false, hasEscapes: false, isTable: false },
  startLine: 1,
  headerLines: 0,
  isHeaderSure: false,
  written: [],
  names: [],
  isNamed: false,
  isSheet: false,
  hasSafeCells: false,
  formulaColumns: [],
  width: 0,
};

export const emptyInput: UnderstoodInput = {
  file,
  facts: {
    sha256: "",
    bytes: 0,
    encoding,
    delimiter,
    hasEscapes: false,
    form: { kind: "text", encoding, hasMark: false },
    keyName: "",
    columns: [],
    constants: [],
    notes: [],
    sample: [],
  },
  reading: readPlainly(table, "", undefined),
};
