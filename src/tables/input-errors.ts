/** Reading: what makes a file unreadable, in the reader's words. */
import { EcmError, exitCodes, UsageError } from "../errors.ts";
import { quoteShellWord } from "../hint.ts";
import { CsvFault } from "./csv.ts";

/** The refusal of a file whose text cannot be read to its end; any other failure as it is. */
export function toUnreadableError(name: string, error: unknown): unknown {
  if (!(error instanceof CsvFault)) return error;
  const { kind, line, lastLine } = error;
  const place = `${name}:${line}`;
  if (kind === "too_long") {
    return new UsageError(
      `${place}: the row that starts here is longer than 1 MiB`,
      "Is this the right file, and the right --delimiter?",
    );
  }
  const hint = "Close it, or double it if it is part of the text";
  return kind === "quote_spans_rows"
    ? new UsageError(`${place}: a quote opens here and closes on line ${lastLine}, with text after it`, hint)
    : new UsageError(`${place}: a quote opens here and is never closed`, hint);
}

/** Passes over a file must read the same. */
export function inputChangedError(name: string): EcmError {
  return new EcmError(exitCodes.failed, `${name} was changed while it was being read`, {
    type: "InputChangedError",
    hint: "Run the same command again: a changed file is a new run",
  });
}

/** Several sheets are visible, and none was named. */
export class SeveralSheetsError extends UsageError {
  readonly sheets: readonly SheetSize[];

  constructor(file: string, sheets: readonly SheetSize[]) {
    const names = sheets.map(({ name }) => JSON.stringify(name)).join(", ");
    super(
      `${file} has ${sheets.length} sheets: ${names}`,
      `Say which one: --sheet ${quoteShellWord(sheets[0]!.name)}, or its number`,
    );
    this.sheets = sheets;
  }
}

export interface SheetSize {
  name: string;
  /** As the workbook has it, with the header; undefined where it does not say. */
  lines?: number;
}
