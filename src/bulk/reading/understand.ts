/** Reading: what a file is, found out before anything is sent. */
import { createHash } from "node:crypto";
import { UsageError } from "../../errors.ts";
import type { ContactStructure } from "../../wire.ts";
import type { InputFacts, ReadOptions, Understood } from "../rows.ts";
import { mapColumns, mapKeyColumn } from "./columns.ts";
import { findHeader, parseDelimiter } from "./header.ts";
import { foldName } from "./names.ts";
import { readRows } from "./read-rows.ts";
import { readBytes, requireFile } from "./source.ts";

/** Enough for a header and some rows, whatever their length. */
const startBytes = 256 * 1024;
const sampleRows = 5;

/**
 * Understands a file: encoding, delimiter, header, where each column goes. Reads all of its bytes once, and its first rows.
 * An unclosed quote further down shows only when `readRows` is read to its end, which the engine does before it sends.
 *
 * @throws UsageError with the place and the next step, for a file that cannot be read
 */
export async function understandInput(
  path: string,
  options: ReadOptions,
  structure: ContactStructure,
): Promise<Understood> {
  return understand(path, options, structure, "contacts");
}

/**
 * Understands a file that names contacts: one key for each line, or a table with a key column, whose other columns
 * are ignored. `readRows` then gives rows that have a key and nothing else.
 *
 * @throws UsageError as `understandInput`
 */
export async function understandKeys(
  path: string,
  options: ReadOptions,
  structure: ContactStructure,
): Promise<Understood> {
  return understand(path, options, structure, "keys");
}

async function understand(
  path: string,
  options: ReadOptions,
  structure: ContactStructure,
  wanted: "contacts" | "keys",
): Promise<Understood> {
  await requireFile(path);
  const hash = createHash("sha256");
  let bytes = 0;
  let start = Buffer.alloc(0);
  for await (const chunk of readBytes(path)) {
    hash.update(chunk);
    bytes += chunk.length;
    if (start.length < startBytes) start = Buffer.concat([start, chunk]);
  }
  const markBytes = start.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) ? 3 : 0;
  const firstLine = 1;
  const header = await findHeader({
    text: start.subarray(markBytes).toString("utf8"),
    firstLine,
    isCut: start.length < bytes,
    delimiter: options.delimiter === undefined ? undefined : parseDelimiter(options.delimiter),
    hasNoHeader: options.hasNoHeader ?? false,
    keyName: structure.keyName,
    keyType: structure.keyType,
    mapped: [...options.map.keys()],
  });
  if (header.line === undefined)
    throw new UsageError(`${path} is empty`, "name a file with a header and rows");
  const hasHeader =
    !options.hasNoHeader && !(wanted === "keys" && !header.isSure && header.names.length === 1);
  const names = hasHeader
    ? withoutTrailingBlanks(header.names)
    : header.names.map((_, index) => String(index + 1));
  const place = `${path}:${header.line}`;
  const { targets, notes } =
    wanted === "keys"
      ? mapKeyColumn(names, options, structure, undefined, place)
      : mapColumns(names, options, structure, undefined, place);
  const facts: InputFacts = {
    sha256: hash.digest("hex"),
    bytes,
    encoding: "utf-8",
    delimiter: header.delimiter,
    headerLine: hasHeader ? header.line : undefined,
    columns: names.map((name, index) => ({ name, target: targets[index]! })),
    notes,
    sample: [],
  };
  const understood: Understood = {
    path,
    facts,
    reading: {
      keyType: structure.keyType,
      encoding: "utf-8",
      markBytes,
      delimiter: header.delimiter,
      startLine: header.line,
      hasHeader,
      targets,
      hasSafeCells: false,
    },
  };
  for await (const row of readRows(understood)) {
    facts.sample.push(row);
    if (facts.sample.length === sampleRows) break;
  }
  return understood;
}

/** A delimiter at the end of the header line makes columns without a name: cells under them must be empty. */
function withoutTrailingBlanks(names: string[]): string[] {
  const last = names.findLastIndex((name) => foldName(name) !== "");
  return names.slice(0, last + 1);
}
