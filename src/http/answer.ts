/**
 * An answer as it came → the answer that commands read, or the error that it means (specification, Errors).
 * Pure.
 */
import {
  type Applied,
  EcmError,
  type ErrorDetails,
  type LimitKind,
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
  baseUrl?: string,
): ServiceError {
  const { status, headers } = answer;
  const found = parseDocumentedError(answer.text);
  const applied = findApplied(status, request);
  const retryAfterSeconds =
    status === 429 || status === 503 ? readRetryAfter(headers, nowMilliseconds) : undefined;
  const words = describeRefusal(answer, found?.message);
  const missing = hasPath(baseUrl) ? undefined : findMissingOffer(request, status, found);
  const message = toMessage(words, applied, missing);
  const limitKind = status === 429 ? findLimitKind(words, headers, retryAfterSeconds) : undefined;
  const endsAt = formatEnd(retryAfterSeconds, nowMilliseconds);
  const details: ErrorDetails = {
    type: found?.errorType ?? defaultErrorTypes[status],
    field: found?.field,
    fieldId: found?.fieldId,
    retryAfterSeconds,
    applied,
    retryable: status >= 500 || status === 429,
    isNotOffered: missing === undefined ? undefined : true,
    status,
    limit: limitKind,
    limits: readLimits(headers),
  };
  const hint =
    findFormHint(found) ??
    (missing && missingOfferHints[request.effect]) ??
    (baseUrl && findPathHint(baseUrl, status)) ??
    (limitKind && limitHints[limitKind](retryAfterSeconds, endsAt)) ??
    (found || status < 400 ? undefined : findForeignHint(answer)) ??
    statusHint(status, message) ??
    (status >= 500 ? troubleHint(applied, headers["retry-after"] && endsAt) : undefined);
  return new EcmError("service", message, hint, details) as ServiceError;
}

function toMessage(words: string, applied: Applied | undefined, missing: string | undefined): string {
  if (missing !== undefined) return `This account's service does not offer ${missing} (${words})`;
  return applied === "unknown" ? `${words}; the request may have been applied` : words;
}

/** Whether the base URL has a path: then the address may be wrong, rather than the endpoint missing. */
function hasPath(baseUrl: string | undefined): boolean {
  return baseUrl !== undefined && new URL(baseUrl).pathname !== "/";
}

function formatEnd(seconds: number | undefined, nowMilliseconds: number): string | undefined {
  return seconds === undefined ? undefined : formatMoment(nowMilliseconds + seconds * 1000, nowMilliseconds);
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

function findApplied(status: number, request: ApiRequest): Applied | undefined {
  if (request.effect === "read") return undefined;
  return status >= 500 ? "unknown" : "no";
}

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

/** The hint for HTML in place of an error of the API. */
function findForeignHint({ headers, text }: WireAnswer): Hint | undefined {
  const isPage = /html/i.test(headers["content-type"] ?? "") || /^\s*</.test(text);
  return isPage
    ? advise`This answer does not look like the API's: a proxy, a firewall or another server may have sent it; check the base URL with: ${ecm`doctor`}`
    : undefined;
}

/** Which forms prevent the removal of a field (`ContactFieldInUseError`). */
function findFormHint(found: Partial<WireError> | undefined): string | undefined {
  const forms = found?.debug?.affectedForms;
  if (!Array.isArray(forms) || forms.length === 0) return undefined;
  const names = forms.filter(isObject).map(({ _id, name }) => JSON.stringify(toTextOrUndefined(name) ?? _id));
  return `Take the field out of these forms first: ${names.join(", ")}`;
}

/** The service's words, where it has said some; its own failures with their status. */
function describeRefusal(answer: WireAnswer, message: string | undefined): string {
  if (message === undefined) return describeUndocumented(answer);
  return answer.status >= 500 ? `The service answered ${answer.status}: ${message}` : message;
}

function describeUndocumented(answer: WireAnswer): string {
  const { status, headers } = answer;
  if (status >= 300 && status < 400) {
    const target = headers.location;
    return `HTTP ${status}: the service redirects${target ? `, to ${quoteExcerpt(target)}` : ""}; the API key was not sent there`;
  }
  return `HTTP ${status}: ${describeContent(answer)}`;
}

/** An unreadable answer in words: its kind, its length, its first characters. */
function describeContent({ headers, text }: WireAnswer): string {
  if (text.trim() === "") return "it has no body";
  const kind = headers["content-type"] ?? "no content type";
  const encoding = headers["content-encoding"];
  return `${quoteExcerpt(kind)}${encoding ? ` in ${quoteExcerpt(encoding)}` : ""} that begins ${quoteExcerpt(text.trimStart())}`;
}

function statusHint(status: number, message: string): Hint | undefined {
  if (status >= 300 && status < 400)
    return advise`The base URL is not that of the API; check it with: ${ecm`doctor`}`;
  if (status === 401) {
    const key = /expired/i.test(message)
      ? "Create a new key on the account's API Keys page"
      : "Check on the account's API Keys page that the key is active, or create a new one there";
    return advise`${key}, and ${logInAgain()}`;
  }
  if (status === 400 && message.includes("contactSpecification.filters")) {
    return advise`--filter speaks the API's own language (${ecm`help filters`}): for a status use --status, for fields and tags --where`;
  }
  if (status === 403 && /scope/i.test(message)) {
    return "The account's owner can add that scope to the key on the account's API Keys page";
  }
  if (status === 403 && /does not have API access/i.test(message)) {
    return "The account is suspended, past due or closed: its owner sees why, and what to do, on its billing page. The key is fine";
  }
  return undefined;
}

/** A path that the API does not have is refused as if the key were to blame. */
function findPathHint(baseUrl: string, status: number): string | undefined {
  const { origin, pathname } = new URL(baseUrl);
  if (pathname === "/" || (status !== 403 && status !== 404)) return undefined;
  return `The base URL has a path, ${pathname}: give the host alone, ${origin}`;
}

/** The hint for a failure of the service. @param endsAt when it says that it will be back */
function troubleHint(applied: Applied | undefined, endsAt = "in a few minutes"): string {
  return applied === "unknown"
    ? `The service has a problem. See whether the request was applied, then try again ${endsAt}`
    : `The service has a problem: try again ${endsAt}`;
}

/** What to do about each limit, given how long it still lasts and when it ends, where the answer says so. */
const limitHints: Record<LimitKind, (seconds: number | undefined, endsAt: string | undefined) => string> = {
  month: (_seconds, endsAt) =>
    endsAt === undefined
      ? "The monthly quota is used up; ecm does not wait for the next month"
      : `The monthly quota starts anew ${endsAt}; ecm does not wait for it`,
  address(_seconds, endsAt) {
    const wait = endsAt === undefined ? "wait" : `try again ${endsAt}`;
    return `Too many requests with a wrong key came from this IP address: fix the key, and ${wait}`;
  },
  hour: (seconds, endsAt) =>
    endsAt === undefined
      ? "Hourly limit reached: try again later"
      : `Hourly limit reached: try again ${endsAt}, or let the command wait with --max-wait ${seconds}`,
};

function quoteExcerpt(text: string): string {
  const characters = [...text.slice(0, 4 * maxExcerptLength)];
  const excerpt = characters.slice(0, maxExcerptLength).join("");
  return JSON.stringify(excerpt.length < text.length ? `${excerpt}…` : excerpt);
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
