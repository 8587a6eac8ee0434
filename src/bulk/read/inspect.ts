/** Reading: one pass over all bytes of a file: what it weighs, and what its bytes say about its text. */
import { isAscii, isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { UsageError } from "../../errors.ts";
import { LineCounter } from "./line-counter.ts";
import { type InputFile, readBytes } from "./source.ts";

export interface Inspection {
  file: InputFile;
  sha256: string;
  bytes: number;
  /** The first bytes: enough for a header and some rows. */
  start: Buffer;
  /** Every byte belongs to well-formed UTF-8. */
  isUtf8: boolean;
  /** Every byte but the last ones does, and these begin a character that is not whole. */
  endsInCharacter: boolean;
  isAscii: boolean;
  /** Holds an escape character, which text has in ISO-2022 alone. */
  hasEscape: boolean;
  hasCarriageReturn: boolean;
  hasOddQuotes: boolean;
  /** Offset of the first byte that is zero. */
  firstNul?: number;
}

const startBytes = 256 * 1024;

/** @throws UsageError when the file cannot be read, or is empty */
export async function inspectFile(file: InputFile): Promise<Inspection> {
  const hash = createHash("sha256");
  const starts: Buffer[] = [];
  const found = { bytes: 0, hasEscape: false, hasCarriageReturn: false, hasOddQuotes: false };
  const characters = new CharacterCheck();
  let firstNul: number | undefined;
  for await (const chunk of readBytes(file)) {
    if (found.bytes < startBytes) starts.push(chunk);
    hash.update(chunk);
    if (firstNul === undefined && chunk.includes(0)) firstNul = found.bytes + chunk.indexOf(0);
    found.hasEscape ||= chunk.includes(0x1b);
    found.hasCarriageReturn ||= chunk.includes(13);
    found.hasOddQuotes = found.hasOddQuotes !== (countQuotes(chunk) % 2 === 1);
    found.bytes += chunk.length;
    characters.add(chunk);
  }
  if (found.bytes === 0) throw new UsageError(`${file.name} is empty`, "Name a file with a header and rows");
  const start = Buffer.concat(starts);
  return { file, sha256: hash.digest("hex"), start, firstNul, ...found, ...characters.verdict() };
}

/** Whether bytes are the characters of ASCII or of UTF-8, chunk by chunk. */
class CharacterCheck {
  #isAscii = true;
  #isUtf8 = true;
  /** The first bytes of a character that the next chunk may go on with. */
  #cut: Buffer = Buffer.alloc(0);

  add(chunk: Buffer): void {
    if (this.#cut.length === 0 && isAscii(chunk)) return;
    this.#isAscii = false;
    if (!this.#isUtf8) return;
    const text = this.#cut.length > 0 ? Buffer.concat([this.#cut, chunk]) : chunk;
    const end = findEndOfWhole(text);
    this.#isUtf8 = isUtf8(text.subarray(0, end));
    this.#cut = text.subarray(end);
  }

  verdict(): Pick<Inspection, "isAscii" | "isUtf8" | "endsInCharacter"> {
    const isCut = this.#cut.length > 0;
    return { isAscii: this.#isAscii, isUtf8: this.#isUtf8 && !isCut, endsInCharacter: this.#isUtf8 && isCut };
  }
}

function countQuotes(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(34); at !== -1; at = bytes.indexOf(34, at + 1)) count += 1;
  return count;
}

/** Where the last character starts, if it may continue in the next chunk; else the end. */
function findEndOfWhole(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

const otherKinds: { starts: string | RegExp; is: string; hint: string }[] = [
  {
    starts: "\xd0\xcf\x11\xe0",
    is: "an old Excel workbook (.xls)",
    hint: "Open it in a spreadsheet and save it as .xlsx",
  },
  { starts: "%PDF", is: "a PDF document", hint: "Export the table as CSV from where it comes from" },
  {
    starts: "BEGIN:VCARD",
    is: "a vCard file",
    hint: "Export the contacts as CSV, or import the cards into an address book that exports CSV",
  },
  {
    starts: /^\s*(?:<!doctype html|<html|<table|<head|<meta|<\?xml|<!--)/i,
    is: "HTML or XML, despite its name",
    hint: "Open it in a spreadsheet and save the sheet as CSV UTF-8",
  },
];

/** @throws UsageError for a file of a kind that holds no delimited text */
export function requireTextFile({ file: { name }, start }: Inspection): void {
  if (start.includes(Buffer.from("EncryptedPackage", "utf16le"))) {
    throw new UsageError(`${name} is a workbook protected by a password`, "Save a copy without the password");
  }
  const head = start.toString("latin1", 0, 512).replace(/^\xef\xbb\xbf/, "");
  const kind = otherKinds.find(({ starts }) =>
    typeof starts === "string" ? head.startsWith(starts) : starts.test(head),
  );
  if (kind) throw new UsageError(`${name} is ${kind.is}`, kind.hint);
}

/** The physical line that holds a byte, in a file whose line breaks are single bytes. */
export async function findLineOfByte(file: InputFile, offset: number): Promise<number> {
  const lines = new LineCounter();
  for await (const chunk of readBytes(file)) {
    lines.add(chunk);
    if (lines.end >= offset) break;
  }
  return lines.lineAt(offset);
}
