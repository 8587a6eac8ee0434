/**
 * Reading: workbooks and JSON as text: one physical line for each row, in the dialect of our own tsv, so that
 * everything after it reads them as it reads any table. A line keeps the number that the row has in its file.
 */

import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { formatTsvCell } from "../../../delimited-lines.ts";
import { UsageError } from "../../../errors.ts";
import { missingCell } from "../values.ts";

export interface TableWriter {
  /** Writes a row on its line; lines must rise. An undefined cell is missing, not blank. */
  write(line: number, cells: readonly (string | undefined)[]): Promise<void>;
  end(): Promise<void>;
  close(): void;
}

/** Text is gathered to pieces of this many characters before it is written. */
const chunkCharacters = 64 * 1024;
/** Half of a character beyond the first 65,536, which text cannot hold: it would become U+FFFD. */
const loneSurrogate = /\p{Surrogate}/u;
const cutCharacterMessage =
  "A program has cut the text in the middle of a character; correct it there, and export again";
/** A small file can describe a table that fills a disk. */
const maxCharacters = 4 * 1024 ** 3;

/** Writes a table into a file that its owner alone can read. @param name of the input, for messages */
export function openTableWriter(path: string, name: string): TableWriter {
  const stream = createWriteStream(path, { mode: 0o600 });
  let failure: Error | undefined;
  let resume: () => void = () => {};
  stream.on("drain", () => resume());
  stream.on("error", (error) => {
    failure = error;
    resume();
  });
  let piece = "";
  let next = 1;
  let written = 0;
  const flush = async () => {
    if (failure) throw new UsageError(`${name} cannot be unpacked to ${path}: ${failure.message}`);
    written += piece.length;
    if (written > maxCharacters) throw tooLargeError(name);
    const isFull = !stream.write(piece);
    piece = "";
    if (!isFull || failure) return;
    await new Promise<void>((resolve) => {
      resume = resolve;
    });
  };
  return {
    async write(line, cells) {
      if (line < next)
        throw new UsageError(
          `${name}: its rows are not in order`,
          "Save it again in the program it comes from",
        );
      piece += "\n".repeat(line - next);
      next = line + 1;
      let last = cells.length;
      while (last > 0 && cells[last - 1] === undefined) last -= 1;
      for (let index = 0; index < last; index += 1) {
        const cell = cells[index];
        if (cell !== undefined && loneSurrogate.test(cell))
          throw new UsageError(
            `${name}:${line}: cell ${index + 1} contains half of a character`,
            cutCharacterMessage,
          );
        if (index > 0) piece += "\t";
        piece += cell === undefined ? missingCell : formatTsvCell(cell);
      }
      piece += "\n";
      if (piece.length > chunkCharacters) await flush();
    },
    async end() {
      await flush();
      stream.end();
      await finished(stream).catch((error: Error) => {
        throw new UsageError(`${name} cannot be unpacked to ${path}: ${error.message}`);
      });
    },
    close: () => stream.destroy(),
  };
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
