/** Reading: bytes in some encoding → text. */
import { UsageError } from "../../errors.ts";
import { findNearestName } from "../names.ts";

export interface Decoder {
  /** What cannot be decoded becomes U+FFFD. */
  write(bytes: Uint8Array): string;
  end(): string;
}

/** Encodings of more than one byte, which the platform decodes well. */
const platformEncodings = new Set([
  "utf-8",
  "utf-16le",
  "utf-16be",
  "shift_jis",
  "euc-jp",
  "iso-2022-jp",
  "gbk",
  "gb18030",
  "big5",
  "euc-kr",
]);

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
  const near = findNearestName(label, wellKnown);
  throw new UsageError(
    `--encoding ${JSON.stringify(label)} is not an encoding`,
    near ? `Did you mean ${near}?` : `Such as ${wellKnown.join(", ")}`,
  );
}

const notText = /^(?:hex|base64|binary|internal|ucs-?2-?be-?auto|utf-?7.*)$/;

const wellKnown = [
  "utf-8",
  "utf-16le",
  "windows-1252",
  "windows-1250",
  "windows-1251",
  "iso-8859-1",
  "iso-8859-2",
  "shift_jis",
  "euc-jp",
  "gb18030",
  "big5",
  "euc-kr",
  "koi8-r",
  "macintosh",
];

function toPlatformName(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label.trim());
    return encoding === "x-user-defined" || encoding === "replacement" ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** A decoder for a name that `resolveEncoding` gave. */
export async function createDecoder(encoding: string): Promise<Decoder> {
  if (platformEncodings.has(encoding)) {
    const decoder = new TextDecoder(encoding, { ignoreBOM: true });
    return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
  }
  // Node 20 decodes 0x80–0x9F of the windows-125x pages to control
  // characters: € and typographic quotes are lost.
  const iconv = await loadIconv();
  const decoder = iconv.getDecoder(encoding, { stripBOM: false });
  return { write: (bytes) => decoder.write(Buffer.from(bytes)), end: () => decoder.end() ?? "" };
}

/** Decodes at once what is small. */
export async function decodeAll(bytes: Uint8Array, encoding: string): Promise<string> {
  const decoder = await createDecoder(encoding);
  return decoder.write(bytes) + decoder.end();
}

export async function loadIconv() {
  return (await import("iconv-lite")).default;
}
