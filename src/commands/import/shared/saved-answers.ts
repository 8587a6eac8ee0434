/** The mapping file beside an input that keeps what was answered about its columns. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ImportOptions } from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { shortPath } from "../../shared/bulk/format.ts";

/**
 * Writes the answers at once, so that whatever follows does not lose them.
 * @param earlier the file that this command has written already
 * @returns the file; undefined where none can be written
 */
export async function saveAnswers(
  context: Context,
  input: string,
  read: ImportOptions["read"],
  earlier: string | undefined,
): Promise<string | undefined> {
  const { terminal } = context;
  const { writeMapping } = await import("../../../tables/index.ts");
  const file = earlier ?? choosePlace(input);
  const { map, splits = [] } = read;
  try {
    await writeMapping(file, { map, splits: new Map(splits) }, existsSync(file));
  } catch (error) {
    terminal.warn(`The answers are not saved: ${(error as Error).message}`);
    return undefined;
  }
  terminal.note(`Saved these answers: ${shortPath(file)}`);
  return file;
}

/** `people.mapping.yaml`, or with a number where there is one already. */
function choosePlace(input: string): string {
  const base = join(
    dirname(input),
    input
      .replace(/^.*[/\\]/, "")
      .replace(/\.gz$/i, "")
      .replace(/(?<=.)\.[^.]*$/, ""),
  );
  for (let number = 1; ; number++) {
    const file = `${base}.mapping${number === 1 ? "" : `-${number}`}.yaml`;
    if (!existsSync(file)) return file;
  }
}
