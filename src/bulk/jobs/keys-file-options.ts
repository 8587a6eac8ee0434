/** How a file that names contacts is read: as a run keeps it, and as reading takes it. */
import { UsageError } from "../../errors.ts";
import { foldName } from "../read/names.ts";
import type { ReadOptions } from "../read/rows.ts";

/** By default as the file says itself. */
export interface KeysFileOptions {
  map: [column: string, target: string][];
  consentColumns?: readonly string[];
  sheet?: string;
}

/** @throws UsageError for a column of old keys: nobody moves here, and who is meant must be clear */
export function toReadOptions(read: KeysFileOptions | undefined): ReadOptions {
  const old = read?.map.find(([, target]) => foldName(target) === "old-key");
  if (old) {
    throw new UsageError(
      `--map ${old.join("=")}: only an import knows an old key`,
      "Map the column to ignore; to name people by it, map it to key",
    );
  }
  return { map: new Map(read?.map), consentColumns: read?.consentColumns, sheet: read?.sheet };
}
