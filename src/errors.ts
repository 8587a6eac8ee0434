/**
 * The error family and the exit-code table. Everything that fails throws one of these; `run.ts` alone
 * prints them and turns them into an exit code. This file loads no other.
 */
import type { Hint } from "./hint.ts";
import type { RateLimits } from "./rate-limits.ts";

/** What each exit code of `ecm` means. Scripts rely on every line. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  rejectedRows: 3,
  notAuthorized: 4,
  notFound: 5,
  conflict: 6,
  outOfBudget: 7,
  unreachable: 8,
  differs: 9,
  interrupted: 130,
  terminated: 143,
} as const;

/** For a write that failed: was it carried out by the service? */
export type Applied = "no" | "yes" | "unknown";

export interface ErrorDetails {
  /** Stable name of the kind of error; the service's own `errorType` where there is one. */
  type?: string;
  /** What the reader can do next, one sentence. */
  hint?: Hint;
  status?: number;
  field?: string;
  fieldId?: string;
  retryAfterSeconds?: number;
  /** RFC 3339: when a bulk run that a limit stopped can be resumed. */
  resumableAt?: string;
  /** The flag that allows what was refused: a command that resumes the run needs it. */
  allowedBy?: readonly string[];
  /** Which limit stands in the way. */
  limit?: LimitKind;
  applied?: Applied;
  /** The account's service has no such endpoint: the same command can never succeed. */
  isNotOffered?: boolean;
  /** No connection was made. */
  isUnconnected?: boolean;
  /** True when the same command may succeed later without a change. */
  retryable?: boolean;
  cause?: unknown;
}

export class EcmError extends Error {
  readonly exitCode: number;
  readonly details: ErrorDetails;

  constructor(exitCode: number, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = details.type ?? "EcmError";
    this.exitCode = exitCode;
    this.details = details;
  }

  /** Stable name of the kind of error, as it stands in JSON errors. */
  get type(): string {
    return this.name;
  }
}

/** A bad flag, argument, file or configuration: nothing was sent. */
export class UsageError extends EcmError {
  constructor(message: string, hint?: Hint, details: ErrorDetails = {}) {
    super(exitCodes.usage, message, { type: "UsageError", hint, ...details });
  }
}

/** A write that the reader's own settings forbid; nothing was sent. */
export class ReadOnlyError extends UsageError {
  /** @param alternative what the reader can do besides allowing it */
  constructor(refusal: string, alternative?: string) {
    const settings = "Leave out --read-only, ECM_READ_ONLY, or the profile's own setting";
    super(`Read-only mode: ${refusal}`, alternative ? `${settings}; or ${alternative}` : settings, {
      type: "ReadOnlyError",
    });
  }

  /** For a command that can show what it would do. */
  static forCommand(): ReadOnlyError {
    return new ReadOnlyError("this command would write; nothing was sent", "preview with --dry-run");
  }
}

/** A name that resolves to nothing. (A 404 of the service is a `ServiceError`.) */
export class NotFoundError extends EcmError {
  constructor(message: string, hint?: Hint, details: ErrorDetails = {}) {
    super(exitCodes.notFound, message, { hint, ...details, type: details.type ?? "NotFoundError" });
  }
}

/** No API key, or none that could be obtained. */
export class NoKeyError extends EcmError {
  constructor(message: string, hint?: Hint) {
    super(exitCodes.notAuthorized, message, { type: "NoKeyError", hint });
  }
}

/** Which of the three limits a 429 speaks of. */
export type LimitKind = "hour" | "month" | "address";

/** The service answered, and refused or failed. */
export class ServiceError extends EcmError {
  readonly status: number;
  readonly limitKind: LimitKind | undefined;
  /** What the answer's headers say of the account's limits. */
  readonly limits: RateLimits;

  constructor(
    message: string,
    {
      limits = {},
      ...details
    }: ErrorDetails & { status: number; limitKind?: LimitKind; limits?: RateLimits },
  ) {
    super(toExitCode(details.status, details.type), message, {
      ...details,
      limit: details.limit ?? details.limitKind,
      type: details.type ?? "ServiceError",
    });
    this.status = details.status;
    this.limitKind = details.limitKind;
    this.limits = limits;
  }
}

/** Whether the service answered with one of these statuses. */
export function hasStatus(error: unknown, ...statuses: number[]): error is ServiceError {
  return error instanceof ServiceError && statuses.includes(error.status);
}

/** Whether the account's service has no such endpoint. */
export function isNotOffered(error: unknown): error is EcmError {
  return error instanceof EcmError && error.details.isNotOffered === true;
}

/** Whether the service says that there is no such record. An endpoint that it does not have says nothing of it. */
export function isGoneError(error: unknown): error is ServiceError {
  return hasStatus(error, 404) && !isNotOffered(error);
}

/** No answer at all: no connection, lost connection, time-out. `applied` says what is known of a write. */
export class UnreachableError extends EcmError {
  constructor(message: string, details: ErrorDetails) {
    super(exitCodes.unreachable, message, { type: "UnreachableError", retryable: true, ...details });
  }
}

/**
 * An answer that is not what the specification says (HTML, truncated, empty): nothing can be read from it.
 */
export class UnreadableAnswerError extends EcmError {
  constructor(message: string, details: ErrorDetails) {
    super(exitCodes.failed, message, { type: "UnreadableAnswerError", ...details });
  }
}

/** Stopped by SIGINT or SIGTERM. */
export class InterruptedError extends EcmError {
  constructor(signal: "SIGINT" | "SIGTERM" = "SIGINT", hint?: Hint, details: ErrorDetails = {}) {
    super(
      signal === "SIGTERM" ? exitCodes.terminated : exitCodes.interrupted,
      signal === "SIGTERM" ? "Terminated" : "Interrupted",
      { type: "InterruptedError", hint, retryable: true, ...details },
    );
  }

  /** Ctrl-C in place of an answer: every question comes before the first write. */
  static atQuestion(): InterruptedError {
    return new InterruptedError("SIGINT", "Nothing was changed", { applied: "no" });
  }
}

export const declinedType = "DeclinedError";

/** A person answered a question with no: no failure, and not reported as one. */
export class DeclinedError extends EcmError {
  constructor() {
    super(exitCodes.failed, "Cancelled; nothing changed", { type: declinedType, applied: "no" });
  }
}

/** Exit code of an answer by its status and, for a 400, its `errorType` (specification, Errors). */
function toExitCode(status: number, errorType?: string): number {
  if (status === 401 || status === 403) return exitCodes.notAuthorized;
  if (status === 404) return exitCodes.notFound;
  if (status === 429) return exitCodes.outOfBudget;
  if (errorType === "DuplicateFieldError" || errorType === "ConcurrencyError") return exitCodes.conflict;
  return exitCodes.failed;
}
