/** Reading: an understood file → its rows, one by one, in flat memory. */
import { UsageError } from "../../errors.ts";
import { createKeyReader, type KeyReader } from "../keys.ts";
import type { ReadRow, RejectedRow, Row, Target, Understood } from "../rows.ts";
import { CsvFault, type CsvRecord, readRecords } from "./csv.ts";
import { isBlank } from "./header.ts";
import { readText } from "./text.ts";

/**
 * The rows of a file, in its order; blank lines are passed over. Can be called several times.
 * @throws UsageError when the file cannot be read to its end
 */
export async function* readRows(understood: Understood): AsyncGenerator<ReadRow> {
  const { reading, path } = understood;
  const toRow = createRowReader(reading.targets, reading.keyType);
  for await (const records of readFileRecords(understood)) {
    for (const record of records) {
      if (record.line === reading.startLine && reading.hasHeader) continue;
      if (isBlank(record)) continue;
      yield record.hasTextAfterQuote ? textAfterQuote(record, path) : toRow(record);
    }
  }
}

/** The records from the header, or the first row, on. @throws UsageError when the file cannot be read to its end */
async function* readFileRecords({ path, reading }: Understood): AsyncGenerator<CsvRecord[]> {
  try {
    yield* readRecords(readText(path, reading), reading.delimiter, reading.startLine);
  } catch (error) {
    if (error instanceof CsvFault) throw unreadableFile(path, error);
    throw error;
  }
}

function createRowReader(targets: Target[], keyType: string): (record: CsvRecord) => ReadRow {
  const readKey: KeyReader = createKeyReader(keyType);
  const keyIndex = targets.findIndex((target) => target.kind === "key");
  const fields = targets.flatMap((target, index) =>
    target.kind === "field" ? [{ index, id: target.fieldId }] : [],
  );
  const indexesOf = (kind: Target["kind"]) =>
    targets.flatMap((target, index) => (target.kind === kind ? [index] : []));
  const listIndexes = indexesOf("lists");
  const tagIndexes = indexesOf("tags");

  return ({ line, cells }) => {
    if (cells.length > targets.length) {
      const extra = cells.slice(targets.length).find((cell) => cell.trim() !== "");
      if (extra !== undefined) return tooManyCells(line, cells, targets.length);
    }
    const reading = readKey(cells[keyIndex] ?? "");
    if ("code" in reading)
      return { kind: "rejected", line, cells, code: reading.code, message: reading.message };
    const row: Row = {
      kind: "row",
      line,
      cells,
      key: reading.key,
      fields: new Map(),
      lists: namesIn(cells, listIndexes),
      tags: namesIn(cells, tagIndexes),
      warnings: reading.warnings,
    };
    for (const { index, id } of fields) {
      const value = cells[index];
      if (value !== undefined) row.fields.set(id, value);
    }
    return row;
  };
}

function namesIn(cells: string[], indexes: number[]): string[] {
  return indexes.flatMap((index) => {
    const name = cells[index]?.trim();
    return name ? [name] : [];
  });
}

function tooManyCells(line: number, cells: string[], expected: number): RejectedRow {
  return {
    kind: "rejected",
    line,
    cells,
    code: "too_many_cells",
    message: `the row has ${cells.length} cells, the header ${expected}: a delimiter inside a cell needs quotes around the cell`,
  };
}

function textAfterQuote({ line, cells }: CsvRecord, _path: string): RejectedRow {
  return {
    kind: "rejected",
    line,
    cells,
    code: "text_after_quote",
    message: "text stands after a closing quote: a quote inside a quoted cell must be doubled",
  };
}

function unreadableFile(path: string, fault: CsvFault): UsageError {
  const place = `${path}:${fault.line}`;
  if (fault.kind === "too_long") {
    return new UsageError(
      `${place}: the row is longer than 1 MiB`,
      "is this the right file, and the right --delimiter?",
    );
  }
  if (fault.kind === "quote_spans_rows") {
    return new UsageError(
      `${place}: a quote opens here and closes on line ${fault.lastLine}, with text after it`,
      `close the quote on line ${fault.line}, or double it if it is part of the text`,
    );
  }
  return new UsageError(
    `${place}: a quote opens here and is never closed`,
    "close it, or double it if it is part of the text",
  );
}
