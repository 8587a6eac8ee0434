/** Data that a flag names: a file, or `-` for standard input. */
import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { describeReadError } from "../disk/disk-errors.ts";
import { usageError } from "../errors.ts";
import type { CommandFiles } from "./command-files.ts";
import type { Terminal } from "./terminal.ts";

interface Inputs {
  terminal: Terminal;
  files: CommandFiles;
}

const newline = 0x0a;

/**
 * @param flag for the message, such as `--data`.
 * @throws UsageError when it cannot be read, is not UTF-8, or is an output of the same command
 */
export async function readDataInput(
  { terminal, files }: Inputs,
  source: string,
  flag: string,
): Promise<string> {
  if (source === "-") return decodeText(await buffer(terminal.stdin), "standard input", flag);
  files.reads(source, flag);
  const bytes = await readFile(source).catch((error: unknown) => {
    throw usageError(
      `${flag}: cannot read ${source}: ${describeReadError(error)}`,
      "Check the path; - reads standard input",
    );
  });
  return decodeText(bytes, source, flag);
}

/** Text in another encoding would go on with replacement characters in place of its letters. */
function decodeText(bytes: Buffer, source: string, flag: string): string {
  const text = bytes.toString("utf8");
  if (isUtf8(bytes)) return removeByteOrderMark(text);
  const again = Buffer.from(text, "utf8");
  const offset = bytes.findIndex((byte, at) => byte !== again[at]);
  const line = bytes.subarray(0, offset).filter((byte) => byte === newline).length + 1;
  throw usageError(
    `${flag}: ${source} is not UTF-8: line ${line}, byte offset ${offset}`,
    "Save it as UTF-8, or convert it, such as: iconv -f WINDOWS-1252 -t UTF-8",
  );
}

/**
 * Reads JSON: the text as it came, and its value.
 * @throws UsageError naming where it is malformed.
 */
export async function readJsonInput(
  inputs: Inputs,
  source: string,
  flag: string,
): Promise<{ text: string; value: unknown }> {
  const json = await readDataInput(inputs, source, flag);
  try {
    return { text: json, value: JSON.parse(json) as unknown };
  } catch (error) {
    throw usageError(
      `${flag}: ${source === "-" ? "standard input" : source} is not JSON: ${(error as Error).message}`,
    );
  }
}

function removeByteOrderMark(content: string): string {
  return content.startsWith("\ufeff") ? content.slice(1) : content;
}
