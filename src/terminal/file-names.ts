/** What the name of an output file says of its content. */
import { basename } from "node:path";
import { type EcmError, usageError } from "../errors.ts";
import type { OutputFormat } from "./format.ts";

/** `yaml` is the form of a structure's file. */
export type FileFormat = OutputFormat | "yaml" | "workbook";

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
    xlsx: "workbook",
  } as const),
);

/** The format that a file's name asks for; undefined where any will do. */
export function findFormatByName(file: string): FileFormat | undefined {
  const [, ending = ""] = /.\.([^.]+)$/.exec(basename(file)) ?? [];
  return formatsByEnding.get(ending.toLowerCase());
}

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
  const byName = findFormatByName(file);
  if (byName === "workbook" && text === "table" && (requested ?? "tsv") === "tsv")
    return { format: "tsv", isWorkbook: true };
  if (text === "markdown" && /\.md$/i.test(file)) return { format: requested ?? "table" };
  const named = byName === "yaml" ? "table" : byName === "workbook" ? undefined : byName;
  const format = requested ?? named ?? defaultFormat;
  requireFileFormat(file, text === "yaml" && format !== "json" && format !== "ndjson" ? "yaml" : format);
  return { format };
}

/** @throws UsageError where the name says another format than the one that is written */
export function requireFileFormat(file: string, format: FileFormat, flag = "--output-file"): void {
  const byName = findFormatByName(file);
  if (byName !== undefined && byName !== format) throw otherFormatError(file, byName, format, flag);
}

function otherFormatError(file: string, byName: FileFormat, format: FileFormat, flag: string): EcmError {
  const stem = file.slice(0, file.lastIndexOf("."));
  const ending = format === "table" || format === "id" ? "txt" : format;
  return usageError(
    `${flag}: ${file} is ${formatName(byName)} by its name, but the output is ${formatName(format)}`,
    `Name it ${stem}.${ending}`,
  );
}

function formatName(format: FileFormat): string {
  const names: Partial<Record<FileFormat, string>> = {
    table: "a table for people",
    id: "ids",
    yaml: "YAML",
    ndjson: "JSON lines",
    workbook: "a workbook",
  };
  return names[format] ?? format.toUpperCase();
}
