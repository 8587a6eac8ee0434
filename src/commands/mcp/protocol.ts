/**
 * Serves the tools over every revision of the protocol that the library supports, and words failures for
 * clients. No other file knows the library.
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
  /** Ends the server, which then throws its reason. */
  signal: AbortSignal;
}

/**
 * Serves until the client closes stdin and all calls are answered. Closing stdin also stops calls that write.
 * @throws the signal's reason
 */
export async function serve(served: Served, { stdin, stdout, signal }: ServeOptions): Promise<void> {
  const underWay = new Set<Promise<unknown>>();
  const track = <T>(answer: Promise<T>): Promise<T> => {
    underWay.add(answer);
    return answer.finally(() => underWay.delete(answer));
  };
  const closing = new AbortController();
  // The library drops running calls when its input ends; with a stream in between they are answered first.
  const input = new PassThrough();
  stdin.pipe(input, { end: false });
  const handle = serveStdio(() => createServer(served, track, closing.signal), {
    transport: new StdioServerTransport(input, stdout),
  });
  try {
    await waitUntilClosed(stdin, stdout, signal);
    // First read a message that arrived together with the end.
    await setImmediate();
    closing.abort();
    while (underWay.size > 0) {
      await Promise.allSettled(underWay);
      await setImmediate();
    }
  } finally {
    // Else a client that leaves stdin open would keep the process alive after a signal.
    stdin.unpipe(input).pause();
    await handle.close();
  }
  if (signal.aborted) throw signal.reason;
}

/** Waits until the client is gone or a signal ends the process. */
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

/** Creates the server of one connection; it has no state. */
function createServer({ tools, instructions }: Served, track: Track, closing: AbortSignal): Server {
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const server = new Server(
    { name: "ecm", version },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator },
  );
  server.setRequestHandler("tools/list", () => ({
    // The library's type of a JSON Schema is narrower.
    tools: tools.map(({ name, description, inputSchema, annotations }) => ({
      ...{ name, description, inputSchema, annotations },
    })) as unknown as ListToolsResult["tools"],
  }));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    track(callTool(params.name, params.arguments ?? {}, context)),
  );
  async function callTool(
    name: string,
    input: Record<string, unknown>,
    { mcpReq }: ServerContext,
  ): Promise<CallToolResult> {
    const tool = tools.find((each) => each.name === name);
    try {
      if (!tool) throw usageError(`There is no tool named ${name}`, "See tools/list");
      requireKnownArguments(tool, input);
      const checked = jsonSchemaValidator.getValidator<object>(tool.inputSchema)(input);
      if (!checked.valid)
        throw usageError(
          `The arguments are not valid: ${checked.errorMessage}`,
          "See the tool's inputSchema",
        );
      // A run whose client is gone ends after the writes under way, and can be resumed.
      const { signal } = mcpReq;
      const ending = tool.annotations.readOnlyHint ? signal : AbortSignal.any([signal, closing]);
      const answer = await tool.call(checked.data, ending);
      return { ...toContent(answer), structuredContent: answer as Record<string, unknown> };
    } catch (error) {
      return { ...toContent(nameArguments(toFailure(error), tool)), isError: true };
    }
  }
  return server;
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
  return { content: [{ type: "text", text: JSON.stringify(value) }] };
}

interface Failure {
  error: Record<string, unknown>;
}

function toFailure(error: unknown): Failure {
  if (error instanceof ToolFailure) return error.failure;
  if (error instanceof EcmError) return { error: toErrorObject(error) };
  return { error: toErrorObject(failedError(String(error), undefined, { type: "InternalError" })) };
}

/** Advice to ignore a column, which tools cannot follow. */
const asideAdvice =
  /[,;]? (?:or|or ignore it with|ignore the column with) --map (?:'[^']*=ignore'|\S+=ignore)(?=[,;]|$)/g;

/** Replaces flags by the tool's arguments, and leaves out parts of the hint that a client cannot follow. */
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
  // The first may be left out of several ways on.
  const advice = offered.join("").replace(/^, or (.)/, (_or, first: string) => first.toUpperCase());
  const hint = rename(advice).replace(/[;\s]+$/, "") || undefined;
  return { ...others, error: { ...error, message: rename(String(error.message)), hint } };
}
