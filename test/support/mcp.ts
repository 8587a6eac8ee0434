/** An `ecm mcp` in this process, driven by the protocol's official client over the streams of the command. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { expect, onTestFinished } from "vitest";
import type { Summary } from "../../src/bulk/index.ts";
import { run } from "../../src/run.ts";
import type { Clock } from "../../src/wire.ts";
import { done, type Ecm, readJson } from "./ecm.ts";
import { startSandbox } from "./sandbox.ts";

export type Answer = Record<string, unknown> & { token: string; counts: Record<string, number> };

type Refusal = { type: string; message: string; exitCode: number; hint?: string };

export interface Session {
  client: Client;
  /** A tool's answer. Fails the test where it is an error. */
  call(name: string, input?: object): Promise<Answer>;
  /** The error of a call that must fail. */
  refusal(name: string, input?: object): Promise<Refusal>;
  /** Everything that stood on stdout. */
  stdout(): string;
  stderr(): string;
  /** The client goes: the command's exit code. */
  end(): Promise<number>;
}

export async function startMcp(
  env: Record<string, string>,
  args: string[] = [],
  clock?: Clock,
): Promise<Session> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const [out, err] = [textOf(stdout), textOf(stderr)];
  const ended = run({
    args: ["mcp", ...args],
    streams: { stdin, stdout, stderr, env },
    signal: new AbortController().signal,
    clock,
  });
  const client = new Client({ name: "test", version: "1" });
  onTestFinished(async () => {
    stdin.end();
    await ended;
  });
  await client.connect(new StdioServerTransport(stdout, stdin));
  const called = async (name: string, input: object) => {
    const result = await client.callTool({ name, arguments: { ...input } });
    const { content, isError = false, structuredContent } = result;
    const value = JSON.parse((content as unknown as [{ text: string }])[0].text);
    if (!isError) expect(structuredContent).toEqual(value);
    return { isError, value };
  };
  return {
    client,
    async call(name, input = {}) {
      const { isError, value } = await called(name, input);
      expect(isError, JSON.stringify(value)).toBe(false);
      return value;
    },
    async refusal(name, input = {}) {
      const { isError, value } = await called(name, input);
      expect(isError, JSON.stringify(value)).toBe(true);
      return value.error;
    },
    stdout: out,
    stderr: err,
    end() {
      stdin.end();
      return ended;
    },
  };
}

/** All that comes of a stream, as it comes. */
function textOf(stream: PassThrough): () => string {
  let text = "";
  stream.on("data", (piece) => {
    text += piece;
  });
  return () => text;
}

/** A server driven by bare lines. @returns its answers, by id */
export async function exchangeLines(
  env: Record<string, string>,
  lines: readonly (object | string)[],
  args: string[] = [],
): Promise<Map<unknown, { result?: Record<string, unknown>; error?: { code: number } }>> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const out = textOf(stdout);
  const ended = run({
    args: ["mcp", ...args],
    streams: { stdin, stdout, stderr: new PassThrough().resume(), env },
    signal: new AbortController().signal,
  });
  stdin.end(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  expect(await ended).toBe(0);
  const answers = out().trim().split("\n");
  return new Map(answers.map((line) => JSON.parse(line)).map((answer) => [answer.id, answer]));
}

export const ada = { Email: "ada@example.com", "First Name": "Ada" };
export const bob = { Email: "bob@example.com", "First Name": "Bob" };

/** An account with Ada, Bob and the list News. */
export async function account() {
  const running = await startSandbox();
  const { ecm } = running;
  const stdin = "Email,First Name\nada@example.com,Ada\nbob@example.com,Bob\n";
  await done(ecm("import - --list News --create-missing", { stdin }));
  return running;
}

/** That account, with a session that may write. */
export async function accountSession(clock?: Clock) {
  const running = await account();
  const served = await startMcp(running.env, ["--allow-write"], clock);
  const apply = async ({ token }: Answer) =>
    (await served.call("apply_plan", { token })).summary as unknown as Summary;
  return { ...running, ...served, apply, state: running.env.ECM_STATE_DIR! };
}

export async function workingFile(name: string, text: string): Promise<string> {
  const folder = await mkdtemp(join("node_modules", ".ecm-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

export async function searchKeys(ecm: Ecm, ...conditions: string[]): Promise<string[]> {
  const found: { key: string }[] = await readJson(ecm, ["contact", "search", "--all", ...conditions]);
  return found.map(({ key }) => key).sort();
}
