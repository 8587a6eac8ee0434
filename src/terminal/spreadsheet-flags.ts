/** Flags for text that a spreadsheet opens: `--excel`, `--delimiter`, `--bom`, `--safe-cells`. */
import { UsageError } from "../errors.ts";
import type { OutputFormat, OutputOptions } from "./format.ts";

interface SpreadsheetFlags {
  outputFile?: string;
  bom?: boolean;
  safeCells?: boolean;
  excel?: boolean;
  delimiter?: string;
}

type Spreadsheet = Pick<OutputOptions, "bom" | "safeCells" | "delimiter"> & { format?: OutputFormat };

/**
 * @param requested by `--output`
 * @throws UsageError for flags that contradict one another
 */
export function readSpreadsheetFlags(
  { outputFile = "", bom, safeCells, excel, delimiter: typed }: SpreadsheetFlags,
  requested: OutputFormat | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Spreadsheet {
  const delimiter = typed === undefined ? undefined : parseDelimiter(typed);
  // A workbook is what Excel opens best.
  if (!excel || /\.xlsx$/i.test(outputFile)) return { format: requested, bom, safeCells, delimiter };
  if (requested !== undefined && requested !== "csv") {
    throw new UsageError(
      `--excel writes csv and cannot be used with --output ${requested}`,
      "Leave out one of the two",
    );
  }
  const isGuarded = safeCells ?? "formulas";
  return { format: "csv", bom: true, safeCells: isGuarded, delimiter: delimiter ?? findLocalDelimiter(env) };
}

const delimiters: Record<string, string> = { comma: ",", semicolon: ";", pipe: "|", tab: "\t", "\\t": "\t" };

function parseDelimiter(text: string): string {
  const delimiter = Object.hasOwn(delimiters, text.toLowerCase()) ? delimiters[text.toLowerCase()]! : text;
  if (Object.values(delimiters).includes(delimiter)) return delimiter;
  throw new UsageError(
    `--delimiter: ${JSON.stringify(text)} does not separate cells`,
    "Give comma, semicolon, pipe or tab",
  );
}

/** @throws UsageError where a delimiter was asked for and nothing has one */
export function requireDelimited(
  { delimiter }: Pick<OutputOptions, "delimiter">,
  format: OutputFormat,
): void {
  if (delimiter === undefined || format === "csv") return;
  throw new UsageError(
    `--delimiter is for csv, and the output is ${format}`,
    "Ask for csv with -o csv, or leave --delimiter out",
  );
}

/** Excel expects a semicolon where the comma stands in numbers, as in 1,5. */
function findLocalDelimiter(env: Readonly<Record<string, string | undefined>>): "," | ";" {
  const variable = env.LC_ALL || env.LC_NUMERIC || env.LANG || "";
  const language = /^[A-Za-z]{2,3}(?:_[A-Za-z]{2,4})?(?=$|[.@])/.exec(variable)?.[0].replace("_", "-");
  // `C` and `POSIX` write numbers as English does. Windows has no such variable: its own setting counts.
  const name = language ?? (variable === "" ? undefined : "en");
  const parts = new Intl.NumberFormat(name).formatToParts(1.5);
  return parts.some(({ type, value }) => type === "decimal" && value === ",") ? ";" : ",";
}
