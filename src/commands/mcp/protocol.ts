/**
 * The one file that knows the server library: tools → protocol, of every revision it speaks; and failures in
 * the words of the client.
 */
import { PassThrough, type Readable, type Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import {
  type CallToolResult,
  type ListToolsResult,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { EcmError, failedError, usageError } from "../../errors.ts";
import { toErrorObject } from "../../terminal/report-error.ts";
import { version } from "../../version.ts";
import { namesCommand, type Tool, ToolFailure } from "./tool.ts";

interface Served {
  tools: readonly Tool[];
  instructions: string;
}

interface ServeOptions {
  stdin: Readable;
  stdout: Writable;
  /** Ends the server; its reason is thrown. */
  signal: AbortSignal;
}

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
  stdin.pipe(input, { end: false });
  const handle = serveStdio(() => createServer(served, track, closing.signal), {
    transport: new StdioServerTransport(input, stdout),
  });
  try {
    await waitUntilClosed(stdin, stdout, signal);
    // A message that came with the end is read before the calls are waited for.
    await setImmediate();
    closing.abort();
    while (underWay.size > 0) {
      await Promise.allSettled(underWay);
      await setImmediate();
    }
  } finally {
    // A client that leaves its end open would keep the process, which was told to end.
    stdin.unpipe(input).pause();
    await handle.close();
  }
  if (signal.aborted) throw signal.reason;
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

type Track = <T>(answer: Promise<T>) => Promise<T>;

/** One for each connection; it keeps nothing. */
function createServer({ tools, instructions }: Served, track: Track, closing: AbortSignal): Server {
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const server = new Server(
    { name: "ecm", version },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator },
  );
  server.setRequestHandler("tools/list", () => ({
    // JSON Schemas, of which the library knows a narrower type.
    tools: tools.map(({ name, description, inputSchema, annotations }) => ({
      ...{ name, description, inputSchema, annotations },
    })) as unknown as ListToolsResult["tools"],
  }));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    track(callTool(params.name, params.arguments ?? {}, context)),
  );
  async function callTool(name: string, input: Record<string, unknown>, { mcpReq }: ServerContext) {
    const tool = tools.find((each) => each.name === name);
    try {
      if (!tool) throw usageError(`There is no tool named ${name}`, "See tools/list");
      requireKnownArguments(tool, input);
      const checked = jsonSchemaValidator.getValidator<object>(tool.inputSchema)(input);
      if (!checked.valid)
        throw usageError(describeInvalid(checked.errorMessage), "See the tool's inputSchema");
      // Nobody is left to stop what writes: it ends after the writes under way, and can be resumed.
      const { signal } = mcpReq;
      const ending = tool.annotations.readOnlyHint ? signal : AbortSignal.any([signal, closing]);
      return toContent(await tool.call(checked.data, ending));
    } catch (error) {
      return toFailedContent(nameArguments(toFailure(error), tool));
    }
  }
  return server;
}

/** What the validator says of its `data`, of the arguments. */
function describeInvalid(message: string): string {
  return message
    .replace(/^data must have required property '(.*?)'/, "the argument $1 is missing")
    .replace(/\bdata\/(?=.* must)/, "");
}

function requireKnownArguments({ name, inputSchema }: Tool, input: object): void {
  const known = Object.keys(inputSchema.properties);
  const unknown = Object.keys(input).find((each) => !known.includes(each));
  if (unknown === undefined) return;
  throw usageError(
    `${name} has no argument ${JSON.stringify(unknown)}`,
    `Arguments: ${known.join(", ") || "none"}`,
  );
}

function toContent(value: object): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(value) }],
    structuredContent: value as Record<string, unknown>,
  };
}

function toFailedContent(failure: object): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(failure) }], isError: true };
}

interface Failure {
  error: Record<string, unknown>;
}

function toFailure(error: unknown): Failure {
  if (error instanceof ToolFailure) return error.failure;
  if (error instanceof EcmError) return { error: toErrorObject(error) };
  return { error: toErrorObject(failedError(String(error), undefined, { type: "InternalError" })) };
}

/** No tool puts a column aside. */
const asideAdvice =
  /[,;]? (?:or|or ignore it with|ignore the column with) --map (?:'[^']*=ignore'|\S+=ignore)(?=[,;]|$)/g;

/** Commands speak of flags: a tool of its arguments. A part of the hint that the client cannot follow is left out. */
function nameArguments({ error, ...others }: Failure, tool: Tool | undefined): Failure {
  const rename = (text: string) =>
    text.replace(/--([a-z][a-z-]*)/g, (flag, name) => tool?.names.get(flag) ?? name.replaceAll("-", "_"));
  const isOffered = (flag: string) => tool?.names.has(flag) ?? false;
  const parts = String(error.hint ?? "")
    .replace(asideAdvice, "")
    .split(/(?<=\n|; |\. )|(?=, or )/);
  const offered = parts.filter(
    (part) => !namesCommand(part) && (part.match(/--[a-z][a-z-]*/g) ?? []).every(isOffered),
  );
  const hint = rename(offered.join("")).replace(/[;\s]+$/, "") || undefined;
  return { ...others, error: { ...error, message: rename(String(error.message)), hint } };
}
