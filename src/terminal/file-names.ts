/** What the name of an output file says of its content. */
import { basename } from "node:path";
import { type EcmError, usageError } from "../errors.ts";
import type { OutputFormat } from "./format.ts";

/** `yaml` is the form of a structure's file. */
export type FileFormat = OutputFormat | "yaml";

/** The form for people. */
export type TextForm = "table" | "yaml" | "markdown";

const formatsByEnding = new Map<string, FileFormat>(
  Object.entries({
    csv: "csv",
    tsv: "tsv",
    tab: "tsv",
    json: "json",
    ndjson: "ndjson",
    jsonl: "ndjson",
    yaml: "yaml",
    yml: "yaml",
  } as const),
);

/** Kinds of files that `ecm` does not write, by their endings. */
const kindsByEnding = new Map(
  Object.entries({
    "a workbook": "xlsx xlsm xlsb xls ods numbers",
    "a compressed file": "gz gzip tgz bz2 xz zst zip 7z rar tar",
    "a database": "db sqlite sqlite3 parquet avro feather duckdb",
    "a document": "pdf doc docx odt html htm xml md",
  }).flatMap(([kind, endings]) => endings.split(" ").map((ending) => [ending, kind])),
);

/**
 * The format that a file's name asks for; undefined where any will do.
 * @param flag that names the file
 * @throws UsageError for a kind of file that is not written
 */
export function findFormatByName(file: string, flag = "--output-file"): FileFormat | undefined {
  const [, stem, ending] = /^(.+)\.([^.]+)$/.exec(basename(file)) ?? [];
  if (ending === undefined) return undefined;
  const kind = kindsByEnding.get(ending.toLowerCase());
  if (kind === undefined) return formatsByEnding.get(ending.toLowerCase());
  const inner = packable.test(stem!) ? stem! : `${stem}.csv`;
  const hint =
    kind === "a compressed file"
      ? `Write ${inner} and compress it afterwards: gzip ${inner}`
      : kind === "a workbook"
        ? flag === "--output-file"
          ? `Write a workbook, ${stem}.xlsx, or CSV: ${inner}`
          : `Write CSV, which spreadsheets open: ${inner}`
        : `Write CSV or JSON: ${inner}`;
  throw usageError(`${flag}: ${file} is ${kind} by its name, which ecm does not write`, hint);
}

const packable = /\.(?:csv|tsv|json|ndjson|jsonl)$/i;

/** What a file is to hold, and how. */
export interface FileForm {
  format: OutputFormat;
  isWorkbook?: boolean;
}

/**
 * The format of an output file: what `--output` asks for, else what its name says, else what is usual.
 * @param text what the form for people is called, where a command writes one of its own
 * @throws UsageError where name and `--output` say different things
 */
export function chooseFileFormat(
  file: string,
  {
    requested,
    defaultFormat,
    text,
  }: { requested?: OutputFormat; defaultFormat: OutputFormat; text: TextForm },
): FileForm {
  if (text === "table" && /.\.xlsx$/i.test(basename(file))) {
    if (requested === undefined || requested === "tsv") return { format: "tsv", isWorkbook: true };
    throw otherFormatError(file, "a workbook", requested);
  }
  if (text === "markdown" && /\.(?:md|markdown)$/i.test(file)) return { format: requested ?? "table" };
  const byName = findFormatByName(file);
  const format = requested ?? (byName === "yaml" ? "table" : byName) ?? defaultFormat;
  requireFileFormat(file, text === "yaml" && format !== "json" && format !== "ndjson" ? "yaml" : format);
  return { format };
}

/** @throws UsageError where the name says another format than the one that is written */
export function requireFileFormat(file: string, format: FileFormat, flag = "--output-file"): void {
  const byName = findFormatByName(file, flag);
  if (byName === undefined || byName === format) return;
  throw otherFormatError(file, formatName(byName), format, flag);
}

function otherFormatError(
  file: string,
  byName: string,
  format: FileFormat,
  flag = "--output-file",
): EcmError {
  const stem = file.slice(0, file.lastIndexOf("."));
  const ending = format === "table" || format === "id" ? "txt" : format;
  return usageError(
    `${flag}: ${file} is ${byName} by its name, but the output is ${formatName(format)}`,
    `Name it ${stem}.${ending}`,
  );
}

function formatName(format: FileFormat): string {
  const names: Partial<Record<FileFormat, string>> = {
    table: "a table for people",
    id: "ids",
    yaml: "YAML",
    ndjson: "JSON lines",
  };
  return names[format] ?? format.toUpperCase();
}
