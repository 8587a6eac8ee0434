/** Reading: an understood file → its rows, one by one, in flat memory. */

import { erasedKey, isErasedKey, keyIdentity, trimEdges } from "../../service/key-spelling.ts";
import { type ConsentColumn, describeRefusals, type Refusal, refusalIn } from "./consent.ts";
import { type CsvRecord, readRecords } from "./csv.ts";
import { unreadableFrom } from "./faults.ts";
import { isBlank } from "./header.ts";
import { addressesWithin, createKeyReader, identityReader, type KeyReading, orId } from "./keys.ts";
import { withoutMissing } from "./missing-cells.ts";
import type { Reading, Understood } from "./reading.ts";
import { cellReader, rowValueReader } from "./row-values.ts";
import type { Mark, ReadRow, RejectedRow, Row } from "./rows.ts";
import { readText } from "./text.ts";
import { isBlankText, plainCells, splitNames } from "./values.ts";

type Readable = Pick<Understood, "file" | "text" | "reading">;

/** The rows of a file one by one, see `readRowBatches`. */
export async function* readRows(understood: Readable): AsyncGenerator<ReadRow> {
  for await (const rows of readRowBatches(understood)) yield* rows;
}

/**
 * The rows of a file, in its order; blank lines are passed over. Can be called several times. In batches, as the file is
 * read: a promise for each row of a million costs as much as the row.
 * @throws UsageError when the file cannot be read to its end
 */
export async function* readRowBatches(understood: Readable): AsyncGenerator<ReadRow[]> {
  const { reading } = understood;
  const toRow = createRowReader(reading);
  let isAfterBlank = false;
  for await (const records of readFileRecords(understood)) {
    const rows: ReadRow[] = [];
    for (const record of records) {
      if (!record.fault && isBlank(record)) {
        isAfterBlank = true;
        continue;
      }
      if (isAfterBlank && reading.system?.hasFooter && isFooterLine(record)) continue;
      isAfterBlank &&= reading.system?.hasFooter ?? false;
      const row = toRow(record);
      rows.push(record.isLastAndOpen && record.line > reading.startLine ? lastRow(row) : row);
    }
    if (rows.length > 0) yield rows;
  }
}

/** Where the rows before have a line end and the last one has none, what is wrong with it is that it is cut off. */
function lastRow(row: ReadRow): ReadRow {
  if (row.kind === "rejected") return row.code === "truncated" ? row : { ...row, ...truncated(row.message) };
  const { keyFault } = row;
  return { ...row, isOpen: true, ...(keyFault && { keyFault: truncated(keyFault.message) }) };
}

/** The records of the rows. Without the header: a row has its own width for csv-parse, and any other costs it an error. */
async function* readFileRecords({ file, text, reading }: Readable): AsyncGenerator<CsvRecord[]> {
  const firstLine = reading.startLine + reading.headerLines;
  const chunks = readText({ ...reading, file: text }, firstLine);
  try {
    for await (const records of readRecords(chunks, reading, firstLine)) {
      if (reading.hasEscapes) {
        for (const record of records) record.cells = plainCells(record.cells, reading.isTable);
      }
      if (reading.missing) {
        for (const record of records) record.cells = withoutMissing(record.cells, reading.missing);
      }
      yield records;
    }
  } catch (error) {
    throw unreadableFrom(file.name, error);
  }
}

function isFooterLine({ cells }: CsvRecord): boolean {
  return cells.length === 1 && !cells[0]!.includes("@");
}

function createRowReader(reading: Reading): (record: CsvRecord) => ReadRow {
  const { targets, system, consent } = reading;
  const cellOf = cellReader(reading);
  const readValues = rowValueReader(reading, cellOf);
  const ownKeys = createKeyReader(reading.keyType);
  const readKey = reading.takesIds ? orId(ownKeys) : ownKeys;
  const namesContacts = reading.takesIds || system?.name === "ecm";
  const keyIndex = targets.findIndex((target) => target.kind === "key");
  const emptyColumns = reading.emptyColumns.length === 0 ? undefined : reading.emptyColumns;

  const identityOf = identityReader(reading.keyType);
  /** @param shifted by how many cells the row's own may be further to the right */
  const refusalsOf = (cells: string[], shifted = 0): Refusal[] =>
    consent.length === 0
      ? none
      : consent.flatMap((column) => refusalWithin(column, (index) => cellOf(cells, index), shifted) ?? []);
  /** A row that cannot be read to its end still says who left: another row of the contact may be sound. */
  const rejectedRow = (
    record: CsvRecord,
    reason: { code: string; message: string },
    shifted = 0,
  ): RejectedRow => {
    const row = rejected(record, reason);
    const refusals = refusalsOf(record.cells, shifted);
    if (refusals.length === 0) return row;
    // Where the cells of a row end is a guess, the key may be in any of them.
    const keyCells = record.fault ? record.cells : record.cells.slice(keyIndex, keyIndex + 1 + shifted);
    const identities = addressesWithin(keyCells.map((cell) => cell ?? "").join(" ")).map(identityOf);
    return { ...row, mark: { identities, refusals, ...markFrom(refusals, consent) } };
  };

  return (record) => {
    const { line, lines, cells } = record;
    if (record.fault) return rejectedRow(record, faults[record.fault]);
    if (record.isLastAndOpen && cells.length < reading.width) {
      return rejectedRow(record, truncated(`cell ${cells.length} of ${reading.width}`));
    }
    if (cells.length > targets.length && cells.slice(targets.length).some((cell) => cell.trim() !== "")) {
      const surplus = cells.length - targets.length;
      return rejectedRow(record, tooManyCells(cells.length, targets.length), surplus);
    }
    const unnamed = emptyColumns?.find((index) => !isBlankText(cells[index] ?? ""));
    if (unnamed !== undefined) return rejectedRow(record, valueWithoutColumn(unnamed));
    const keyCell = cellOf(cells, keyIndex) ?? "";
    const addresses = system?.keySplitting ? splitNames(keyCell, system.keySplitting) : undefined;
    const written = addresses?.[0] ?? keyCell;
    if (isErasedKey(written)) return erasedRow(record);
    const read = readKey(written);
    const key = namesContacts ? asHeld(read, written) : read;
    if ("code" in key) return rejectedRow(record, key);
    const warnings = addresses && addresses.length > 1 ? [...key.warnings, "first_of_several"] : key.warnings;
    const values = readValues(cells);
    if ("code" in values) return rejectedRow(record, values);
    const refusals = refusalsOf(cells);
    const row: Row = { kind: "row", line, cells, key: key.key, ...values, warnings };
    if (lines > 1) row.lines = lines;
    if (key.fault) row.keyFault = key.fault;
    if (refusals.length > 0) {
      Object.assign(row, { refusals, ...markFrom(refusals, consent) });
      const named = addresses || key.fault ? addressesWithin(keyCell).map(identityOf) : none;
      if (named.length > 0) row.alsoNames = named.filter((identity) => identity !== key.key.identity);
    }
    return row;
  };
}

function markFrom(refusals: readonly Refusal[], consent: readonly ConsentColumn[]): Mark {
  return {
    notSubscribed: describeRefusals(refusals, consent),
    isMarkClear: refusals.some(({ isUnclear }) => !isUnclear),
  };
}

/** Where a cell holds a delimiter without quotes, all cells behind it are further to the right. */
function refusalWithin(
  column: ConsentColumn,
  cellAt: (index: number) => string | undefined,
  shifted: number,
): Refusal | undefined {
  let found: Refusal | undefined;
  for (let by = 0; by <= shifted; by++) {
    const refusal = refusalIn(column, cellAt(column.index + by));
    if (refusal && !refusal.isUnclear) return refusal;
    found ??= refusal;
  }
  return found;
}

/** Shared by all rows that have nothing to list: never changed. */
const none: never[] = [];

/** Somebody was erased from the input. Nothing is known of them but that they are not to be created, and each row is of its own. */
function erasedRow({ line, cells }: CsvRecord): Row {
  const key = { written: "", sent: erasedKey(6), identity: `erased:${line}` };
  return { kind: "row", line, cells, key, fields: new Map(), lists: none, tags: none, warnings: none };
}

/** The account may hold a contact under this key, whatever we would say of it: our own export wrote it, or a contact is named. */
function asHeld(read: KeyReading, cell: string): KeyReading {
  if (!("code" in read) || read.code === "key_missing" || read.code === "key_placeholder") return read;
  const sent = trimEdges(cell.normalize("NFC"));
  return {
    // As `identityReader` has it for the contact's own key.
    key: { written: cell, sent, identity: keyIdentity(cell, "email") },
    warnings: [],
    fault: { code: read.code, message: read.message },
  };
}

function rejected(
  { line, lines, cells }: CsvRecord,
  { code, message }: { code: string; message: string },
): RejectedRow {
  return { kind: "rejected", line, ...(lines > 1 && { lines }), cells, code, message };
}

function truncated(reason: string): { code: string; message: string } {
  return {
    code: "truncated",
    message: `the file ends in the middle of this row (no line end; ${reason}): it is probably incomplete`,
  };
}

function valueWithoutColumn(index: number): { code: string; message: string } {
  return {
    code: "unnamed_column",
    message: `cell ${index + 1} has a value, but its column has no name: name the column in the header, or remove the value`,
  };
}

function tooManyCells(count: number, expected: number): { code: string; message: string } {
  return {
    code: "too_many_cells",
    message: `the row has ${count} cells, but the header has ${expected}: a cell that contains a delimiter must be quoted`,
  };
}

const faults = {
  text_after_quote: {
    code: "text_after_quote",
    message: "text after a closing quote: a quote inside a quoted cell must be doubled",
  },
  too_long: {
    code: "too_long",
    message: "the row is longer than 1 MiB, more than one contact can hold; its cells are omitted here",
  },
};
