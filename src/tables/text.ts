/** Reading: a file's bytes → UTF-8 text in chunks, from a physical line on. */

import { usageError } from "../errors.ts";
import { type InputFile, readBytes } from "./source.ts";

export interface TextSource {
  file: InputFile;
  encoding: string;
  markBytes: number;
}

/** The text as UTF-8 without a byte-order mark. @param startLine the physical line to start at */
export async function* readText(source: TextSource, startLine = 1): AsyncGenerator<Buffer> {
  yield* skipLines(toUtf8(source), startLine - 1);
}

const lineFeed = 10;
const carriageReturn = 13;

export async function* skipLines(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  count: number,
): AsyncGenerator<Buffer> {
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

async function* toUtf8({ file, encoding, markBytes }: TextSource): AsyncGenerator<Buffer> {
  if (encoding === "utf-8") {
    yield* readBytes(file, markBytes);
    return;
  }
  for await (const text of decode({ file, encoding, markBytes })) yield Buffer.from(text);
}

async function* decode({ file, encoding, markBytes }: TextSource): AsyncGenerator<string> {
  const decoder = await createDecoder(encoding);
  for await (const chunk of readBytes(file, markBytes)) yield decoder.write(chunk);
  yield decoder.end();
}

/** A text without line breaks is looked at in pieces of this many characters. */
const maxLineCharacters = 64 * 1024;

/** The text in pieces of whole lines, so that neither a row nor a CRLF is cut. */
export async function* readWholeLines(source: TextSource): AsyncGenerator<string> {
  let open = "";
  for await (const piece of decode(source)) {
    const text = open + piece;
    const isLong = text.length > maxLineCharacters && !text.endsWith("\r");
    const end = text.lastIndexOf("\n") + 1 || (isLong ? text.length : 0);
    yield text.slice(0, end);
    open = text.slice(end);
  }
  yield open;
}

interface Decoder {
  /** What cannot be decoded becomes U+FFFD. */
  write(bytes: Uint8Array): string;
  end(): string;
}

/** Encodings of more than one byte, which the platform decodes well. */
const platformEncodings = new Set(
  "utf-8 utf-16le utf-16be shift_jis euc-jp iso-2022-jp gbk gb18030 big5 euc-kr".split(" "),
);

/**
 * The name of an encoding by any of its labels.
 * @throws UsageError for a label that nobody knows
 */
export async function resolveEncoding(label: string): Promise<string> {
  const name = toPlatformName(label);
  if (name !== undefined) return name;
  const iconv = await loadIconv();
  const lower = label.trim().toLowerCase();
  if (!notText.test(lower) && iconv.encodingExists(lower)) return lower;
  throw usageError(`--encoding ${JSON.stringify(label)} is not an encoding`, `Such as ${wellKnown}`);
}

const notText = /^(?:hex|base64|binary|internal|ucs-?2-?be-?auto|utf-?7.*)$/;

const wellKnown =
  "utf-8, utf-16le, windows-1252, windows-1250, windows-1251, iso-8859-1, iso-8859-2, shift_jis, euc-jp, gb18030, big5, euc-kr, koi8-r, macintosh";

function toPlatformName(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label.trim());
    return encoding === "x-user-defined" || encoding === "replacement" ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** A decoder for a name that `resolveEncoding` gave. */
async function createDecoder(encoding: string): Promise<Decoder> {
  if (platformEncodings.has(encoding)) {
    const decoder = new TextDecoder(encoding, { ignoreBOM: true });
    return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
  }
  // Node 20 decodes 0x80–0x9F of the windows-125x pages to control characters: € and typographic quotes are
  // lost.
  const iconv = await loadIconv();
  const decoder = iconv.getDecoder(encoding, { stripBOM: false });
  return { write: (bytes) => decoder.write(Buffer.from(bytes)), end: () => decoder.end() ?? "" };
}

/** Decodes at once what is small. */
export async function decodeAll(bytes: Uint8Array, encoding: string): Promise<string> {
  const decoder = await createDecoder(encoding);
  return decoder.write(bytes) + decoder.end();
}

async function loadIconv() {
  return (await import("iconv-lite")).default;
}
