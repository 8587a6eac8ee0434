/** The protocol's own conformance suite on the tools of `ecm mcp`, which it reaches over HTTP. */
import { spawn } from "node:child_process";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { expect, it, onTestFinished } from "vitest";
import { createInvoke } from "../../src/commands/mcp/invoke.ts";
import { createResources } from "../../src/commands/mcp/resources.ts";
import { createServer } from "../../src/commands/mcp/server.ts";
import { createTools } from "../../src/commands/mcp/tools.ts";
import { createContext } from "../../src/context.ts";
import { run } from "../../src/run.ts";
import { temporaryFolder, waitForResult } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

/** The others need tools and prompts of their own; docs/decisions says which. */
const scenarios = ["server-initialize", "ping", "tools-list", "resources-list"];
const script: string = new URL("../../scripts/node-lines.mjs", import.meta.url).href;
/** The suite needs a newer Node than `ecm` does. */
const nodeLine = "24";

async function serveOverHttp(): Promise<string> {
  const { env } = await startSandbox();
  const { signal } = new AbortController();
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env };
  const { context, configure } = createContext(streams, signal);
  configure({});
  const tree = { run: (nested: Parameters<typeof run>[0]) => run(nested) } as Parameters<
    typeof createInvoke
  >[1];
  const invoke = createInvoke(context, tree, await context.profile(), false);
  const tools = createTools({ invoke, clock: context.clock, files: undefined }, undefined);
  const served = { tools, resources: createResources(invoke), instructions: "" };
  const handler = createMcpHandler(() => createServer(served, (answer) => answer));
  const server = createHttpServer(async (request, response) => {
    const { method, url, headers } = request;
    const answer = await handler.fetch(
      new Request(`http://localhost${url}`, {
        method,
        headers: headers as Record<string, string>,
        ...(method === "POST" && { body: Readable.toWeb(request) as ReadableStream, duplex: "half" }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) Readable.fromWeb(answer.body as never).pipe(response);
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

it("passes every scenario of the suite that applies", { tags: "slow" }, async () => {
  const url = await serveOverHttp();
  const folder = await temporaryFolder();
  const lines: { fetchNode(line: string, folder: string): string } = await import(script);
  const node = lines.fetchNode(nodeLine, folder);
  const suite = join(
    import.meta.dirname,
    "../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
  );
  for (const scenario of scenarios) {
    const child = spawn(node, [suite, "server", "--url", url, "--scenario", scenario], { cwd: folder });
    const { code, stdout, stderr } = await waitForResult(child);
    expect({ scenario, code }, `${stdout}\n${stderr}`.slice(-2000)).toEqual({ scenario, code: 0 });
  }
});
