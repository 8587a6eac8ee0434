/**
 * A place beside the input for what was rejected: where a person looks for it, and never in place of a file
 * that is theirs.
 */

import { constants, open, rm } from "node:fs/promises";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import { exists } from "../../disk/walk.ts";
import type { SourceForm } from "../../tables/index.ts";
import { listRuns } from "./find-runs.ts";
import type { Manifest } from "./folder.ts";

export interface PlaceBeside {
  path: string;
  /** It could not be written: the name is free again. */
  giveUp(): Promise<void>;
}

/** With so many files that people have changed, another one helps nobody. */
const maxFiles = 100;

/**
 * Takes a name beside the input, such as `people.rejected.csv`. A file of that name stays: somebody may be at
 * work on it. A name that a run points to stays its own, also when the file is gone: `runs retry` of that run
 * reads it.
 * @returns undefined where nothing can be written beside the input
 */
export async function takePlaceBeside(
  { file, isSpooled }: Manifest["input"],
  form: SourceForm,
  stateFolder: string,
): Promise<PlaceBeside | undefined> {
  const folder = dirname(file);
  if (isSpooled || file === "" || file.startsWith(join(resolve(stateFolder), sep))) return undefined;
  if (!(await exists(folder, constants.W_OK))) return undefined;
  const pointedTo = new Set((await listRuns(stateFolder)).map(({ manifest }) => manifest.summary?.rejects));
  for (let number = 1; number <= maxFiles; number++) {
    const path = join(folder, nameBeside(file, form, number));
    const taken = path === file || pointedTo.has(path) ? "no" : await take(path);
    if (taken === "cannot") return undefined;
    if (taken === "yes") return { path, giveUp: () => rm(path, { force: true }) };
  }
  return undefined;
}

/** `people.rejected.csv`, `people.rejected-2.csv`; of a file that is one itself, the next. */
function nameBeside(file: string, { kind }: Pick<SourceForm, "kind">, number: number): string {
  const name = basename(file).replace(/\.gz$/i, "");
  const ending = extname(name);
  const stem = basename(name, ending).replace(/\.rejected(-\d+)?$/, "");
  const isTextEnding = /^\.(?:csv|tsv|tab|txt)$/i.test(ending);
  const newEnding = kind === "workbook" ? ".xlsx" : kind === "text" && isTextEnding ? ending : ".csv";
  return `${stem}.rejected${number > 1 ? `-${number}` : ""}${newEnding}`;
}

/** Makes an empty file, so that the name is nobody else's. */
async function take(path: string): Promise<"yes" | "no" | "cannot"> {
  try {
    await (await open(path, "wx", 0o600)).close();
    return "yes";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EEXIST" ? "no" : "cannot";
  }
}
