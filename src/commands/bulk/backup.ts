/**
 * The contacts that a deletion takes, in a file that imports
 * again: written before the first of them is deleted.
 */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type BackUp, fileNames } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { syncFolder } from "../../disk/atomic-file.ts";
import { usageError } from "../../errors.ts";
import { findFormatByName, requireFileFormat } from "../../terminal/file-names.ts";
import type { OutputFormat } from "../../terminal/format.ts";
import { presentList } from "../../terminal/present.ts";
import { createContactColumnsView, toSearchView } from "../output/contact-columns.ts";
import { readNamedLists } from "../selection/lookups.ts";

/**
 * Where a backup goes, from the flag: the format by the file's name, else by `-o`, else csv.
 * @throws UsageError
 */
export function createBackupTarget(context: Context, file: string): { file: string; format: OutputFormat } {
  context.files.writes(file, "--backup");
  const byName = findFormatByName(file, "--backup");
  if (byName === "yaml") requireFileFormat(file, "csv", "--backup");
  const { format } = context.output({}, "csv");
  const byFlag = format === "table" || format === "id" ? "csv" : format;
  return { file: resolve(file), format: (byName as OutputFormat | undefined) ?? byFlag };
}

/** @param target absent: the run folder */
export function createBackUp(context: Context, target: BackUp["target"]): BackUp {
  return {
    target,
    async write(contacts, { folder, account }) {
      const file = target?.file ?? join(folder, fileNames.backup);
      if (target) await claimFile(file, folder);
      const structure = await account.complete(await account.structure());
      const lists = await readNamedLists(context, account, structure);
      const view = toSearchView(createContactColumnsView(structure, lists));
      const format = (target?.format ?? "csv") as OutputFormat;
      await presentList(context.terminal, { format, outputFile: file }, contacts, view);
      await syncFolder(dirname(file));
      return file;
    },
  };
}

/** A file that is there already is only replaced by the run that made it. */
async function claimFile(file: string, folder: string): Promise<void> {
  const mark = join(folder, fileNames.backupMark);
  if (existsSync(file) && !existsSync(mark)) {
    throw usageError(`--backup: ${file} already exists`, "Name another file: a backup is never overwritten");
  }
  await writeFile(mark, "", { mode: 0o600 });
}
