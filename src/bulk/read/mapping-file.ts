/** `--mapping FILE`: where each column goes, in YAML or JSON. */
import { readFile, writeFile } from "node:fs/promises";
import { UsageError } from "../../errors.ts";

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
    throw new UsageError(`--mapping: ${file} is not a mapping of columns`, "Write lines such as E-mail: key");
  }
  const map = new Map<string, string>();
  for (const [column, target] of Object.entries(value)) {
    if (typeof target !== "string") {
      throw new UsageError(`--mapping: ${file}: the target of ${JSON.stringify(column)} is not text`);
    }
    map.set(column, target);
  }
  return map;
}

/** Writes what `readMapping` reads; a file that is there is left alone. @throws UsageError when it cannot be written */
export async function writeMapping(file: string, map: ReadonlyMap<string, string>): Promise<void> {
  const { stringify } = await import("yaml");
  const text = `# Where the columns of a file go: key, lists, tags, ignore, or a field.\n${stringify(Object.fromEntries(map))}`;
  try {
    await writeFile(file, text, { flag: "wx" });
  } catch (error) {
    throw new UsageError(`Cannot write ${file}: ${(error as Error).message}`);
  }
}
