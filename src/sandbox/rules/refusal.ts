/** Refusals: every error answer of the service (specification, Errors). */
import type { WireError } from "../../wire.ts";

/** Thrown by a rule; becomes the answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly error: WireError;
  readonly headers: Record<string, string>;

  constructor(status: number, error: WireError, headers: Record<string, string> = {}) {
    super(error.message);
    this.status = status;
    this.error = error;
    this.headers = headers;
  }
}

/** 400: the input named by `at` is missing or not acceptable. */
export function invalid(message: string, at: { field?: string; fieldId?: string } = {}): Refusal {
  return new Refusal(400, { errorType: "ValidationError", message, ...at });
}

/** 400: something that must be unique exists already. */
export function duplicate(message: string, field: string): Refusal {
  return new Refusal(400, { errorType: "DuplicateFieldError", message, field });
}

/** 400: the supplied `__v` is not the stored one. */
export function stale(what: string): Refusal {
  return new Refusal(400, {
    errorType: "ConcurrencyError",
    message: `The ${what} has been changed since this version`,
    field: "__v",
  });
}

export function unauthorized(message: string): Refusal {
  return new Refusal(401, { errorType: "UnauthorizedError", message });
}

export function forbidden(message: string): Refusal {
  return new Refusal(403, { errorType: "ForbiddenError", message });
}

/** @param why what a test is told in addition; the service says nothing more */
export function notFound(what: string, why?: string): Refusal {
  const message = `${what} not found${why === undefined ? "" : `: ${why}`}`;
  return new Refusal(404, { errorType: "RecordNotFound", message });
}

export function tooMany(
  message: string,
  retryAfterSeconds: number,
  headers: Record<string, string> = {},
): Refusal {
  return new Refusal(
    429,
    { errorType: "TooManyRequestsError", message },
    { "Retry-After": String(retryAfterSeconds), ...headers },
  );
}

/** @returns `contacts[3].key` for the place `contacts[3]` and the member `key` */
export function joinPlace(place: string, member: unknown): string {
  if (typeof member === "number") return `${place}[${member}]`;
  return place === "" ? String(member) : `${place}.${String(member)}`;
}
