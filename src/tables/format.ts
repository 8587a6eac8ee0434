/** Reading: what a kind of file has to offer, so that its rows are read like those of any other. */
import { usageError } from "../errors.ts";
import type { FoundEncoding } from "./encoding.ts";
import type { ReadOptions } from "./rows.ts";
import type { InputFile, Inspection } from "./source.ts";

/** A further kind of file is one file that has this shape, and a line in `open.ts`. */
export interface Format {
  /** Whether a file with these first bytes is of this kind. */
  opens(start: Buffer): boolean;
  /**
   * Its rows as text: that of the file itself, or a page of our own.
   * @throws UsageError for a flag that means nothing to it, and for a file that holds no table
   */
  open(file: Inspection, options: ReadOptions, chooseSheet?: ChooseSheet): Promise<OpenedText>;
}

/** A workbook of which several sheets are visible, and none was named. */
export interface SeveralSheets {
  file: string;
  /** `lines` as the workbook has it, with the header; undefined where it does not say. */
  sheets: { name: string; lines?: number }[];
}

/** Has a person say which sheet is meant, by its name or its number; absent where nobody is asked. */
export type ChooseSheet = (several: SeveralSheets) => Promise<string | undefined>;

export interface OpenedText {
  /** What holds the text. */
  text: InputFile;
  encoding: FoundEncoding;
  hasCarriageReturn: boolean;
  /** The text is a page of our own making, and this is what is known of it. */
  table?: { names?: string[] };
  /** Sentences for the reader. */
  notes: string[];
}

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
