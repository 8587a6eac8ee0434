/** A port in front of the embedded service: it sees every request, and lets a test act at an exact moment. */
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openSandbox, type SandboxOptions } from "../../src/sandbox/index.ts";
import { ecmWith, errorBody, json, startHttpServer, temporaryFolder, temporaryHome } from "../kit.ts";

/** `what` is the key of a create, the contact's id of anything else. */
type RecordedWrite = { kind: "create" | "mutate" | "status" | "delete"; what: string; status: number };

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

/** Starts one; everything is closed when the test ends. */
export async function startRecordingProxy(options: Partial<SandboxOptions> = {}) {
  const folder = options.folder ?? join(await temporaryFolder(), "sandbox");
  const sandbox = await openSandbox({ ...options, folder });
  onTestFinished(() => sandbox.close());
  const writes: RecordedWrite[] = [];
  const hooks = {
    /**
     * Called for each request, before the service has it and after. `drop` ends the connection without an
     * answer; after the service has it, `500` answers that it failed, and `cut` ends it in the middle of the answer.
     */
    onRequest: (_moment: Moment): Loss | undefined => undefined,
    /** Awaited before the service has a request. */
    beforeRequest: async (_path: string): Promise<void> => undefined,
    /** Answers in place of the service, which never has the request. */
    refuses: (_asked: { path: string; body: string }): { status: number; body: unknown } | undefined =>
      undefined,
    /** What the service gets in place of a request's body. */
    changesBody: (_path: string, body: string): string => body,
    /** What the client gets in place of an answer's text. */
    rewrites: (_path: string, text: string): string => text,
  };
  const server = await startHttpServer(async ({ method, url: path, headers, body }, response, count) => {
    if (hooks.onRequest({ count, when: "before", path, body }) === "drop") {
      response.socket?.destroy();
      return;
    }
    await hooks.beforeRequest(path);
    const refusal = hooks.refuses({ path, body });
    if (refusal) return json(response, refusal.status, refusal.body);
    const answer = await sandbox
      .transport({
        method,
        url: `http://sandbox.localhost${path}`,
        headers: { "x-api-key": String(headers["x-api-key"]), "content-type": "application/json" },
        body: body === "" ? undefined : hooks.changesBody(path, body),
        timeoutMilliseconds: 30_000,
      })
      .catch(() => undefined);
    const write = toWrite(method, path, body, answer?.status ?? 0);
    if (write) writes.push(write);
    const loss = hooks.onRequest({ count, when: "after", path, body });
    if (answer) lose(response, answer, loss, (text) => hooks.rewrites(path, text));
    else response.socket?.destroy();
  });
  const apiKey = sandbox.ownKey();
  const { baseUrl } = server;
  const home = await temporaryHome();
  const env: Record<string, string> = { ...home, ECM_BASE_URL: baseUrl, ECM_API_KEY: apiKey };
  return Object.assign(hooks, {
    sandbox,
    /** The service's own: a second client of it sees the same account, without this one's faults. */
    folder,
    baseUrl,
    apiKey,
    env,
    ecm: ecmWith(env),
    /** Requests that arrived. */
    arrived: () => server.requests.length,
    /** Writes that the service carried out or refused, in order. */
    writes,
  });
}

export type RecordingProxy = Awaited<ReturnType<typeof startRecordingProxy>>;

/** Has something done once, right before the service has the first request to such a path. */
export function beforeFirst(
  proxy: RecordingProxy,
  isMeant: (path: string) => boolean,
  act: () => Promise<unknown>,
) {
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

/** What a request writes. @param status of its answer */
function toWrite(method: string, path: string, body: string, status: number): RecordedWrite | undefined {
  if (method === "POST" && path === "/api/contact")
    return { kind: "create", what: (JSON.parse(body) as { key: string }).key, status };
  const [, what, isMutate] = /^\/api\/contact\/([^/]+)(\/mutate)?$/.exec(path) ?? [];
  if (what === undefined) return undefined;
  if (isMutate) return { kind: "mutate", what, status };
  if (method === "PATCH") return { kind: "status", what, status };
  return method === "DELETE" ? { kind: "delete", what, status } : undefined;
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
