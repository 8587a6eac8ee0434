/** Reading: an understood file → its rows, one by one, in flat memory. */

import { toKeyIdentity, trimEdges } from "../api/key-spelling.ts";
import {
  type Cells,
  createValueReader,
  findUnknown,
  isBlankText,
  splitNames,
  unwrapFormula,
} from "./cells.ts";
import { type Constant, findKeyIndex } from "./columns/map.ts";
import { type ConsentColumn, findRefusalWithin, type Mark, toMark } from "./consent/cells.ts";
import type { TableRecord } from "./csv.ts";
import {
  acceptIds,
  createIdentityReader,
  createKeyReader,
  findAddresses,
  type KeyReader,
  type KeyReading,
} from "./keys.ts";
import { isBlank, type TableLayout } from "./layout.ts";
import type { InputFacts, ReadRow, Reason, RejectedRow, Row, Target } from "./rows.ts";
import type { InputFile } from "./source.ts";
import type { System } from "./systems.ts";

/** How the rows of an understood file are read. */
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

/** The rows of a file one by one, see `readRowBatches`. */
export async function* readRows(understood: UnderstoodInput): AsyncGenerator<ReadRow> {
  for await (const rows of readRowBatches(understood)) yield* rows;
}

/**
 * The rows of a file, in its order; blank lines are passed over. Can be called several times. In batches, as
 * the file is read: a promise for each row of a million costs as much as the row.
 * @throws UsageError when the file cannot be read to its end
 */
export async function* readRowBatches({ reading }: UnderstoodInput): AsyncGenerator<ReadRow[]> {
  const { table, system } = reading;
  const reader = new RowReader(reading);
  for await (const records of readRowRecords(table, system)) {
    yield records.map((record) => {
      const row = reader.read(record);
      return record.isLastAndOpen && record.line > table.startLine ? toOpenRow(row) : row;
    });
  }
}

/** Where the rows before have a line end, what is wrong with the last one is that it is cut off. */
function toOpenRow(row: ReadRow): ReadRow {
  if (row.kind === "rejected")
    return row.code === "truncated" ? row : { ...row, ...toTruncatedFault(row.message) };
  const { keyFault } = row;
  return { ...row, isOpen: true, ...(keyFault && { keyFault: toTruncatedFault(keyFault.message) }) };
}

/** The records that are rows: no blank lines and, below one, not the footer that some systems write. */
export async function* readRowRecords(
  table: TableLayout,
  system: System | undefined,
): AsyncGenerator<TableRecord[]> {
  let isAfterBlank = false;
  const isRow = (record: TableRecord) => {
    if (!record.fault && isBlank(record)) {
      isAfterBlank = true;
      return false;
    }
    const { cells } = record;
    return !(system?.hasFooter && isAfterBlank && cells.length === 1 && !cells[0]!.includes("@"));
  };
  for await (const records of table.records()) {
    const rows = records.filter(isRow);
    if (rows.length > 0) yield rows;
  }
}

/** The cells of a record → a row, by what is understood of its file. */
class RowReader {
  readonly #reading: Reading;
  readonly #readCell: ReadCell;
  readonly #readKey: KeyReader;
  readonly #readIdentity: (key: string) => string;
  /** Its keys are those of contacts that may be there, whatever we would say of them. */
  readonly #namesContacts: boolean;
  readonly #keyIndex: number;
  /** Columns that fill fields, lists and tags. */
  readonly #columns: readonly ValueColumn[];

  constructor(reading: Reading) {
    const { keyType, takesIds, system, targets } = reading;
    const readKey = createKeyReader(keyType);
    this.#reading = reading;
    this.#readCell = cellReader(reading);
    this.#readKey = takesIds ? acceptIds(readKey) : readKey;
    this.#readIdentity = createIdentityReader(keyType);
    this.#namesContacts = takesIds || system?.name === "ecm";
    this.#keyIndex = findKeyIndex(targets);
    this.#columns = targets.flatMap((target, index): ValueColumn[] => {
      if (target.kind === "field") return [{ index, fieldId: target.fieldId }];
      if (target.kind !== "lists" && target.kind !== "tags") return [];
      return [{ index, kind: target.kind, split: target.split ?? system?.[target.kind]?.split }];
    });
  }

  read(record: TableRecord): ReadRow {
    const misfit = this.#misfitIn(record);
    if (misfit) return misfit;
    const { cells, line } = record;
    const unknownKey = findUnknown(cells[this.#keyIndex]);
    if (unknownKey !== undefined) {
      const message = `the workbook has no value for the key: ${unknownKey}; open it in a spreadsheet, correct the cell and save it`;
      return this.#rejected(record, { code: "key_unknown", message });
    }
    const keyCell = this.#readCell(cells, this.#keyIndex) ?? "";
    const split = this.#reading.system?.keySplit;
    const addresses = split === undefined ? undefined : splitNames(keyCell, split);
    const written = addresses?.[0] ?? keyCell;
    const read = this.#readKey(written);
    const key = this.#namesContacts ? toHeldKey(read, written) : read;
    if ("code" in key) return this.#rejected(record, key);
    const { warnings } = key;
    if (addresses && addresses.length > 1) warnings.push("first_of_several");
    const row: Row = { kind: "row", line, cells, key: key.key, ...this.#readValues(cells), warnings };
    if (key.fault) row.keyFault = key.fault;
    const mark = this.#markIn(cells);
    if (!mark) return row;
    const mayHoldMore = addresses !== undefined || key.fault !== undefined;
    const named = new Set(mayHoldMore ? this.#identitiesIn(keyCell) : []);
    named.delete(key.key.identity);
    return { ...row, mark, ...(named.size > 0 && { alsoNames: [...named] }) };
  }

  #readValues(cells: Cells): Pick<Row, "fields" | "lists" | "tags"> {
    const { constants, system } = this.#reading;
    const fields = new Map<string, string>();
    const names: Record<"lists" | "tags", string[]> = { lists: none, tags: none };
    for (const column of this.#columns) {
      const cell = this.#readCell(cells, column.index);
      if (cell === undefined) continue;
      if ("kind" in column) names[column.kind] = [...names[column.kind], ...splitNames(cell, column.split)];
      else addField(fields, column.fieldId, cell);
    }
    for (const { fieldId, value } of constants) fields.set(fieldId, isBlankText(value) ? "" : value);
    const systemTags = system?.tags?.leavesOut;
    if (systemTags) names.tags = names.tags.filter((name) => !systemTags.test(name));
    return { fields, ...names };
  }

  /** A row whose cells are not those that the header names. */
  #misfitIn(record: TableRecord): RejectedRow | undefined {
    const { cells, fault, isLastAndOpen } = record;
    const { table, targets, emptyColumns } = this.#reading;
    if (fault)
      return this.#rejected(record, {
        code: fault,
        message: "text after a closing quote: a quote inside a quoted cell must be doubled",
      });
    if (isLastAndOpen && cells.length < table.width)
      return this.#rejected(record, toTruncatedFault(`cell ${cells.length} of ${table.width}`));
    const surplus = cells.length - targets.length;
    if (surplus > 0 && cells.slice(targets.length).some(hasValue)) {
      const message = `the row has ${cells.length} cells, but the header has ${targets.length}: a cell that contains a delimiter must be quoted`;
      return this.#rejected(record, { code: "too_many_cells", message }, surplus);
    }
    const unnamed = emptyColumns.find((index) => hasValue(cells[index]));
    if (unnamed === undefined) return undefined;
    const message = `cell ${unnamed + 1} has a value, but its column has no name: name the column in the header, or remove the value`;
    return this.#rejected(record, { code: "unnamed_column", message });
  }

  /**
   * A row that cannot be read to its end still says who left: another row of the contact may be sound.
   * @param shifted by how many cells the row's own may be further to the right
   */
  #rejected(record: TableRecord, { code, message }: Reason, shifted = 0): RejectedRow {
    const { line, cells } = record;
    const row: RejectedRow = { kind: "rejected", line, cells, code, message };
    if (this.#reading.consent.length === 0) return row;
    // Where the cells of a row end is a guess, the key may be in any of them.
    const [from, to] = record.fault ? [0] : [this.#keyIndex, this.#keyIndex + 1 + shifted];
    const text = Array.from(cells.slice(from, to), (cell) => cell ?? "").join(" ");
    const mark = this.#markIn(cells, shifted);
    return { ...row, identities: this.#identitiesIn(text), ...(mark && { mark }) };
  }

  #identitiesIn(text: string): string[] {
    return findAddresses(text).map(this.#readIdentity);
  }

  #markIn(cells: Cells, shifted = 0): Mark | undefined {
    const { consent, targets } = this.#reading;
    if (consent.length === 0) return undefined;
    const cellAt = (index: number) =>
      findUnknown(cells[index]) === undefined ? this.#readCell(cells, index) : cells[index];
    // Also where the cells beyond the header are blank: the last of the row's own may be among them.
    const isMoved = cells.length > targets.length;
    const refusals = consent.flatMap(
      (column) => findRefusalWithin(column, cellAt, { shifted, isMoved }) ?? [],
    );
    return toMark(refusals);
  }
}

function hasValue(cell: string | undefined): boolean {
  return cell !== undefined && findUnknown(cell) === undefined && !isBlankText(cell);
}

/** Shared by all rows that have nothing to list: never changed. */
const none: never[] = [];

/**
 * The account may hold a contact under this key, whatever we would say of it: our own export wrote it, or a
 * contact is named.
 */
function toHeldKey(read: KeyReading, cell: string): KeyReading {
  if (!("code" in read) || read.code === "key_missing" || read.code === "key_placeholder") return read;
  const sent = trimEdges(cell.normalize("NFC"));
  return {
    // As `createIdentityReader` has it for the contact's own key.
    key: { written: cell, sent, identity: toKeyIdentity(cell, "email") },
    warnings: [],
    fault: { code: read.code, message: read.message },
  };
}

type ReadCell = (cells: Cells, index: number) => string | undefined;
type ValueColumn = { index: number } & (
  | { fieldId: string }
  | { kind: "lists" | "tags"; split: string | undefined }
);

/** A cell without what only a spreadsheet needed; undefined where its value is not known. */
function cellReader({ system, table: { hasSafeCells } }: Reading): ReadCell {
  const plainCell = createValueReader(hasSafeCells, system?.hasApostrophes ?? false);
  const isOurs = system?.name === "ecm";
  return (cells, index) => {
    const cell = cells[index];
    if (cell === undefined || findUnknown(cell) !== undefined) return undefined;
    return plainCell(isOurs ? cell : unwrapFormula(cell));
  };
}

/** Where several columns fill one field, the last one that is not blank wins. */
function addField(values: Map<string, string>, id: string, cell: string): void {
  const value = isBlankText(cell) ? "" : cell;
  if (value !== "" || !values.has(id)) values.set(id, value);
}

function toTruncatedFault(reason: string): Reason {
  return {
    code: "truncated",
    message: `the file ends in the middle of this row (no line end; ${reason}): it is probably incomplete`,
  };
}
