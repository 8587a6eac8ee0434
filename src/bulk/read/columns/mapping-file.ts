/**
 * `--mapping FILE`: where each column goes, how its value is made,
 * and what the file should hold, in YAML or JSON.
 */
import { readFile, stat, writeFile } from "node:fs/promises";
import { describeDiskError, describeReadError } from "../../../disk/make-folder.ts";
import { UsageError } from "../../../errors.ts";
import type { Expectations, MappingEntry } from "../compute/entry.ts";

export interface Mapping {
  /** Column → target. */
  map: Map<string, string>;
  /** Column → where its target stands, such as `people.yaml:4`. */
  places: Map<string, string>;
  /** Columns whose values are made. */
  entries: MappingEntry[];
  expect?: Expectations;
}

const maxColumns = 5000;
const maxMebibytes = 4;

/** @throws UsageError naming the file and what is wrong with it */
export async function readMapping(file: string): Promise<Mapping> {
  const text = await mappingText(file);
  const [{ readYamlTree }, { entryFrom, expectationsFrom }] = await Promise.all([
    import("../compute/yaml-tree.ts"),
    import("../compute/read-entries.ts"),
  ]);
  const tree = await readYamlTree(text, `--mapping: ${file}`);
  if (tree.kind !== "map") {
    throw new UsageError(`--mapping: ${file} is not a mapping of columns`, "Write lines such as E-mail: key");
  }
  if (tree.members.length > maxColumns) {
    throw new UsageError(`--mapping: ${file} has more than ${maxColumns} columns`, "Use a smaller file");
  }
  const mapping: Mapping = { map: new Map(), places: new Map(), entries: [] };
  for (const { key, line, value } of tree.members) {
    if (value.kind === "text" && value.text !== "") {
      mapping.map.set(key, value.text);
      mapping.places.set(key, `${file}:${line}`);
    } else if (value.kind === "map" && key === "expect") mapping.expect = expectationsFrom(value, file);
    else if (value.kind === "map") mapping.entries.push(entryFrom(key, value, file));
    else {
      throw new UsageError(
        `--mapping: ${file}:${line}: the target of ${JSON.stringify(key)} is not text`,
        "Write its target, such as City, or rules, such as { field: City, blank: clear }",
      );
    }
  }
  return mapping;
}

async function mappingText(file: string): Promise<string> {
  try {
    // A device or a pipe may never end.
    if ((await stat(file)).size > maxMebibytes * 1024 * 1024) {
      throw new Error(`it is larger than ${maxMebibytes} MiB`);
    }
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`--mapping: cannot read ${file}: ${describeReadError(error)}`, "Check the path");
  }
}

/**
 * Writes what `readMapping` reads; a file that is there is left alone unless it is to be replaced.
 * @throws UsageError when it cannot be written
 */
export async function writeMapping(
  file: string,
  { map, entries, expect }: Omit<Mapping, "places">,
  isReplaced = false,
): Promise<void> {
  const { stringify } = await import("yaml");
  const mapping = {
    ...Object.fromEntries(map),
    ...Object.fromEntries(entries.map((entry) => [entry.name, writtenEntry(entry)])),
    ...(expect && { expect: writtenExpectations(expect) }),
  };
  const text = `# Where the columns of a file go: key, lists, tags, consent, ignore, or a field.\n${stringify(mapping)}`;
  try {
    await writeFile(file, text, { flag: isReplaced ? "w" : "wx" });
  } catch (error) {
    throw new UsageError(`Cannot write ${file}: ${describeDiskError(error)}`);
  }
}

function writtenEntry({ name: _name, place: _place, target, date, map, ...rest }: MappingEntry) {
  return {
    ...(target.kind === "field" ? { field: target.field } : { [target.kind]: true }),
    ...(date && { date: date.length === 1 ? date[0] : date }),
    ...(map && { map: Object.fromEntries(map) }),
    ...rest,
  };
}

function writtenExpectations({ rows, columns }: Expectations) {
  const rules = columns.map(({ name, place: _place, filled, ...rest }) => {
    const share = filled === undefined ? undefined : `${filled}%`;
    return [name, { ...rest, filled: share }] as const;
  });
  return { ...(rows && { rows }), ...Object.fromEntries(rules) };
}
