/** The mapping file beside an input that keeps what was answered about its columns. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ImportOptions } from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { shortPath } from "../../bulk/words.ts";

/** The answers of the last import of this file: `people.mapping.yaml` beside `people.csv`, where it is there. */
export function findAnswers(input: string): string | undefined {
  const file = toPlace(input);
  return existsSync(file) ? file : undefined;
}

/**
 * @param earlier the file whose answers were gone through again
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
  const answers = { map: read.map, splits: new Map(read.splits) };
  let file = earlier;
  try {
    if (file === undefined || !(await writeMapping(file, answers, true))) {
      file = choosePlace(input);
      await writeMapping(file, answers);
    }
  } catch (error) {
    terminal.warn(`The answers are not saved: ${(error as Error).message}`);
    return undefined;
  }
  terminal.note(`Saved these answers for the next import of this file: ${shortPath(file)}`);
  return file;
}

/** `people.mapping.yaml`, or with a number where that one was not used. */
function choosePlace(input: string): string {
  for (let number = 1; ; number++) {
    const file = toPlace(input, number === 1 ? "" : `-${number}`);
    if (!existsSync(file)) return file;
  }
}

function toPlace(input: string, number = ""): string {
  const name = basename(input)
    .replace(/\.gz$/i, "")
    .replace(/(?<=.)\.[^.]*$/, "");
  return join(dirname(input), `${name}.mapping${number}.yaml`);
}
