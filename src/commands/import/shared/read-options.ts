/** How an import reads its file: from the mapping file, and from the flags, which come after it. */

import { foldName } from "../../../api/names.ts";
import { usageError } from "../../../errors.ts";
import type { Mapping, ReadOptions } from "../../../tables/index.ts";
import { parseColumnMap } from "../../flags/flags.ts";
import type { ImportFlags } from "./import-flags.ts";

/** @throws UsageError for a `--map` or a mapping file that says nothing. */
export async function readOptionsFrom(flags: ImportFlags): Promise<ReadOptions> {
  const { map, places, splits } = await readMappingFile(flags.mapping);
  for (const [column, target] of parseColumnMap(flags.map)) {
    for (const name of map.keys()) if (foldName(name) === foldName(column)) splits.delete(name);
    map.set(column, target);
    places.delete(column);
  }
  return {
    map,
    mapPlaces: places,
    ...(splits.size > 0 && { splits: [...splits] }),
    ...(flags.set && { set: flags.set.map(fieldValue) }),
    from: flags.from,
    sheet: flags.sheet,
    delimiter: flags.delimiter,
    encoding: flags.encoding,
    skipLines: flags.skipLines,
    hasNoHeader: flags.header === false,
    ignoreUnmapped: flags.ignoreUnmapped,
    consentColumns: flags.consentColumn,
  };
}

async function readMappingFile(file: string | undefined): Promise<Mapping> {
  if (file === undefined) return { map: new Map(), splits: new Map(), places: new Map() };
  const { readMapping } = await import("../../../tables/index.ts");
  return readMapping(file);
}

/** `FIELD=VALUE`, split at the first `=`. @throws UsageError */
function fieldValue(text: string): readonly [field: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(`--set: ${JSON.stringify(text)} is not FIELD=VALUE`, "Such as --set City=Paris");
}
