/**
 * The service as its transports see it: takes a request, and answers it or simulates a fault. There is one
 * way from a request through the rules to the store.
 */
import { getPath, getQueryParams, tryDecodeURIComponent } from "hono/utils/url";
import type { Clock } from "../wire.ts";
import type { TransactionQueue } from "./database.ts";
import type { Fault, Faults } from "./faults.ts";
import {
  type Answer,
  type Body,
  failure,
  parseJsonBody,
  type ReceivedRequest,
  refusalAnswer,
  targetPath,
  toAnswer,
} from "./request.ts";
import type { AccessControl } from "./rules/access-control.ts";
import { type Endpoint, type EndpointInput, runEndpoint } from "./rules/endpoint.ts";
import { endpoints } from "./rules/index.ts";
import type { AccountLimits } from "./rules/limits.ts";
import { forbidden, Refusal } from "./rules/refusal.ts";
import { type Store, serviceTime } from "./store/index.ts";
import type { Variants } from "./variants.ts";

/** An answer, and how it reaches the caller; without an answer the connection is dropped. */
export interface ServiceReply {
  answer?: Answer;
  /** Only the first half of the body arrives. */
  isCut?: boolean;
}

export type Service = (request: ReceivedRequest) => Promise<ServiceReply>;

interface ServiceParts {
  store: Store;
  access: AccessControl;
  limits: AccountLimits;
  queue: TransactionQueue;
  faults: Faults;
  clock: Clock;
  variants: Variants;
  /** Fires when the service closes: then requests that are being delayed are dropped. */
  closing: AbortSignal;
}

export function createService(parts: ServiceParts): Service {
  const { faults, clock, closing } = parts;
  return async (request) => {
    const fault = faults.pick(request.method, targetPath(request.target));
    request.arrivedAt = performance.now();
    request.fault = fault?.kind;
    const instead = fault && answerInstead(parts, fault);
    if (fault?.kind === "reset-before" || instead) {
      await parts.queue.runInTransaction(() => log(parts, request, instead));
      return { answer: instead };
    }
    if (fault?.kind === "delay") {
      await clock.sleep(fault.seconds * 1000, closing).catch(() => {});
      if (closing.aborted) return {};
    }
    const answer = await answerRequest(parts, request);
    return fault?.kind === "reset-after" ? {} : { answer, isCut: fault?.kind === "truncate" };
  };
}

/** What a fault answers in place of the service. */
function answerInstead({ store, limits, clock, variants }: ServiceParts, fault: Fault): Answer | undefined {
  switch (fault.kind) {
    case "429": {
      const now = serviceTime(store, clock);
      const refusal = limits.hourlyLimitReached(now + fault.seconds * 1000, now);
      return applyHeaderVariant(refusalAnswer(refusal), variants);
    }
    case "503":
      return errorAnswer(503, "ServiceUnavailable", "Not available (simulated by --fault)");
    case "500":
      return errorAnswer(500, "InternalError", "Failed (simulated by --fault)");
    default:
      return undefined;
  }
}

function errorAnswer(status: number, errorType: string, message: string): Answer {
  return toAnswer({ status, body: { errors: [{ errorType, message }] }, headers: {} });
}

/**
 * Logs a request in the transaction under way, with every API key in it masked.
 * @param answer absent: the connection is dropped before one
 */
function log({ store, clock }: ServiceParts, request: ReceivedRequest, answer?: Answer, body?: Body): void {
  const { target, fault = null, arrivedAt = performance.now() } = request;
  // The database reads a text up to its first NUL.
  const safe = (text: string) => maskKeys(text).replaceAll("\0", "\ufffd");
  const path = targetPath(target);
  store.requests.add({
    time: serviceTime(store, clock),
    method: request.method,
    path: safe(path),
    query: safe(target.slice(path.length + 1)),
    headers: JSON.stringify(maskHeaders(request.headers)),
    body: body && "bytes" in body && body.bytes.length > 0 ? safe(decoder.decode(body.bytes)) : null,
    status: answer?.status ?? null,
    answer: answer?.text ? maskKeys(answer.text) : null,
    milliseconds: Math.round((performance.now() - arrivedAt) * 100) / 100,
    fault,
  });
}

const decoder = new TextDecoder();
const secretHeaders = ["x-api-key", "authorization", "cookie"];

function maskHeaders(headers: ReceivedRequest["headers"]): ReceivedRequest["headers"] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretHeaders.includes(name) && typeof value === "string" ? mask(value) : value,
    ]),
  );
}

/** Masks whatever looks like a key of this service. In JSON it can stand in a string only. */
function maskKeys(text: string): string {
  return text.includes("ecm_") ? text.replace(/ecm_[a-z]{2}_[A-Za-z0-9]{43}/g, mask) : text;
}

/** The ends of a key tell people which one it is. */
function mask(secret: string): string {
  return secret.length < 20 ? "…" : `${secret.slice(0, 7)}…${secret.slice(-4)}`;
}

/** The paths of all endpoints; those with fewer parameters come first, for their names are no ids. */
const paths = [...new Set(endpoints.map(({ path }) => path))]
  .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`) }))
  .sort((a, b) => a.path.split(":").length - b.path.split(":").length);

interface Route {
  endpoint: Endpoint | undefined;
  parameters: Record<string, string>;
}

function findRoute(method: string, path: string): Route {
  for (const each of paths) {
    const match = each.pattern.exec(path);
    if (!match) continue;
    const isMeant = (endpoint: Endpoint) =>
      endpoint.path === each.path && endpoint.method === method.toLowerCase();
    return { endpoint: endpoints.find(isMeant), parameters: match.groups ?? {} };
  }
  return { endpoint: undefined, parameters: {} };
}

/** Never rejects: what fails is an answer too. */
async function answerRequest(parts: ServiceParts, request: ReceivedRequest): Promise<Answer> {
  try {
    const method = request.method === "HEAD" ? "GET" : request.method;
    const path = getPath({ url: url(request) } as Request);
    if (method === "GET" && path === "/openapi.json") {
      const { describeService } = await import("./openapi.ts");
      return toAnswer({ status: 200, body: describeService(endpoints, request), headers: {} });
    }
    return await exchange(parts, request, findRoute(method, path));
  } catch (error) {
    return failure(error as Error);
  }
}

/** Answers a request and logs it, in one transaction. */
async function exchange(
  parts: ServiceParts,
  request: ReceivedRequest,
  { endpoint: found, parameters }: Route,
): Promise<Answer> {
  const { store, access, queue, clock, variants } = parts;
  const endpoint = variants.literal === "yes" && !found?.literal ? undefined : found;
  const body = endpoint?.body ? await request.readBody() : undefined;
  const answer = await queue.runInTransaction((): Answer => {
    const key = joinHeader(request.headers["x-api-key"]);
    const { now, refusal, ...admission } = access.admit(request.address, key, endpoint?.scope, clock.now());
    const headers = { ...admission.headers, Date: new Date(now).toUTCString() };
    // The database reads a text up to its first NUL: an id with a tail would be taken for the id.
    const parameter = (name: string) =>
      tryDecodeURIComponent(parameters[name] ?? "").replace(/\0.*/s, "\ufffd");
    const input = { store, variants, now, parameter };
    const answer = refusal
      ? refusalAnswer(refusal, headers)
      : runAdmitted({ endpoint, headers, request, input, body });
    log(parts, request, answer, body);
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
function applyHeaderVariant({ headers, ...answer }: Answer, variants: Variants): Answer {
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
