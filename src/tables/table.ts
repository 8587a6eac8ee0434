/** Reading: the one form in which files of all formats are read: a header, and records of cells below it. */
import { usageError } from "../errors.ts";
import type { ContactStructure } from "../wire.ts";
import type { Dialect, TableRecord } from "./csv.ts";
import type { Note, ReadOptions, RowKind, SourceForm } from "./rows.ts";
import type { InputFile, Inspection } from "./source.ts";

export interface Table {
  /** Physical line of the header; without one, of the first row. */
  line: number;
  /** How many physical lines the header covers, if it is one. */
  lines: number;
  /** One for each column: the cells of the header or of the first row, or their numbers. */
  names: string[];
  /** The names are no row of their own. */
  hasGivenNames?: true;
  /** Names a key column, or every column that `--map` names. */
  isSure: boolean;
  dialect: Dialect;
  /** The records from a physical line on. @throws UsageError where the file cannot be read to its end */
  records(firstLine: number): AsyncGenerator<TableRecord[]>;
}

/** So many records stay in memory; a larger table is read from the file again in each pass. */
const maxKeptRecords = 5000;

/** The records below the header, as often as they are needed. */
export class RecordReader {
  readonly #records: () => AsyncIterable<TableRecord[]>;
  #kept: readonly TableRecord[][] | undefined;

  constructor(records: () => AsyncIterable<TableRecord[]>) {
    this.#records = records;
  }

  /** They were read to their end, and the file is not needed any more. */
  get areKept(): boolean {
    return this.#kept !== undefined;
  }

  /** @throws UsageError where the file cannot be read to its end */
  async *read(): AsyncGenerator<readonly TableRecord[]> {
    if (this.#kept) {
      yield* this.#kept;
      return;
    }
    let kept: TableRecord[][] | undefined = [];
    let count = 0;
    for await (const records of this.#records()) {
      count += records.length;
      if (count > maxKeptRecords) kept = undefined;
      kept?.push(records);
      yield records;
    }
    this.#kept = kept;
  }
}

/** By what a header is known. */
export interface HeaderSigns {
  options: ReadOptions;
  structure: ContactStructure;
  rowKind: RowKind;
}

/** A file whose bytes were all read, once. Nothing of the account is needed for that. */
interface OpenedFile {
  form: SourceForm;
  notes: Note[];
  /** A quote of the text may be open at its end: those that are closed come in pairs. */
  hasOddQuotes?: boolean;
  /** Finds the header. @throws UsageError for a file without any row, and where it is not sure what its header is */
  locate(signs: HeaderSigns): Promise<Table>;
}

/** An input whose format is known. */
export interface OpenedInput extends OpenedFile {
  file: InputFile;
  /** Of the file as it was given. */
  sha256: string;
  bytes: number;
}

/** A further kind of file is one file that has this shape, and a line in `open.ts`. */
export interface Format {
  /** Whether a file with these first bytes is of this kind. */
  opens(start: Buffer): boolean;
  /** @throws UsageError for a flag that means nothing to it, and for a file that holds no table */
  open(file: Inspection, options: ReadOptions, chooseSheet?: ChooseSheet): Promise<OpenedFile>;
}

/** A workbook of which several sheets are visible, and none was named. */
export interface SeveralSheets {
  file: string;
  /** Their names. */
  sheets: string[];
}

/** Has a person say which sheet is meant, by its name or its number; absent where nobody is asked. */
export type ChooseSheet = (several: SeveralSheets) => Promise<string | undefined>;

/** Workbooks and JSON: rejected rows of theirs are written as CSV where no form of their own is kept. */
export const plainDialect: Dialect = { delimiter: ",", hasEscapes: false, hasNoQuotes: false };

/** What would be passed over in silence. @throws UsageError naming the flag */
export function requireNoFlags(
  { name }: InputFile,
  is: string,
  flags: Record<string, string | number | undefined>,
): void {
  for (const [flag, value] of Object.entries(flags)) {
    if (value !== undefined)
      throw usageError(`${flag} applies to text files, but ${name} is ${is}`, `Leave out ${flag}`);
  }
}
