/** The protocol's own conformance suite on `ecm mcp`: the suite speaks HTTP alone, so a bridge passes each message on. */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { json } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { run } from "../../src/run.ts";
import { temporaryFolder, waitForResult } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

/** The others need tools and prompts of their own; docs/decisions says which. */
const scenarios = ["server-initialize", "ping", "tools-list", "resources-list"];
const script: string = new URL("../../scripts/node-lines.mjs", import.meta.url).href;
/** The suite needs a newer Node than `ecm` does. */
const nodeLine = "24";

/** A server of its own; a message of a body is a line of stdin, and its answer, found by its id, a line of stdout. */
async function serveOverHttp(): Promise<string> {
  const { env } = await startSandbox();
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const ended = run({
    args: ["mcp", "--allow-write", "--no-files"],
    streams: { stdin, stdout, stderr: new PassThrough().resume(), env },
    signal: new AbortController().signal,
  });
  const waiting = new Map<unknown, (line: string) => void>();
  let rest = "";
  stdout.on("data", (piece) => {
    const lines = `${rest}${piece}`.split("\n");
    rest = lines.pop()!;
    for (const line of lines) waiting.get(JSON.parse(line).id)?.(line);
  });
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = (await json(request)) as { id?: unknown };
    const answer = new Promise<string>((resolve) => waiting.set(message.id, resolve));
    stdin.write(`${JSON.stringify(message)}\n`);
    if (message.id === undefined) return void response.writeHead(202).end();
    response.setHeader("content-type", "application/json").end(await answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.close();
    stdin.end();
    await ended;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

it("passes every scenario of the suite that applies", { tags: "slow" }, async () => {
  const folder = await temporaryFolder();
  const lines: { fetchNode(line: string, folder: string): string } = await import(script);
  const node = lines.fetchNode(nodeLine, folder);
  const require = createRequire(import.meta.url);
  const suite = require.resolve("@modelcontextprotocol/conformance/dist/index.js");
  for (const scenario of scenarios) {
    const url = await serveOverHttp();
    const child = spawn(node, [suite, "server", "--url", url, "--scenario", scenario], { cwd: folder });
    const { code, stdout, stderr } = await waitForResult(child);
    expect({ scenario, code }, `${stdout}\n${stderr}`.slice(-2000)).toEqual({ scenario, code: 0 });
  }
});
