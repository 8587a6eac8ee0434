/**
 * The one file that knows the server library: tools → protocol, of every revision it speaks; and failures in
 * the words of the client.
 */
import { PassThrough, type Readable, Transform, type Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  inputResponse,
  type ListToolsResult,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { LineSplitter } from "../../disk/log.ts";
import { EcmError, exitCodes, usageError } from "../../errors.ts";
import type { ShownCommand } from "../../hint.ts";
import { toErrorObject } from "../../terminal/report-error.ts";
import { version } from "../../version.ts";
import { Question, type RunProgressNow, shellOnly, type Talk, type Tool, ToolFailure } from "./tool.ts";

interface Served {
  tools: readonly Tool[];
  instructions: string;
  /** Tells the person who runs the server what the client is not told. */
  note(text: string): void;
}

interface ServeOptions {
  stdin: Readable;
  stdout: Writable;
  /** Ends the server; its reason is thrown. */
  signal: AbortSignal;
}

const progressMilliseconds = 1000;
const leastProgress = 0.001;
/** The one question that a call may ask. */
const questionName = "agree";
/** Part of every answer. */
const resultMeta = { "ecm/version": version };

/** Serves until the client closes stdin and every call is answered; what writes stops then. @throws the signal's reason */
export async function serve(served: Served, { stdin, stdout, signal }: ServeOptions): Promise<void> {
  const underWay = new Set<Promise<unknown>>();
  const track = <T>(answer: Promise<T>): Promise<T> => {
    underWay.add(answer);
    return answer.finally(() => underWay.delete(answer));
  };
  const closing = new AbortController();
  // The library gives up calls that are under way when its input ends: they are answered first.
  const input = new PassThrough();
  const lines = new MessageLines(() => stdout.write(`${JSON.stringify(parseError)}\n`));
  stdin.pipe(lines).pipe(input, { end: false });
  const handle = serveStdio(() => createServer(served, track, closing.signal), {
    transport: new StdioServerTransport(input, stdout),
  });
  try {
    await waitUntilClosed(stdin, stdout, signal);
    if (!signal.aborted) {
      // A message that came with the end is read before the calls are waited for.
      await new Promise((resolve) => setImmediate(resolve));
    }
    closing.abort();
    while (underWay.size > 0) {
      await Promise.allSettled(underWay);
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    // A client that leaves its end open would keep the process, which was told to end.
    stdin.unpipe(lines).pause();
    await handle.close();
  }
  if (signal.aborted) throw signal.reason;
}

const parseError = {
  jsonrpc: "2.0",
  id: null,
  error: { code: -32700, message: "Parse error: a message is one line of JSON" },
};

/** Whole lines of JSON; the library passes over others in silence. */
class MessageLines extends Transform {
  readonly #onBroken: () => void;
  readonly #decoder = new StringDecoder("utf8");
  readonly #splitter = new LineSplitter();

  constructor(onBroken: () => void) {
    super();
    this.#onBroken = onBroken;
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: () => void): void {
    for (const line of this.#splitter.take(this.#decoder.write(piece))) {
      if (line.trim() === "") continue;
      if (isJsonText(line)) this.push(`${line}\n`);
      else this.#onBroken();
    }
    done();
  }
}

function isJsonText(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

type Track = <T>(answer: Promise<T>) => Promise<T>;

/** One for each connection; it keeps nothing. */
function createServer({ tools, instructions, note }: Served, track: Track, closing: AbortSignal): Server {
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const server = new Server(
    { name: "ecm", version },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator },
  );
  server.setRequestHandler("tools/list", () => ({
    // JSON Schemas, of which the library knows a narrower type.
    tools: tools.map(
      ({ call: _call, names: _names, path: _path, ...tool }) => tool,
    ) as unknown as ListToolsResult["tools"],
  }));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    track(callTool(params.name, params.arguments ?? {}, context)),
  );
  async function callTool(name: string, input: Record<string, unknown>, context: ServerContext) {
    const tool = tools.find((each) => each.name === name);
    if (!tool)
      return toFailedContent(toFailure(usageError(`There is no tool named ${name}`, "See tools/list"), note));
    try {
      requireKnownArguments(tool, input);
      const checked = jsonSchemaValidator.getValidator<object>(tool.inputSchema)(input);
      if (!checked.valid)
        throw usageError(describeInvalid(checked.errorMessage), "See the tool's inputSchema");
      const { talk, close } = openTalk(server, context);
      try {
        // Nobody is left to stop what writes: it ends after the writes under way, and can be resumed.
        const { signal } = context.mcpReq;
        const ending = tool.annotations.readOnlyHint ? signal : AbortSignal.any([signal, closing]);
        const answer = await tool.call(checked.data, ending, talk);
        return answer instanceof Question ? askClient(answer) : toContent(answer);
      } finally {
        close();
      }
    } catch (error) {
      return toFailedContent(nameArguments(toFailure(error, note), tool));
    }
  }

  return server;
}

/** What the validator says of its `data`, of the arguments. */
function describeInvalid(message: string): string {
  return message
    .replace(/^data must have required property '(.*?)'/, "the argument $1 is missing")
    .replace(/\bdata\/(\w+)(?:\/([^,]+?))?(?= must)/g, (_, name, part) =>
      part === undefined ? name : `${name}[${JSON.stringify(part)}]`,
    );
}

function requireKnownArguments({ name, inputSchema }: Tool, input: Record<string, unknown>): void {
  const known = Object.keys(inputSchema.properties);
  const unknown = Object.keys(input).find((each) => !known.includes(each));
  if (unknown === undefined) return;
  const takes = known.length === 0 ? "none" : known.join(", ");
  throw usageError(`${name} has no argument ${JSON.stringify(unknown)}`, `Arguments: ${takes}`);
}

/** What a call may say to its client besides the answer. */
function openTalk(server: Server, { mcpReq }: ServerContext): { talk: Talk; close(): void } {
  const envelope = mcpReq.envelope as Record<string, ClientCapabilities | undefined> | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const progressToken = mcpReq._meta?.progressToken;
  let timer: NodeJS.Timeout | undefined;
  let last = -1;
  const talk: Talk = {
    canAsk: capabilities?.elicitation !== undefined,
    reply: readReply(mcpReq.inputResponses),
    watch(readNow) {
      clearInterval(timer);
      if (progressToken === undefined) return;
      const tell = () => {
        const now = readNow();
        // The protocol wants a greater number each time, also from who waits and has done nothing more.
        last = now.done > last ? now.done : last + leastProgress;
        if (now.total !== undefined && last > now.total) return;
        void mcpReq.notify(toProgress(progressToken, { ...now, done: last })).catch(() => undefined);
      };
      tell();
      timer = setInterval(tell, progressMilliseconds);
      timer.unref();
    },
  };
  return { talk, close: () => clearInterval(timer) };
}

function readReply(responses: Record<string, unknown> | undefined): Talk["reply"] {
  const view = inputResponse(responses, questionName);
  if (view.kind !== "elicit") return undefined;
  return view.action === "accept" ? { content: view.content ?? {} } : { content: undefined };
}

function toProgress(progressToken: string | number, { done, total, what }: RunProgressNow) {
  return {
    method: "notifications/progress" as const,
    params: { progressToken, progress: done, ...(total !== undefined && { total }), message: what },
  };
}

function askClient({ message, properties }: Question) {
  const requestedSchema = { type: "object" as const, properties, required: Object.keys(properties) };
  return inputRequired({
    inputRequests: { [questionName]: inputRequired.elicit({ mode: "form", message, requestedSchema }) },
  });
}

/** Until the client is gone, or the process is told to end. */
function waitUntilClosed(stdin: Readable, stdout: Writable, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || stdin.readableEnded || stdin.destroyed) return resolve();
    const end = () => resolve();
    for (const event of ["end", "close", "error"]) stdin.once(event, end);
    stdout.once("close", end);
    signal.addEventListener("abort", end, { once: true });
  });
}

function toContent(value: object): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(value) }],
    structuredContent: value as Record<string, unknown>,
    _meta: resultMeta,
  };
}

function toFailedContent(failure: object): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(failure) }], _meta: resultMeta, isError: true };
}

/** What the system or a defect says may name files of this machine: it is not the client's business. */
const ownTypes: readonly unknown[] = ["InternalError", "SystemError"];

/** @param note is told what the client is not: for the person who runs the server */
export function toFailure(error: unknown, note: (text: string) => void): object {
  if (error instanceof ToolFailure) return withoutDetails(error.failure, note);
  if (error instanceof EcmError) return { error: toErrorObject(error) };
  const message = error instanceof Error ? error.message : String(error);
  return withoutDetails({ error: { type: "InternalError", message, exitCode: exitCodes.failed } }, note);
}

function withoutDetails(failure: object, note: (text: string) => void): object {
  const { error } = failure as { error?: Record<string, unknown> };
  if (!error || !ownTypes.includes(error.type)) return failure;
  note(String(error.message));
  const { type, exitCode, applied } = error;
  const message = "The server failed; its standard error says why";
  return { ...failure, error: { type, message, exitCode, retryable: false, applied } };
}

/** A flag whose value is a pair, such as `--map City=Town`; the pair may be in quotes. */
const pairFlag = /(--[a-z][a-z-]*) ('[^'=]+=[^']*'|[^\s=,;']+=[^\s,;']+)/g;
/** No tool puts a column aside. */
const asideAdvice =
  /[,;]? (?:or|or ignore it with|ignore the column with) --map (?:'[^']*=ignore'|\S+=ignore)(?=[,;]|$)/g;

/** No tool waits for the hour. */
const waitAdvice = /, or let the command wait with --max-wait \d+/;

/**
 * A command that leads on, as the client can carry it out: by a tool where there is one for it and its flags.
 * @param words without `ecm`
 */
export function nameTool(tools: readonly Tool[], { words }: ShownCommand): string {
  const tool = tools.find(({ path }) => path?.every((word, at) => words[at] === word));
  const rest = words.slice(tool?.path?.length ?? 0);
  const isOffered = rest.every((word) => !word.startsWith("--") || tool?.names?.has(word));
  if (!tool || !isOffered) return shellOnly;
  return [tool.name, ...rest.map((word) => tool.names?.get(word) ?? word)].join(" ");
}

/** Commands speak of flags; where a tool has an argument for one, that is named. */
function nameArguments(failure: object, { names, inputSchema }: Pick<Tool, "names" | "inputSchema">): object {
  const { error } = failure as { error?: Record<string, unknown> };
  if (!error) return failure;
  const isObject = (name: string) => (inputSchema.properties[name] as { type?: string })?.type === "object";
  const rename = (text: unknown) => {
    if (typeof text !== "string") return text;
    return text
      .replace(asideAdvice, "")
      .replace(waitAdvice, "")
      .replace(pairFlag, (typed, flag: string, pair: string) => {
        const argument = names?.get(flag);
        if (argument === undefined || !isObject(argument)) return typed;
        const [name = "", value = ""] = pair.replace(/^'|'$/g, "").split(/=(?!.*=)/);
        return `${argument} ${JSON.stringify({ [name]: value })}`;
      })
      .replace(/--[a-z][a-z-]*/g, (flag) => names?.get(flag) ?? flag);
  };
  const { message, hint, ...rest } = error;
  const advice = keepClauses(rename(hint));
  const renamed = { ...rest, message: dropDashes(rename(message)), ...(advice !== "" && { hint: advice }) };
  return { ...failure, error: renamed };
}

/** Without what a client cannot do: a flag that is no argument, a command that no tool runs. */
function keepClauses(hint: unknown): unknown {
  if (typeof hint !== "string") return "";
  const clauses = hint.split(/(?<=\n|; |\. )/);
  const kept = clauses.filter((clause) => !clause.includes(shellOnly) && !/--[a-z]/.test(clause));
  return kept.join("").replace(/[;\s]+$/, "");
}

function dropDashes(message: unknown): unknown {
  if (typeof message !== "string") return message;
  return message.replace(/--([a-z][a-z-]*)/g, (_flag, name: string) => name.replaceAll("-", "_"));
}
