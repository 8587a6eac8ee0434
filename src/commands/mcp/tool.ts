/** What a tool is, how one that reads is made, and how much of a long answer is shown. */
import type { Clock } from "../../wire.ts";
import { type CommandTree, findDeepestCommand } from "../shared/tree.ts";
import { type Arguments, type InputSchema, type Offer, takeArguments, type Words } from "./arguments.ts";
import type { FileFolder } from "./files.ts";
import type { Invoke } from "./invoke.ts";

export interface Tool {
  name: string;
  description: string;
  inputSchema: InputSchema;
  /** Of what `call` returns. */
  outputSchema: OutputSchema;
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

export type OutputSchema = InputSchema | { type: "object"; [keyword: string]: unknown };

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

/** Rows of what the service or a file gave; how to get the rest stands beside them. */
export function rowsSchema(name: string): OutputSchema {
  return {
    type: "object",
    properties: { [name]: { type: "array", items: { type: "object" } } },
    required: [name],
  };
}

/** One thing of the service. */
export function thingSchema(...names: string[]): OutputSchema {
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "object" }])),
    required: names.slice(0, 1),
  };
}

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
  output: OutputSchema;
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
  const { name, title, description, path, required, own, output, isLocal = false, read } = reader;
  const { properties, names, toWords } = offerArguments(toolkit, reader);
  return {
    name,
    description,
    inputSchema: createInputSchema({ ...properties, ...own }, required && { required }),
    outputSchema: output,
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
