/**
 * Reading: the text from a physical line on, as far as it was read. Knows line breaks, and nothing of cells.
 */

const lineFeed = 10;
const carriageReturn = 13;

export class TextLines {
  /** From the start of `#line` on. */
  #pieces: Buffer[] = [];
  #line: number;
  /** Bytes of the text before the pieces. */
  #passed = 0;

  /** @param firstLine the physical line on which the text starts */
  constructor(firstLine: number) {
    this.#line = firstLine;
  }

  add(bytes: Buffer): void {
    this.#pieces.push(bytes);
  }

  /** Forgets what is before a line. */
  skipTo(line: number): void {
    this.#forget(endOfLines(this.#bytes(), line - this.#line));
    this.#line = line;
  }

  /** The text of so many lines; what is before them is forgotten. */
  lines(first: number, count: number): string {
    this.skipTo(first);
    const bytes = this.#bytes();
    return bytes.toString("utf8", 0, endOfLines(bytes, count));
  }

  /** What was not forgotten, up to an offset in the whole text. */
  upTo(offset: number): string {
    return this.#bytes().toString("utf8", 0, offset - this.#passed);
  }

  hasQuote(): boolean {
    return this.#pieces.some((piece) => piece.includes('"'));
  }

  #bytes(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!;
  }

  #forget(count: number): void {
    this.#pieces = [this.#bytes().subarray(count)];
    this.#passed += count;
  }
}

/**
 * Behind the last of so many lines, of which LF, CRLF or CR ends
 * each; the end of the bytes where there are fewer.
 */
function endOfLines(bytes: Buffer, count: number): number {
  let end = 0;
  for (let line = 0; line < count; line++) {
    while (end < bytes.length && bytes[end] !== lineFeed && bytes[end] !== carriageReturn) end += 1;
    if (end === bytes.length) return end;
    end += bytes[end] === carriageReturn && bytes[end + 1] === lineFeed ? 2 : 1;
  }
  return end;
}
