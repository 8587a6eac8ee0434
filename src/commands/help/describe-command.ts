/** Commands and flags as a caller without eyes needs them. */
import type { CommandUnknownOpts as Command, Option } from "@commander-js/extra-typings";
import { findShape } from "../flags/flags.ts";
import { describeConfirmation, findFacts, listExitCodes } from "./help-text.ts";
import { toWords } from "./tree.ts";

/** Everything about one command that a caller without eyes needs. */
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

/** A flag as a program needs it; what is usual is left out. */
export interface DescribedFlag {
  name: string;
  short?: string;
  type: "boolean" | "string" | "integer";
  /** What the value is called in help and messages. */
  value?: string;
  choices?: readonly string[];
  default?: unknown;
  repeatable?: true;
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
    ...(option.argChoices && { choices: option.argChoices }),
    ...toDefault(option, shape.type === "integer"),
    ...(shape.repeatable && { repeatable: true }),
    description: option.description,
  };
}

/** What commander knows, else what the help says in parentheses: `lists per page (100)`. */
function toDefault(option: Option, isNumber: boolean): { default?: unknown } {
  if (option.negate) return {};
  if (option.defaultValue !== undefined) return { default: option.defaultValue };
  const [, described] = /\((?:[A-Z_]+; )?(\d+%?|us)(?:; [^()]*)?\)/.exec(option.description) ?? [];
  return described === undefined ? {} : { default: isNumber ? Number(described) : described };
}
