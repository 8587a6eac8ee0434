/** What the help of every command says below its flags, in one form; the same facts serve `ecm commands`. */

import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import { exitCodes } from "../../errors.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { findExitCodeMeaning } from "./exit-codes.ts";

export interface CommandFacts {
  /** Whole lines as a person would type them, `ecm` included. */
  examples: string[];
  /** What stdout contains, in one or two sentences. */
  output: string;
  /** Whether it can change the account. */
  writes?: boolean;
  /**
   * When it asks before it goes on, such as `--all`; true: always. Without a terminal it needs `--yes` then.
   */
  asks?: true | string;
  /** Whether it talks to the service; decides which exit codes are possible. Default: yes. */
  isLocal?: boolean;
  /** Codes beyond those that every command has, or a sharper meaning for one of them. */
  exitCodes?: Record<number, string>;
}

const alwaysCodes = [exitCodes.done, exitCodes.failed, exitCodes.usage];
const onlineCodes = [
  exitCodes.notAuthorized,
  exitCodes.notFound,
  exitCodes.outOfBudget,
  exitCodes.unreachable,
];
const conflictCodes = [exitCodes.conflict];

const factsByCommand = new WeakMap<Command, CommandFacts>();

/** Adds examples, output and exit codes to the help of a command, and keeps them for `findFacts`. */
export function describeCommand<C extends Command>(command: C, facts: CommandFacts): C {
  factsByCommand.set(command, facts);
  return command.addHelpText("after", () =>
    formatHelp(facts, command.configureOutput().getOutHelpWidth?.() ?? 80),
  );
}

/** What `describeCommand` was told; undefined for a command that only groups others. */
export function findFacts(command: Command): CommandFacts | undefined {
  return factsByCommand.get(command);
}

/** When the command needs `--yes` where nobody can be asked; undefined: never. */
export function describeConfirmation({ asks }: CommandFacts): string | undefined {
  if (asks === undefined) return undefined;
  const when = asks === true ? "Asks" : `${asks}: asks`;
  return `${when} before it goes on; without a terminal, or with --no-input, it needs --yes (exit 2).`;
}

/** Every exit code that the command can end with, in order, each with its meaning there. */
export function listExitCodes(facts: CommandFacts): [code: number, meaning: string][] {
  const codes = facts.isLocal
    ? alwaysCodes
    : [...alwaysCodes, ...onlineCodes, ...(facts.writes ? conflictCodes : [])];
  const defaultMeanings = Object.fromEntries(codes.map((code) => [code, findExitCodeMeaning(code)]));
  const meanings: Record<string, string> = { ...defaultMeanings, ...facts.exitCodes };
  return Object.entries(meanings)
    .map(([code, meaning]): [number, string] => [Number(code), meaning])
    .sort(([one], [other]) => one - other);
}

function formatHelp(facts: CommandFacts, columns: number): string {
  const examples = facts.examples.map((line) => `  $ ${line}`);
  const codes = listExitCodes(facts).map(([code, meaning]) =>
    fitMessage(`  ${String(code).padEnd(3)} ${meaning}`, columns, 6),
  );
  const confirmation = describeConfirmation(facts);
  return [
    "",
    "Examples:",
    ...examples,
    "",
    "Output:",
    fitMessage(`  ${facts.output}`, columns, 2),
    ...(confirmation ? ["", "Confirmation:", fitMessage(`  ${confirmation}`, columns, 2)] : []),
    "",
    "Exit codes:",
    ...codes,
  ].join("\n");
}
