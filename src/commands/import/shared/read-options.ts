/** How an import reads its file: from the mapping file, and from the flags, which come after it. */
import { foldName, type Mapping, type ReadOptions } from "../../../bulk/index.ts";
import { UsageError } from "../../../errors.ts";
import { parseColumnMap } from "../../shared/flags.ts";
import type { ImportFlags } from "./import-flags.ts";

/** @throws UsageError for a `--map` or a mapping file that says nothing. */
export async function readOptionsFrom(flags: ImportFlags): Promise<ReadOptions> {
  const { map, places, entries, expect } = await mappingFrom(flags);
  return {
    map,
    mapPlaces: places,
    ...(entries.length > 0 && { entries }),
    expect,
    ...(flags.default && { defaults: flags.default.map((text) => fieldValue(text, "--default")) }),
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

/** The mapping file, then the flags: a later one of the same column counts. */
async function mappingFrom({ mapping, map: assignments, set = [] }: ImportFlags): Promise<Mapping> {
  const { map, places, expect, ...read } = await readMappingFile(mapping);
  let { entries } = read;
  const told = parseColumnMap(assignments);
  for (const [column, target] of told) {
    map.set(column, target);
    places.delete(column);
  }
  const isAmong = (names: Iterable<string>, name: string) =>
    [...names].some((each) => foldName(each) === foldName(name));
  entries = entries.filter(({ name }) => !isAmong(told.keys(), name));
  for (const [field, constant] of set.map((text) => fieldValue(text, "--set"))) {
    entries = entries.filter(({ name }) => foldName(name) !== foldName(field));
    // A column of the field's name goes nowhere else, unless it was told where.
    const name = isAmong(map.keys(), field) ? `--set ${field}` : field;
    entries.push({ name, target: { kind: "field", field }, constant, place: "--set" });
  }
  return { map, places, entries, expect };
}

async function readMappingFile(file: string | undefined): Promise<Mapping> {
  if (file === undefined) return { map: new Map(), places: new Map(), entries: [] };
  const { readMapping } = await import("../../../bulk/index.ts");
  return readMapping(file);
}

/** `FIELD=VALUE`, split at the first `=`. @throws UsageError */
function fieldValue(text: string, flag: string): readonly [field: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`${flag}: ${JSON.stringify(text)} is not FIELD=VALUE`, `Such as ${flag} City=Paris`);
}
