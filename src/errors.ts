/**
 * The one error of this program: its kinds, what each kind means for a script, and the exit codes. Everything
 * that fails throws one; `run.ts` alone has it printed and ends with its exit code. This file loads no other.
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

interface KindOfError {
  exitCode: number;
  /** Its stable name in JSON errors, where `details.type` gives no other. */
  type: string;
  /** True when the same command may succeed later without a change. */
  retryable?: boolean;
  applied?: Applied;
}

const kinds = {
  /** A bad flag, argument, file or configuration: nothing was sent. */
  usage: { exitCode: exitCodes.usage, type: "UsageError" },
  /** A write that the reader's own settings forbid; nothing was sent. */
  "read-only": { exitCode: exitCodes.usage, type: "ReadOnlyError" },
  /** No API key, or none that could be obtained. */
  "no key": { exitCode: exitCodes.notAuthorized, type: "NoKeyError" },
  /** A name that resolves to nothing. (A 404 is of the kind `service`.) */
  "not found": { exitCode: exitCodes.notFound, type: "NotFoundError" },
  /** No contact has this key or id. */
  "no contact": { exitCode: exitCodes.notFound, type: "NotFoundError" },
  /** A name that exists already, or a record that has changed since it was read. */
  conflict: { exitCode: exitCodes.conflict, type: "ConflictError" },
  /** Another process holds it. */
  locked: { exitCode: exitCodes.conflict, type: "LockedError", retryable: true },
  budget: { exitCode: exitCodes.outOfBudget, type: "OutOfBudgetError" },
  /** The service answered, and refused or failed. Its status decides about the exit code. */
  service: { exitCode: exitCodes.failed, type: "ServiceError" },
  /** No answer at all: no connection, lost connection, time-out. `applied` says what is known of a write. */
  unreachable: { exitCode: exitCodes.unreachable, type: "UnreachableError", retryable: true },
  /** An answer that is not what the specification says: nothing can be read from it. */
  "unreadable answer": { exitCode: exitCodes.failed, type: "UnreadableAnswerError" },
  /** A plan that was cut off or changed: it says nothing that can be relied on. */
  "damaged plan": { exitCode: exitCodes.usage, type: "PlanDamagedError" },
  /** A journal lost something that was on the disk: what the run did is not known any more. */
  "damaged journal": { exitCode: exitCodes.failed, type: "JournalDamagedError" },
  /** What a run is cannot be read: it can neither be resumed nor undone, and must not be taken for absent. */
  "unreadable run": { exitCode: exitCodes.failed, type: "ManifestError" },
  /** A run whose plan cannot be carried on as things are. */
  "unfit run": { exitCode: exitCodes.usage, type: "EcmError" },
  /** More rows were rejected than allowed. */
  "rejected rows": { exitCode: exitCodes.rejectedRows, type: "TooManyRejectsError" },
  /** The data of a sandbox's folder is damaged, or of another version: `about` says which. */
  "unreadable data": { exitCode: exitCodes.failed, type: "SandboxDataError" },
  /** The suppression list cannot be read or written: nobody may be created until it can. */
  suppressions: { exitCode: exitCodes.failed, type: "SuppressionsError" },
  /** A person answered a question with no: no failure, and not reported as one. */
  declined: { exitCode: exitCodes.failed, type: "DeclinedError", applied: "no" },
  /** Stopped by SIGINT. */
  interrupted: { exitCode: exitCodes.interrupted, type: "InterruptedError", retryable: true },
  /** Stopped by SIGTERM. */
  terminated: { exitCode: exitCodes.terminated, type: "InterruptedError", retryable: true },
  /** What no other kind names; each has a `type` of its own. */
  failed: { exitCode: exitCodes.failed, type: "EcmError" },
} satisfies Record<string, KindOfError>;

type ErrorKind = keyof typeof kinds;

/** For a write that failed: was it carried out by the service? */
export type Applied = "no" | "yes" | "unknown";

/** Which of the three limits a 429 speaks of. */
export type LimitKind = "hour" | "month" | "address";

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
  /** What the answer's headers say of the account's limits. */
  limits?: RateLimits;
  applied?: Applied;
  /** The account's service has no such endpoint: the same command can never succeed. */
  isNotOffered?: boolean;
  /** No connection was made. */
  isUnconnected?: boolean;
  /** True when the same command may succeed later without a change. */
  retryable?: boolean;
  /** A code for what reacts to this error, where its kind says too little. */
  about?: string;
  cause?: unknown;
}

/** What stands beside message and hint. */
type MoreDetails = Omit<ErrorDetails, "hint">;

export class EcmError extends Error {
  readonly kind: ErrorKind;
  readonly exitCode: number;
  readonly details: ErrorDetails;

  /** @param hint what the reader can do next */
  constructor(kind: ErrorKind, message: string, hint?: Hint, details: MoreDetails = {}) {
    super(message, { cause: details.cause });
    const { exitCode, ...usual }: KindOfError = kinds[kind];
    this.kind = kind;
    this.details = { ...usual, ...details, type: details.type ?? usual.type, hint };
    this.name = this.type;
    this.exitCode = kind === "service" ? toExitCode(this.details) : exitCode;
  }

  /** Stable name of the kind of error, as it stands in JSON errors. */
  get type(): string {
    return this.details.type!;
  }
}

type Construct = (message: string, hint?: Hint, details?: MoreDetails) => EcmError;

function constructs(kind: ErrorKind): Construct {
  return (message, hint, details) => new EcmError(kind, message, hint, details);
}

// The kinds that are thrown most.
export const usageError = constructs("usage");
export const notFoundError = constructs("not found");
export const noKeyError = constructs("no key");
export const conflictError = constructs("conflict");
export const unreadableAnswerError = constructs("unreadable answer");
export const failedError = constructs("failed");

type OfKind<K extends ErrorKind> = EcmError & { readonly kind: K };

export function isKind<K extends ErrorKind>(error: unknown, ...wanted: readonly K[]): error is OfKind<K> {
  return error instanceof EcmError && (wanted as readonly ErrorKind[]).includes(error.kind);
}

export type ServiceError = OfKind<"service"> & { readonly details: { status: number } };

export function isServiceError(error: unknown): error is ServiceError {
  return isKind(error, "service");
}

/** Stopped by a signal. */
export function isInterruption(error: unknown): error is OfKind<"interrupted" | "terminated"> {
  return isKind(error, "interrupted", "terminated");
}

/** Whether the service answered with one of these statuses. */
export function hasStatus(error: unknown, ...statuses: number[]): error is ServiceError {
  return isServiceError(error) && statuses.includes(error.details.status);
}

/** Whether the account's service has no such endpoint. */
export function isNotOffered(error: unknown): error is EcmError {
  return error instanceof EcmError && error.details.isNotOffered === true;
}

/**
 * Whether the service says that there is no such record. An endpoint that it does not have says nothing of
 * it.
 */
export function isGoneError(error: unknown): error is ServiceError {
  return hasStatus(error, 404) && !isNotOffered(error);
}

export function isAbout(error: unknown, code: string): error is EcmError {
  return error instanceof EcmError && error.details.about === code;
}

/** @param alternative what the reader can do besides allowing it */
export function readOnlyError(refusal: string, alternative?: string): EcmError {
  const settings = "Leave out --read-only, ECM_READ_ONLY, or the profile's own setting";
  const hint = alternative ? `${settings}; or ${alternative}` : settings;
  return new EcmError("read-only", `Read-only mode: ${refusal}`, hint);
}

/** For a command that can show what it would do. */
export function readOnlyCommandError(): EcmError {
  return readOnlyError("this command would write; nothing was sent", "preview with --dry-run");
}

type StopSignal = "SIGINT" | "SIGTERM";

export function interruptedError(
  signal: StopSignal = "SIGINT",
  hint?: Hint,
  details?: MoreDetails,
): EcmError {
  return signal === "SIGTERM"
    ? new EcmError("terminated", "Terminated", hint, details)
    : new EcmError("interrupted", "Interrupted", hint, details);
}

/** Ctrl-C in place of an answer: every question comes before the first write. */
export function interruptedAtQuestion(): EcmError {
  return interruptedError("SIGINT", "Nothing was changed", { applied: "no" });
}

/** The signal that an interruption came from. */
export function toStopSignal(error: unknown): StopSignal {
  return isKind(error, "terminated") ? "SIGTERM" : "SIGINT";
}

export function declinedError(about?: string): EcmError {
  return new EcmError("declined", "Cancelled; nothing changed", undefined, { about });
}

/** Exit code of an answer by its status and, for a 400, its `errorType` (specification, Errors). */
function toExitCode({ status, type }: ErrorDetails): number {
  if (status === 401 || status === 403) return exitCodes.notAuthorized;
  if (status === 404) return exitCodes.notFound;
  if (status === 429) return exitCodes.outOfBudget;
  if (type === "DuplicateFieldError" || type === "ConcurrencyError") return exitCodes.conflict;
  return exitCodes.failed;
}
