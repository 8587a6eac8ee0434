/** What tools are made with, and how a tool that reads is made. */
import type { Clock } from "../../wire.ts";
import { type CommandTree, findDeepestCommand } from "../shared/tree.ts";
import { type Arguments, type Offer, takeArguments, type Words } from "./arguments.ts";
import type { FileFolder } from "./files.ts";
import type { Invoke } from "./invoke.ts";
import {
  createInputSchema,
  type InputSchema,
  type OutputSchema,
  readOnlyAnnotations,
  type Tool,
} from "./tool.ts";

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
      const answer = await read(joinWords(path, await toWords(input)), input as never, { invoke, signal });
      return warnings.length > 0 ? { ...answer, warnings } : answer;
    },
  };
}
