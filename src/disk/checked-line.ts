/** Lines of a file that is only appended to, each with a checksum: `crc32 {json}`. Pure. */
import { crc32 } from "node:zlib";

/** One line with its line break. */
export function formatCheckedLine(value: unknown): string {
  const json = JSON.stringify(value);
  return `${computeChecksum(json)} ${json}\n`;
}

/** The value of a line without its line break; undefined when it is not what was written. */
export function readCheckedLine<T>(line: string): T | undefined {
  const json = line.slice(9);
  if (line[8] !== " " || line.slice(0, 8) !== computeChecksum(json)) return undefined;
  try {
    return JSON.parse(json) as T;
  } catch {
    return undefined;
  }
}

/** @param json as text, or as its bytes */
export function computeChecksum(json: string | Uint8Array): string {
  return crc32(json).toString(16).padStart(8, "0");
}
