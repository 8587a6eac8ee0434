/** Data that a flag names: a file, or `-` for standard input. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { UsageError } from "../errors.ts";
import type { Terminal } from "./terminal.ts";

/** @param flag for the message, such as `--data`. @throws UsageError when the file cannot be read. */
export async function readDataInput(terminal: Terminal, source: string, flag: string): Promise<string> {
  if (source === "-") return withoutMark(await text(terminal.stdin));
  try {
    return withoutMark(await readFile(source, "utf8"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : message.split(",")[0];
    throw new UsageError(`${flag}: cannot read ${source}: ${why}`, "Check the path; - reads standard input");
  }
}

/** The same for JSON: the text as it came, and what it says. @throws UsageError naming where it is malformed. */
export async function readJsonInput(
  terminal: Terminal,
  source: string,
  flag: string,
): Promise<{ text: string; value: unknown }> {
  const json = await readDataInput(terminal, source, flag);
  try {
    return { text: json, value: JSON.parse(json) as unknown };
  } catch (error) {
    throw new UsageError(
      `${flag}: ${source === "-" ? "standard input" : source} is not JSON: ${(error as Error).message}`,
    );
  }
}

function withoutMark(content: string): string {
  return content.startsWith("\ufeff") ? content.slice(1) : content;
}
