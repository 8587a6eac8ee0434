/** `ecm help TOPIC`: what several commands share, on one page each. */
import type { Command, CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { notFoundError } from "../../errors.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { presentValue } from "../../terminal/present.ts";
import { wrap } from "../../terminal/text-width.ts";
import { environment } from "./environment.ts";
import { exitCodeMeanings } from "./exit-codes.ts";
import { faultsTopic, filtersTopic, formatsTopic, selectionsTopic, whereTopic } from "./grammars.ts";
import { describeCommand } from "./help-text.ts";
import { topicNames } from "./root.ts";
import type { CommandTree } from "./tree.ts";

type Rows = readonly (readonly [name: string, text: string])[];

interface Topic {
  summary: string;
  /** A page as it is, or the rows of a table. */
  content(root: CommandUnknownOpts): string | Rows;
}

type TopicName = (typeof topicNames)[number];

const topics: Record<Exclude<TopicName, "variants">, Topic> & Record<string, Topic> = {
  flags: { summary: "flags for every command", content: listFlagRows },
  environment: {
    summary: "environment variables",
    content: () => Object.entries(environment),
  },
  "exit-codes": {
    summary: "what each exit code means",
    content: () => exitCodeMeanings.map(([code, meaning]): [string, string] => [String(code), meaning]),
  },
  formats: { summary: "output formats, and what they are for", content: () => formatsTopic },
  filters: {
    summary: "--filter and --filter-json: conditions that the service evaluates",
    content: () => filtersTopic,
  },
  where: { summary: "--where: conditions as expressions, evaluated here", content: () => whereTopic },
  selections: { summary: "flags that choose contacts", content: () => selectionsTopic },
  faults: { summary: "--fault: failures that the sandbox simulates", content: () => faultsTopic },
};

/** The topics that are pages of text, for the manual. */
export function listTopics(): { name: string; text: string }[] {
  return [
    { name: "formats", text: formatsTopic },
    { name: "selections", text: selectionsTopic },
    { name: "where", text: whereTopic },
    { name: "filters", text: filtersTopic },
    { name: "faults", text: faultsTopic },
  ];
}

export function registerTopics(command: Command, context: Context, tree: CommandTree): void {
  command.argument("<topic>").action((name: string) => showTopic(context, tree.root, name));
  describeCommand(command, { isLocal: true, examples: ["ecm help exit-codes"], output: "The topic's page." });
}

/** @throws NotFoundError naming the topics */
async function showTopic(context: Context, root: CommandUnknownOpts, name: string): Promise<void> {
  const topic = name === "topics" ? index : topics[name];
  if (!topic) {
    throw notFoundError(`No help topic is named ${JSON.stringify(name)}`, `Topics: ${topicNames.join(", ")}`);
  }
  const content = topic.content(root);
  const isText = typeof content === "string";
  const value = isText ? { topic: name, text: content } : Object.fromEntries(content);
  const { columns } = context.terminal;
  const text = isText ? fitMessage(content, columns) : formatTable(content, columns);
  await presentValue(context.terminal, context.output(), value, text.trimEnd());
}

const index: Topic = {
  summary: "the topics",
  content: () => [
    ...Object.entries(topics).map(([name, { summary }]): [string, string] => [name, summary]),
    ["variants", "--variant: how the sandbox behaves where the documentation does not say"],
  ],
};

function listFlagRows(root: CommandUnknownOpts): Rows {
  const help = root.createHelp();
  return help.visibleOptions(root).map((option) => [option.flags, help.optionDescription(option)]);
}

/** Two columns; the second one is wrapped at the width of the screen. */
function formatTable(rows: Rows, columns: number): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows
    .map(
      ([name, text]) =>
        `${name.padEnd(width)}${wrap(text, Math.max(20, columns - width)).join(`\n${" ".repeat(width)}`)}\n`,
    )
    .join("");
}
