/** Reading: an understood file → its rows, one by one, in flat memory. */

import { createErasedKey, isErasedKey, toKeyIdentity, trimEdges } from "../../api/key-spelling.ts";
import { type ConsentColumn, type ConsentRefusal, describeRefusals, findRefusal } from "./consent.ts";
import { type CsvRecord, readRecords } from "./csv.ts";
import { isBlank } from "./header.ts";
import { toUnreadableError } from "./input-errors.ts";
import { acceptIds, createIdentityReader, createKeyReader, findAddresses, type KeyReading } from "./keys.ts";
import { removeMissing } from "./missing-cells.ts";
import type { Reading, UnderstoodInput } from "./reading.ts";
import { cellReader, rowValueReader } from "./row-values.ts";
import type { Mark, ReadRow, RejectedRow, Row } from "./rows.ts";
import { readText } from "./text.ts";
import { isBlankText, splitNames, toPlainCells } from "./values.ts";

type Readable = Pick<UnderstoodInput, "file" | "text" | "reading">;

/** The rows of a file one by one, see `readRowBatches`. */
export async function* readRows(understood: Readable): AsyncGenerator<ReadRow> {
  for await (const rows of readRowBatches(understood)) yield* rows;
}

/**
 * The rows of a file, in its order; blank lines are passed over. Can be called several times. In batches, as
 * the file is read: a promise for each row of a million costs as much as the row.
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
      rows.push(record.isLastAndOpen && record.line > reading.startLine ? toLastRow(row) : row);
    }
    if (rows.length > 0) yield rows;
  }
}

/**
 * Where the rows before have a line end and the last one has none, what is wrong with it is that it is cut
 * off.
 */
function toLastRow(row: ReadRow): ReadRow {
  if (row.kind === "rejected")
    return row.code === "truncated" ? row : { ...row, ...toTruncatedFault(row.message) };
  const { keyFault } = row;
  return { ...row, isOpen: true, ...(keyFault && { keyFault: toTruncatedFault(keyFault.message) }) };
}

/**
 * The records of the rows. Without the header: a row has its own width for csv-parse, and any other costs it
 * an error.
 */
async function* readFileRecords({ file, text, reading }: Readable): AsyncGenerator<CsvRecord[]> {
  const firstLine = reading.startLine + reading.headerLines;
  const chunks = readText({ ...reading, file: text }, firstLine);
  try {
    for await (const records of readRecords(chunks, reading, firstLine)) {
      if (reading.hasEscapes) {
        for (const record of records) record.cells = toPlainCells(record.cells, reading.isTable);
      }
      if (reading.missing) {
        for (const record of records) record.cells = removeMissing(record.cells, reading.missing);
      }
      yield records;
    }
  } catch (error) {
    throw toUnreadableError(file.name, error);
  }
}

function isFooterLine({ cells }: CsvRecord): boolean {
  return cells.length === 1 && !cells[0]!.includes("@");
}

function createRowReader(reading: Reading): (record: CsvRecord) => ReadRow {
  const { targets, system, consent } = reading;
  const readCell = cellReader(reading);
  const readValues = rowValueReader(reading, readCell);
  const ownKeys = createKeyReader(reading.keyType);
  const readKey = reading.takesIds ? acceptIds(ownKeys) : ownKeys;
  const namesContacts = reading.takesIds || system?.name === "ecm";
  const keyIndex = targets.findIndex((target) => target.kind === "key");
  const emptyColumns = reading.emptyColumns.length === 0 ? undefined : reading.emptyColumns;

  const toIdentity = createIdentityReader(reading.keyType);
  /** @param shifted by how many cells the row's own may be further to the right */
  const findRefusals = (cells: string[], shifted = 0): ConsentRefusal[] =>
    consent.length === 0
      ? none
      : consent.flatMap(
          (column) => findRefusalWithin(column, (index) => readCell(cells, index), shifted) ?? [],
        );
  /** A row that cannot be read to its end still says who left: another row of the contact may be sound. */
  const toRejectedRow = (
    record: CsvRecord,
    reason: { code: string; message: string },
    shifted = 0,
  ): RejectedRow => {
    const row = toRejected(record, reason);
    const refusals = findRefusals(record.cells, shifted);
    if (refusals.length === 0) return row;
    // Where the cells of a row end is a guess, the key may be in any of them.
    const keyCells = record.fault ? record.cells : record.cells.slice(keyIndex, keyIndex + 1 + shifted);
    const identities = findAddresses(keyCells.map((cell) => cell ?? "").join(" ")).map(toIdentity);
    return { ...row, mark: { identities, refusals, ...toMark(refusals, consent) } };
  };

  return (record) => {
    const { line, lines, cells } = record;
    if (record.fault) return toRejectedRow(record, faults[record.fault]);
    if (record.isLastAndOpen && cells.length < reading.width) {
      return toRejectedRow(record, toTruncatedFault(`cell ${cells.length} of ${reading.width}`));
    }
    if (cells.length > targets.length && cells.slice(targets.length).some((cell) => cell.trim() !== "")) {
      const surplus = cells.length - targets.length;
      return toRejectedRow(record, toTooManyCellsFault(cells.length, targets.length), surplus);
    }
    const unnamed = emptyColumns?.find((index) => !isBlankText(cells[index] ?? ""));
    if (unnamed !== undefined) return toRejectedRow(record, toValueWithoutColumnFault(unnamed));
    const keyCell = readCell(cells, keyIndex) ?? "";
    const addresses = system?.keySplitting ? splitNames(keyCell, system.keySplitting) : undefined;
    const written = addresses?.[0] ?? keyCell;
    if (isErasedKey(written)) return toErasedRow(record);
    const read = readKey(written);
    const key = namesContacts ? acceptErased(read, written) : read;
    if ("code" in key) return toRejectedRow(record, key);
    const warnings = addresses && addresses.length > 1 ? [...key.warnings, "first_of_several"] : key.warnings;
    const values = readValues(cells);
    if ("code" in values) return toRejectedRow(record, values);
    const refusals = findRefusals(cells);
    const row: Row = { kind: "row", line, cells, key: key.key, ...values, warnings };
    if (lines > 1) row.lines = lines;
    if (key.fault) row.keyFault = key.fault;
    if (refusals.length > 0) {
      Object.assign(row, { refusals, ...toMark(refusals, consent) });
      const identities = addresses || key.fault ? findAddresses(keyCell).map(toIdentity) : none;
      if (identities.length > 0)
        row.alsoNames = identities.filter((identity) => identity !== key.key.identity);
    }
    return row;
  };
}

function toMark(refusals: readonly ConsentRefusal[], consent: readonly ConsentColumn[]): Mark {
  return {
    notSubscribed: describeRefusals(refusals, consent),
    isMarkClear: refusals.some(({ isUnclear }) => !isUnclear),
  };
}

/** Where a cell holds a delimiter without quotes, all cells behind it are further to the right. */
function findRefusalWithin(
  column: ConsentColumn,
  cellAt: (index: number) => string | undefined,
  shifted: number,
): ConsentRefusal | undefined {
  let found: ConsentRefusal | undefined;
  for (let by = 0; by <= shifted; by++) {
    const refusal = findRefusal(column, cellAt(column.index + by));
    if (refusal && !refusal.isUnclear) return refusal;
    found ??= refusal;
  }
  return found;
}

/** Shared by all rows that have nothing to list: never changed. */
const none: never[] = [];

/**
 * Somebody was erased from the input. Nothing is known of them but that they are not to be created, and each
 * row is of its own.
 */
function toErasedRow({ line, cells }: CsvRecord): Row {
  const key = { written: "", sent: createErasedKey(6), identity: `erased:${line}` };
  return { kind: "row", line, cells, key, fields: new Map(), lists: none, tags: none, warnings: none };
}

/**
 * The account may hold a contact under this key, whatever we would say of it: our own export wrote it, or a
 * contact is named.
 */
function acceptErased(read: KeyReading, cell: string): KeyReading {
  if (!("code" in read) || read.code === "key_missing" || read.code === "key_placeholder") return read;
  const sent = trimEdges(cell.normalize("NFC"));
  return {
    // As `createIdentityReader` has it for the contact's own key.
    key: { written: cell, sent, identity: toKeyIdentity(cell, "email") },
    warnings: [],
    fault: { code: read.code, message: read.message },
  };
}

function toRejected(
  { line, lines, cells }: CsvRecord,
  { code, message }: { code: string; message: string },
): RejectedRow {
  return { kind: "rejected", line, ...(lines > 1 && { lines }), cells, code, message };
}

function toTruncatedFault(reason: string): { code: string; message: string } {
  return {
    code: "truncated",
    message: `the file ends in the middle of this row (no line end; ${reason}): it is probably incomplete`,
  };
}

function toValueWithoutColumnFault(index: number): { code: string; message: string } {
  return {
    code: "unnamed_column",
    message: `cell ${index + 1} has a value, but its column has no name: name the column in the header, or remove the value`,
  };
}

function toTooManyCellsFault(count: number, expected: number): { code: string; message: string } {
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
