/**
 * A tool is a command with some of its flags and arguments. Their types and descriptions are read from the
 * command tree, and the command runs on streams in memory, with the same checks as at a terminal.
 */
import { PassThrough, Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import type { ResolvedProfile } from "../../config/resolve.ts";
import type { Context } from "../../context.ts";
import { exitCodes, interruptedError } from "../../errors.ts";
import { type DescribedFlag, describeFlags } from "../help/help-text.ts";
import { type CommandTree, findDeepestCommand } from "../help/tree.ts";

/** A tool of the list: which command it runs, and how it answers. */
export interface ToolDeclaration {
  name: string;
  description: string;
  /** The words of the command that it runs. */
  path?: readonly string[];
  /** Flags (`--add-tag`) and arguments (`<run>`) of the command that the tool takes. */
  offers?: readonly Offer[];
  /** Arguments that the command does not have. */
  own?: Properties;
  required?: readonly string[];
  /** Whether it changes the account. */
  writes?: true;
  /** @param input valid by the schema. @throws ToolFailure, EcmError */
  run(call: Call, input: never): Promise<object>;
}

/** A flag or an argument of the command, where the tool names it otherwise with that name. */
type Offer = string | { flag: string; name: string; schema?: object };

type Properties = Record<string, object>;

export interface Call {
  /** The tool's command with the flags and arguments of the input. */
  line: CommandLine;
  /** Runs a command; its warnings go to the client. @throws ToolFailure with the command's own error */
  invoke(line: CommandLine | readonly string[], options?: InvokeOptions): Promise<Invoked>;
}

export interface CommandLine {
  path: readonly string[];
  flags: readonly string[];
  args: readonly string[];
  stdin?: string;
}

/** The failure of a command, as the JSON that it printed. */
export class ToolFailure extends Error {
  readonly failure: { error: Record<string, unknown>; summary?: unknown };

  constructor(failure: ToolFailure["failure"]) {
    super("A command failed");
    this.failure = failure;
  }
}

// A tool as the protocol offers it.

export interface Tool extends Pick<ToolDeclaration, "name" | "description"> {
  inputSchema: {
    type: "object";
    properties: Properties;
    required?: readonly string[];
    additionalProperties: false;
  };
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean };
  /** The names of its arguments, by the flags of the command. */
  names: ReadonlyMap<string, string>;
  call(input: object, signal: AbortSignal): Promise<object>;
}

/** The folder below which a client may name files. */
export interface FileFolder {
  /** The real path of the folder; undefined where no file may be read. */
  path: string | undefined;
  /** The real path of a file, named relative to the folder or absolute. @throws UsageError for any other */
  find(name: string): Promise<string>;
}

/** @param root of the whole tree, loaded */
export function createTool(
  invoke: Invoke,
  files: FileFolder,
  root: Command,
  { path = [], offers = [], ...declared }: ToolDeclaration,
): Tool {
  const { name, description, own, required, writes = false, run } = declared;
  const command = findDeepestCommand(root, path);
  const taken = offers.map((offer) => describeOffer(command, offer));
  const properties = { ...Object.fromEntries(taken.map((each) => [each.name, each.schema])), ...own };
  async function toLine(input: Record<string, unknown>): Promise<CommandLine> {
    const flags: string[] = [];
    const args: string[] = [];
    for (const { flag, name, isFile } of taken) {
      const given = input[name];
      if (given === undefined) continue;
      const value = isFile ? await files.find(String(given)) : given;
      if (flag.startsWith("-")) flags.push(...toFlagWords(flag, value));
      else args.push(String(value));
    }
    return { path, flags, args };
  }
  return {
    name,
    description,
    inputSchema: { type: "object", properties, ...(required && { required }), additionalProperties: false },
    annotations: { readOnlyHint: !writes, destructiveHint: writes, idempotentHint: !writes },
    names: new Map(taken.map((each) => [each.flag, each.name])),
    async call(input, signal) {
      const warnings: string[] = [];
      const call: Call = {
        line: await toLine({ ...input }),
        async invoke(line, options) {
          const invoked = await invoke(line, { signal, ...options });
          warnings.push(...invoked.warnings);
          return invoked;
        },
      };
      const answer = await run(call, input as never);
      return warnings.length > 0 ? { ...answer, warnings } : answer;
    },
  };
}

/** A flag or an argument as its command declares it. */
type Declared = Partial<DescribedFlag> & Pick<DescribedFlag, "type" | "description">;

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
  // Leave out what the schema says anyway, and what only a shell or a terminal has.
  const text = description
    .replace(/ \((?:repeatable|asks first|\d+%?)\)$|; can be repeated$|; - for standard input$/g, "")
    .replaceAll("--", "");
  const described = { description: text, ...((usual ?? null) !== null && { default: usual }) };
  if (choices) return { enum: choices, ...described };
  if (!repeatable) return { type, ...(type === "integer" && { minimum: 1 }), ...described };
  if (isPair(value)) return { type: "object", additionalProperties: { type: "string" }, ...described };
  // An empty list would be no condition at all, and choose all contacts.
  return { type: "array", items: { type: "string" }, minItems: 1, ...described };
}

function toFlagWords(flag: string, value: unknown): string[] {
  if (typeof value === "boolean") return value ? [flag] : [];
  if (Array.isArray(value)) return value.map((each) => `${flag}=${each}`);
  if (typeof value !== "object") return [`${flag}=${value}`];
  return Object.entries(value ?? {}).map(([name, each]) => `${flag}=${name}=${each}`);
}

// The command behind a tool.

interface InvokeOptions {
  /** Exit codes besides 0 that are no failure. */
  accepts?: readonly number[];
  /** The command writes one JSON value per line; they are returned as an array. */
  isLines?: boolean;
}

export interface ShownPage {
  total?: number;
  hasMore: boolean;
}

interface Invoked {
  /** Stdout as JSON; null when it is empty. */
  value: unknown;
  warnings: string[];
  /** Which part of a list was shown. */
  page: ShownPage;
}

type Invoke = (
  line: CommandLine | readonly string[],
  options: InvokeOptions & { signal: AbortSignal },
) => Promise<Invoked>;

/**
 * Makes the function that runs commands, always on the account for which the server was started.
 * @param mayWrite false: every command runs with `--read-only`
 */
export function createInvoke(
  context: Context,
  tree: CommandTree,
  { name, isSandbox }: ResolvedProfile,
  mayWrite: boolean,
): Invoke {
  const { settings, terminal } = context;
  const { baseUrl, structure, timeoutSeconds, maxWaitSeconds } = settings;
  const globals = [
    ...(name ? [`--profile=${name.value}`] : []),
    ...(baseUrl?.source === "flag" && !isSandbox ? [`--base-url=${baseUrl.value}`] : []),
    ...(structure ? [`--structure=${structure.value}`] : []),
    ...[`--timeout=${timeoutSeconds}`, `--max-wait=${maxWaitSeconds}`],
    ...["--json", "--no-input", "--no-color"],
    ...(mayWrite ? [] : ["--read-only"]),
  ];
  return async (line, { signal, accepts = [], isLines = false }) => {
    const { stdin, words } = "path" in line ? { stdin: line.stdin, words: toWords(line) } : { words: line };
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const page: ShownPage = { hasMore: false };
    const interruption = new AbortController();
    const stop = () => interruption.abort(interruptedError());
    const stopping = AbortSignal.any([context.signal, signal]);
    stopping.addEventListener("abort", stop);
    if (stopping.aborted) stop();
    const [out, err] = [readText(stdout), readText(stderr)];
    const exitCode = await tree.run({
      args: [...globals, ...words],
      streams: { stdin: Readable.from(stdin ? [stdin] : []), stdout, stderr, env: terminal.env },
      signal: interruption.signal,
      observer: { page: (seen) => Object.assign(page, seen) },
    });
    stdout.end();
    stderr.end();
    const value = parseOutput(await out, isLines);
    const messages = await err;
    if (exitCode !== exitCodes.done && !accepts.includes(exitCode)) throw toFailure(value, messages);
    return { value, warnings: findWarnings(messages), page };
  };
}

function toWords({ path, flags, args }: CommandLine): string[] {
  return [...path, ...flags, ...(args.length > 0 ? ["--", ...args] : [])];
}

function toFailure(value: unknown, stderr: string): ToolFailure {
  const line = stderr.split("\n").findLast((each) => each.startsWith('{"error":'));
  const failure = line === undefined ? { error: { message: stderr } } : JSON.parse(line);
  // On stdout is the summary of a bulk run; that of a run that has not begun says nothing.
  const hasBegun = value !== null && (value as { run?: string | null }).run !== null;
  return new ToolFailure({ ...failure, ...(hasBegun && { summary: value }) });
}

/** Whether a text shows a command, which only a shell can run. */
export function namesCommand(text: string): boolean {
  return /\becm [-a-z]/.test(text);
}

function findWarnings(stderr: string): string[] {
  const warnings = stderr.split("\n").flatMap((line) => /^warning: (.*)$/.exec(line)?.[1] ?? []);
  return warnings.filter((warning) => !namesCommand(warning));
}

function parseOutput(stdout: string, isLines: boolean): unknown {
  if (isLines) return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  if (stdout.trim() === "") return null;
  try {
    return JSON.parse(stdout);
  } catch {
    // `ecm api` also prints answers that are not JSON.
    return stdout;
  }
}
