/** `--mapping FILE`: where each column goes, in YAML or JSON. */
import { readFile } from "node:fs/promises";
import { UsageError } from "../errors.ts";

/** @throws UsageError naming the file and what is wrong with it */
export async function readMapping(file: string): Promise<Map<string, string>> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`--mapping: cannot read ${file}: ${(error as Error).message}`);
  }
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    // JSON is YAML too.
    value = parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw new UsageError(`--mapping: ${file}: ${(error as Error).message}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new UsageError(`--mapping: ${file} is not a table of columns`, "write lines such as E-mail: key");
  }
  const map = new Map<string, string>();
  for (const [column, target] of Object.entries(value)) {
    if (typeof target !== "string") {
      throw new UsageError(`--mapping: ${file}: the target of ${JSON.stringify(column)} is not a text`);
    }
    map.set(column, target);
  }
  return map;
}
