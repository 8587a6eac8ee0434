/** The text of a file as latin1, where a character is a byte, and how the text is written. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";

/** Larger files are masked, and not parsed as one JSON value. */
export const maxParsedBytes = 64 * 1024 * 1024;
const chunkBytes = 1024 * 1024;

export function toUtf8(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}

export function toLatin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** @throws the system's error */
export async function* readChunksAsText(file: string): AsyncGenerator<string> {
  for await (const piece of createReadStream(file, { encoding: "latin1", highWaterMark: chunkBytes }))
    yield piece as string;
}

/** Of UTF-16, as spreadsheets save it. */
type ByteOrder = "le" | "be";

/** By the first bytes. @returns the order of the bytes for UTF-16 alone */
export async function readTextForm(file: string): Promise<{ wide?: ByteOrder; isJson: boolean }> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    const head = buffer.toString("latin1", 0, bytesRead);
    if (head.startsWith("\u00ff\u00fe")) return { wide: "le", isJson: false };
    if (head.startsWith("\u00fe\u00ff")) return { wide: "be", isJson: false };
    return { isJson: isJsonStart(head) };
  } finally {
    await handle.close();
  }
}

export function isJsonStart(text: string): boolean {
  return /^(?:\u00ef\u00bb\u00bf)?\s*[[{]/.test(text);
}

/** The UTF-8 bytes of a text in UTF-16, without its byte order mark. */
export function toNarrow(bytes: Buffer, order: ByteOrder): string {
  const little = order === "le" ? bytes : bytes.subarray(0, bytes.length & ~1).swap16();
  return toLatin1(little.toString("utf16le").slice(1));
}

/** The inverse. @returns the bytes as latin1 */
export function toWide(narrow: string, order: ByteOrder): string {
  const written = Buffer.from(`\ufeff${toUtf8(narrow)}`, "utf16le");
  return (order === "le" ? written : written.swap16()).toString("latin1");
}
