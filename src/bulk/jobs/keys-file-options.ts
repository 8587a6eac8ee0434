/** How a file that names contacts is read: as a run keeps it, and as reading takes it. */
import type { ReadOptions } from "../../tables/index.ts";

/** By default as the file says itself. */
export interface KeysFileOptions {
  map: [column: string, target: string][];
  consentColumns?: readonly string[];
  sheet?: string;
}

export function toReadOptions(read: KeysFileOptions | undefined): ReadOptions {
  return { map: new Map(read?.map), consentColumns: read?.consentColumns, sheet: read?.sheet };
}
