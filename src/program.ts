/** The root command: global flags and the groups of commands. A group is loaded when it is named. */
import { Command, CommanderError, Option } from "commander";
import { groups, visibleGroups } from "./commands/groups.ts";
import { formatRootHelp, topicNames } from "./commands/help/root.ts";
import { type CommandTree, findChild, findFlag, toPath } from "./commands/shared/tree.ts";
import {
  refuseSecondValues,
  requireNonEmptyValues,
  requirePlainValues,
} from "./commands/shared/typed-flags.ts";
import type { ContextControl } from "./context.ts";
import { UsageError } from "./errors.ts";
import { outputFormats } from "./terminal/format.ts";
import { version } from "./version.ts";

/**
 * Verbs that people try for those on the left; understood wherever no
 * command of its own has the name, and not shown.
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
  control: ContextControl,
  run: CommandTree["run"],
  args: readonly string[],
): Promise<void> {
  const words = listWords(args);
  const program = createProgram(control, run, words);
  try {
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    const reason = error instanceof CommanderError ? await toUsageError(error, program, words) : error;
    if (reason !== undefined) throw reason;
  }
}

/**
 * @param run how a command runs another one in this process
 * @param words what was typed
 */
export function createProgram(
  control: ContextControl,
  run: CommandTree["run"],
  words: readonly string[] = [],
): Command {
  const { context } = control;
  const program = new Command("ecm");
  program
    .description("Administer the contacts of an email-marketing account.")
    .option("-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .configureOutput({
      writeOut: (text) => context.terminal.stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => context.terminal.columns,
    })
    .configureHelp({ subcommandTerm: formatTerm, commandUsage: formatUsage, minWidthToWrap: 20 })
    .exitOverride()
    .showSuggestionAfterError(false)
    .addHelpText("afterAll", ({ command }) =>
      command === program ? "" : "\nFlags for every command: ecm help flags",
    );
  program.helpInformation = () => formatRootHelp(visibleGroups, context.terminal.columns);
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
        (await group.load())(command, context, tree);
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
  for (const { name, aliases = [], summary, isHidden } of groups) {
    program.command(name, { hidden: isHidden }).aliases(aliases).description(summary);
  }
  program.on("option:version", () => {
    if (findDeepestCommand(program, words) !== program) throw versionFlagError(words);
    context.terminal.stdout.write(`${version}\n`);
    throw new CommanderError(0, "commander.version", version);
  });
  program.hook("preSubcommand", (_program, command) => tree.load(command.name()));
  program.hook("preAction", async (_program, action) => {
    requirePlainValues(action, words);
    control.configure({ ...action.optsWithGlobals(), output: takeFormat(action) });
    requireNonEmptyValues(action);
    if (action.opts<{ profiles?: string }>().profiles === undefined || context.observer?.collect) return;
    const { runForProfiles } = await import("./commands/shared/profiles/run-each.ts");
    await runForProfiles({ command: action, context, run, words });
    throw new CommanderError(0, "ecm.profiles", "The command has run for each profile");
  });
  return program;
}

/**
 * The format that was typed. A command with formats of its own is handed what is typed, and takes no other.
 * @returns undefined for a format that only this command knows
 * @throws UsageError for a format that it does not take
 */
function takeFormat(action: Command): string | undefined {
  const { output } = action.optsWithGlobals<{ output?: string }>();
  const own = action.options.find(({ long }) => long === "--output");
  const formats: readonly string[] = own?.argChoices ?? outputFormats;
  if (output !== undefined && !formats.includes(output)) {
    throw new UsageError(
      `Option '-o, --output <format>' argument '${output}' is invalid. Allowed choices are ${formats.join(", ")}.`,
      `See: ${toPath(action)} --help`,
    );
  }
  if (!own) return output;
  action.setOptionValue("output", output);
  return outputFormats.find((each) => each === output);
}

/** Behind a command it is likely meant for the command. */
function versionFlagError(words: readonly string[]): UsageError {
  const isMutate = words.includes("mutate");
  return new UsageError(
    "No command has the flag --version",
    isMutate
      ? "For the version of a contact: --if-version N"
      : "For the version of the program: ecm --version",
  );
}

/** Below a group, at every depth. */
function addVerbAliases(group: Command): void {
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
function formatTerm(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...(command.options.length > 0 ? ["[options]"] : []), ...words].join(" ");
}

function formatUsage(command: Command): string {
  return `${toPath(command)} ${command.usage()}`;
}

function createGlobalOptions(): Option[] {
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
    new Option("--no-pager", "print long tables directly instead of through $PAGER"),
    new Option("--no-color", "no colour (NO_COLOR)"),
  ];
}

/**
 * The words as commander takes them. `--verbose` stands alone or with `=bodies`; as an option with an
 * optional value it would swallow the word after it. `help contact` is `contact --help`: a group's commands
 * are known once it is loaded; any other word after `help` is a topic.
 */
export function listWords(args: readonly string[]): string[] {
  if (args[0] === "help" && args.slice(1).some((word) => !word.startsWith("-"))) {
    const [, ...path] = args;
    if (path[0] === "variants") return ["sandbox", "variants"];
    const isGroup = groups.some(({ name, aliases = [] }) => [name, ...aliases].includes(path[0]!));
    if (isGroup) return [...path, "--help"];
    const isTopic = path[0] === "topics" || topicNames.some((name) => name === path[0]);
    return isTopic ? ["__topic", ...path] : path;
  }
  const end = args.indexOf("--");
  return args.map((arg, index) =>
    arg === "--verbose=bodies" && (end === -1 || index < end) ? "--verbose-bodies" : arg,
  );
}

/**
 * A failure of the command line's grammar, as ours. Undefined when
 * there was none: help or the version was shown.
 * @param words what was typed
 */
async function toUsageError(
  error: CommanderError,
  program: Command,
  words: readonly string[],
): Promise<UsageError | undefined> {
  if (error.exitCode === 0) return undefined;
  const command = findDeepestCommand(program, words);
  const help = `See: ${toPath(command)} --help`;
  if (error.code === "commander.help") {
    const verbs = command
      .createHelp()
      .visibleCommands(command)
      .map((each) => each.name());
    return new UsageError(`Choose a command: ${verbs.join(", ")}`, help);
  }
  const message = error.message.replace(/^error: /, "");
  const { suggestCommand, suggestFlag, suggestForSurplus } = await import("./commands/shared/suggestions.ts");
  const quotedName = /'(.*)'$/s.exec(message)?.[1] ?? "";
  if (error.code === "commander.unknownCommand") {
    const path = toPath(command);
    const names = command
      .createHelp()
      .visibleCommands(command)
      .map((each) => each.name());
    const hint = suggestCommand(path.split(" ").slice(1).join(" "), quotedName, names) ?? help;
    return new UsageError(`There is no command "${path} ${quotedName}"`, hint);
  }
  let hint: string | undefined;
  if (error.code === "commander.unknownOption") {
    const words = command.registeredArguments.map((argument) => argument.name());
    hint = suggestFlag(quotedName, listVisibleFlags(command), words);
  }
  if (error.code === "commander.excessArguments") hint = suggestForSurplus(toPath(command));
  return new UsageError(message.charAt(0).toUpperCase() + message.slice(1), hint ?? help);
}

/** The long names of a command's flags and of those above it. */
function listVisibleFlags(command: Command): string[] {
  const own = command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
  return command.parent ? [...own, ...listVisibleFlags(command.parent)] : own;
}

/** The command that the words lead to, as far as they lead. */
function findDeepestCommand(program: Command, words: readonly string[]): Command {
  let command = program;
  let isValue = false;
  for (const word of words) {
    const isFlagValue = isValue;
    isValue = findFlag(command, word)?.required ?? false;
    if (isFlagValue || word.startsWith("-")) continue;
    const child = findChild(command, word);
    if (!child) break;
    command = child;
  }
  return command;
}
