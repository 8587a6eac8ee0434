/** The application behind both transports: routes, and the one way that a request goes through the rules. */
import type { Result as Match } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import { getPath, getQueryParams, tryDecodeURIComponent } from "hono/utils/url";
import type { Clock } from "../wire.ts";
import { createLogEntry } from "./log-entry.ts";
import {
  type Answer,
  type Body,
  failure,
  parseJsonBody,
  type ReceivedRequest,
  refusalAnswer,
  toAnswer,
} from "./request.ts";
import type { AccessControl } from "./rules/access-control.ts";
import type { Endpoint } from "./rules/endpoint.ts";
import { type EndpointInput, runEndpoint } from "./rules/endpoint.ts";
import { endpoints } from "./rules/index.ts";
import { forbidden, Refusal } from "./rules/refusal.ts";
import type { Store } from "./store/index.ts";
import type { TransactionQueue } from "./transaction-queue.ts";
import type { Variants } from "./variants.ts";

export interface AppParts {
  store: Store;
  access: AccessControl;
  queue: TransactionQueue;
  clock: Clock;
  variants: Variants;
  isLogged: boolean;
}

/** Never rejects: what fails is an answer too. */
export type App = (request: ReceivedRequest) => Promise<Answer>;

/**
 * The target of a method and a path: an endpoint, the OpenAPI description, or nothing that a key has access
 * to.
 */
type Route = Endpoint | "description" | "none";

// These paths look like those of contacts, but their last names are not ids.
const reservedPaths = ["/api/contact/search", "/api/contact/export", "/api/contact/events"];
const hasParameter = ({ path }: Endpoint) => path.includes(":");

/** All accounts share one table of routes. */
const routes = createRoutes();

export function createApp(parts: AppParts): App {
  return async (request) => {
    try {
      const method = request.method === "HEAD" ? "GET" : request.method;
      const matched = routes.match(method, getPath({ url: url(request) } as Request));
      const route = matched[0][0]![0];
      if (route === "description") {
        const { describeService } = await import("./openapi.ts");
        return toAnswer({ status: 200, body: describeService(endpoints, request), headers: {} });
      }
      const isReachable =
        route !== "none" && (parts.variants.literal === "no" || route.literal !== undefined);
      return await exchange(parts, request, isReachable ? route : undefined, pathParameters(matched));
    } catch (error) {
      return failure(error as Error);
    }
  };
}

function createRoutes(): SmartRouter<Route> {
  const routes = new SmartRouter<Route>({ routers: [new RegExpRouter(), new TrieRouter()] });
  const add = (endpoint: Endpoint) => routes.add(endpoint.method.toUpperCase(), endpoint.path, endpoint);
  endpoints.filter((each) => !hasParameter(each)).forEach(add);
  for (const path of reservedPaths) {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) routes.add(method, path, "none");
  }
  endpoints.filter(hasParameter).forEach(add);
  routes.add("GET", "/openapi.json", "description");
  routes.add("ALL", "*", "none");
  return routes;
}

/** The path's parameters, decoded. */
function pathParameters([[first], values]: Match<Route>): (name: string) => string {
  return (name) => {
    const place = first?.[1][name];
    const value = typeof place === "number" ? values?.[place] : place;
    // The database reads a text up to its first NUL: an id with a tail would be taken for the id.
    return tryDecodeURIComponent(value ?? "").replace(/\0.*/s, "\ufffd");
  };
}

/** Answers a request and logs it, in one transaction. */
async function exchange(
  { store, access, queue, clock, variants, isLogged }: AppParts,
  request: ReceivedRequest,
  endpoint: Endpoint | undefined,
  parameter: (name: string) => string,
): Promise<Answer> {
  const body = endpoint?.body ? await request.readBody() : undefined;
  const answer = await queue.runInTransaction((): Answer => {
    const key = joinHeader(request.headers["x-api-key"]);
    const admission = access.admit(request.address, key, endpoint?.scope, clock.now());
    const { now, refusal } = admission;
    const headers = { ...admission.headers, Date: new Date(now).toUTCString() };
    const answer = refusal
      ? refusalAnswer(refusal, headers)
      : runAdmitted({
          endpoint,
          headers,
          request,
          input: { store, variants, now, parameter },
          body,
        });
    if (isLogged) {
      const bytes = body && "bytes" in body ? body.bytes : undefined;
      const { status, text } = answer;
      store.requests.add(createLogEntry({ request, body: bytes, status, answer: text, now }));
    }
    return answer;
  });
  return applyHeaderVariant(answer, variants);
}

interface Admitted {
  endpoint: Endpoint | undefined;
  /** The headers of the answer. */
  headers: Record<string, string>;
  request: ReceivedRequest;
  input: Omit<EndpointInput, "readBody" | "readQuery">;
  body: Body | undefined;
}

/** Answers a request that the limits admit; a refusal by its rule is an answer too. */
function runAdmitted({ endpoint, headers, request, input, body }: Admitted): Answer {
  try {
    if (!endpoint) throw forbidden("This endpoint is not accessible via API key");
    const result = runEndpoint(endpoint, {
      ...input,
      readBody: () => parseJsonBody(body!, request.headers["content-type"]),
      readQuery: () => parseQuery(request),
    });
    return toAnswer({ ...result, headers });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refusalAnswer(error, headers);
  }
}

/** Leaves out the headers of the hourly limit, where a variant says so. */
export function applyHeaderVariant({ headers, ...answer }: Answer, variants: Variants): Answer {
  if (variants["hourly-headers"] === "sent") return { ...answer, headers };
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith("X-RateLimit-"));
  return { ...answer, headers: Object.fromEntries(kept) };
}

/** A name that is given more than once stays an array, which no schema takes. */
function parseQuery(request: ReceivedRequest): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(getQueryParams(url(request)) as Record<string, string[]>).map(([name, values]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]),
  );
}

/** The router's functions take whole URLs, and look at what follows the host alone. */
function url({ target }: ReceivedRequest): string {
  return `http://sandbox${target}`;
}

/** Several headers of one name become one. */
function joinHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}
