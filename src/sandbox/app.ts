/** The application behind both doors: routes, and the one way that a request goes through the rules. */
import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import type { Clock } from "../wire.ts";
import { adminRoot } from "./admin-api/access.ts";
import { jsonOf, readBody } from "./body.ts";
import { entryOf } from "./log-entry.ts";
import type { Endpoint } from "./rules/endpoint.ts";
import { endpoints } from "./rules/index.ts";
import { perform } from "./rules/perform.ts";
import type { Gate } from "./rules/rate-limits-and-auth.ts";
import { forbidden, Refusal } from "./rules/refusal.ts";
import type { Store } from "./store/index.ts";
import type { TakeTurn } from "./transaction-queue.ts";
import type { Variants } from "./variants.ts";

/** What a door tells of a request beside the request itself. */
export interface Bindings {
  /** Where it comes from. */
  address: string;
  /** The message itself, where there is one: its body is read without a detour. */
  incoming?: IncomingMessage;
  /** Fires when the transport closes: answers without an end stop. */
  closing?: AbortSignal;
  /** What goes wrong on purpose with the answer, for the log. */
  fault?: string;
  /** When the request arrived, by the clock of `performance`. */
  arrivedAt?: number;
}

export type App = Hono<{ Bindings: Bindings }>;
type RequestContext = Context<{ Bindings: Bindings }>;

export interface Answer {
  status: number;
  body: unknown;
  headers: Record<string, string>;
  /** The body as JSON, where it has been written already. */
  text?: string;
}

export interface AppParts {
  store: Store;
  gate: Gate;
  takeTurn: TakeTurn;
  clock: Clock;
  /** Answers everything below /__sandbox/. */
  admin(request: Request, bindings: Bindings): Promise<Response>;
  variants: Variants;
  isLogged: boolean;
}

// Beside contacts, under the same path: their names are not taken for ids of contacts.
const notContacts = ["/api/contact/search", "/api/contact/export", "/api/contact/events"];
const hasParameter = ({ path }: Endpoint) => path.includes(":");

export function createApp(parts: AppParts): App {
  const app: App = new Hono();
  const route = (endpoint: Endpoint) =>
    app.on(endpoint.method, endpoint.path, (context) => exchange(parts, context, endpoint));
  endpoints.filter((each) => !hasParameter(each)).forEach(route);
  app.on(["GET", "PUT", "PATCH", "DELETE"], notContacts, (context) => exchange(parts, context, undefined));
  endpoints.filter(hasParameter).forEach(route);
  app.get("/openapi.json", async () => {
    const { describeService } = await import("./openapi.ts");
    return respond({ status: 200, body: describeService(endpoints), headers: {} });
  });
  const admin = (context: RequestContext) => parts.admin(context.req.raw, context.env);
  app.all(adminRoot, admin);
  app.all(`${adminRoot}/*`, admin);
  app.all("*", (context) => exchange(parts, context, undefined));
  app.onError((error) =>
    respond({
      status: 500,
      body: {
        errors: [
          {
            errorType: "InternalError",
            message: `The sandbox failed, and changed nothing: ${error.message}`,
          },
        ],
      },
      headers: {},
    }),
  );
  return app;
}

async function exchange(
  { store, gate, takeTurn, clock, variants, isLogged }: AppParts,
  context: RequestContext,
  endpoint: Endpoint | undefined,
): Promise<Response> {
  const { address, incoming } = context.env;
  const body = endpoint?.body ? await readBody(context.req.raw, incoming) : undefined;
  const answer = await takeTurn((): Answer => {
    const key = context.req.header("x-api-key");
    const { now, headers, refusal } = gate.admit(address, key, endpoint?.scope, clock.now());
    const logged = (answered: Answer): Answer => {
      const text = answered.body === undefined ? "" : JSON.stringify(answered.body);
      if (!isLogged) return { ...answered, text };
      const bytes = body && "bytes" in body ? body.bytes : undefined;
      const { status } = answered;
      store.requests.add(
        entryOf({ request: context.req.raw, bindings: context.env, body: bytes, status, answer: text, now }),
        endpoint?.scope.endsWith(":write"),
      );
      return { ...answered, text };
    };
    try {
      if (refusal) throw refusal;
      if (!endpoint) throw forbidden("This endpoint is not accessible via API key");
      const done = perform(endpoint, {
        store,
        variants,
        now,
        // The database reads a text up to its first NUL: an id with a tail would be taken for the id.
        parameter: (name) => context.req.param(name)?.replace(/\0.*/s, "\ufffd") ?? "",
        readBody: () => jsonOf(body!, context.req.header("content-type")),
        readQuery: () => queryOf(context),
      });
      return logged({ ...done, headers });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return logged({
        status: error.status,
        body: { errors: [error.error] },
        headers: { ...headers, ...error.headers },
      });
    }
  });
  return respond(variants["hourly-headers"] === "sent" ? answer : withoutHour(answer));
}

function withoutHour({ headers, ...answer }: Answer): Answer {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith("X-RateLimit-"));
  return { ...answer, headers: Object.fromEntries(kept) };
}

/** A name that is given more than once stays an array, which no schema takes. */
function queryOf(context: RequestContext): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]),
  );
}

/** An answer as the web knows it. */
export function respond({ status, body, headers, text = JSON.stringify(body) }: Answer): Response {
  if (status === 204 || body === undefined) return new Response(null, { status, headers });
  return new Response(text, {
    status,
    headers: { "Content-Type": "application/json; charset=utf-8", ...headers },
  });
}
