/** The root command: global flags and the groups of commands. A group is loaded when it is named. */
import { Command, CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { dropNeedlessHeadings } from "./commands/flags/flag-headings.ts";
import { createGlobalOptions, describeOption } from "./commands/flags/global-options.ts";
import {
  refuseSecondValues,
  requireNonEmptyValues,
  requirePlainValues,
} from "./commands/flags/typed-flags.ts";
import { formatRootHelp, groups } from "./commands/groups.ts";
import {
  type CommandTree,
  findDeepestCommand,
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

/**
 * Verbs that people try for those on the left; understood wherever no command of its own has the name, and
 * not shown.
 */
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
  const words = listWords(args);
  const tree = createTree(context, run, words);
  const program = tree.root;
  try {
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.help") {
      return runGroupAlone(context, run, args, findDeepestCommand(program, words));
    }
    // Help or the version was shown.
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
      optionDescription: describeOption,
      styleTitle: (title) => createStyle(context.terminal.isColored.out).bold(title),
      minWidthToWrap: 20,
    })
    .exitOverride()
    .showSuggestionAfterError(false)
    .addHelpText("afterAll", ({ command }) =>
      command === program ? "" : "\nFlags for every command: ecm help flags",
    );
  program.helpInformation = () => formatRootHelp(context.terminal.columns);
  for (const option of createGlobalOptions()) program.addOption(option);
  // Whose contacts are meant; of the others the last one counts, so that an alias can be overruled.
  refuseSecondValues(program, ["profile", "baseUrl", "structure"]);

  const loading = new Map<string, Promise<void>>();
  const tree: CommandTree = {
    root: program,
    load(name) {
      const group = groups.find((each) => each.name === name);
      const command = program.commands.find((each) => each.name() === name);
      if (!group || !command) return Promise.resolve();
      const load = async () => {
        (await group.load())(command as Command, context, tree);
        addVerbAliases(command);
        dropNeedlessHeadings(command);
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
    // Behind a command it is likely meant for the command.
    if (findDeepestCommand(program, words) !== program) throw usageError("No command has the flag --version");
    context.terminal.stdout.write(`${version}\n`);
    throw new CommanderError(0, "commander.version", version);
  });
  program.hook("preSubcommand", (_program, command) => tree.load(command.name()));
  program.hook("preAction", async (_program, action) => {
    requirePlainValues(action, words);
    context.configure({ ...action.optsWithGlobals(), output: await takeFormat(action) });
    requireNonEmptyValues(action);
  });
  return tree;
}

/**
 * The format that was typed. A command with formats of its own is handed what is typed, and takes no other.
 * @returns undefined for a format that only this command knows
 * @throws UsageError for a format that it does not take
 */
async function takeFormat(action: CommandUnknownOpts): Promise<string | undefined> {
  const { output, json } = action.optsWithGlobals() as { output?: string; json?: boolean };
  const own = action.options.find(({ long }) => long === "--output");
  const formats: readonly string[] = own?.argChoices ?? outputFormats;
  if (output !== undefined && !formats.includes(output)) {
    const message = `Option '-o, --output <format>' argument '${output}' is invalid. Allowed choices are ${formats.join(", ")}.`;
    const { suggestChoice } = await import("./commands/help/suggestions.ts");
    throw usageError(message, suggestChoice(message) ?? formatHelpHint(action));
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

/** Below a group, at every depth. */
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

/** As commander writes it, without the names that are only understood. */
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

/** Groups whose list is what their name alone asks for: it is on this machine, and costs no request. */
const listedAlone = ["ecm auth", "ecm runs"];

/**
 * A group without a command, as `gh` and `git` answer it: its list where that is free, else its help. A
 * program that reads JSON is told what is missing.
 */
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
 * The words as commander takes them. `--verbose` and `-v` stand alone or with `=bodies`; as an option with an
 * optional value it would swallow the word after it. `help contact` is `contact --help`: a group's commands
 * are known once it is loaded; any other word after `help` is a topic.
 */
export function listWords(args: readonly string[]): string[] {
  if (args[0] === "help" && args.slice(1).some((word) => !word.startsWith("-"))) {
    const [, ...path] = args;
    const isGroup = groups.some(({ name, alias }) => path[0] === name || path[0] === alias);
    if (isGroup) return [...path, "--help"];
    const isTopic = path[0] === "topics" || topicNames.some((name) => name === path[0]);
    return isTopic ? ["__topic", ...path] : path;
  }
  const end = args.indexOf("--");
  return args.map((arg, index) =>
    /^(-v|--verbose)=bodies$/.test(arg) && (end === -1 || index < end) ? "--verbose-bodies" : arg,
  );
}
