/** `ecm import`: a file's contacts into the account. */
import { stat } from "node:fs/promises";
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import type { Closed, ImportOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { isAbout, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { ReadOptions } from "../../tables/index.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { shortPath } from "../bulk/words.ts";
import { addBulkFlags, toRunOptions } from "../flags/bulk.ts";
import { addTableFlags, type OptionsOf, repeatableOption, toReadOptions } from "../flags/flags.ts";
import { verb } from "../verb.ts";

type ImportFlags = OptionsOf<typeof declareImport>;

function declareImport(command: Command) {
  const file = command.argument(
    "[file]",
    "a CSV, xlsx, ndjson or JSON file, also as .gz; - for standard input",
  );
  // Last those that say who is written: `--fresh` is one of them here.
  const reading = addTableFlags(file, "key, lists, tags, consent, ignore, or a field");
  return addBulkFlags(addContactFlags(addColumnFlags(reading)));
}

export function registerImport(command: Command, context: Context): void {
  verb(context, declareImport(command), {
    examples: [
      "ecm import people.csv --dry-run",
      "ecm import people.csv --list Newsletter --create-missing",
      "ecm import people.csv --map E-mail=key --map Notes=ignore",
    ],
    output: "Nothing; with --json one summary at the end.",
    writes: true,
    exitCodes: {
      3: "finished, and some rows were rejected",
      7: "stopped by a limit; the same command resumes",
      130: "interrupted; the same command resumes",
    },
    async run(file, flags) {
      if (file === undefined) {
        throw usageError(
          "Name a file to import",
          advise`Such as ${ecm`import people.csv`}; - reads standard input`,
        );
      }
      return runImport(context, command, file, flags);
    },
  });
}

/** What becomes of each column. */
function addColumnFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return command
    .optionsGroup("Columns:")
    .option("--mapping <file>", "where the columns go, in YAML or JSON")
    .addOption(repeatableOption("--set <field=value>", "the same value for every row"))
    .addOption(choiceOption("--blank <what>", "an empty cell keeps or clears the field", ["keep", "clear"]))
    .addOption(
      choiceOption("--duplicates <how>", "how to treat rows of the same key", [
        "merge",
        "last",
        "first",
        "reject",
      ]),
    )
    .option("--ignore-unmapped", "ignore columns that match no field");
}

/** What every contact gets, and who is written. */
function addContactFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return command
    .optionsGroup("Lists and tags:")
    .addOption(repeatableOption("--list <list>", "add every contact to this list"))
    .addOption(repeatableOption("--tag <tag>", "add this tag to every contact"))
    .option("--create-missing", "create missing lists and tags")
    .optionsGroup("Who is written:")
    .addOption(
      choiceOption("--mode <mode>", "write all, only new, or only existing contacts", [
        "upsert",
        "create",
        "update",
      ]),
    )
    .option("--include-unsubscribed", "create contacts marked as not subscribed")
    .option("--include-suppressed", "create suppressed contacts too");
}

async function runImport(
  context: Context,
  command: Command,
  file: string,
  flags: ImportFlags,
): Promise<void> {
  const options = toRunOptions(flags, context.clock.now());
  const [{ jobs }, { isAtTerminal, startRun }, { Clarifier, findAnswers }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("../bulk/start.ts"),
    import("./clarify.ts"),
  ]);
  // Where nobody reads along, only what is typed counts.
  const answersFile =
    flags.mapping === undefined && file !== "-" && isAtTerminal(context) ? findAnswers(file) : undefined;
  if (answersFile !== undefined) context.terminal.note(`Columns as last time: ${shortPath(answersFile)}`);
  const read = await readOptionsFrom(flags, answersFile);
  const imports = toImportOptions(context.terminal, file, flags, read);
  const typed = { command, file, isDryRun: options.isDryRun, answersFile };
  const clarifier = new Clarifier(context, typed, imports);
  const start = {
    job: jobs.import(imports),
    options,
    flags,
    what: `${options.isDryRun ? "Reading" : "Importing"} ${file === "-" ? "standard input" : file}`,
    danger: "change",
    // What can be read only once cannot be looked at again.
    canChange: await isRegularFile(file),
    asks: clarifier.job,
    areColumnsShown: () => clarifier.areColumnsShown,
    agreed: clarifier.save,
    async ended({ stop }: Closed) {
      if (!options.isDryRun || stop) return;
      await clarifier.save();
      clarifier.sayNext(flags.plan);
    },
  } as const;
  await runUntilAgreed(
    () => startRun(context, start),
    () => clarifier.revise(),
  );
}

/** Again with other answers, as often as a person wants to change them. @throws DeclinedError */
async function runUntilAgreed(run: () => Promise<unknown>, revise: () => void): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!isAbout(error, "revised")) throw error;
    revise();
    await runUntilAgreed(run, revise);
  }
}

async function isRegularFile(file: string): Promise<boolean> {
  const found = file === "-" ? undefined : await stat(file).catch(() => undefined);
  return found?.isFile() ?? false;
}

function toImportOptions(
  terminal: Terminal,
  file: string,
  flags: ImportFlags,
  read: ReadOptions,
): ImportOptions {
  return {
    input: { name: file, stream: file === "-" ? terminal.stdin : undefined },
    read,
    mode: flags.mode,
    blank: flags.blank,
    duplicates: flags.duplicates,
    lists: flags.list ?? [],
    tags: flags.tag ?? [],
    createMissing: flags.createMissing ?? false,
    includeUnsubscribed: flags.includeUnsubscribed ?? false,
    includeSuppressed: flags.includeSuppressed ?? false,
  };
}

function choiceOption<F extends string, const C extends readonly [string, ...string[]]>(
  flags: F,
  description: string,
  choices: C,
) {
  return new Option(flags, description).choices(choices).default(choices[0] as C[number]);
}

// How an import reads its file: from the mapping file, and from the flags, which come after it.

/** @throws UsageError for a `--map` or a mapping file that says nothing. */
async function readOptionsFrom(flags: ImportFlags, answersFile: string | undefined): Promise<ReadOptions> {
  const { readMapping } = await import("../../tables/index.ts");
  const typed = toReadOptions(flags);
  const file = flags.mapping ?? answersFile;
  const mapped = file === undefined ? [] : await readMapping(file);
  const map = new Map([...mapped, ...typed.map]);
  const typedColumns = new Set([...typed.map].map(([column]) => column));
  return {
    ...typed,
    map,
    ...(flags.set && { set: flags.set.map(fieldValue) }),
    ignoreUnmapped: flags.ignoreUnmapped,
    ...(answersFile !== undefined && {
      mayBeGone: [...map.keys()].filter((column) => !typedColumns.has(column)),
    }),
  };
}

/** `FIELD=VALUE`, split at the first `=`. @throws UsageError */
function fieldValue(text: string): readonly [field: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(`--set: ${JSON.stringify(text)} is not FIELD=VALUE`, "Such as --set City=Paris");
}
