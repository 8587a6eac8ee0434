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
  let feed = bytes.indexOf(lineFeed);
  let carriage = bytes.indexOf(carriageReturn);
  for (let line = 0; line < count; line++) {
    // One of the two may be far away, or nowhere: it is not looked for again in each line.
    if (isPassed(feed, end)) feed = bytes.indexOf(lineFeed, end);
    if (isPassed(carriage, end)) carriage = bytes.indexOf(carriageReturn, end);
    if (feed === -1 && carriage === -1) return bytes.length;
    const isFeed = carriage === -1 || (feed !== -1 && feed < carriage);
    end = isFeed ? feed + 1 : behindReturn(bytes, carriage);
  }
  return end;
}

function isPassed(place: number, end: number): boolean {
  return place !== -1 && place < end;
}

function behindReturn(bytes: Buffer, carriage: number): number {
  return carriage + (bytes[carriage + 1] === lineFeed ? 2 : 1);
}
