/**
 * What a mapping file says beyond `column: target`: how a column's value
 * is made, and what a file is expected to hold.
 */

/** How an entry writes a blank value: as `--blank` says, or by a rule of its own. */
export type BlankRule = "keep" | "clear" | "only-if-empty";

/** An entry of a mapping that is an object. Plain data: a manifest keeps it. */
export interface MappingEntry {
  /** The file's column, or the name of what is computed. */
  name: string;
  /** A field by label or id. */
  target: { kind: "field"; field: string } | { kind: "lists" } | { kind: "tags" };
  /** CEL over `row`. */
  value?: string;
  constant?: string;
  /** Formats of a date; the first that fits counts. */
  date?: string[];
  map?: [from: string, to: string][];
  else?: "keep" | "blank" | "reject";
  /** Parts one cell into several names. */
  split?: string;
  blank?: BlankRule;
  /** Where it is written, such as `people.yaml:4`. */
  place?: string;
}

export interface ColumnExpectation {
  name: string;
  /** Share of the rows that have a value, in percent. */
  filled?: number;
  unique?: boolean;
  values?: string[];
  /** A regular expression that every value matches somewhere. */
  matches?: string;
  /** A failure is said, and stops nothing. */
  warn?: boolean;
  place?: string;
}

export interface Expectations {
  rows?: { min?: number; max?: number; warn?: boolean };
  columns: ColumnExpectation[];
  /** The mapping file, for messages. */
  file: string;
}

/** How the value of an entry is made, in a few words: `date DD.MM.YYYY`. */
export function describeRule({ value, constant, date, map, split, blank }: MappingEntry): string {
  const parts = [
    constant === undefined ? "" : "constant",
    value === undefined ? "" : "computed",
    split === undefined ? "" : `split at ${JSON.stringify(split)}`,
    date === undefined ? "" : `date ${date.join(" or ")}`,
    map === undefined ? "" : `table of ${map.length}`,
    blank === undefined || blank === "keep" ? "" : blank === "clear" ? "blank clears" : "only if empty",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** Whether an entry makes its value without a column of its name. */
export function needsNoColumn({ value, constant }: MappingEntry): boolean {
  return value !== undefined || constant !== undefined;
}

/** `people.yaml:4: "Full name"` */
export function formatEntryPlace({ name, place = "--mapping" }: MappingEntry): string {
  return `${place}: ${JSON.stringify(name)}`;
}
