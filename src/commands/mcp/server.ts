/** The one file that knows the server library: tools → protocol. */
import type { Readable, Writable } from "node:stream";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { EcmError, UsageError } from "../../errors.ts";
import { toErrorObject } from "../../terminal/report-error.ts";
import { version } from "../../version.ts";
import { type Tool, ToolFailure } from "./tool.ts";

export interface ServeOptions {
  stdin: Readable;
  stdout: Writable;
  /** Ends the server; its reason is thrown. */
  signal: AbortSignal;
  instructions: string;
}

/** Serves the tools until the client closes stdin and every call is answered. @throws the signal's reason */
export async function serve(
  tools: readonly Tool[],
  { stdin, stdout, signal, instructions }: ServeOptions,
): Promise<void> {
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const server = new Server(
    { name: "ecm", version },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator },
  );
  const underWay = new Set<Promise<unknown>>();
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ call: _call, ...tool }) => tool),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal: cancelled }) => {
    const answer = callTool(params.name, params.arguments ?? {}, cancelled);
    underWay.add(answer);
    return answer.finally(() => underWay.delete(answer));
  });

  async function callTool(name: string, input: unknown, cancelled: AbortSignal) {
    const tool = tools.find((each) => each.name === name);
    if (!tool)
      return toFailedContent(toFailure(new UsageError(`There is no tool named ${name}`, "See tools/list")));
    const checked = jsonSchemaValidator.getValidator<never>(tool.inputSchema)(input);
    if (!checked.valid)
      return toFailedContent(toFailure(new UsageError(checked.errorMessage, "See the tool's inputSchema")));
    try {
      return toContent(await tool.call(checked.data, cancelled));
    } catch (error) {
      return toFailedContent(toFailure(error));
    }
  }

  await server.connect(new StdioServerTransport(stdin, stdout));
  try {
    await waitUntilClosed(stdin, stdout, signal);
    if (!signal.aborted) {
      // A message that came with the end is read before the calls are waited for.
      await new Promise((resolve) => setImmediate(resolve));
    }
    while (underWay.size > 0) {
      await Promise.allSettled(underWay);
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    await server.close();
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

function toContent(value: object) {
  return { content: [{ type: "text" as const, text: JSON.stringify(value) }] };
}

function toFailedContent(failure: object) {
  return { ...toContent(failure), isError: true };
}

function toFailure(error: unknown): object {
  if (error instanceof ToolFailure) return error.failure;
  if (error instanceof EcmError) return { error: toErrorObject(error) };
  const message = `internal error: ${error instanceof Error ? error.message : String(error)}`;
  return { error: { type: "InternalError", message } };
}
