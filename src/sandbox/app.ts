/** The application behind both transports: routes, and the one way that a request goes through the rules. */
import type { Result as Match } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import { getPath, getQueryParams, tryDecodeURIComponent } from "hono/utils/url";
import type { Clock } from "../wire.ts";
import { jsonOf } from "./body.ts";
import { entryOf } from "./log-entry.ts";
import { type Answer, type ApiRequest, answerOf, failure, type Result, resultOf } from "./request.ts";
import type { AccessControl } from "./rules/access-control.ts";
import type { Endpoint } from "./rules/endpoint.ts";
import { endpoints } from "./rules/index.ts";
import { perform } from "./rules/perform.ts";
import { forbidden, Refusal } from "./rules/refusal.ts";
import { letDueHappen } from "./rules/sending.ts";
import type { Store } from "./store/index.ts";
import type { TakeTurn } from "./transaction-queue.ts";
import type { Variants } from "./variants.ts";

export interface AppParts {
  store: Store;
  access: AccessControl;
  takeTurn: TakeTurn;
  clock: Clock;
  variants: Variants;
  isLogged: boolean;
}

/** Never rejects: what fails is an answer too. */
export type App = (request: ApiRequest) => Promise<Answer>;

/** What answers a method and a path: an endpoint, the description of all of them, or nothing that a key has access to. */
type Route = Endpoint | "description" | "none";

// Beside contacts, under the same path: their names are not taken for ids of contacts.
const notContacts = ["/api/contact/search", "/api/contact/export", "/api/contact/events"];
const hasParameter = ({ path }: Endpoint) => path.includes(":");

export function createApp(parts: AppParts): App {
  const routes = createRoutes();
  return async (request) => {
    try {
      const method = request.method === "HEAD" ? "GET" : request.method;
      const matched = routes.match(method, getPath({ url: urlOf(request) } as Request));
      const route = matched[0][0]![0];
      if (route === "description") {
        const { describeService } = await import("./openapi.ts");
        return answerOf({ status: 200, body: describeService(endpoints, request.headers.host), headers: {} });
      }
      const isReachable =
        route !== "none" && (parts.variants.literal === "no" || route.literal !== undefined);
      return await exchange(parts, request, isReachable ? route : undefined, parametersOf(matched));
    } catch (error) {
      return failure(error as Error);
    }
  };
}

function createRoutes(): SmartRouter<Route> {
  const routes = new SmartRouter<Route>({ routers: [new RegExpRouter(), new TrieRouter()] });
  const add = (endpoint: Endpoint) => routes.add(endpoint.method.toUpperCase(), endpoint.path, endpoint);
  endpoints.filter((each) => !hasParameter(each)).forEach(add);
  for (const path of notContacts) {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) routes.add(method, path, "none");
  }
  endpoints.filter(hasParameter).forEach(add);
  routes.add("GET", "/openapi.json", "description");
  routes.add("ALL", "*", "none");
  return routes;
}

/** The path's parameters, decoded. */
function parametersOf([[first], values]: Match<Route>): (name: string) => string {
  return (name) => {
    const place = first?.[1][name];
    const value = typeof place === "number" ? values?.[place] : place;
    // The database reads a text up to its first NUL: an id with a tail would be taken for the id.
    return tryDecodeURIComponent(value ?? "").replace(/\0.*/s, "\ufffd");
  };
}

async function exchange(
  { store, access, takeTurn, clock, variants, isLogged }: AppParts,
  request: ApiRequest,
  endpoint: Endpoint | undefined,
  parameter: (name: string) => string,
): Promise<Answer> {
  const body = endpoint?.body ? await request.readBody() : undefined;
  const { headers: given } = request;
  const answer = await takeTurn((): Answer => {
    const key = headerOf(given["x-api-key"]);
    const { now, headers, refusal, isEventDue } = access.admit(
      request.address,
      key,
      endpoint?.scope,
      clock.now(),
    );
    const logged = (result: Result): Answer => {
      const answered = answerOf(result);
      if (!isLogged) return answered;
      const bytes = body && "bytes" in body ? body.bytes : undefined;
      const { status, text } = answered;
      store.requests.add(
        entryOf({ request, body: bytes, status, answer: text, now }),
        endpoint?.scope.endsWith(":write"),
      );
      return answered;
    };
    try {
      if (refusal) throw refusal;
      if (!endpoint) throw forbidden("This endpoint is not accessible via API key");
      if (isEventDue) letDueHappen(store, now);
      const done = perform(endpoint, {
        store,
        variants,
        now,
        parameter,
        readBody: () => jsonOf(body!, given["content-type"]),
        readQuery: () => queryOf(request),
      });
      return logged({ ...done, headers });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return logged(resultOf(error, headers));
    }
  });
  return asSent(answer, variants);
}

/** Without the headers of the hour, where variants have it so. */
export function asSent({ headers, ...answer }: Answer, variants: Variants): Answer {
  if (variants["hourly-headers"] === "sent") return { ...answer, headers };
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith("X-RateLimit-"));
  return { ...answer, headers: Object.fromEntries(kept) };
}

/** A name that is given more than once stays an array, which no schema takes. */
function queryOf(request: ApiRequest): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(getQueryParams(urlOf(request)) as Record<string, string[]>).map(([name, values]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]),
  );
}

/** The router's functions take whole URLs, and look behind the host alone. */
function urlOf({ target }: ApiRequest): string {
  return `http://sandbox${target}`;
}

/** Several of one name are one, joined. */
function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}
