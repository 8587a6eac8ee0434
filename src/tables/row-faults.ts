/** Reading: why a row is rejected for its shape alone. */
import type { Reason } from "./rows.ts";

export function toTruncatedFault(reason: string): Reason {
  return {
    code: "truncated",
    message: `the file ends in the middle of this row (no line end; ${reason}): it is probably incomplete`,
  };
}

export function toValueWithoutColumnFault(index: number): Reason {
  return {
    code: "unnamed_column",
    message: `cell ${index + 1} has a value, but its column has no name: name the column in the header, or remove the value`,
  };
}

export function toUnknownKeyFault(shown: string): Reason {
  return {
    code: "key_unknown",
    message: `the workbook has no value for the key: ${shown}; open it in a spreadsheet, correct the cell and save it`,
  };
}

export function toTooManyCellsFault(count: number, expected: number): Reason {
  return {
    code: "too_many_cells",
    message: `the row has ${count} cells, but the header has ${expected}: a cell that contains a delimiter must be quoted`,
  };
}

export const faults = {
  text_after_quote: {
    code: "text_after_quote",
    message: "text after a closing quote: a quote inside a quoted cell must be doubled",
  },
  too_long: {
    code: "too_long",
    message: "the row is longer than 1 MiB, more than one contact can hold; its cells are omitted here",
  },
};
