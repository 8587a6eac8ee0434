/** The output formats, and which one is meant. */
import { UsageError } from "../errors.ts";

export const outputFormats = ["table", "json", "ndjson", "csv", "tsv", "id"] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** How a command's result is to be written. */
export interface OutputOptions {
  format: OutputFormat;
  /** From `--columns`. */
  columns?: string[];
  /** From `--output-file`: written atomically in place of stdout. */
  outputFile?: string;
  bom?: boolean;
  safeCells?: boolean;
}

/** @throws UsageError naming the flag or variable that holds an unknown format. */
export function parseFormat(text: string, where: string): OutputFormat {
  const format = outputFormats.find((each) => each === text);
  if (format) return format;
  throw new UsageError(
    `${where}: unknown output format ${JSON.stringify(text)}`,
    `use one of: ${outputFormats.join(", ")}`,
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
  let format = env.ECM_OUTPUT;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === "--") break;
    if (arg === "--json") format = "json";
    else if (arg === "-o" || arg === "--output") format = args[index + 1];
    else if (arg.startsWith("--output=")) format = arg.slice("--output=".length);
    else if (/^-o./.test(arg)) format = arg.slice(2).replace(/^=/, "");
  }
  return format === "json" || format === "ndjson";
}
