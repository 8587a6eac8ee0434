/** /__sandbox/ over HTTP: JSON in and out, no API key, no limits, and errors in the service's own form. */
import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import type { SandboxAdmin } from "../admin.ts";
import { limitBody, readMessage } from "../body.ts";
import type { EventBody, RequestQuery, WorldOptions } from "../public-types.ts";
import { failure, findServerUrl, refusalAnswer, toAnswer, toResponse } from "../request.ts";
import { invalid, notFound, Refusal } from "../rules/refusal.ts";
import { adminRoot, refuseAccess } from "./access.ts";
import { invalidAt } from "./bodies.ts";
import { eventStream } from "./stream.ts";

// A seed of many thousand contacts comes as one body.
const maxBodyBytes = 64 * 2 ** 20;

/** What a transport knows of a request beside the request itself. */
interface Bindings {
  /** Where it comes from. */
  address: string;
  /** The message itself, where there is one: its body is read directly. */
  incoming?: IncomingMessage;
  /** Fires when the transport closes: answers without an end stop. */
  closing?: AbortSignal;
}

/** Answers everything below /__sandbox/. */
export type AdminApi = (request: Request, bindings: Bindings) => Promise<Response>;

type AdminContext = Context<{ Bindings: Bindings }>;

/** A world as its opener needs it. */
interface WorldView {
  id: string;
  /** The path below which it is served. */
  root: string;
  apiKey: string;
  structureId: string;
}

/** Opens and closes further accounts of the sandbox. */
export interface WorldAdmin {
  create(options: WorldOptions): Promise<WorldView>;
  list(): WorldView[];
  close(id: string): void;
  closeAll(): void;
}

/** Where an account is served. */
export interface AccountPlace {
  /** The path below which it is; the main one is at the root. */
  root: string;
  /** Absent: it opens no further ones. */
  worlds?: WorldAdmin;
}

export interface AdminPlace extends AccountPlace {
  /** Without one, only this machine is answered. */
  adminToken?: string;
  /** Fires when the account closes: answers without an end stop. */
  closing: AbortSignal;
}

export function adminRoutes(admin: SandboxAdmin, place: AdminPlace): AdminApi {
  const { adminToken } = place;
  const root = `${place.root}${adminRoot}`;
  const routes = new Hono<{ Bindings: Bindings }>().basePath(root);
  routes.use("*", async (context, next) => {
    const { address, incoming } = context.env;
    const { method, path } = context.req;
    const isRead = method === "GET" || method === "HEAD";
    const isPage = isRead && path === `${root}/`;
    // The page holds nothing of the account: it asks for the token itself.
    const isOpen = incoming === undefined || (isPage && adminToken !== undefined);
    const refusal = isOpen ? undefined : refuseAccess(address, incoming.headers, adminToken);
    if (refusal) throw refusal;
    if (isRead && path === root) return context.redirect(`${root}/`);
    if (!isPage) return next();
    const { pageResponse } = await import("./page.ts");
    return secured(pageResponse());
  });
  for (const [method, path, act] of [...adminActions(admin, place), ...worldActions(place.worlds)]) {
    routes.on(method, path, async (context) => {
      const result = await act(context);
      if (result instanceof Response) return result;
      const status = result === undefined ? 204 : 200;
      return secured(toResponse(toAnswer({ status, body: result, headers: {} })));
    });
  }
  routes.all("*", () => {
    throw notFound(`A path of this method below ${root}/`);
  });
  routes.onError((error) => {
    if (!(error instanceof Refusal)) return toResponse(failure(error));
    const headers = error.status === 401 ? { "WWW-Authenticate": 'Bearer realm="ecm sandbox"' } : undefined;
    return secured(toResponse(refusalAnswer(error, headers)));
  });
  return async (request, bindings) => routes.fetch(request, bindings);
}

/** What each method and path does: the JSON of its answer; undefined for an answer without a body. */
type AdminAction = [method: string, path: string, act: (context: AdminContext) => unknown];

function adminActions(admin: SandboxAdmin, place: AdminPlace): AdminAction[] {
  return [
    ["GET", "/health", () => admin.health()],
    ["GET", "/overview", () => describeAll(admin)],
    ["GET", "/requests", (context) => answerRequests(admin, context)],
    ["GET", "/requests/stream", (context) => streamRequests(admin, context, place.closing)],
    ["DELETE", "/requests", () => admin.clearRequests()],
    ["POST", "/reset", async (context) => admin.reset(await jsonBody(context))],
    ["POST", "/seed", async (context) => admin.seed(await jsonBody(context))],
    ["GET", "/snapshots", () => admin.snapshots()],
    ["PUT", "/snapshots/:name", (context) => admin.saveSnapshot(nameParameter(context))],
    ["POST", "/snapshots/:name/load", (context) => admin.loadSnapshot(nameParameter(context))],
    ["DELETE", "/snapshots/:name", (context) => admin.removeSnapshot(nameParameter(context))],
    ["GET", "/clock", () => admin.clock()],
    ["PUT", "/clock", async (context) => admin.clock(await jsonBody(context))],
    ["GET", "/faults", () => admin.faults()],
    ["PUT", "/faults", async (context) => admin.faults(faultSpecs(await jsonBody(context)))],
    ["DELETE", "/faults", () => void admin.faults([])],
    ["POST", "/events", async (context) => admin.event(await jsonBody<EventBody>(context))],
    ["GET", "/limits", () => admin.limits()],
    ["PUT", "/limits", async (context) => admin.limits(await jsonBody(context))],
  ];
}

/** A world opens no further worlds. */
function worldActions(worlds: WorldAdmin | undefined): AdminAction[] {
  if (!worlds) return [];
  return [
    ["GET", "/worlds", (context) => worlds.list().map((world) => describeWorld(world, context))],
    [
      "POST",
      "/worlds",
      async (context) => describeWorld(await worlds.create(await jsonBody(context)), context),
    ],
    ["DELETE", "/worlds/:id", (context) => worlds.close(context.req.param("id") ?? "")],
    ["DELETE", "/worlds", () => worlds.closeAll()],
  ];
}

function describeWorld({ id, root, apiKey, structureId }: WorldView, context: AdminContext): object {
  return { id, baseUrl: findServerUrl(context.req.header("host"), root), apiKey, structureId };
}

/** What the page shows, but for the requests. */
function describeAll(admin: SandboxAdmin): object {
  const { version } = admin.health();
  return { version, clock: admin.clock(), limits: admin.limits(), account: admin.overview() };
}

function answerRequests(admin: SandboxAdmin, context: AdminContext): Response {
  const headers = { "X-Sandbox-Log": admin.logId() };
  const body = admin.requests(parseQuery(context));
  return secured(toResponse(toAnswer({ status: 200, body, headers })));
}

function streamRequests(admin: SandboxAdmin, context: AdminContext, closed: AbortSignal): Response {
  const follower = admin.followRequests(parseQuery(context), context.req.header("last-event-id"));
  const { closing } = context.env;
  return eventStream((limit) => follower.next(limit), closing ? AbortSignal.any([closing, closed]) : closed);
}

/** Adds the headers that keep other sites from using the answer, and browsers from storing it. */
function secured(response: Response): Response {
  response.headers.set("Cache-Control", "no-store");
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

/** The body as JSON, whatever its Content-Type; an empty body counts as an empty object. */
async function jsonBody<T = object>(context: AdminContext): Promise<T> {
  const { incoming } = context.env;
  const body = incoming
    ? await readMessage(incoming, maxBodyBytes)
    : limitBody(new Uint8Array(await context.req.arrayBuffer()), maxBodyBytes);
  if ("tooLarge" in body) throw invalid(`The body must not be larger than ${maxBodyBytes / 2 ** 20} MiB`);
  if ("cut" in body) throw invalid("The body ended too early");
  if (body.bytes.length === 0) return {} as T;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body.bytes));
  } catch {
    throw invalid("The body is not JSON");
  }
  if (typeof value !== "object" || value === null) throw invalid("The body must be an object");
  return value as T;
}

function faultSpecs(body: object): string[] {
  const { faults, ...others } = body as { faults?: string[] };
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalidAt(other, "is not known here");
  if (!Array.isArray(faults)) throw invalidAt("faults", "must be an array");
  return faults;
}

function parseQuery(context: AdminContext): RequestQuery {
  const entries = Object.entries(context.req.queries());
  return Object.fromEntries(
    entries.map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

function nameParameter(context: AdminContext): string {
  return context.req.param("name") ?? "";
}
