/** `--mapping FILE`: where each column goes, in YAML or JSON. */
import { readFile, stat, writeFile } from "node:fs/promises";
import type { Document, Scalar, YAMLMap } from "yaml";
import { describeDiskError, describeReadError } from "../../disk/disk-errors.ts";
import { type EcmError, usageError } from "../../errors.ts";

export interface Mapping {
  /** Column → target. */
  map: Map<string, string>;
  /** Column of tags or lists → what is between the names in a cell. */
  splits: Map<string, string>;
  /** Column → where its target stands, such as `people.yaml:4`. */
  places: Map<string, string>;
}

const maxColumns = 5000;
const maxMebibytes = 1;
const example = "Write lines such as E-mail: key";

/** @throws UsageError naming the file, the line and what is wrong */
export async function readMapping(file: string): Promise<Mapping> {
  const text = await mappingText(file);
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  const fail = (at: number, what: string, hint = example) =>
    usageError(`--mapping: ${file}:${lines.linePos(at).line}: ${what}`, hint);
  const reader = { ...yaml, fail };
  const { contents, errors } = parse(yaml, text, lines, file);
  const [problem] = errors;
  if (problem) throw usageError(`--mapping: ${file}: ${problem.message.split(":\n")[0]}`, example);
  if (!yaml.isMap(contents)) throw usageError(`--mapping: ${file} is not a mapping of columns`, example);
  if (contents.items.length > maxColumns) {
    throw usageError(`--mapping: ${file} has more than ${maxColumns} columns`, "Use a smaller file");
  }
  const mapping: Mapping = { map: new Map(), splits: new Map(), places: new Map() };
  for (const { column, at, target, split } of readColumns(reader, contents)) {
    mapping.map.set(column, target);
    mapping.places.set(column, `${file}:${lines.linePos(at).line}`);
    if (split !== undefined) mapping.splits.set(column, split);
  }
  return mapping;
}

type Yaml = typeof import("yaml");
type Reader = Pick<Yaml, "isMap" | "isScalar"> & {
  fail(at: number, what: string, hint?: string): EcmError;
};

/** Every scalar is the text as it is written: `01` and `no` stay what they are. */
function parse(
  yaml: Yaml,
  text: string,
  lineCounter: InstanceType<Yaml["LineCounter"]>,
  file: string,
): Document {
  try {
    // JSON is YAML too. The library compares each key with all others; see `readMembers`.
    return yaml.parseDocument(text.replace(/^\ufeff/, ""), {
      schema: "failsafe",
      uniqueKeys: false,
      lineCounter,
      logLevel: "silent",
    });
  } catch {
    // The library calls itself for each level.
    throw usageError(`--mapping: ${file} is nested too deeply`, example);
  }
}

interface MappedColumn {
  column: string;
  at: number;
  target: string;
  split?: string;
}

function readColumns(reader: Reader, contents: YAMLMap): MappedColumn[] {
  return readMembers(reader, contents).map(({ name, at, value }) => {
    const quoted = JSON.stringify(name);
    const text = readText(reader, value);
    if (text) return { column: name, at, target: text };
    if (!reader.isMap(value)) throw reader.fail(at, `the target of ${quoted} is not text`);
    return { column: name, at, ...readSplitColumn(reader, value, at, quoted) };
  });
}

/** `{ target: tags, split: ";" }` */
function readSplitColumn(
  reader: Reader,
  value: YAMLMap,
  at: number,
  quoted: string,
): { target: string; split?: string } {
  const texts = new Map<string, string>();
  for (const member of readMembers(reader, value)) {
    if (member.name !== "target" && member.name !== "split") {
      throw reader.fail(
        member.at,
        `${quoted}: unknown member ${JSON.stringify(member.name)}`,
        'A column takes a target, or { target: tags, split: ";" }; compute values before the import',
      );
    }
    const text = readText(reader, member.value);
    if (!text) throw reader.fail(member.at, `${quoted}: ${member.name} is not text`, splitExample);
    texts.set(member.name, text);
  }
  const target = texts.get("target");
  if (target === undefined) throw reader.fail(at, `${quoted} has no target`, splitExample);
  const split = texts.get("split");
  const takesNames = /^\s*(tags|lists)\s*$/i.test(target);
  if (split !== undefined && !takesNames) {
    throw reader.fail(at, `${quoted}: only a column of tags or lists is split`, splitExample);
  }
  return { target, split };
}

const splitExample = 'Such as { target: tags, split: ";" }';

function readMembers(reader: Reader, map: YAMLMap): { name: string; at: number; value: unknown }[] {
  const seen = new Set<string>();
  return map.items.map(({ key, value }) => {
    const at = (key as Scalar | null)?.range?.[0] ?? 0;
    if (!reader.isScalar(key)) throw reader.fail(at, "a name is not text", "Put it in quotes");
    const name = String(key.value ?? "");
    if (seen.has(name)) {
      throw reader.fail(at, `${JSON.stringify(name)} is written twice`, "Remove one of the two");
    }
    seen.add(name);
    return { name, at, value };
  });
}

/** `null` and `~` mean nothing in YAML and in JSON, unless they are quoted. */
function readText(reader: Reader, node: unknown): string | undefined {
  if (!reader.isScalar(node)) return undefined;
  const text = String(node.value ?? "");
  return node.type === "PLAIN" && (text === "null" || text === "~") ? undefined : text;
}

async function mappingText(file: string): Promise<string> {
  try {
    // A device or a pipe may never end.
    if ((await stat(file)).size > maxMebibytes * 1024 * 1024) {
      throw new Error(`it is larger than ${maxMebibytes} MiB`);
    }
    return await readFile(file, "utf8");
  } catch (error) {
    throw usageError(`--mapping: cannot read ${file}: ${describeReadError(error)}`, "Check the path");
  }
}

const heading = "# Where the columns of a file go: key, lists, tags, consent, ignore, or a field.";

/**
 * Writes what `readMapping` reads. A file that is there is left alone, unless it is to be replaced and this
 * function has written it: what a person wrote is never lost.
 * @returns whether it was written
 * @throws UsageError when it cannot be written
 */
export async function writeMapping(
  file: string,
  { map, splits }: Omit<Mapping, "places">,
  isReplaced = false,
): Promise<boolean> {
  const isOwn = async () => (await readFile(file, "utf8")).startsWith(heading);
  const { stringify } = await import("yaml");
  const columns = [...map].map(([column, target]) => {
    const split = splits.get(column);
    return [column, split === undefined ? target : { target, split }] as const;
  });
  const text = `${heading}\n${stringify(new Map(columns))}`;
  try {
    if (isReplaced && !(await isOwn())) return false;
    await writeFile(file, text, { flag: isReplaced ? "w" : "wx" });
    return true;
  } catch (error) {
    throw usageError(`Cannot write ${file}: ${describeDiskError(error)}`);
  }
}
