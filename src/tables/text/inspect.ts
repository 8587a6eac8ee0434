/** Reading: one pass over all bytes of a file: what it weighs, and what its bytes say about its text. */
import { isAscii } from "node:buffer";
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
  const sha256 = hash.digest("hex");
  return { file, sha256, start, firstNul, ...found, ...characters.verdict() };
}

/** Whether bytes are the characters of ASCII or of UTF-8, chunk by chunk. */
class CharacterCheck {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #isAscii = true;
  #isUtf8 = true;

  add(chunk: Buffer): void {
    this.#isAscii &&= isAscii(chunk);
    this.#isUtf8 &&= this.#decodes(chunk);
  }

  verdict(): Pick<Inspection, "isAscii" | "isUtf8" | "endsInCharacter"> {
    const isWhole = this.#isUtf8 && this.#decodes();
    return { isAscii: this.#isAscii, isUtf8: isWhole, endsInCharacter: this.#isUtf8 && !isWhole };
  }

  /** @param chunk undefined at the end */
  #decodes(chunk?: Buffer): boolean {
    try {
      this.#decoder.decode(chunk, { stream: chunk !== undefined });
      return true;
    } catch {
      return false;
    }
  }
}

function countQuotes(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(34); at !== -1; at = bytes.indexOf(34, at + 1)) count += 1;
  return count;
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
