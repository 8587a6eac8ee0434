/** Reading: a file's bytes → UTF-8 text in chunks, from a physical line on. */
import type { Reading } from "../rows.ts";
import { readBytes } from "./source.ts";

/** The text as UTF-8 without a byte-order mark, from the line on which header or rows start. */
export async function* readText(path: string, reading: Reading): AsyncGenerator<Buffer> {
  let toSkip = reading.startLine - 1;
  let endedWithReturn = false;
  for await (const chunk of readBytes(path, reading.markBytes)) {
    if (toSkip === 0 && !endedWithReturn) {
      yield chunk;
      continue;
    }
    let at = 0;
    while (at < chunk.length) {
      if (endedWithReturn) {
        endedWithReturn = false;
        if (chunk[at] === 10) {
          at += 1;
          continue;
        }
      }
      if (toSkip === 0) break;
      const byte = chunk[at]!;
      at += 1;
      if (byte === 13) endedWithReturn = true;
      if (byte === 13 || byte === 10) toSkip -= 1;
    }
    if (at < chunk.length) yield chunk.subarray(at);
  }
}
