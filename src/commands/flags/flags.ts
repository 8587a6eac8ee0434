/** Flags that several commands share, and how their values are read. */
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import { usageError } from "../../errors.ts";
import { recordsPerPage } from "../../service/pages.ts";
import type { ReadOptions } from "../../tables/index.ts";
import { outputFormats } from "../../terminal/format.ts";

/** The values of the flags that a function declares on a command. */
export type OptionsOf<D extends (...args: never[]) => { opts(): unknown }> = ReturnType<
  ReturnType<D>["opts"]
>;

/** The values of the flags on a command, such as one to which a function has added them. */
export type FlagsOf<C extends { opts(): unknown }> = ReturnType<C["opts"]>;

/** A command without arguments and flags. */
export type Bare = Record<never, never>;

/** Headings in the help that stand in several places. */
export const flagHeadings = {
  preview: "See it first:",
  guards: "Refuse what is too much:",
  pace: "Requests and time:",
} as const;

/** The flags that every command has. */
export function createGlobalOptions(): Option[] {
  return [
    new Option("-p, --profile <name>", "account to use (ECM_PROFILE)"),
    new Option("--base-url <url>", "base URL of the account's API (ECM_BASE_URL)"),
    new Option("-s, --structure <id-or-label>", "contact structure to use (ECM_STRUCTURE)"),
    // Which of them a command takes is known once it is: see `takeFormat`.
    new Option("-o, --output <format>", "output format (ECM_OUTPUT); see: ecm help formats")
      .choices([...outputFormats])
      .argParser((text) => text),
    new Option("--json", "short for --output json"),
    new Option("--columns <names>", "columns to show, in this order, separated by commas"),
    new Option("--timeout <seconds>", "timeout of a request in seconds (ECM_TIMEOUT; 30)"),
    new Option("--max-wait <seconds>", "longest wait for the rate limit in seconds (300)"),
    new Option("-q, --quiet", "nothing on stderr but errors, warnings and questions"),
    new Option("-v, --verbose", "show requests on stderr; --verbose=bodies shows bodies too"),
    new Option("--verbose-bodies").hideHelp(),
    new Option("--no-input", "never prompt (ECM_NO_INPUT)"),
    new Option("-y, --yes", "confirm without asking"),
    new Option("--read-only", "refuse every request that would write (ECM_READ_ONLY)"),
    new Option("--no-color", "no colour (NO_COLOR)"),
  ];
}

/** What a program has to know of a flag besides what commander knows. */
interface FlagShape {
  /** Default: boolean without a value, else string. */
  type?: "boolean" | "string" | "integer";
  repeatable?: boolean;
}

const shapes = new WeakMap<object, FlagShape>();

/** Keeps the shape for `findShape`. */
function withShape<O extends object>(option: O, shape: FlagShape): O {
  shapes.set(option, shape);
  return option;
}

export function findShape(option: object): FlagShape {
  return shapes.get(option) ?? {};
}

/** A flag that names a file which the command writes. */
export function writtenFileOption<F extends string>(flags: F, description: string) {
  const [flag] = flags.split(" ");
  return new Option(flags, description).argParser((file: string) => {
    if (file !== "-") return file;
    throw usageError(
      `${flag}: "-" is not a file`,
      flag === "--output-file"
        ? "To write to stdout, leave it out"
        : "Name a file; one that is called so is ./-",
    );
  });
}

/** For every command that lists or exports. */
export function addOutputFileFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return addFileFlag(command, "write to FILE instead of stdout (atomically); .xlsx is a workbook")
    .option("--bom", "start with a byte order mark, for spreadsheets")
    .option("--safe-cells", "prefix cells that a spreadsheet would run as a formula with an apostrophe");
}

/** For every listing that comes in pages. @param things such as `campaigns` */
export function addPageFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
  things: string,
) {
  return command
    .addOption(wholeNumberOption("--page <n>", "the page to read, from 1 (1)").conflicts("all"))
    .addOption(wholeNumberOption("--size <n>", `${things} per page (${recordsPerPage})`).conflicts("all"))
    .option("--all", "read every page");
}

/** What a page says of the next one. @param typedPage undefined for a first page that nobody named */
export function toNextPage(typedPage: number | undefined) {
  return { next: `next page: --page ${(typedPage ?? 1) + 1}`, isRequested: typedPage !== undefined };
}

export function addFileFlag<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
  description = "write to FILE instead of stdout (atomically)",
) {
  return command.addOption(writtenFileOption("--output-file <file>", description));
}

/** For every command that writes. */
export function addDryRunFlag<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return command.option("--dry-run", "print the method, path and body of the request without sending it");
}

/** A flag that can be repeated: its values in order. */
export function repeatableOption<F extends string>(flags: F, description: string) {
  const option = new Option(flags, description).argParser((value: string, before: string[] = []) => [
    ...before,
    value,
  ]);
  return withShape(option, { repeatable: true });
}

/** A flag that takes a whole number. @throws UsageError naming the flag, when parsed */
export function wholeNumberOption<F extends string>(
  flags: F,
  description: string,
  min = 1,
  max = Number.MAX_SAFE_INTEGER,
) {
  const option = withShape(new Option(flags, description), { type: "integer" });
  return option.argParser((text: string) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    const range = max < Number.MAX_SAFE_INTEGER ? `from ${min} to ${max}` : `of at least ${min}`;
    throw usageError(
      `${option.long}: ${JSON.stringify(text)} is not a whole number ${range}`,
      `Give a number, such as ${option.long} ${Math.max(min, 10)}`,
    );
  });
}

/**
 * What `--map COLUMN=TARGET` says, split at the last `=`.
 * @throws UsageError for one that says nothing, and for a column with two targets
 */
function parseColumnMap(assignments: readonly string[] = []): Map<string, string> {
  const map = new Map<string, string>();
  for (const text of assignments) {
    const at = /=consent=opt-(?:in|out)$/i.exec(text)?.index ?? text.lastIndexOf("=");
    if (at < 1) {
      throw usageError(`--map: ${JSON.stringify(text)} is not COLUMN=TARGET`, "Give --map 'E-mail=key'");
    }
    const [column, target] = [text.slice(0, at), text.slice(at + 1)];
    const before = map.get(column) ?? target;
    if (before !== target) {
      const name = JSON.stringify(column);
      throw usageError(
        `--map: ${name} goes to ${before} by one, to ${target} by another`,
        "Pass one of them",
      );
    }
    map.set(column, target);
  }
  return map;
}

/** How a file of contacts is read. */
export type TableFlags = FlagsOf<ReturnType<typeof addTableFlags<[], Bare, Bare>>>;

/** The flags as a reader of tables takes them, and as a run keeps them. @throws UsageError */
export function toReadOptions(flags: TableFlags): ReadOptions {
  const { map, from, sheet, delimiter, encoding, skipLines, header, consentColumn } = flags;
  return {
    map: [...parseColumnMap(map)],
    from,
    sheet,
    delimiter,
    encoding,
    skipLines,
    hasNoHeader: header === false,
    consentColumns: consentColumn,
  };
}

/** For every command that reads a file of contacts. @param targets where its columns can go */
export function addTableFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
  targets = "key, consent or ignore",
) {
  return command
    .optionsGroup("The file:")
    .addOption(repeatableOption("--map <column=target>", `where a column goes: ${targets}`))
    .addOption(
      repeatableOption(
        "--consent-column <column>",
        "COLUMN says who is subscribed; =opt-in or =opt-out: what a yes means",
      ),
    )
    .option("--from <system>", "read it as this system's export")
    .option("--sheet <sheet>", "a workbook's sheet, by name or number")
    .option("--delimiter <character>", "a character, or tab (default: detected)")
    .option("--encoding <name>", "default: detected")
    .addOption(wholeNumberOption("--skip-lines <n>", "lines before the header", 0))
    .option("--no-header", "no header; columns are named 1, 2, …")
    .optionsGroup("");
}

/** For a command that adds contacts named in a file to a list. */
export function addKeyFileFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return addTableFlags(command).option(
    "--include-unsubscribed",
    "also add contacts that the file marks as not subscribed to lists",
  );
}
