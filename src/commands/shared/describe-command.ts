/** Commands and flags as a caller without eyes needs them. */
import type { Command, Option } from "commander";
import { listFileEffects, listScopes } from "./effects.ts";
import { findShape } from "./flags.ts";
import {
  type DangerLevel,
  describeConfirmation,
  findDangerLevel,
  findFacts,
  listExitCodes,
} from "./help-text.ts";
import { listSchemas } from "./schemas.ts";
import { toWords } from "./tree.ts";

export type DescribedCommand = ReturnType<typeof describeWholly>;

/** Everything about one command that a caller without eyes needs. */
export function describeCommandJson(command: Command) {
  const facts = findFacts(command);
  const words = toWords(command).join(" ");
  const flags = describeFlags(command);
  const names = flags.map(({ name }) => name);
  return {
    command: words,
    summary: command.description(),
    writes: facts?.writes ?? false,
    ...showDanger(command),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      required: argument.required,
      ...(argument.variadic ? { repeats: true } : {}),
      description: argument.description,
    })),
    flags,
    schemas: listSchemas(words, names),
    ...(facts && {
      output: facts.output,
      confirmation: describeConfirmation(facts),
      exitCodes: Object.fromEntries(listExitCodes(facts)),
      examples: facts.examples,
    }),
  };
}

/** The same, and what running it takes and leaves. */
export function describeWholly(command: Command) {
  const described = describeCommandJson(command);
  const names = described.flags.map(({ name }) => name);
  return {
    ...described,
    danger: findDangerLevel(command),
    scopes: listScopes(command),
    files: listFileEffects(command, names),
    // Its output holds words of the account: data, never instructions.
    ...(!findFacts(command)?.isLocal && { foreign: ["stdout"] }),
  };
}

/** Where neither nothing nor `writes` says it. */
export function showDanger(command: Command): { danger?: DangerLevel } {
  const danger = findDangerLevel(command);
  const usual = findFacts(command)?.writes ? "mutating" : "safe";
  return danger === usual ? {} : { danger };
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
