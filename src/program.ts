/** The root command: global flags and the groups of commands. A group is loaded when it is named. */
import { Command, CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { createGlobalOptions } from "./commands/flags/flags.ts";
import {
  refuseSecondValues,
  requireNonEmptyValues,
  requirePlainValues,
} from "./commands/flags/typed-flags.ts";
import { formatRootHelp, groups } from "./commands/groups.ts";
import {
  type CommandTree,
  findChild,
  findDeepestCommand,
  findFlag,
  listChildNames,
  toPath,
  topicNames,
  toWords,
} from "./commands/help/tree.ts";
import type { Context } from "./context.ts";
import { usageError } from "./errors.ts";
import { advise, ecm, type Hint } from "./hint.ts";
import { isJsonWanted, outputFormats } from "./terminal/format.ts";
import { createStyle } from "./terminal/style.ts";
import { version } from "./version.ts";

/** Other verbs that people try: understood where no command has that name, and not shown. */
const verbAliases: Record<string, string[]> = {
  list: ["ls"],
  search: ["list", "ls", "find"],
  remove: ["rm", "delete"],
  delete: ["rm", "remove"],
  create: ["new"],
  add: ["create", "new"],
  get: ["show", "view"],
  show: ["get", "view"],
  mutate: ["update", "edit"],
};

/**
 * Runs the command that the words name.
 * @param run how a command runs another one in this process
 * @throws what the command throws; UsageError for words that make no command
 */
export async function runProgram(
  context: Context,
  run: CommandTree["run"],
  args: readonly string[],
): Promise<void> {
  const tree = createTree(context, run, args);
  const program = tree.root;
  const words = listWords(program, args);
  try {
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.help") {
      return runGroupAlone(context, run, args, findDeepestCommand(program, words));
    }
    // Commander has shown the help or the version.
    if (error.exitCode === 0) return;
    const { toUsageError } = await import("./commands/help/suggestions.ts");
    throw await toUsageError(error, tree, words);
  }
}

/**
 * @param run how a command runs another one in this process
 * @param words what was typed
 */
export function createTree(
  context: Context,
  run: CommandTree["run"],
  words: readonly string[] = [],
): CommandTree {
  const program = new Command("ecm");
  program
    .description("Administer the contacts of an email-marketing account.")
    .option("-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .configureOutput({
      writeOut: (text) => context.terminal.stdout.write(text),
      writeErr: () => {},
      getOutHasColors: () => context.terminal.isColored.out,
      getOutHelpWidth: () => context.terminal.columns,
    })
    .configureHelp({
      subcommandTerm: formatTerm,
      commandUsage: formatUsage,
      styleTitle: (title) => createStyle(context.terminal.isColored.out).bold(title),
      minWidthToWrap: 20,
    })
    .exitOverride()
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .addHelpText("afterAll", ({ command }) =>
      command === program ? "" : "\nFlags for every command: ecm help flags",
    );
  program.helpInformation = () => formatRootHelp(context.terminal.columns);
  for (const option of createGlobalOptions()) program.addOption(option);
  // These select the account. Of other global flags the last one counts, so that an alias can be overruled.
  refuseSecondValues(program, ["profile", "baseUrl", "structure"]);

  const loading = new Map<string, Promise<void>>();
  const tree: CommandTree = {
    root: program,
    load(name) {
      const group = groups.find((each) => each.name === name);
      const command = program.commands.find((each) => each.name() === name);
      if (!group || !command) return Promise.resolve();
      const load = async () => {
        (await group.load()).register(command as Command, context, tree);
        addVerbAliases(command);
        refuseSecondValues(command);
      };
      const isLoaded = loading.get(name) ?? load();
      loading.set(name, isLoaded);
      return isLoaded;
    },
    run,
    async loadAll() {
      await Promise.all(groups.map((group) => tree.load(group.name)));
    },
  };
  for (const { name, alias, summary } of groups) {
    program
      .command(name, { hidden: summary === undefined })
      .alias(alias)
      .description(summary ?? "");
  }
  program.on("option:version", () => {
    // After a command, the flag was probably meant for that command.
    if (findDeepestCommand(program, words) !== program) throw usageError("No command has the flag --version");
    context.terminal.stdout.write(`${version}\n`);
    throw new CommanderError(0, "commander.version", version);
  });
  program.hook("preSubcommand", (_program, command) => tree.load(command.name()));
  program.hook("preAction", async (_program, action) => {
    requirePlainValues(action, words);
    context.configure({ ...action.optsWithGlobals(), output: takeFormat(action) });
    requireNonEmptyValues(action);
  });
  return tree;
}

/**
 * Checks the typed format against those of the command, which may have its own.
 * @returns the format; undefined for one that only this command has
 * @throws UsageError for a format that the command does not have
 */
function takeFormat(action: CommandUnknownOpts): string | undefined {
  const { output, json } = action.optsWithGlobals() as { output?: string; json?: boolean };
  const own = action.options.find(({ long }) => long === "--output");
  const formats: readonly string[] = own?.argChoices ?? outputFormats;
  if (output !== undefined && !formats.includes(output)) {
    const message = `Option '-o, --output <format>' argument '${output}' is invalid. Allowed choices are ${formats.join(", ")}.`;
    throw usageError(message, formatHelpHint(action));
  }
  if (json && output !== undefined && output !== "json") {
    throw usageError(`--json and --output ${output} cannot be used together`, "Leave out one of the two");
  }
  if (!own) return output;
  action.setOptionValue("output", output);
  return outputFormats.find((each) => each === output);
}

function formatHelpHint(command: CommandUnknownOpts): Hint {
  return advise`See: ${ecm`${toWords(command)} --help`}`;
}

/** Adds the aliases to all commands below a group. */
function addVerbAliases(group: CommandUnknownOpts): void {
  const takenNames = new Set(group.commands.map((each) => each.name()));
  for (const command of group.commands) {
    for (const verb of verbAliases[command.name()] ?? []) {
      if (takenNames.has(verb)) continue;
      takenNames.add(verb);
      command.alias(verb);
    }
    addVerbAliases(command);
  }
}

/** As commander's own, without aliases. */
function formatTerm(command: CommandUnknownOpts): string {
  const words = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...(command.options.length > 0 ? ["[options]"] : []), ...words].join(" ");
}

function formatUsage(command: CommandUnknownOpts): string {
  return `${toPath(command)} ${command.usage()}`;
}

/** Groups that run `list` when typed alone: it costs no request. */
const listedAlone = ["ecm auth", "ecm runs"];

/** Answers a group typed alone: by its list where that is free, else by its help; in JSON by an error. */
async function runGroupAlone(
  context: Context,
  run: CommandTree["run"],
  args: readonly string[],
  group: CommandUnknownOpts,
): Promise<void> {
  if (listedAlone.includes(toPath(group))) return runProgram(context, run, [...args, "list"]);
  if (isJsonWanted(args, context.terminal.env)) {
    throw usageError(`Choose a command: ${listChildNames(group).join(", ")}`, formatHelpHint(group));
  }
  group.outputHelp();
}

/**
 * Rewrites words for commander. `--verbose=bodies` and `-v=bodies` become a flag of its own, since an option
 * with an optional value would swallow the next word. `help contact` becomes `contact --help`, and
 * `help where` a topic.
 */
export function listWords(program: CommandUnknownOpts, args: readonly string[]): string[] {
  const end = args.indexOf("--");
  const words = args.map((arg, index) =>
    /^(-v|--verbose)=bodies$/.test(arg) && (end === -1 || index < end) ? "--verbose-bodies" : arg,
  );
  const at = findFirstOperand(program, words);
  if (words[at] !== "help") return words;
  const [flags, asked] = [words.slice(0, at), words.slice(at + 1)];
  const name = asked[findFirstOperand(program, asked)];
  if (name === "variants") return [...flags, "sandbox", ...asked];
  if (name === "topics" || topicNames.some((each) => each === name)) return [...flags, "__topic", ...asked];
  const isKnown = name === undefined || findChild(program, name) !== undefined;
  return [...flags, ...asked, ...(isKnown ? ["--help"] : [])];
}

/** The place of the first word that is neither a flag nor the value of one. */
function findFirstOperand(program: CommandUnknownOpts, words: readonly string[]): number {
  let isValue = false;
  return words.findIndex((word) => {
    const isFlagValue = isValue;
    isValue = findFlag(program, word)?.required ?? false;
    return !isFlagValue && !word.startsWith("-");
  });
}
