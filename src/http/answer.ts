/**
 * An answer as it came → the answer that commands read, or the error that it means (specification, Errors).
 * Pure.
 */
import {
  type Applied,
  EcmError,
  type ErrorDetails,
  type ServiceError,
  unreadableAnswerError,
} from "../errors.ts";
import { advise, ecm, type Hint, logInAgain } from "../hint.ts";
import { isObject, parseJson } from "../json.ts";
import { formatMoment } from "../moments.ts";
import type { ApiAnswer, ApiRequest, RateLimits, WireAnswer, WireError } from "../wire.ts";
import { findLimitKind, readLimits, readRetryAfter } from "./limits.ts";

/** How much of an unexpected body is shown, in characters. */
const maxExcerptLength = 80;

/**
 * A 204 has no body and needs none; nor does a write that was answered 2xx: what such an answer holds is not
 * specified, and a complete one without a word says that the write was carried out.
 * @throws UnreadableAnswerError when the body of a 2xx is not JSON
 */
export function readAnswer<T>(answer: WireAnswer, limits: RateLimits, request: ApiRequest): ApiAnswer<T> {
  const { status, headers, text } = answer;
  const isWrite = request.effect === "write";
  const isEmptyByRight = isWrite || status === 204 || status === 205 || request.method === "HEAD";
  const applied = isWrite ? "yes" : undefined;
  const read = { status, headers, text, limits, applied } as const;
  if (isEmptyByRight && text === "") return { ...read, body: undefined as T };
  try {
    return { ...read, body: JSON.parse(text.replace(/^\ufeff/, "")) as T };
  } catch {
    throw unreadableError(answer, request, `The answer is not JSON: ${describeContent(answer)}`);
  }
}

/** The answer as it came, for `expect: "any"`. */
export function toRawAnswer<T>(answer: WireAnswer, limits: RateLimits, problem?: EcmError): ApiAnswer<T> {
  const body = parseJson(answer.text.replace(/^\ufeff/, "")) as T;
  return { ...answer, limits, body, problem };
}

/** A 2xx that cannot be read: a write was applied, whatever its answer would have said. */
export function unreadableError(
  answer: WireAnswer,
  request: ApiRequest,
  message: string,
  hint = advise`Check the base URL with: ${ecm`doctor`}`,
): EcmError {
  const isWrite = request.effect === "write";
  return unreadableAnswerError(isWrite ? `${message}; the request was applied` : message, hint, {
    status: answer.status,
    applied: isWrite ? "yes" : undefined,
  });
}

/** What to do about an answer that broke off. */
export const brokenAnswerHints: Record<ApiRequest["effect"], Hint> = {
  write: "Look at what it changed before you send it again",
  read: advise`Run the same command again; where it happens each time, look at the network with: ${ecm`doctor`}`,
};

/**
 * The error that an answer outside 2xx means.
 * @param nowMilliseconds for a `Retry-After` that is a date
 * @param baseUrl whose path may be what is refused
 */
export function toServiceError(
  answer: WireAnswer,
  request: ApiRequest,
  nowMilliseconds: number,
  baseUrl = "http://localhost",
): ServiceError {
  const { status, headers } = answer;
  const found = parseDocumentedError(answer.text);
  const words = describeRefusal(answer, found?.message);
  const applied = findApplied(status, request);
  const tellsEnd = status === 429 || status === 503;
  const retryAfterSeconds = tellsEnd ? readRetryAfter(headers, nowMilliseconds) : undefined;
  const { origin, pathname } = new URL(baseUrl);
  // With a path the address may be wrong, rather than the endpoint missing.
  const missing = pathname === "/" ? findMissingOffer(request, status, found) : undefined;
  const details: ErrorDetails = {
    type: found?.errorType ?? defaultErrorTypes[status],
    field: found?.field,
    fieldId: found?.fieldId,
    retryAfterSeconds,
    applied,
    retryable: status >= 500 || status === 429,
    isNotOffered: missing === undefined ? undefined : true,
    status,
    about: findCode(status, words),
    limit: status === 429 ? findLimitKind(words, headers, retryAfterSeconds) : undefined,
    limits: readLimits(headers),
  };
  const end: number | undefined = retryAfterSeconds && nowMilliseconds + retryAfterSeconds * 1000;
  const endsAt = formatMoment(end, nowMilliseconds);
  const isWrongPath = pathname !== "/" && (status === 403 || status === 404);
  const hint =
    findFormHint(found) ??
    (missing && missingOfferHints[request.effect]) ??
    (isWrongPath ? `The base URL has a path, ${pathname}: give the host alone, ${origin}` : undefined) ??
    findLimitHint(details, endsAt) ??
    findStatusHint(details, words, headers["retry-after"] && endsAt) ??
    (found ? undefined : foreignHint);
  return new EcmError("service", toMessage(words, applied, missing), hint, details) as ServiceError;
}

const foreignHint = advise`This answer is not the API's: a proxy, a firewall or another server may have sent it; check the base URL with: ${ecm`doctor`}`;

function findApplied(status: number, { effect }: ApiRequest): Applied | undefined {
  if (effect === "read") return undefined;
  return status >= 500 ? "unknown" : "no";
}

function toMessage(words: string, applied: Applied | undefined, missing: string | undefined): string {
  if (missing !== undefined) return `This account's service does not offer ${missing} (${words})`;
  return applied === "unknown" ? `${words}; the request may have been applied` : words;
}

const missingOfferHints: Record<ApiRequest["effect"], Hint> = {
  write: "Nothing was changed by this request. Do it in the service's own pages",
  read: "The service's own pages may show it",
};

/** The errorType where an answer of this status has none. */
const defaultErrorTypes: Record<number, string> = {
  401: "UnauthorizedError",
  403: "ForbiddenError",
  404: "RecordNotFound",
  429: "TooManyRequestsError",
};

/** The first error of a body of the documented form, its message joined with the others'. */
function parseDocumentedError(text: string): Partial<WireError> | undefined {
  const body = parseJson(text);
  const errors = (body as { errors?: unknown } | null)?.errors;
  const list = (Array.isArray(errors) ? errors : [body]).filter(isObject);
  const messages = list.map((each) => each.message).filter(isText);
  const [first] = list;
  if (!first || messages.length === 0) return undefined;
  return {
    message: messages.join("; "),
    errorType: toTextOrUndefined(first.errorType),
    field: toTextOrUndefined(first.field),
    fieldId: toTextOrUndefined(first.fieldId),
    debug: isObject(first.debug) ? first.debug : undefined,
  };
}

/** The service's words, where it has said some; its own failures with their status. */
function describeRefusal(answer: WireAnswer, message: string | undefined): string {
  const { status } = answer;
  if (message !== undefined) return status >= 500 ? `The service answered ${status}: ${message}` : message;
  if (status >= 300 && status < 400)
    return `HTTP ${status}: the service redirects; the API key was not sent there`;
  return `HTTP ${status}: ${describeContent(answer)}`;
}

/** An unreadable answer in words: its kind, its first characters. */
function describeContent({ headers, text }: WireAnswer): string {
  if (text.trim() === "") return "it has no body";
  const kind = headers["content-type"] ?? "no content type";
  return `${quoteExcerpt(kind)} that begins ${quoteExcerpt(text.trimStart())}`;
}

/** Which forms prevent the removal of a field (published reference, `ContactFieldInUseError`). */
function findFormHint(found: Partial<WireError> | undefined): string | undefined {
  const forms = found?.debug?.affectedForms;
  if (!Array.isArray(forms) || forms.length === 0) return undefined;
  const names = forms.filter(isObject).map(({ _id, name }) => JSON.stringify(toTextOrUndefined(name) ?? _id));
  return `Take the field out of these forms first: ${names.join(", ")}`;
}

/** What to do about a limit. @param endsAt when it ends, where the answer says so */
function findLimitHint({ limit, retryAfterSeconds = 0 }: ErrorDetails, endsAt: string | undefined) {
  const later = endsAt ?? "later";
  switch (limit) {
    case "month":
      return endsAt === undefined
        ? "The monthly quota is used up; ecm does not wait for the next month"
        : `The monthly quota starts anew ${endsAt}; ecm does not wait for it`;
    case "address":
      return `Too many requests with a wrong key came from this IP address: fix the key, and try again ${later}`;
    case "hour": {
      // What is longer than the window is no time that anybody should wait for.
      const isWaitedFor = endsAt !== undefined && retryAfterSeconds <= 3600;
      const seconds = Math.max(1, retryAfterSeconds);
      const wait = isWaitedFor ? `, or let the command wait with --max-wait ${seconds}` : "";
      return `Hourly limit reached: try again ${later}${wait}`;
    }
    default:
      return undefined;
  }
}

/** Its words alone tell an account without access from a key without the scope. */
function findCode(status: number, words: string): string | undefined {
  return status === 403 && /does not have API access/i.test(words) ? "no_api_access" : undefined;
}

/** @param endsAt when the service says that it will be back */
function findStatusHint(
  { status = 0, applied, about }: ErrorDetails,
  words: string,
  endsAt = "in a few minutes",
): Hint | undefined {
  if (status === 401) {
    const key = /expired/i.test(words)
      ? "Create a new key on the account's API Keys page"
      : "Check on the account's API Keys page that the key is active, or create a new one there";
    return advise`${key}, and ${logInAgain()}`;
  }
  if (status === 403 && /scope/i.test(words))
    return "The account's owner can add that scope to the key on the account's API Keys page";
  if (about === "no_api_access")
    return "The account is suspended, past due or closed: its owner sees why, and what to do, on its billing page. The key is fine";
  if (status < 500) return undefined;
  const look = applied === "unknown" ? " See whether the request was applied, then" : "";
  return `The service has a problem${look ? `.${look}` : ":"} try again ${endsAt}`;
}

function quoteExcerpt(text: string): string {
  return JSON.stringify(text.length > maxExcerptLength ? `${text.slice(0, maxExcerptLength)}…` : text);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function toTextOrUndefined(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}

/**
 * Endpoints that an account's service may not have: its documents name them without showing them. Each with
 * what it is for, as a sentence says it. The first that fits counts.
 */
const endpoints: [method: RegExp, path: RegExp, what: string][] = [
  [/^DELETE$/, /^\/api\/contact\/[^/]+$/, "the deletion of contacts"],
  [/^GET$/, /^\/api\/contact\/(?:[^/]+\/)?events$/, "events of contacts"],
  [/^GET$/, /^\/api\/contact-structure\/[^/]+$/, "structures one by one"],
  [/^GET$/, /^\/api\/contact-structure\/[^/]+\/lists\/[^/]+$/, "lists one by one"],
  [/^(?:PATCH|PUT)$/, /^\/api\/contact-structure\/[^/]+\/lists\/[^/]+$/, "the renaming of lists"],
  [/^DELETE$/, /^\/api\/contact-structure\/[^/]+\/lists/, "the deletion of lists"],
  [/^GET$/, /^\/api\/email\/campaign/, "campaigns"],
  [/^GET$/, /^\/api\/email\/template/, "templates"],
  [/^GET$/, /^\/api\/email\/domain/, "domains"],
  [/^GET$/, /^\/api\/reports\//, "reports"],
];

/**
 * What this account's service does not offer, judged by its refusal: an endpoint that a key cannot reach, or
 * one that it does not know. A record that does not exist is neither.
 * @param found the refusal, where it has the documented form
 */
function findMissingOffer(
  { method, path }: ApiRequest,
  status: number,
  found: Partial<WireError> | undefined,
): string | undefined {
  const what = endpoints.find(([methods, paths]) => methods.test(method) && paths.test(path))?.[2];
  if (status === 403 && /not accessible via API key/i.test(found?.message ?? ""))
    return what ?? `${method} ${path}`;
  const isUnknown = [404, 405].includes(status) && !/NotFound$/.test(found?.errorType ?? "");
  return isUnknown ? what : undefined;
}
