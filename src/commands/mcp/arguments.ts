/** Arguments of tools, taken from the command that a tool runs: a flag is declared and described once. */
import type { Command } from "commander";
import { type DescribedFlag, describeFlags } from "../shared/describe-command.ts";
import type { FileFolder } from "./files.ts";

/** The part of JSON Schema that the tools' inputs use. */
export interface InputSchema {
  type: "object";
  properties: Record<string, object>;
  required?: string[];
  additionalProperties: false;
  [keyword: string]: unknown;
}

/** A flag (`--add-tag`) or an argument (`<run>`) of a command, or one that a tool calls otherwise. */
export type Offer = string | { flag: string; name: string; schema?: object };

export interface Words {
  flags: string[];
  args: string[];
}

export interface Arguments {
  properties: InputSchema["properties"];
  /** What the tool calls each flag. */
  names: ReadonlyMap<string, string>;
  /** @throws UsageError for a file that may not be read */
  toWords(input: object): Promise<Words>;
}

/** What a command says of a flag or an argument of its own. */
type Declared = Omit<DescribedFlag, "name" | "short">;

/** @param files undefined where no file may be read: then no file is an argument */
export function takeArguments(
  command: Command,
  offers: readonly Offer[],
  files: FileFolder | undefined,
): Arguments {
  const all = offers
    .map((offer) => describeOffer(command, offer))
    .filter(({ isFile }) => files !== undefined || !isFile);
  return {
    properties: Object.fromEntries(all.map(({ name, schema }) => [name, schema])),
    names: new Map(all.map(({ flag, name }) => [flag, name])),
    async toWords(input) {
      const words: Words = { flags: [], args: [] };
      for (const { flag, name, isFile } of all) {
        const given = (input as Record<string, unknown>)[name];
        if (given === undefined) continue;
        const value = isFile ? await files!.find(String(given)) : given;
        if (flag.startsWith("-")) words.flags.push(...toFlagWords(flag, value));
        else words.args.push(String(value));
      }
      return words;
    },
  };
}

function describeOffer(command: Command, offer: Offer) {
  const { flag, ...own } = typeof offer === "string" ? { flag: offer } : offer;
  const declared = findDeclared(command, flag);
  const isFile = flag === "<file>" || declared.value === "<file>";
  return { flag, isFile, name: toName(flag, declared), schema: toSchema(declared), ...own };
}

function findDeclared(command: Command, flag: string): Declared {
  const argument = command.registeredArguments.find((each) => flag === `<${each.name()}>`);
  const declared: Declared | undefined = argument
    ? { type: "string", description: argument.description }
    : describeFlags(command).find(({ name }) => name === flag);
  if (declared) return declared;
  throw new Error(`${command.name()} has no ${flag}`);
}

/** `--create-missing` → `create_missing`; what can be given several times has the plural. */
function toName(flag: string, { repeatable, value }: Declared): string {
  const name = flag.replace(/^--|[<>]/g, "").replaceAll("-", "_");
  if (value === "<file>") return `${name}_file`;
  return repeatable && !isPair(value) ? `${name}s` : name;
}

/** Values such as `FIELD=VALUE` are the members of an object. */
function isPair(value: string | undefined): boolean {
  return value?.includes("=") ?? false;
}

function toSchema({ type, value, choices, default: usual, repeatable, description }: Declared): object {
  const said = { description: toDescription(description), ...(usual !== undefined && { default: usual }) };
  if (choices) return { enum: choices, ...said };
  if (!repeatable) return { type, ...(type === "integer" && { minimum: 1 }), ...said };
  if (isPair(value)) return { type: "object", additionalProperties: { type: "string" }, ...said };
  // No value is no condition, and might mean everybody.
  return { type: "array", items: { type: "string" }, minItems: 1, ...said };
}

/** Without what the schema says, or what a tool has not. */
function toDescription(text: string): string {
  return text.replace(/ \((?:repeatable|\d+%?)\)$|; - for standard input$/g, "");
}

function toFlagWords(flag: string, value: unknown): string[] {
  if (value === true) return [flag];
  if (value === false) return [];
  if (Array.isArray(value)) return value.map((each) => `${flag}=${each}`);
  if (typeof value === "object")
    return Object.entries(value ?? {}).map(([name, each]) => `${flag}=${name}=${each}`);
  return [`${flag}=${value}`];
}
