/** A port in front of the embedded service: it sees every request, and lets a test act at an exact moment. */
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Summary } from "../../src/bulk/runs/report.ts";
import { openSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox/index.ts";
import { ecmWith, parseSummary, type Result, readContacts, temporaryFolder, temporaryHome } from "../kit.ts";
import { errorBody, json, startHttpServer } from "../support/http-server.ts";

interface RecordedWrite {
  kind: "create" | "mutate" | "status" | "delete";
  /** The key of a create, the contact's id of anything else. */
  what: string;
  status: number;
}

/** How an answer is lost. */
export type Loss = "drop" | "500" | "cut";

/** Of a request. */
export interface Moment {
  /** Which one it is, from 1. */
  count: number;
  when: "before" | "after";
  path: string;
  body: string;
}

export interface RecordingProxy {
  sandbox: Sandbox;
  /** The service's own: a second client of it sees the same account, without this one's faults. */
  folder: string;
  baseUrl: string;
  apiKey: string;
  env: Record<string, string>;
  ecm: ReturnType<typeof ecmWith>;
  /** Requests that arrived. */
  arrived(): number;
  /** Writes that the service carried out or refused, in order. */
  writes: RecordedWrite[];
  /**
   * Called for each request, before the service has it and after. `drop` ends the connection without an
   * answer; after the service has it, `500` answers that it failed, and `cut` ends the connection in the
   * middle of the answer.
   */
  onRequest: (moment: Moment) => Loss | undefined;
  /** Awaited before the service has a request. */
  beforeRequest: (path: string) => Promise<void>;
  /** Answers in place of the service, which never has the request. */
  refuses: (request: { path: string; body: string }) => { status: number; body: unknown } | undefined;
  /** What the service gets in place of a request's body. */
  changesBody: (path: string, body: string) => string;
  /** What the client gets in place of an answer's text. */
  rewrites: (path: string, text: string) => string;
}

/** Starts one; everything is closed when the test ends. */
export async function startRecordingProxy(options: Partial<SandboxOptions> = {}): Promise<RecordingProxy> {
  const folder = options.folder ?? join(await temporaryFolder(), "sandbox");
  const sandbox = await openSandbox({ ...options, folder });
  onTestFinished(() => sandbox.close());
  const writes: RecordedWrite[] = [];
  const server = await startHttpServer((request, response, count) => {
    void (async () => {
      if (proxy.onRequest({ count, when: "before", path: request.url, body: request.body }) === "drop") {
        response.socket?.destroy();
        return;
      }
      await proxy.beforeRequest(request.url);
      const refusal = proxy.refuses({ path: request.url, body: request.body });
      if (refusal) {
        json(response, refusal.status, refusal.body);
        return;
      }
      const answer = await sandbox
        .transport({
          method: request.method,
          url: `http://sandbox.localhost${request.url}`,
          headers: { "x-api-key": String(request.headers["x-api-key"]), "content-type": "application/json" },
          body: request.body === "" ? undefined : proxy.changesBody(request.url, request.body),
          timeoutMilliseconds: 30_000,
        })
        .catch(() => undefined);
      recordWrite(writes, request, answer?.status ?? 0);
      const loss = proxy.onRequest({ count, when: "after", path: request.url, body: request.body });
      if (answer) lose(response, answer, loss, (text) => proxy.rewrites(request.url, text));
      else response.socket?.destroy();
    })();
  });
  const apiKey = sandbox.ownKey();
  const env = { ...(await temporaryHome()), ECM_BASE_URL: server.baseUrl, ECM_API_KEY: apiKey };
  const proxy: RecordingProxy = {
    sandbox,
    folder,
    baseUrl: server.baseUrl,
    apiKey,
    env,
    ecm: ecmWith(env),
    arrived: () => server.requests.length,
    writes,
    onRequest: () => undefined,
    beforeRequest: async () => undefined,
    refuses: () => undefined,
    changesBody: (_path, body) => body,
    rewrites: (_path, text) => text,
  };
  return proxy;
}

/** Has something done once, right before the service has the first request to such a path. */
export function beforeFirst(
  proxy: RecordingProxy,
  isMeant: (path: string) => boolean,
  act: () => Promise<unknown>,
): void {
  let hasActed = false;
  proxy.beforeRequest = async (path) => {
    if (hasActed || !isMeant(path)) return;
    hasActed = true;
    await act();
  };
}

/** Ends a response with the service's answer, or with what is left of it. */
export function lose(
  response: ServerResponse,
  answer: { status: number; headers: Record<string, string>; text: string },
  loss: Loss | undefined,
  rewrite = (text: string) => text,
): void {
  const { status, text } = answer;
  const { "content-length": _length, ...headers } = answer.headers;
  if (loss === "drop") response.socket?.destroy();
  else if (loss === "500") json(response, 500, errorBody("InternalServerError", "Something went wrong"));
  else if (loss === "cut" && text.length > 1) {
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) });
    response.write(text.slice(0, text.length / 2), () => response.socket?.destroy());
  } else response.writeHead(status, headers).end(rewrite(text));
}

function recordWrite(
  writes: RecordedWrite[],
  request: { method: string; url: string; body: string },
  status: number,
): void {
  if (request.method === "POST" && request.url === "/api/contact") {
    writes.push({ kind: "create", what: (JSON.parse(request.body) as { key: string }).key, status });
  }
  const mutated = /^\/api\/contact\/([^/]+)\/mutate$/.exec(request.url);
  if (mutated) writes.push({ kind: "mutate", what: mutated[1]!, status });
  const [, id] = /^\/api\/contact\/([^/]+)$/.exec(request.url) ?? [];
  if (id && request.method === "PATCH") writes.push({ kind: "status", what: id, status });
  if (id && request.method === "DELETE") writes.push({ kind: "delete", what: id, status });
}

/** A run, the one that was stopped before, has come to its end, and has created so many contacts. */
export function expectFinished(result: Result, run: string | null | undefined, created: number): void {
  const summary = parseSummary(result);
  expect(summary, result.stderr).toMatchObject({ status: "completed", rows: { created, unchanged: 0 } });
  if (run !== undefined) expect(summary.run).toBe(run);
}

/** Contacts without the ids of their lists and tags, which differ from service to service. */
export async function readComparable(
  proxy: RecordingProxy,
): Promise<Awaited<ReturnType<typeof readContacts>>> {
  const contacts = await readContacts(proxy);
  for (const contact of contacts.values()) {
    contact.lists = contact.lists.map(() => "list");
    contact.tags = contact.tags.map(() => "tag");
  }
  return contacts;
}

/** A run was stopped. @returns its summary */
export function expectStopped(result: Result, code: number, stoppedBy: Summary["stoppedBy"]): Summary {
  expect(result.code, result.stderr).toBe(code);
  const summary = parseSummary(result);
  expect(summary).toMatchObject({ status: "stopped", stoppedBy });
  return summary;
}

/** No write of a kind was carried out more than once for one contact. */
export function expectNoRepeats({ writes }: Pick<RecordingProxy, "writes">, story?: string): void {
  const done = writes.filter(({ status }) => status >= 200 && status < 300);
  const names = done.map(({ kind, what }) => `${kind} ${what}`);
  expect(
    names.filter((name, at) => names.indexOf(name) !== at),
    story,
  ).toEqual([]);
}

/** Numbers in 0…1 that follow from a seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Real time, with pauses that are over at once. */
export function fastClock() {
  let skipped = 0;
  return {
    restart() {
      skipped = 0;
    },
    now: () => Date.now() + skipped,
    sleep: async (milliseconds: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      skipped += milliseconds;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
