/** Reading: the header of a file: where it is, or why there is none. */

import { quotedCell } from "../../delimited-lines.ts";
import { UsageError } from "../../errors.ts";
import type { ContactStructure } from "../../wire.ts";
import { needsNoColumn } from "./compute/entry.ts";
import { findHeader, type Header, parseDelimiter } from "./header.ts";
import { toUnreadableError } from "./input-errors.ts";
import type { ReadOptions } from "./rows.ts";
import { readStart, type TextSource } from "./text.ts";
import { unusualLayoutError } from "./unusual-layout.ts";

/** Enough for a header and some rows, whatever their length. */
const startBytes = 256 * 1024;

/**
 * Delimiter and header, below `--skip-lines` and a line such as `sep=;`.
 * @throws UsageError for a file without any row
 */
export async function locateHeader(
  source: TextSource,
  options: ReadOptions,
  structure: ContactStructure,
  { isTable, mayBeOwnTsv }: { isTable: boolean; mayBeOwnTsv: boolean },
): Promise<Header & { line: number }> {
  let firstLine = 1 + (options.skipLines ?? 0);
  let delimiter = isTable
    ? "\t"
    : options.delimiter === undefined
      ? undefined
      : parseDelimiter(options.delimiter);
  let { text, isCut } = await readStart(source, firstLine, startBytes);
  const separatorLine = /^"?sep=(.)"?(?:\r\n|\n|\r|$)/i.exec(text);
  if (separatorLine && !isTable) {
    delimiter ??= separatorLine[1]!;
    firstLine += 1;
    text = text.slice(separatorLine[0].length);
  }
  const header = await findHeader({
    text,
    firstLine,
    isCut,
    delimiter,
    isTable,
    isNamedTsv: /\.(?:tsv|tab)(?:\.gz)?$/i.test(source.file.name),
    mayBeOwnTsv,
    hasNoHeader: options.hasNoHeader ?? false,
    keyName: structure.keyName,
    keyType: structure.keyType,
    mapped: [
      ...options.map.keys(),
      ...(options.entries ?? []).filter((entry) => !needsNoColumn(entry)).map(({ name }) => name),
    ],
    takesIds: options.takesIds,
  }).catch((error: unknown) => {
    throw toUnreadableError(source.file.name, error);
  });
  const isQuoted = text.startsWith(header.names.map(quotedCell).join("\t"));
  if (header.line !== undefined) return { ...header, line: header.line, isQuoted };
  throw options.skipLines
    ? new UsageError(
        `${source.file.name} has nothing after ${options.skipLines} skipped lines`,
        "Lower --skip-lines",
      )
    : new UsageError(`${source.file.name} is empty`, "Name a file with a header and rows");
}

/** @throws UsageError when there is a row in place of a header, or a line that is no row of cells */
export function requireHeader(
  file: string,
  { line, names, delimiter }: Header,
  declaredDelimiter: string | undefined,
  { keyName, keyType }: ContactStructure,
): void {
  const place = `${file}:${line}`;
  const layout = unusualLayoutError(place, {
    names,
    delimiter,
    isExplicit: declaredDelimiter !== undefined,
    keyName,
    keyType,
  });
  if (layout) throw layout;
  if (keyType.toLowerCase() !== "email") return;
  const column = names.findIndex((cell) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim()));
  if (column === -1) return;
  throw new UsageError(
    `${place}: there is no header: the first row already has an address`,
    `Add a header line, or pass --no-header --map ${column + 1}=key`,
  );
}
