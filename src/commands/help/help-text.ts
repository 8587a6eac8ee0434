/** The facts of every command: as the text below the flags in its help, and as JSON for programs. */

import type { CommandUnknownOpts as Command, Option } from "@commander-js/extra-typings";
import { exitCodes } from "../../errors.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { findShape } from "../flags/flags.ts";
import { toWords } from "./tree.ts";

/** The meaning of each exit code, for help, manual and index. */
export const exitCodeMeanings: readonly [code: number, meaning: string][] = [
  [exitCodes.done, "done"],
  [exitCodes.failed, "any other refusal or failure; you declined; an internal error"],
  [exitCodes.usage, "usage: a bad flag, argument, file or configuration; nothing was sent"],
  [exitCodes.rejectedRows, "a bulk run finished, and some rows were rejected"],
  [exitCodes.notAuthorized, "no API key, or the service rejected it"],
  [exitCodes.notFound, "not found, or no such name"],
  [
    exitCodes.conflict,
    "conflict: it exists already, was changed meanwhile, is suppressed, or another process uses the run or file",
  ],
  [
    exitCodes.outOfBudget,
    "out of budget: the hourly limit, the monthly quota, or a limit you set; a bulk run can be resumed",
  ],
  [exitCodes.unreachable, "the service could not be reached, or did not answer in time"],
  [exitCodes.differs, "`structure diff --exit-code`: something differs"],
  [exitCodes.interrupted, "interrupted by SIGINT; a bulk run can be resumed"],
  [exitCodes.terminated, "interrupted by SIGTERM; a bulk run can be resumed"],
];

export interface CommandFacts {
  /** Whole command lines, with `ecm`. */
  examples: string[];
  /** What stdout contains, in one or two sentences. */
  output: string;
  /** Whether it can change the account. */
  writes?: boolean;
  /**
   * When it asks for confirmation, such as `--all`; true: always. Without a terminal it then needs `--yes`.
   */
  asks?: true | string;
  /** Whether it sends no request, so that fewer exit codes are possible. */
  isLocal?: boolean;
  /** Further exit codes, or more exact meanings of common ones. */
  exitCodes?: Record<number, string>;
}

const alwaysCodes: number[] = [exitCodes.done, exitCodes.failed, exitCodes.usage];
const onlineCodes = [
  exitCodes.notAuthorized,
  exitCodes.notFound,
  exitCodes.outOfBudget,
  exitCodes.unreachable,
];

const factsByCommand = new WeakMap<Command, CommandFacts>();

/** Sets the facts of a command and adds them to its help. */
export function describeCommand<C extends Command>(command: C, facts: CommandFacts): C {
  factsByCommand.set(command, facts);
  return command.addHelpText("after", () =>
    formatFacts(command, command.configureOutput().getOutHelpWidth?.() ?? 80),
  );
}

/** The facts of a command; undefined for a group. */
export function findFacts(command: Command): CommandFacts | undefined {
  return factsByCommand.get(command);
}

/** When the command asks for confirmation; undefined: never. */
function describeConfirmation({ asks }: CommandFacts): string | undefined {
  if (asks === undefined) return undefined;
  const when = asks === true ? "Asks" : `${asks}: asks`;
  return `${when} before it goes on; without a terminal, or with --no-input, it needs --yes (exit 2).`;
}

/** The exit codes of the command, in order, with their meanings. */
function listExitCodes(facts: CommandFacts): [code: number, meaning: string][] {
  const codes = facts.isLocal
    ? alwaysCodes
    : [...alwaysCodes, ...onlineCodes, ...(facts.writes ? [exitCodes.conflict] : [])];
  const usual = Object.fromEntries(exitCodeMeanings.filter(([code]) => codes.includes(code)));
  const meanings: Record<string, string> = { ...usual, ...facts.exitCodes };
  // JavaScript sorts numeric names.
  return Object.entries(meanings).map(([code, meaning]) => [Number(code), meaning]);
}

/** The text below the flags in the help of a command. */
export function formatFacts(command: Command, columns: number): string {
  const facts = findFacts(command);
  if (!facts) return "";
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

/** Everything about one command, for programs. */
export function describeCommandJson(command: Command) {
  const facts = findFacts(command);
  return {
    command: toWords(command).join(" "),
    summary: command.description(),
    writes: facts?.writes ?? false,
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      required: argument.required,
      ...(argument.variadic ? { repeats: true } : {}),
      description: argument.description,
    })),
    flags: describeFlags(command),
    ...(facts && {
      output: facts.output,
      confirmation: describeConfirmation(facts),
      exitCodes: Object.fromEntries(listExitCodes(facts)),
      examples: facts.examples,
    }),
  };
}

/** A flag, for programs. */
export interface DescribedFlag {
  name: string;
  short?: string;
  type: "boolean" | "string" | "integer";
  /** The placeholder of the value. */
  value?: string;
  choices: readonly string[] | null;
  default: unknown;
  repeatable: boolean;
  description: string;
}

export function describeFlags(command: Command): DescribedFlag[] {
  return command.options.filter((option) => !option.hidden).map(describeFlag);
}

function describeFlag(option: Option): DescribedFlag {
  const shape = findShape(option);
  const [value] = /[<[].+[>\]]$/.exec(option.flags) ?? [];
  return {
    name: option.long ?? option.flags,
    ...(option.short && { short: option.short }),
    type: shape.type ?? (value ? "string" : "boolean"),
    ...(value && { value }),
    choices: option.argChoices ?? null,
    default: findDefault(option, shape.type === "integer") ?? null,
    repeatable: shape.repeatable ?? false,
    description: option.description,
  };
}

/** The default that commander knows, or else the one in the description: `lists per page (100)`. */
function findDefault(option: Option, isNumber: boolean): unknown {
  if (option.negate) return undefined;
  if (option.defaultValue !== undefined) return option.defaultValue;
  const [, described] = /\((?:[A-Z_]+; )?(\d+%?|us)(?:; [^()]*)?\)/.exec(option.description) ?? [];
  return described !== undefined && isNumber ? Number(described) : described;
}
