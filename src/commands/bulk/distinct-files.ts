/** The files of one bulk command: a plan written over the input would destroy it. */
import type { Context } from "../../context.ts";
import { findFormatByName, requireFileFormat } from "../../terminal/file-names.ts";

/** Files that flags name; `mapping` is only read. */
export interface FileFlags {
  plan?: string;
  backup?: string;
  rejects?: string;
  report?: string;
  mapping?: string;
}

/**
 * @param input the file that is read, where there is one
 * @throws UsageError when a file that is written is the input, one that another flag names, or ecm's own
 */
export function claimFiles({ files }: Context, input: string | undefined, flags: FileFlags): void {
  const { mapping, rejects } = flags;
  if (input !== undefined) files.reads(input, "the input file");
  if (mapping !== undefined) files.reads(mapping, "--mapping");
  for (const flag of ["rejects", "backup", "plan", "report"] as const) {
    const file = flags[flag];
    if (file !== undefined && file !== "-") files.writes(file, `--${flag}`);
  }
  if (rejects !== undefined && findFormatByName(rejects, "--rejects") !== "tsv")
    requireFileFormat(rejects, "csv", "--rejects");
}
