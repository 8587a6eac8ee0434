/**
 * What a tool is: a command of the tree with some of its flags and arguments, which are declared and described
 * there alone. It runs on streams in memory: the same checks, services and jobs as at a terminal.
 */
import { Readable, Writable } from "node:stream";
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import type { ResolvedProfile } from "../../config/resolve.ts";
import type { Context, Observer } from "../../context.ts";
import { exitCodes, interruptedError } from "../../errors.ts";
import { type DescribedFlag, describeFlags } from "../help/help-text.ts";
import { type CommandTree, findDeepestCommand } from "../help/tree.ts";

/** How a tool is offered: which command it runs, and what it does with the answer. */
export interface ToolDeclaration {
  name: string;
  title: string;
  description: string;
  /** Words of the command that it runs; undefined where the client cannot say which. */
  path?: readonly string[];
  /** Flags and arguments of the command that the tool takes. */
  offers?: readonly Offer[];
  /** Arguments that the command has not, or has otherwise. */
  own?: Properties;
  /** Which flags of the command these stand for, in messages. */
  ownNames?: readonly (readonly [flag: string, name: string])[];
  required?: readonly string[];
  /** What differs from a tool that only reads. */
  hints?: Partial<Tool["annotations"]>;
  /** @param input valid by the schema. @throws ToolFailure, EcmError */
  run(call: Call, input: never): Promise<object | Question>;
}

/** A flag (`--add-tag`) or an argument (`<run>`) of a command, or one that a tool calls otherwise. */
type Offer = string | { flag: string; name: string; schema?: object };

type Properties = Record<string, object>;

export interface Call {
  /** The command that the input stands for. */
  line: CommandLine;
  /** Runs a command. What it warns of is told to the client. @throws ToolFailure with the command's own error */
  invoke(line: CommandLine | readonly string[], options?: InvokeOptions): Promise<Invoked>;
  talk: Talk;
  /** Tells the client of what its answer lacks. */
  warn(text: string): void;
}

export interface CommandLine {
  path: readonly string[];
  flags: readonly string[];
  args: readonly string[];
  stdin?: string;
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

/** The answer of a call that asks the client's user first; it is called again with the reply. */
export class Question {
  readonly message: string;
  readonly properties: Record<string, { type: "integer" | "boolean"; title: string }>;

  constructor(message: string, properties: Question["properties"]) {
    this.message = message;
    this.properties = properties;
  }
}

/** A failure that has a shape already: the JSON error of a command. */
export class ToolFailure extends Error {
  readonly failure: object;

  constructor(failure: object) {
    super("A command failed");
    this.failure = failure;
  }

  /** The type of the command's error. */
  get type(): string | undefined {
    return (this.failure as { error?: { type?: string } }).error?.type;
  }
}

// A tool as the protocol offers it.

export interface Tool {
  name: string;
  description: string;
  inputSchema: {
    type: "object";
    properties: Properties;
    required?: readonly string[];
    additionalProperties: false;
  };
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    /** The protocol's default is true. */
    openWorldHint?: false;
  };
  path: readonly string[] | undefined;
  /** What it calls the flags of its command, for messages. */
  names: ReadonlyMap<string, string>;
  call(input: object, signal: AbortSignal, talk: Talk): Promise<object | Question>;
}

/** The folder below which a client may name files. */
export interface FileFolder {
  /** Without links. */
  path: string;
  /**
   * The real path of a file: links are followed before its place is checked.
   * @param name relative to the folder, or absolute
   * @throws UsageError for what is not a regular file below the folder
   */
  find(name: string): Promise<string>;
}

export interface Toolkit {
  invoke: Invoke;
  /** Undefined where no file may be read: then no tool takes one. */
  files: FileFolder | undefined;
  /** The whole tree, loaded. */
  root: Command;
}

export function createTool({ invoke, files, root }: Toolkit, declared: ToolDeclaration): Tool {
  const { name, title, description, path, offers = [], own, ownNames = [], required, hints, run } = declared;
  const command = findDeepestCommand(root, path ?? []);
  const taken = offers
    .map((offer) => describeOffer(command, offer))
    .filter(({ isFile }) => files !== undefined || !isFile);
  const properties = { ...Object.fromEntries(taken.map((each) => [each.name, each.schema])), ...own };
  /** @throws UsageError for a file that may not be read */
  async function toLine(input: Record<string, unknown>): Promise<CommandLine> {
    const flags: string[] = [];
    const args: string[] = [];
    for (const { flag, name, isFile } of taken) {
      const given = input[name];
      if (given === undefined) continue;
      const value = isFile ? await files!.find(String(given)) : given;
      if (flag.startsWith("-")) flags.push(...toFlagWords(flag, value));
      else args.push(String(value));
    }
    return { path: path ?? [], flags, args };
  }
  return {
    name,
    description,
    inputSchema: { type: "object", properties, ...(required && { required }), additionalProperties: false },
    annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, ...hints },
    path,
    names: new Map([...taken.map((each) => [each.flag, each.name] as const), ...ownNames]),
    async call(input, signal, talk) {
      const warnings: string[] = [];
      const call: Call = {
        line: await toLine({ ...input }),
        async invoke(line, options) {
          const invoked = await invoke(line, { signal, talk, ...options });
          warnings.push(...invoked.warnings);
          return invoked;
        },
        talk,
        warn: (text) => void warnings.push(text),
      };
      const answer = await run(call, input as never);
      return warnings.length > 0 && !(answer instanceof Question) ? { ...answer, warnings } : answer;
    },
  };
}

/** What a command says of a flag or an argument of its own. */
type Declared = Omit<DescribedFlag, "name" | "short">;

function describeOffer(command: Command, offer: Offer) {
  const { flag, ...own } = typeof offer === "string" ? { flag: offer } : offer;
  const argument = command.registeredArguments.find((each) => flag === `<${each.name()}>`);
  const declared: Declared | undefined = argument
    ? { type: "string", description: argument.description }
    : describeFlags(command).find(({ name }) => name === flag);
  if (!declared) throw new Error(`${command.name()} has no ${flag}`);
  const isFile = flag === "<file>" || declared.value === "<file>";
  return { flag, isFile, name: toName(flag, declared), schema: toSchema(declared), ...own };
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
  // Without what the schema says, or what a tool has not.
  const text = description.replace(/ \((?:repeatable|\d+%?)\)$|; - for standard input$/g, "");
  const said = { description: text, ...(usual !== undefined && { default: usual }) };
  if (choices) return { enum: choices, ...said };
  if (!repeatable) return { type, ...(type === "integer" && { minimum: 1 }), ...said };
  if (isPair(value)) return { type: "object", additionalProperties: { type: "string" }, ...said };
  // No value is no condition, and might mean everybody.
  return { type: "array", items: { type: "string" }, minItems: 1, ...said };
}

function toFlagWords(flag: string, value: unknown): string[] {
  if (value === true) return [flag];
  if (value === false) return [];
  if (Array.isArray(value)) return value.map((each) => `${flag}=${each}`);
  if (typeof value === "object")
    return Object.entries(value ?? {}).map(([name, each]) => `${flag}=${name}=${each}`);
  return [`${flag}=${value}`];
}

// The command behind a tool.

interface InvokeOptions {
  /** Codes besides 0 with which the command has done its work. */
  accepts?: readonly number[];
  /** The command writes one JSON value a line: they come as an array. */
  isLines?: boolean;
  /** Asks the service, where need be, what the ids in the contacts that the command shows mean. */
  wantsNames?: boolean;
  /** Tells the client how far the command is. */
  tellsProgress?: boolean;
}

export interface ShownPage {
  total?: number;
  hasMore: boolean;
}

interface Invoked {
  /** Stdout as JSON; null when it is empty. */
  value: unknown;
  /** Warnings, remarks and the rate-limit line. */
  messages: string[];
  /** The warnings among them, without the word. */
  warnings: string[];
  /** Of the list that it showed. */
  page: ShownPage;
  /** Of the ids that stand in its answer. */
  names: Record<string, string>;
}

type Invoke = (
  line: CommandLine | readonly string[],
  options: InvokeOptions & { signal: AbortSignal; talk: Talk },
) => Promise<Invoked>;

const maxMessages = 40;
const warningStart = "warning: ";

/** Stands in a hint where a command is that no tool runs: the client has no shell. */
export const shellOnly = "\u0000";

/**
 * The account stays the one that the server was started for, whatever becomes of the current profile meanwhile.
 * @param options.mayWrite else every command runs with `--read-only`
 * @param options.formatCommand names a command as the client can carry it out
 */
export function createInvoke(
  context: Context,
  tree: CommandTree,
  { name, isSandbox }: ResolvedProfile,
  { mayWrite, formatCommand }: { mayWrite: boolean } & Pick<Observer, "formatCommand">,
): Invoke {
  const { settings, terminal } = context;
  const { baseUrl, structure, timeoutSeconds, maxWaitSeconds } = settings;
  const globals = [
    ...(name ? [`--profile=${name.value}`] : []),
    ...(baseUrl?.source === "flag" && !isSandbox ? [`--base-url=${baseUrl.value}`] : []),
    ...(structure ? [`--structure=${structure.value}`] : []),
    ...[`--timeout=${timeoutSeconds}`, `--max-wait=${maxWaitSeconds}`],
    ...["--json", "--no-input", "--no-color", "--no-pager"],
    ...(mayWrite ? [] : ["--read-only"]),
  ];
  return async (line, { signal, talk, accepts = [], isLines = false, wantsNames, tellsProgress }) => {
    const { stdin, words } = "path" in line ? { stdin: line.stdin, words: toWords(line) } : { words: line };
    const [stdout, stderr] = [createCollector(), createCollector()];
    const page: Invoked["page"] = { hasMore: false };
    const named: { _id: string; label: string }[] = [];
    const interruption = new AbortController();
    const interrupt = () =>
      interruption.abort(context.signal.aborted ? context.signal.reason : interruptedError());
    const signals = [context.signal, signal];
    for (const each of signals) each.addEventListener("abort", interrupt);
    if (signals.some((each) => each.aborted)) interrupt();
    try {
      const exitCode = await tree.run({
        args: [...globals, ...words],
        streams: {
          stdin: Readable.from(stdin ? [stdin] : []),
          stdout: stdout.stream,
          stderr: stderr.stream,
          env: terminal.env,
        },
        signal: interruption.signal,
        observer: {
          page: (seen) => Object.assign(page, seen),
          ...(wantsNames && { names: (parts) => void named.push(...parts) }),
          ...(tellsProgress && { progress: talk.watch }),
          formatCommand,
        },
      });
      const text = stdout.text();
      const value = parseOutput(text, isLines);
      const messages = checkEnd(exitCode, value, stderr.text(), accepts);
      const warnings = messages.filter((message) => message.startsWith(warningStart));
      return {
        value,
        messages,
        warnings: warnings.map((warning) => warning.slice(warningStart.length)),
        page,
        names: Object.fromEntries(
          named.filter(({ _id }) => text.includes(`"${_id}"`)).map(({ _id, label }) => [_id, label]),
        ),
      };
    } finally {
      for (const each of signals) each.removeEventListener("abort", interrupt);
    }
  };
}

function toWords({ path, flags, args }: CommandLine): string[] {
  return [...path, ...flags, ...(args.length > 0 ? ["--", ...args] : [])];
}

/** @returns what the command said @throws ToolFailure where its work is not done */
function checkEnd(exitCode: number, value: unknown, stderr: string, accepts: readonly number[]): string[] {
  const lines = stderr.split("\n").filter((line) => line !== "");
  const error = lines.findLast((line) => line.startsWith('{"error":'));
  // The shell is not the client's.
  const isForShell = (line: string) => /: ecm [-a-z]/.test(line) || line.includes(shellOnly);
  const messages = lines.filter((line) => line !== error && !isForShell(line)).slice(-maxMessages);
  if (exitCode === exitCodes.done || accepts.includes(exitCode)) return messages;
  const failure =
    error === undefined
      ? { error: { message: messages.join("\n"), exitCode } }
      : (JSON.parse(error) as object);
  // The summary of a bulk run is on stdout; one that has not begun says nothing.
  const hasBegun = value !== null && (value as { run?: string | null }).run !== null;
  throw new ToolFailure({ ...failure, ...(hasBegun && { summary: value }), messages });
}

function parseOutput(stdout: string, isLines: boolean): unknown {
  if (isLines) return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  if (stdout.trim() === "") return null;
  try {
    return JSON.parse(stdout);
  } catch {
    // What another address answers may be no JSON.
    return stdout;
  }
}

/** Keeps what is written. */
function createCollector() {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(piece, _encoding, done) {
      pieces.push(Buffer.from(piece));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(pieces).toString("utf8") };
}
