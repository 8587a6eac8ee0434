/** Reading: how a table's rows are read as long as nothing is known of the account. */
import type { ContactStructure } from "../../wire.ts";
import type { CompiledEntry } from "./compute/compile.ts";
import { findMissingCells } from "./missing-cells.ts";
import { foldName } from "./names.ts";
import type { Reading } from "./reading.ts";
import type { ReadOptions, Target } from "./rows.ts";
import { hasOnlyFormulas } from "./sample.ts";
import type { System } from "./system-table.ts";
import { findSystem, recogniseSystem } from "./systems.ts";
import type { TableLayout } from "./table-layout.ts";

/** Enough of a structure to find a header by: what the account really has is not asked yet. */
export const placeholderStructure: ContactStructure = {
  _id: "",
  label: "",
  keyName: "Email",
  keyType: "email",
  fields: [],
};

/** How the rows are read as long as nothing is known of the columns. */
export function toReading(
  layout: TableLayout,
  { keyType }: ContactStructure,
  system: System | undefined,
): Reading {
  const { source, dialect, header, hasHeader, headerLines, isSheet, hasSafeCells, names, written, rows } =
    layout;
  return {
    keyType,
    encoding: source.encoding,
    markBytes: source.markBytes,
    ...dialect,
    isSheet,
    startLine: header.line,
    headerLines,
    targets: names.map((): Target => ({ kind: "ignore" })),
    computed: [],
    blankRules: new Map(),
    defaults: [],
    system,
    consent: [],
    hasSafeCells,
    formulaColumns: [...names.keys()].filter((index) => hasOnlyFormulas(rows, index)),
    missing: hasHeader ? findMissingCells(written) : undefined,
    emptyColumns: [],
    width: 1 + names.findLastIndex((name) => foldName(name) !== ""),
  };
}

/** @throws UsageError with the place, for an entry that does not fit the file */
export async function compiledEntries(
  { entries = [] }: ReadOptions,
  layout: TableLayout,
  system: System | undefined,
): Promise<CompiledEntry[]> {
  if (entries.length === 0) return [];
  const { compileEntries } = await import("./compute/compile.ts");
  return compileEntries(entries, {
    names: layout.names,
    isTable: layout.dialect.isTable,
    splitting: (kind) => system?.[kind]?.splitting ?? "csv",
  });
}

export function findInputSystem(
  names: string[],
  options: ReadOptions,
  hasHeader: boolean,
): System | undefined {
  if (options.from !== undefined) return findSystem(options.from, names);
  return hasHeader ? recogniseSystem(names) : undefined;
}
