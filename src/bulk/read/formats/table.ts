/**
 * Reading: workbooks and JSON as text: one physical line for each row, in the dialect of our own tsv, so that
 * everything after it reads them as it reads any table. A line keeps the number that the row has in its file.
 */

import { createWriteStream, type WriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { formatTsvCell } from "../../../delimited-lines.ts";
import { UsageError } from "../../../errors.ts";
import { missingCell } from "../values.ts";

/** Text is gathered to pieces of this many characters before it is written. */
const chunkCharacters = 64 * 1024;
/** Half of a character beyond the first 65,536, which text cannot hold: it would become U+FFFD. */
const loneSurrogate = /\p{Surrogate}/u;
const cutCharacterMessage =
  "A program has cut the text in the middle of a character; correct it there, and export again";
/** A small file can describe a table that fills a disk. */
const maxCharacters = 4 * 1024 ** 3;

/** Writes a table into a file that its owner alone can read. */
export class TableWriter {
  readonly #path: string;
  readonly #name: string;
  readonly #stream: WriteStream;
  #failure: Error | undefined;
  /** Of who waits until the stream takes more. */
  #goOn: () => void = () => {};
  #piece = "";
  /** The line that is to be written next. */
  #next = 1;
  #written = 0;

  /** @param name of the input, for messages */
  constructor(path: string, name: string) {
    this.#path = path;
    this.#name = name;
    this.#stream = createWriteStream(path, { mode: 0o600 });
    this.#stream.on("drain", () => this.#goOn());
    this.#stream.on("error", (error) => {
      this.#failure = error;
      this.#goOn();
    });
  }

  /** Writes a row on its line; lines must rise. An undefined cell is missing, not blank. */
  async write(line: number, cells: readonly (string | undefined)[]): Promise<void> {
    if (line < this.#next) {
      throw new UsageError(
        `${this.#name}: its rows are not in order`,
        "Save it again in the program it comes from",
      );
    }
    this.#piece += `${"\n".repeat(line - this.#next)}${this.#joinText(line, cells)}\n`;
    this.#next = line + 1;
    if (this.#piece.length > chunkCharacters) await this.#flush();
  }

  async end(): Promise<void> {
    await this.#flush();
    this.#stream.end();
    await finished(this.#stream).catch((error: Error) => {
      throw this.#unwritable(error);
    });
  }

  close(): void {
    this.#stream.destroy();
  }

  /** Cells that are missing at the end of a row are not written. */
  #joinText(line: number, cells: readonly (string | undefined)[]): string {
    let text = "";
    const count = 1 + cells.findLastIndex((cell) => cell !== undefined);
    for (let index = 0; index < count; index += 1) {
      const cell = cells[index];
      if (cell !== undefined && loneSurrogate.test(cell))
        throw new UsageError(
          `${this.#name}:${line}: cell ${index + 1} contains half of a character`,
          cutCharacterMessage,
        );
      if (index > 0) text += "\t";
      text += cell === undefined ? missingCell : formatTsvCell(cell);
    }
    return text;
  }

  async #flush(): Promise<void> {
    if (this.#failure) throw this.#unwritable(this.#failure);
    this.#written += this.#piece.length;
    if (this.#written > maxCharacters) throw tooLargeError(this.#name);
    const isFull = !this.#stream.write(this.#piece);
    this.#piece = "";
    if (!isFull || this.#failure) return;
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
    });
  }

  #unwritable({ message }: Error): UsageError {
    return new UsageError(`${this.#name} cannot be unpacked to ${this.#path}: ${message}`);
  }
}

/** The refusal of a file that unpacks to far more than it is. */
export function tooLargeError(name: string): UsageError {
  return new UsageError(
    `${name} unpacks to far more than a list of contacts would`,
    "If this is expected, unpack it yourself and use the unpacked file",
  );
}

const minSuspiciousBytes = 64 * 1024 ** 2;
const maxUnpackRatio = 200;

/**
 * Whether so much can come of so little only by design. Text shrinks to a twentieth; a list of nearly equal
 * lines to a hundredth.
 */
export function isBomb(packedBytes: number, unpackedBytes: number): boolean {
  return unpackedBytes > minSuspiciousBytes && unpackedBytes > packedBytes * maxUnpackRatio;
}
