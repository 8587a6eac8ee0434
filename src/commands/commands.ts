import type { Command, CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { notFoundError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";
import { isForPeople } from "../terminal/format.ts";
import { fitMessage } from "../terminal/message-lines.ts";
import type { View } from "../terminal/present.ts";
import { version } from "../version.ts";
import { describeCommandJson, describeFlags, findFacts } from "./help/help-text.ts";
import { type CommandTree, findChild, listChildNames, listLeaves, topicNames, toWords } from "./help/tree.ts";
import { verb } from "./verb.ts";

interface IndexEntry {
  /** The words typed after `ecm`. */
  command: string;
  summary: string;
  /** Whether it can change the account. */
  writes?: true;
}

const indexView: View<IndexEntry> = {
  columns: [
    { name: "command", value: (entry) => entry.command, isWhole: true },
    { name: "summary", value: (entry) => entry.summary },
    { name: "writes", value: (entry) => (entry.writes ? "yes" : "") },
  ],
  id: (entry) => entry.command,
};

export function register(command: Command, context: Context, tree: CommandTree): void {
  const describing = command.argument(
    "[path...]",
    "the command to describe, with its flags, output and exit codes",
  );
  verb(context, describing, {
    isLocal: true,
    examples: ["ecm commands", "ecm commands --json", "ecm commands contact search --json"],
    output:
      "An index: each command, its summary, and whether it writes to the account. With a command: its arguments, flags, output, exit codes, examples.",
    exitCodes: { 5: "no such command" },
    // Agents pay for every character: no JSON is indented.
    chooseOutput() {
      const output = context.output();
      return output.format === "json" && !output.columns ? { ...output, format: "ndjson" } : output;
    },
    async run(path) {
      await tree.loadAll();
      const { root } = tree;
      const found = path.reduce((parent, word) => requireChild(parent, word), root);
      if (found.commands.length === 0)
        return { value: describeCommandJson(found), text: found.helpInformation() };
      const commands = listLeaves(found).map(toIndexEntry);
      const globalFlags = found === root ? { globalFlags: describeFlags(root), topics: topicNames } : {};
      const value = { version, ...globalFlags, commands };
      return isForPeople(context.output())
        ? { value, text: formatIndex(commands, context.terminal.columns) }
        : { many: commands, view: indexView, value };
    },
  });
}

/** Long summaries are wrapped, not cut. */
function formatIndex(entries: readonly IndexEntry[], columns: number): string {
  const width = Math.min(34, Math.max(...entries.map(({ command }) => command.length)) + 2);
  const lines = entries.map(({ command, summary, writes }) =>
    fitMessage(`${command.padEnd(width - 2)}  ${summary}${writes ? " (writes)" : ""}`, columns, width),
  );
  return lines.join("\n");
}

function requireChild(parent: CommandUnknownOpts, word: string): CommandUnknownOpts {
  const child = findChild(parent, word);
  if (child) return child;
  const words = toWords(parent);
  const names = listChildNames(parent);
  throw notFoundError(
    `There is no command ${JSON.stringify([...words, word].join(" "))}`,
    names.length > 0 ? `One of: ${names.join(", ")}` : advise`See: ${ecm`commands ${words}`}`,
  );
}

function toIndexEntry(command: CommandUnknownOpts): IndexEntry {
  const usage = command.registeredArguments.map((argument) => {
    const word = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${word}>` : `[${word}]`;
  });
  return {
    command: [...toWords(command), ...usage].join(" "),
    summary: command.description(),
    ...(findFacts(command)?.writes && { writes: true }),
  };
}
