/** /__sandbox/ over HTTP: JSON in and out, no API key, no limits, and errors in the service's own form. */
import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import { bodyOf, readMessage } from "../body.ts";
import type { ClockChange, EventBody, LimitsChange, RequestQuery, SeedData } from "../public-types.ts";
import { answerOf, failure, type Result, resultOf, toResponse } from "../request.ts";
import { invalid, notFound, Refusal } from "../rules/refusal.ts";
import type { Store } from "../store/index.ts";
import { adminRoot, refuseAccess } from "./access.ts";
import { filterOf, wrong } from "./bodies.ts";
import type { Operations } from "./operations.ts";
import { accountOverview } from "./overview.ts";
import { eventStream } from "./stream.ts";

// A seed of many thousand contacts comes as one body.
const largestBodyBytes = 64 * 2 ** 20;

/** What a transport tells of a request beside the request itself. */
export interface Bindings {
  /** Where it comes from. */
  address: string;
  /** The message itself, where there is one: its body is read without a detour. */
  incoming?: IncomingMessage;
  /** Fires when the transport closes: answers without an end stop. */
  closing?: AbortSignal;
}

/** Answers everything below /__sandbox/. */
export type AdminApi = (request: Request, bindings: Bindings) => Promise<Response>;

type AdminContext = Context<{ Bindings: Bindings }>;

export interface AdminParts {
  store: Store;
  operations: Operations;
  /** Without one, only this machine is answered. */
  adminToken?: string;
}

export function adminRoutes({ store, operations, adminToken }: AdminParts): AdminApi {
  const routes = new Hono<{ Bindings: Bindings }>().basePath(adminRoot);
  const answer =
    (act: (context: AdminContext) => unknown) =>
    async (context: AdminContext): Promise<Response> => {
      const result = await act(context);
      if (result instanceof Response) return result;
      return secured(
        toResponse(answerOf({ status: result === undefined ? 204 : 200, body: result, headers: {} })),
      );
    };

  routes.use("*", async (context, next) => {
    const { address, incoming } = context.env;
    const { method, path } = context.req;
    const isRead = method === "GET" || method === "HEAD";
    const isPage = isRead && path === `${adminRoot}/`;
    // The page holds nothing of the account: it asks for the token itself.
    const isOpen = incoming === undefined || (isPage && adminToken !== undefined);
    const refusal = isOpen ? undefined : refuseAccess(address, incoming.headers, adminToken);
    if (refusal) throw refusal;
    if (isRead && path === adminRoot) return context.redirect(`${adminRoot}/`);
    if (!isPage) return next();
    const { pageResponse } = await import("./page.ts");
    return secured(pageResponse());
  });
  routes.get(
    "/overview",
    answer(() => {
      const { version, clock } = operations.health();
      return {
        version,
        clock: operations.clock(),
        limits: operations.limits(),
        account: accountOverview(store, Date.parse(clock)),
      };
    }),
  );
  routes.get(
    "/health",
    answer(() => operations.health()),
  );
  routes.get(
    "/requests",
    answer((context) => {
      const headers = { "X-Sandbox-Log": operations.logId() };
      const body = operations.requests(queryOf(context));
      return secured(toResponse(answerOf({ status: 200, body, headers })));
    }),
  );
  routes.delete(
    "/requests",
    answer(() => operations.clearRequests()),
  );
  routes.get(
    "/requests/stream",
    answer((context) => stream(context)),
  );
  routes.post(
    "/reset",
    answer(async (context) => operations.reset(await jsonBody(context))),
  );
  routes.post(
    "/seed",
    answer(async (context) => operations.seed(await jsonBody<SeedData>(context))),
  );
  routes.get(
    "/snapshots",
    answer(() => operations.snapshots()),
  );
  routes.put(
    "/snapshots/:name",
    answer((context) => operations.saveSnapshot(nameOf(context))),
  );
  routes.post(
    "/snapshots/:name/load",
    answer((context) => operations.loadSnapshot(nameOf(context))),
  );
  routes.delete(
    "/snapshots/:name",
    answer((context) => operations.removeSnapshot(nameOf(context))),
  );
  routes.get(
    "/clock",
    answer(() => operations.clock()),
  );
  routes.put(
    "/clock",
    answer(async (context) => operations.clock(await jsonBody<ClockChange>(context))),
  );
  routes.get(
    "/faults",
    answer(() => operations.faults()),
  );
  routes.put(
    "/faults",
    answer(async (context) => operations.faults(faultsOf(await jsonBody(context)))),
  );
  routes.delete(
    "/faults",
    answer(() => void operations.faults([])),
  );
  routes.post(
    "/events",
    answer(async (context) => operations.event(await jsonBody<EventBody>(context))),
  );
  routes.get(
    "/limits",
    answer(() => operations.limits()),
  );
  routes.put(
    "/limits",
    answer(async (context) => operations.limits(await jsonBody<LimitsChange>(context))),
  );
  routes.all("*", () => {
    throw notFound(`A path of this method below ${adminRoot}/`);
  });
  routes.onError((error) => {
    return error instanceof Refusal
      ? secured(toResponse(answerOf(refusalOf(error))))
      : toResponse(failure(error));
  });
  return async (request, bindings) => routes.fetch(request, bindings);

  function stream(context: AdminContext): Response {
    const query = queryOf(context);
    const { requests } = store;
    const { filter } = filterOf(query, requests.id());
    const [, seenLog = query.log, lastSeen] =
      /^(?:([0-9a-f]{16})-)?(\d{1,15})$/.exec(context.req.header("last-event-id") ?? "") ?? [];
    if (lastSeen !== undefined) filter.after = Number(lastSeen);
    else if (query.since === undefined) filter.after = requests.last();
    let log = seenLog ?? requests.id();
    return eventStream((limit) => {
      const isAnother = requests.id() !== log;
      if (isAnother) {
        log = requests.id();
        filter.after = 0;
      }
      const last = requests.last();
      const found = requests.find(filter, limit, "oldest");
      const given = found.at(-1)?.n ?? 0;
      // What did not match is not looked at again.
      filter.after = Math.max(filter.after ?? 0, given, found.length < limit ? last : 0);
      return { log, isAnother, requests: found };
    }, context.env.closing);
  }
}

function refusalOf(refusal: Refusal): Result {
  return resultOf(
    refusal,
    refusal.status === 401 ? { "WWW-Authenticate": 'Bearer realm="ecm sandbox"' } : {},
  );
}

/** What no other site may use, nor a browser keep or take for something else. */
function secured(response: Response): Response {
  response.headers.set("Cache-Control", "no-store");
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

/** The body as JSON, whatever it says of its type; none is an empty object. */
async function jsonBody<T = object>(context: AdminContext): Promise<T> {
  const { incoming } = context.env;
  const body = incoming
    ? await readMessage(incoming, largestBodyBytes)
    : bodyOf(new Uint8Array(await context.req.arrayBuffer()), largestBodyBytes);
  if ("tooLarge" in body) throw invalid(`The body must not be larger than ${largestBodyBytes / 2 ** 20} MiB`);
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

function faultsOf(body: object): string[] {
  const { faults, ...others } = body as { faults?: string[] };
  const [other] = Object.keys(others);
  if (other !== undefined) throw wrong(other, "is not known here");
  if (!Array.isArray(faults)) throw wrong("faults", "must be an array");
  return faults;
}

function queryOf(context: AdminContext): RequestQuery {
  const entries = Object.entries(context.req.queries());
  return Object.fromEntries(
    entries.map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

/** The database and the file system read a text up to its first NUL. */
function nameOf(context: AdminContext): string {
  return context.req.param("name") ?? "";
}
