/** `ecm import`: a file's contacts into the account. */
import { stat } from "node:fs/promises";
import { type Command, Option } from "@commander-js/extra-typings";
import type { Closed, ImportOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { isAbout, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { ReadOptions } from "../../tables/index.ts";
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
  const reading = addTableFlags(file, "key, lists, tags, consent, ignore, or a field")
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
    .option("--ignore-unmapped", "ignore columns that match no field")
    .optionsGroup("Lists and tags:")
    .addOption(repeatableOption("--list <list>", "add every contact to this list"))
    .addOption(repeatableOption("--tag <tag>", "add this tag to every contact"))
    .option("--create-missing", "create missing lists and tags")
    // Last those that say who is written: `--fresh` is one of them here.
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
  return addBulkFlags(reading);
}

function choiceOption<F extends string, const C extends readonly [string, ...string[]]>(
  flags: F,
  description: string,
  choices: C,
) {
  return new Option(flags, description).choices(choices).default(choices[0] as C[number]);
}

export function register(command: Command, context: Context): void {
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

async function runImport(
  context: Context,
  command: Command,
  file: string,
  flags: ImportFlags,
): Promise<void> {
  const run = toRunOptions(flags, context.clock.now());
  const [{ jobs }, { isAtTerminal, startRun }, { Clarifier, findAnswers }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("../bulk/start.ts"),
    import("./clarify.ts"),
  ]);
  // Where nobody reads along, only what is typed counts.
  const answersFile = flags.mapping === undefined && isAtTerminal(context) ? findAnswers(file) : undefined;
  if (answersFile !== undefined) context.terminal.note(`Columns as last time: ${shortPath(answersFile)}`);
  const options: ImportOptions = {
    input: { name: file, stream: file === "-" ? context.terminal.stdin : undefined },
    read: await readOptionsFrom(flags, answersFile),
    mode: flags.mode,
    blank: flags.blank,
    duplicates: flags.duplicates,
    lists: flags.list ?? [],
    tags: flags.tag ?? [],
    createMissing: flags.createMissing ?? false,
    includeUnsubscribed: flags.includeUnsubscribed ?? false,
    includeSuppressed: flags.includeSuppressed ?? false,
  };
  const clarifier = new Clarifier(context, { command, file, isDryRun: run.isDryRun, answersFile }, options);
  const found = file === "-" ? undefined : await stat(file).catch(() => undefined);
  const start = {
    job: jobs.import(options),
    options: run,
    flags,
    what: `${run.isDryRun ? "Reading" : "Importing"} ${file === "-" ? "standard input" : file}`,
    danger: "change",
    // What can be read only once cannot be looked at again.
    canChange: found?.isFile() ?? false,
    asks: clarifier.job,
    areColumnsShown: () => clarifier.areColumnsShown,
    agreed: clarifier.save,
    async ended({ stop }: Closed) {
      if (!run.isDryRun || stop) return;
      await clarifier.save();
      clarifier.sayNext(flags.plan);
    },
  } as const;
  // Again with other answers, as often as a person wants to change them.
  while (!(await isAgreed(startRun(context, start)))) clarifier.revise();
}

async function isAgreed(run: Promise<unknown>): Promise<boolean> {
  return run.then(
    () => true,
    (error) => {
      if (isAbout(error, "revised")) return false;
      throw error;
    },
  );
}

/**
 * How an import reads its file: by the mapping file, and by the flags, which come after it.
 * @throws UsageError for a `--map` or a mapping file that says nothing
 */
async function readOptionsFrom(flags: ImportFlags, answersFile: string | undefined): Promise<ReadOptions> {
  const { readMapping } = await import("../../tables/index.ts");
  const typed = toReadOptions(flags);
  const file = flags.mapping ?? answersFile;
  const mapping = file === undefined ? new Map() : await readMapping(file);
  const typedMap = new Map(typed.map);
  const answered = [...mapping.keys()].filter((column) => !typedMap.has(column));
  return {
    ...typed,
    map: new Map([...mapping, ...typedMap]),
    ...(flags.set && { set: flags.set.map(fieldValue) }),
    ignoreUnmapped: flags.ignoreUnmapped,
    ...(answersFile !== undefined && { mayBeGone: answered }),
  };
}

/** `FIELD=VALUE`, split at the first `=`. @throws UsageError */
function fieldValue(text: string): readonly [field: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(`--set: ${JSON.stringify(text)} is not FIELD=VALUE`, "Such as --set City=Paris");
}
