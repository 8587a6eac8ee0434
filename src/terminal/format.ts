/** The output formats, and which one is meant. */
import { extname } from "node:path";
import { usageError } from "../errors.ts";

export const outputFormats = ["table", "json", "ndjson", "csv", "tsv", "id"] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** The form of a command's output for people: `yaml` is that of a structure's file. */
export type TextForm = "table" | "yaml";

type FileFormat = OutputFormat | "yaml" | "xlsx" | "markdown" | "html";

/** Whether the service's own objects are written. */
export function isJson(format: string | undefined): boolean {
  return format === "json" || format === "ndjson";
}

/** How a command's result is to be written. */
export interface OutputOptions {
  format: OutputFormat;
  /** From `--columns`. */
  columns?: string[];
  /** From `--output-file`: written atomically in place of stdout. */
  outputFile?: string;
  /** The file is a workbook; the format is tsv. */
  isWorkbook?: boolean;
  bom?: boolean;
  safeCells?: boolean;
  /** Is told where the whole file lies, before it appears under its name. */
  beforeRename?(written: string): Promise<void>;
}

/** Whether people read it, and see what their screen has room for. */
export function isForPeople({ format, columns, outputFile }: OutputOptions): boolean {
  return format === "table" && columns === undefined && outputFile === undefined;
}

/** @throws UsageError naming the flag or variable that holds an unknown format. */
export function parseFormat(text: string, where: string): OutputFormat {
  const format = outputFormats.find((each) => each === text);
  if (format) return format;
  throw usageError(
    `${where}: unknown output format ${JSON.stringify(text)}`,
    `Use one of: ${outputFormats.join(", ")}`,
  );
}

/**
 * The format that a failure is reported in, read from the bare arguments: a usage error is found before the
 * flags are parsed.
 */
export function isJsonWanted(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const end = args.indexOf("--");
  const words = end === -1 ? args : args.slice(0, end);
  if (words.includes("--json")) return true;
  let format = env.ECM_OUTPUT;
  for (const [index, word] of words.entries()) {
    // `-o json`, `-ojson`, `-qo json`, `--output json`, `--output=json`
    const [, value] = /^(?:-[qvy]*o|--output(?==|$))=?(.*)$/.exec(word) ?? [];
    if (value !== undefined) format = value === "" ? words[index + 1] : value;
  }
  return isJson(format);
}

/** @throws UsageError for a name that is empty, as in a script whose variable is not set */
export function parseColumns(text: string | undefined): string[] | undefined {
  const names = text?.split(",").map((name) => name.trim());
  if (!names?.includes("")) return names;
  throw usageError(
    "--columns: the name of a column is empty",
    "Name columns, such as --columns key,status; an empty word is often a variable that is not set",
  );
}

const formatsByEnding = new Map<string, FileFormat>([
  [".csv", "csv"],
  [".tsv", "tsv"],
  [".tab", "tsv"],
  [".json", "json"],
  [".ndjson", "ndjson"],
  [".jsonl", "ndjson"],
  [".yaml", "yaml"],
  [".yml", "yaml"],
  [".xlsx", "xlsx"],
  [".md", "markdown"],
  [".html", "html"],
]);

/** The format that a file's name asks for; undefined where any will do. */
export function findFormatByName(file: string): FileFormat | undefined {
  return formatsByEnding.get(extname(file).toLowerCase());
}

/**
 * The format of an output file: what `--output` asks for, else what its name says, else what is usual.
 * @throws UsageError where name and `--output` say different things
 */
export function chooseFileFormat(
  file: string,
  { requested, usual, text }: { requested?: OutputFormat; usual: OutputFormat; text: TextForm },
): Pick<OutputOptions, "format" | "isWorkbook"> {
  const named = findFormatByName(file);
  if (named === "xlsx" && text === "table" && (requested ?? "tsv") === "tsv")
    return { format: "tsv", isWorkbook: true };
  const asNamed = named === "yaml" ? "table" : outputFormats.find((each) => each === named);
  const format = requested ?? asNamed ?? usual;
  requireFileFormat(file, text === "yaml" && !isJson(format) ? "yaml" : format);
  return { format };
}

/** @throws UsageError where the name says another format than the one that is written */
export function requireFileFormat(file: string, format: FileFormat, flag = "--output-file"): void {
  if (extname(file).toLowerCase() === ".gz") {
    const uncompressed = file.slice(0, -".gz".length);
    throw usageError(
      `${flag}: ${file} is compressed by its name, but the output is not`,
      `Name it ${uncompressed}, and compress it afterwards`,
    );
  }
  const named = findFormatByName(file);
  if (named === undefined || named === format) return;
  throw usageError(
    `${flag}: ${file} is ${named} by its name, but the output is ${format}`,
    `Name it ${file.slice(0, file.lastIndexOf("."))}.${format === "table" || format === "id" ? "txt" : format}`,
  );
}
