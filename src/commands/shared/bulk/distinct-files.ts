/** The files of one bulk command must differ: a plan written over the input would destroy it. */
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { RowJob } from "../../../bulk/index.ts";
import { UsageError } from "../../../errors.ts";
import { findFormatByName, requireFileFormat } from "../../../terminal/file-names.ts";
import { requireReplaceable } from "../../../terminal/output-target.ts";

/** Files that flags name; `mapping` is only read. */
export interface FileFlags {
  plan?: string;
  backup?: string;
  rejects?: string;
  report?: string;
  mapping?: string;
}

/**
 * @throws UsageError when a file that is written is the input, or one that another flag names, be it through
 * a link
 */
export function requireDistinctFiles({ input }: Pick<RowJob, "input">, flags: FileFlags): void {
  const used = new Map<string, string>();
  if (!input.stream) used.set(toFileIdentity(input.path ?? input.name), "the input file");
  if (flags.mapping !== undefined) used.set(toFileIdentity(flags.mapping), "--mapping");
  for (const flag of ["rejects", "backup", "plan", "report"] as const) {
    const file = flags[flag];
    if (file === undefined || file === "-") continue;
    const identity = toFileIdentity(file);
    const other = used.get(identity);
    if (other?.startsWith("--")) throw clashError(`--${flag} and ${other} name the same file`);
    if (other !== undefined) throw clashError(`--${flag} names ${other}`);
    used.set(identity, `--${flag}`);
  }
  if (flags.rejects !== undefined) requireOwnRejects(flags.rejects);
}

/**
 * What is no place for a file is refused by the run.
 * @throws UsageError for a name or a file of another kind
 */
function requireOwnRejects(file: string): void {
  const flag = "--rejects";
  if (findFormatByName(file, flag) !== "tsv") requireFileFormat(file, "csv", flag);
  const isOwnRejects = (start: string) => start.trim() === "" || /ecm_line.*ecm_error/.test(start);
  if (statSync(file, { throwIfNoEntry: false })?.isFile())
    requireReplaceable(file, { isOwn: isOwnRejects }, flag);
}

function clashError(message: string): UsageError {
  return new UsageError(message, "Name another file");
}

/** The same for all names of one file; of a file that is not there yet, by the folder that it would be in. */
function toFileIdentity(file: string): string {
  const path = resolve(file);
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    // Where a file system has no such numbers, the path must do.
    return ino === 0n ? realpathSync(path) : `${dev}:${ino}`;
  } catch {
    try {
      return join(realpathSync(dirname(path)), basename(path));
    } catch {
      return path;
    }
  }
}
