/** Runs `ecm` in this process on in-memory streams, or as a child process of the built program. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { run } from "../../src/run.ts";
import type { Clock } from "../../src/wire.ts";
import { type Answer, createTypist } from "./typing.ts";

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

interface EcmOptions {
  stdin?: string | Uint8Array;
  /**
   * Keys pressed once a question stands on stderr: what is typed ahead does not answer it. For several
   * questions, the words by which each is known, and the keys that answer it.
   */
  typed?: string | Answer[];
  /** stdin, stdout and stderr are terminals of this width. */
  terminalColumns?: number;
  env?: Record<string, string>;
  signal?: AbortSignal;
  clock?: Clock;
}

/** @param args the words behind `ecm`, or the line that is typed there */
export type Ecm = (args: string | readonly string[], options?: EcmOptions) => Promise<Result>;

/** The words of a line, as a shell takes them. */
export function toWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, one, two, bare]) => one ?? two ?? bare!);
}

/** A home of its own: three empty folders, removed when the test ends. */
export async function temporaryHome(): Promise<Record<string, string>> {
  const home = await temporaryFolder();
  return {
    ECM_CONFIG_DIR: join(home, "config"),
    ECM_STATE_DIR: join(home, "state"),
    ECM_CACHE_DIR: join(home, "cache"),
  };
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "ecm-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** `ecm` in this process. @param env what its environment holds, and nothing else. @param program of a changed source */
export function ecmWith(env: Record<string, string>, program = run): Ecm {
  return async (args, options = {}) => {
    const stdout = collector(options.terminalColumns);
    const keys = new PassThrough();
    const { typed } = options;
    // Loaded before the first question is drawn: keys that come before it are lost.
    if (typed !== undefined) await import("@inquirer/prompts");
    const typist = createTypist(typeof typed === "string" ? [["?", typed]] : (typed ?? []), keys);
    const stderr = collector(options.terminalColumns, typed === undefined ? undefined : typist.read);
    const stdin = Object.assign(options.stdin === undefined ? keys : Readable.from([options.stdin]), {
      isTTY: options.terminalColumns !== undefined,
    });
    const code = await program({
      args: typeof args === "string" ? toWords(args) : [...args],
      streams: { stdin, stdout: stdout.stream, stderr: stderr.stream, env: { ...env, ...options.env } },
      signal: options.signal ?? typist.signal,
      clock: options.clock,
    });
    typist.requireExpected();
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
}

/** A command that ends with this code and says these words on stderr, whatever it prints. @returns its result */
export async function ends<Ended extends Pick<Result, "code" | "stderr">>(
  result: Ended | Promise<Ended>,
  code: number,
  ...words: readonly (string | RegExp)[]
): Promise<Ended> {
  const ended = await result;
  expect(ended.code, ended.stderr).toBe(code);
  for (const word of words) expect(ended.stderr).toMatch(word);
  return ended;
}

/** The stdout of a command that exits with 0. */
export const done = async (result: Promise<Result>): Promise<string> => (await ends(result, 0)).stdout;

/** What a command prints as JSON. */
export async function readJson(ecm: Ecm, args: string | readonly string[], options?: EcmOptions) {
  const words = typeof args === "string" ? toWords(args) : args;
  return JSON.parse(await done(ecm([...words, "--json"], options)));
}

/** A command that fails: it exits with this code, prints nothing, and says these words. @returns its stderr */
export async function refused(
  ...command: [result: Promise<Result>, code: number, ...words: readonly (string | RegExp)[]]
): Promise<string> {
  const { stdout, stderr } = await ends(...command);
  expect(stdout, stderr).toBe("");
  return stderr;
}

const builtProgram = fileURLToPath(new URL("../../bin/ecm.js", import.meta.url));

/** The built program as a child process. It is killed when the test ends. */
export function spawnEcm(args: string[], env: Record<string, string>, program = builtProgram): ChildProcess {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

/** Waits for a child's end. */
export function waitForResult(child: ChildProcess): Promise<Result> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? (signal ? -1 : 0), stdout, stderr }));
  });
}

function collector(columns?: number, onText: (text: string) => void = () => {}) {
  const chunks: Buffer[] = [];
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        chunks.push(Buffer.from(chunk));
        onText(String(chunk));
        done();
      },
    }),
    { isTTY: columns !== undefined, columns },
  );
  return { stream, text: () => Buffer.concat(chunks).toString("utf8") };
}
