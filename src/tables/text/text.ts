/** Reading: a file's bytes → UTF-8 text in chunks, from a physical line on. */
import { createDecoder } from "../encoding/decode.ts";
import { type InputFile, readBytes } from "./source.ts";

export interface TextSource {
  file: InputFile;
  encoding: string;
  markBytes: number;
}

/** The text as UTF-8 without a byte-order mark. @param startLine the physical line to start at */
export async function* readText(source: TextSource, startLine = 1): AsyncGenerator<Buffer> {
  yield* skipLines(removeEndMark(toUtf8(source)), startLine - 1);
}

const lineFeed = 10;
const carriageReturn = 13;

async function* skipLines(chunks: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  /** The LF of a CRLF that ended the line before may follow. */
  let isAfterReturn = false;
  for await (const chunk of chunks) {
    let at = 0;
    for (; at < chunk.length; at++) {
      const isSecondHalf = isAfterReturn && chunk[at] === lineFeed;
      if (left === 0 && !isSecondHalf) break;
      isAfterReturn = chunk[at] === carriageReturn;
      if (isAfterReturn || (chunk[at] === lineFeed && !isSecondHalf)) left -= 1;
    }
    if (at === chunk.length) continue;
    isAfterReturn = false;
    yield chunk.subarray(at);
  }
}

const endMark = 0x1a;

/**
 * DOS programs write a mark (Ctrl-Z) after the last byte of a text,
 * sometimes several. It is no part of the text.
 */
async function* removeEndMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let marks = 0;
  for await (const chunk of chunks) {
    let end = chunk.length;
    while (end > 0 && chunk[end - 1] === endMark) end -= 1;
    if (end > 0) {
      if (marks > 0) yield Buffer.alloc(marks, endMark);
      marks = 0;
      yield end === chunk.length ? chunk : chunk.subarray(0, end);
    }
    marks += chunk.length - end;
  }
}

async function* toUtf8({ file, encoding, markBytes }: TextSource): AsyncGenerator<Buffer> {
  if (encoding === "utf-8") {
    yield* readBytes(file, markBytes);
    return;
  }
  const decoder = await createDecoder(encoding);
  for await (const chunk of readBytes(file, markBytes)) yield Buffer.from(decoder.write(chunk));
  yield Buffer.from(decoder.end());
}

/** The first bytes of the text, and whether there is more after them. */
export async function readStart(
  source: TextSource,
  startLine: number,
  limitBytes: number,
): Promise<{ text: string; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of readText(source, startLine)) {
    if (bytes >= limitBytes) return { text: Buffer.concat(chunks).toString("utf8"), isCut: true };
    chunks.push(chunk);
    bytes += chunk.length;
  }
  return { text: Buffer.concat(chunks).toString("utf8"), isCut: false };
}
