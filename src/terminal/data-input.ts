/** Data that a flag names: a file, or `-` for standard input. */
import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { describeDiskError } from "../disk/disk-errors.ts";
import { usageError } from "../errors.ts";
import type { CommandFiles } from "./command-files.ts";
import type { Terminal } from "./terminal.ts";

interface Inputs {
  terminal: Terminal;
  files: CommandFiles;
}

/**
 * @param flag for the message, such as `--data`.
 * @throws UsageError when it cannot be read, is not UTF-8, or is an output of the same command
 */
export async function readDataInput(
  { terminal, files }: Inputs,
  source: string,
  flag: string,
): Promise<string> {
  if (source !== "-") files.reads(source, flag);
  const reading = source === "-" ? buffer(terminal.stdin) : readFile(source);
  const bytes = await reading.catch((error: unknown) => {
    const message = `${flag}: cannot read ${nameSource(source)}: ${describeDiskError(error)}`;
    throw usageError(message, "Check the path; - reads standard input");
  });
  // Text in another encoding would go on with replacement characters in place of its letters.
  if (isUtf8(bytes)) return bytes.toString("utf8").replace(/^\ufeff/, "");
  throw usageError(
    `${flag}: ${nameSource(source)} is not UTF-8`,
    "Save it as UTF-8, or convert it, such as: iconv -f WINDOWS-1252 -t UTF-8",
  );
}

/** JSON: the text as it came, and its value. @throws UsageError naming where it is malformed */
export async function readJsonInput(
  inputs: Inputs,
  source: string,
  flag: string,
): Promise<{ text: string; value: unknown }> {
  const text = await readDataInput(inputs, source, flag);
  try {
    return { text, value: JSON.parse(text) as unknown };
  } catch (error) {
    throw usageError(`${flag}: ${nameSource(source)} is not JSON: ${(error as Error).message}`);
  }
}

function nameSource(source: string): string {
  return source === "-" ? "standard input" : source;
}
