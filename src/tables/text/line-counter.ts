/** Reading: on which line a byte is. */

/** Counts the lines of a text that comes in chunks, by offsets that rise. */
export class LineCounter {
  line = 1;
  /** Offset behind the last chunk. */
  end = 0;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #lineStart = 0;
  #isAfterReturn = false;

  add(chunk: Buffer): void {
    this.lineAt(this.end);
    this.#chunk = chunk;
    this.end += chunk.length;
  }

  lineAt(offset: number): number {
    const start = this.end - this.#chunk.length;
    for (; this.#at < Math.min(offset, this.end); this.#at++) {
      const byte = this.#chunk[this.#at - start];
      const isBreak = byte === 13 || (byte === 10 && !this.#isAfterReturn);
      if (isBreak) this.line += 1;
      if (isBreak || byte === 10) this.#lineStart = this.#at + 1;
      this.#isAfterReturn = byte === 13;
    }
    return this.line;
  }

  /** In bytes, from 1; of an offset on the line that was asked for last. */
  columnAt(offset: number): number {
    return offset - this.#lineStart + 1;
  }
}
