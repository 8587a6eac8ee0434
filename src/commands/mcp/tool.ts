/**
 * What a tool is: its arguments, taken from the command that it runs, where a flag is declared and described
 * once; how one that reads is made, and how much of a long answer is shown.
 */
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import type { Clock } from "../../wire.ts";
import { type DescribedFlag, describeFlags } from "../help/describe-command.ts";
import { type CommandTree, findDeepestCommand } from "../help/tree.ts";
import type { FileFolder } from "./files.ts";
import type { Invoke } from "./invoke.ts";

export interface Tool {
  name: string;
  description: string;
  inputSchema: InputSchema;
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    /** The protocol's default is true. */
    openWorldHint?: false;
  };
  /** Words of the command that it runs. */
  path?: readonly string[];
  /** What it calls the flags of its command, for messages. */
  names?: ReadonlyMap<string, string>;
  /** @param input valid by the schema. @throws ToolFailure, EcmError */
  call(input: never, signal: AbortSignal, talk: Talk): Promise<object>;
}

/** How far a run is. */
export interface RunProgressNow {
  done: number;
  total?: number;
  what: string;
}

/** What a call may say to its client before it answers. */
export interface Talk {
  /** The client can ask its user. */
  canAsk: boolean;
  /** What the user said to the question that this call asked before; without content: no. */
  reply: { content: Record<string, unknown> | undefined } | undefined;
  /** Tells the client from now on how far the run is. */
  watch(readNow: () => RunProgressNow): void;
}

/** Thrown by a call that asks the client's user first; it is called again with the reply. */
export class Question extends Error {
  readonly properties: Record<string, { type: "integer" | "boolean"; title: string }>;

  constructor(message: string, properties: Question["properties"]) {
    super(message);
    this.properties = properties;
  }
}

/** For tools that send no write. */
export const readOnlyAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
} as const;

export function createInputSchema(
  properties: InputSchema["properties"],
  more: Record<string, unknown> = {},
): InputSchema {
  return { type: "object", properties, ...more, additionalProperties: false };
}

/** Rows of one answer: the most, and how many unless asked. */
export const maxRows = 200;
export const defaultRows = 100;

export const limitInput = { type: "integer", minimum: 1, maximum: maxRows, default: defaultRows };
export const pageInput = { type: "integer", minimum: 1, default: 1 };

export function textSchema(description: string): object {
  return { type: "string", minLength: 1, description };
}

export interface Toolkit {
  invoke: Invoke;
  clock: Clock;
  /** Undefined where no file may be read: then no tool takes one. */
  files: FileFolder | undefined;
  /** The whole tree, loaded. */
  root: CommandTree["root"];
}

/** The command that a tool runs, with the flags and arguments that it offers. */
export interface Offered {
  path: readonly string[];
  offers?: readonly Offer[];
}

export function offerArguments({ root, files }: Toolkit, { path, offers = [] }: Offered): Arguments {
  return takeArguments(findDeepestCommand(root, path), offers, files);
}

export function joinWords(path: readonly string[], { flags, args }: Words): string[] {
  return [...path, ...flags, ...(args.length > 0 ? ["--", ...args] : [])];
}

export interface Reader extends Offered {
  name: string;
  title: string;
  description: string;
  required?: string[];
  /** Arguments of the tool that its command does not have. */
  own?: InputSchema["properties"];
  /** It asks nothing of the service. */
  isLocal?: boolean;
  /** @param words of the command, as the input says */
  read(words: string[], input: never, call: ReaderCall): Promise<object>;
}

interface ReaderCall {
  /** The warnings of what it runs are told to the client. */
  invoke: Invoke;
  signal: AbortSignal;
  /** Tells the client of what its answer lacks. */
  warn(text: string): void;
}

const warningStart = "warning: ";

export function createReader(toolkit: Toolkit, reader: Reader): Tool {
  const { name, title, description, path, required, own, isLocal = false, read } = reader;
  const { properties, names, toWords } = offerArguments(toolkit, reader);
  return {
    name,
    description,
    inputSchema: createInputSchema({ ...properties, ...own }, required && { required }),
    annotations: { title, ...readOnlyAnnotations, ...(isLocal && { openWorldHint: false }) },
    path,
    names,
    async call(input: object, signal) {
      const warnings: string[] = [];
      const invoke: Invoke = async (words, options) => {
        const invoked = await toolkit.invoke(words, options);
        const told = invoked.messages.filter((message) => message.startsWith(warningStart));
        warnings.push(...told.map((message) => message.slice(warningStart.length)));
        return invoked;
      };
      const warn = (text: string) => void warnings.push(text);
      const words = joinWords(path, await toWords(input));
      const answer = await read(words, input as never, { invoke, signal, warn });
      return warnings.length > 0 ? { ...answer, warnings } : answer;
    },
  };
}

interface ShownPage {
  total?: number;
  hasMore: boolean;
}

export interface Paged {
  limit?: number;
  page?: number;
}

/** How many rows, by a flag of the command. */
export function limitBy(flag: string): Offer {
  return { flag, name: "limit", schema: limitInput };
}

/** Which page, and how many rows it has. */
export function pagedBy(flag: string): Offer[] {
  return [limitBy(flag), { flag: "--page", name: "page", schema: pageInput }];
}

/** One page as the service gives it. @param words of a command that shows this page */
export async function readPage(
  invoke: Invoke,
  name: string,
  { words, page = 1 }: { words: string[] } & Paged,
  signal: AbortSignal,
) {
  const observedPage: ShownPage = { hasMore: false };
  const { value } = await invoke(words, {
    signal,
    observer: { page: (seen) => Object.assign(observedPage, seen) },
  });
  return {
    [name]: value as unknown[],
    // Conditions that are decided here have no total before everything is read.
    total: observedPage.total ?? null,
    hasMore: observedPage.hasMore,
    ...(observedPage.hasMore ? { nextPage: page + 1 } : {}),
  };
}

/** A page of rows that are all in memory. */
export function part(name: string, rows: readonly unknown[], { limit = defaultRows, page = 1 }: Paged) {
  const hasMore = page * limit < rows.length;
  return {
    [name]: rows.slice((page - 1) * limit, page * limit),
    total: rows.length,
    hasMore,
    ...(hasMore ? { nextPage: page + 1 } : {}),
  };
}

/** The part of JSON Schema that the tools' inputs use. */
export interface InputSchema {
  type: "object";
  properties: Record<string, object>;
  required?: string[];
  additionalProperties: false;
}

/** A flag (`--add-tag`) or an argument (`<run>`) of a command, or one that a tool calls otherwise. */
export type Offer = string | { flag: string; name: string; schema?: object };

export interface Words {
  flags: string[];
  args: string[];
}

interface Arguments {
  properties: InputSchema["properties"];
  /** What the tool calls each flag. */
  names: ReadonlyMap<string, string>;
  /** @throws UsageError for a file that may not be read */
  toWords(input: object): Promise<Words>;
}

/** What a command says of a flag or an argument of its own. */
type Declared = Omit<DescribedFlag, "name" | "short">;

/** @param files undefined where no file may be read: then no file is an argument */
function takeArguments(command: Command, offers: readonly Offer[], files: FileFolder | undefined): Arguments {
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
