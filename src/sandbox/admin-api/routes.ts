/** /__sandbox/ over HTTP: JSON in and out, no API key, no limits, and errors in the service's own form. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Context, Hono, type Next } from "hono";
import type { SandboxAccount } from "../account.ts";
import type { LoggedRequest } from "../public-types.ts";
import {
  failure,
  findServerUrl,
  limitBody,
  parseJsonBytes,
  readMessage,
  refusalAnswer,
  toAnswer,
  toResponse,
} from "../request.ts";
import { notFound, Refusal } from "../rules/refusal.ts";
import type { World, Worlds } from "../worlds.ts";
import { adminRoot, refuseAccess, worldsRoot } from "./access.ts";
import { faultsBody, parseBody } from "./bodies.ts";
import html from "./page.html?raw";

/** What a request comes with beside itself. */
export interface AdminBindings {
  main: SandboxAccount;
  worlds: Worlds;
  /** Without one, only this machine is answered. */
  adminToken?: string;
  /** Where it comes from. */
  address: string;
  /** The message itself; absent within this process, where everything is allowed. */
  incoming?: IncomingMessage;
  /** Fires when the transport closes: answers without an end stop. */
  closing?: AbortSignal;
}

type AdminContext = Context<{ Bindings: AdminBindings }>;

/** An account, and what is asked of its admin. */
interface Call extends Pick<SandboxAccount, "admin" | "closing"> {
  /** In the path: of a snapshot, or the id of a world. */
  name: string;
  query: Record<string, string | string[]>;
  /** The JSON, whatever it is: the admin checks it. */
  body(): Promise<never>;
  context: AdminContext;
}

/** What it returns is the answer; undefined is one without a body. */
type Action = [method: string, path: string, act: (call: Call) => unknown];

const actions: Action[] = [
  ["GET", "/health", ({ admin }) => admin.health()],
  ["GET", "/overview", ({ admin }) => admin.overview()],
  ["GET", "/requests", ({ admin, query }) => admin.requests(query)],
  ["GET", "/requests/stream", followRequests],
  ["DELETE", "/requests", ({ admin }) => admin.requests.clear()],
  ["POST", "/reset", async ({ admin, body }) => admin.reset(await body())],
  ["POST", "/seed", async ({ admin, body }) => admin.seed(await body())],
  ["POST", "/events", async ({ admin, body }) => admin.events(await body())],
  ["GET", "/snapshots", ({ admin }) => admin.snapshots()],
  ["PUT", "/snapshots/:name", ({ admin, name }) => admin.snapshots.save(name)],
  ["POST", "/snapshots/:name/load", ({ admin, name }) => admin.snapshots.load(name)],
  ["DELETE", "/snapshots/:name", ({ admin, name }) => admin.snapshots.remove(name)],
  ["GET", "/clock", ({ admin }) => admin.clock()],
  ["PUT", "/clock", async ({ admin, body }) => admin.clock(await body())],
  ["GET", "/faults", ({ admin }) => admin.faults()],
  ["PUT", "/faults", async ({ admin, body }) => admin.faults(parseBody(faultsBody, await body()).faults)],
  ["DELETE", "/faults", ({ admin }) => void admin.faults([])],
  ["GET", "/limits", ({ admin }) => admin.limits()],
  ["PUT", "/limits", async ({ admin, body }) => admin.limits(await body())],
];

/** A world opens no further worlds. */
const worldActions: Action[] = [
  [
    "POST",
    "/worlds",
    async ({ context, body }) => describeWorld(await context.env.worlds.create(await body()), context),
  ],
  ["DELETE", "/worlds/:name", ({ context, name }) => context.env.worlds.close(name)],
];

const app = createRoutes();

/**
 * Answers everything below the /__sandbox/ of the sandbox and of its worlds, with headers that keep other
 * sites from using the answer, and browsers from storing it.
 */
export async function answerAdmin(request: Request, bindings: AdminBindings): Promise<Response> {
  const response = await app.fetch(request, bindings);
  response.headers.set("Cache-Control", "no-store");
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

function createRoutes(): Hono<{ Bindings: AdminBindings }> {
  const routes = new Hono<{ Bindings: AdminBindings }>();
  routes.use("*", guard);
  const places: [root: string, Action[]][] = [
    [adminRoot, [...actions, ...worldActions]],
    [`${worldsRoot}/:world${adminRoot}`, actions],
  ];
  for (const [root, placed] of places) {
    routes.get(root, (context) => context.redirect(`${context.req.path}/`));
    routes.get(`${root}/`, () => pageResponse());
    for (const [method, path, act] of placed) {
      routes.on(method, `${root}${path}`, async (context) => {
        const result = await act(readCall(context));
        if (result instanceof Response) return result;
        return toResponse(toAnswer({ status: result === undefined ? 204 : 200, body: result, headers: {} }));
      });
    }
  }
  routes.all("*", ({ req }) => {
    throw notFound(`${req.method} ${req.path}`);
  });
  routes.onError((error) => {
    if (!(error instanceof Refusal)) return toResponse(failure(error));
    const headers = error.status === 401 ? { "WWW-Authenticate": 'Bearer realm="ecm sandbox"' } : undefined;
    return toResponse(refusalAnswer(error, headers));
  });
  return routes;
}

async function guard({ env, req }: AdminContext, next: Next): Promise<void> {
  const { address, incoming, adminToken } = env;
  // The page holds nothing of the account: it asks for the token itself.
  const isOpenPage = adminToken !== undefined && req.method === "GET" && req.path.endsWith(`${adminRoot}/`);
  const refusal =
    incoming === undefined || isOpenPage ? undefined : refuseAccess(address, incoming.headers, adminToken);
  if (refusal) throw refusal;
  await next();
}

function readCall(context: AdminContext): Call {
  const { env, req } = context;
  const { admin, closing } = findAccount(env, req.param("world"));
  return {
    admin,
    closing,
    name: req.param("name") ?? "",
    query: Object.fromEntries(
      Object.entries(req.queries()).map(([name, values]) => [
        name,
        values.length === 1 ? values[0]! : values,
      ]),
    ),
    body: () => readJson(context),
    context,
  };
}

/** @throws Refusal 404 */
function findAccount({ main, worlds }: AdminBindings, world: string | undefined): SandboxAccount {
  return world === undefined ? main : worlds.get(world);
}

// A seed of many thousand contacts comes as one body.
const maxBodyBytes = 64 * 2 ** 20;

/** The body as JSON, whatever its Content-Type; an empty body counts as an empty object. */
async function readJson({ env, req }: AdminContext): Promise<never> {
  const body = env.incoming
    ? await readMessage(env.incoming, maxBodyBytes)
    : limitBody(new Uint8Array(await req.arrayBuffer()), maxBodyBytes);
  return parseJsonBytes(body, "64 MiB", "{}") as never;
}

function followRequests({ admin, closing, query, context: { env } }: Call): Response {
  const next = admin.requests.follow(query);
  return streamRequests(next, env.closing ? AbortSignal.any([env.closing, closing]) : closing);
}

// Other processes of the folder write to the log too, without notice.
const pollMilliseconds = 100;
const maxAtOnce = 100;
const keepAliveMilliseconds = 15_000;

/**
 * The log of requests as server-sent events.
 * @param next what follows in the log: at most so many requests
 * @param closing ends the stream
 */
function streamRequests(next: (limit: number) => LoggedRequest[], closing: AbortSignal): Response {
  const left = new AbortController();
  const signal = AbortSignal.any([closing, left.signal]);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(": the log of the sandbox\n\n"));
    },
    async pull(controller) {
      for (const began = performance.now(); !signal.aborted; ) {
        const events = next(maxAtOnce).map(
          (each) => `id: ${each.n}\nevent: request\ndata: ${JSON.stringify(each)}\n\n`,
        );
        if (performance.now() - began > keepAliveMilliseconds) events.push(": still here\n\n");
        if (events.length > 0) return controller.enqueue(encoder.encode(events.join("")));
        await sleep(pollMilliseconds, undefined, { signal, ref: false }).catch(() => {});
      }
      if (!left.signal.aborted) controller.close();
    },
    cancel: () => left.abort(),
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });
}

function describeWorld({ id, root, apiKey, structureId }: World, { req }: AdminContext): object {
  return { id, baseUrl: findServerUrl(req.header("host"), root), apiKey, structureId };
}

/**
 * The page: one file without any other asset, and no markup but its own. Under its policy nothing runs but
 * its one script, and nothing is sent anywhere but here.
 */
function pageResponse(): Response {
  const policy = [
    "default-src 'none'",
    `script-src '${sourceHash("script")}'`,
    `style-src '${sourceHash("style")}'`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return new Response(html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy.join("; "),
      "Referrer-Policy": "no-referrer",
    },
  });
}

function sourceHash(element: string): string {
  const [, content = ""] = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(html) ?? [];
  return `sha256-${createHash("sha256").update(content).digest("base64")}`;
}
