/** Why a run ends before its end: it can be resumed later. */
import { formatCount } from "../../counts.ts";
import { toSystemError } from "../../disk/disk-errors.ts";
import { EcmError, failedError, isInterruption, isKind } from "../../errors.ts";
import { formatMoment } from "../../moments.ts";
import type { BudgetStop } from "./budget.ts";

export type StopReason = BudgetStop | "signal" | "error" | "lock" | "max-rejects";

/** The run ends here and can be resumed later. */
export class RunStop extends Error {
  readonly by: StopReason;
  /** The failure behind it, with its exit code. */
  readonly failure: EcmError;
  /** When the run can be resumed: milliseconds since the epoch; undefined where no limit says so. */
  readonly resumableAt: number | undefined;

  constructor(by: StopReason, failure: EcmError, resumableAt?: number) {
    super(failure.message, { cause: failure });
    this.name = "RunStop";
    this.by = by;
    this.failure = failure;
    this.resumableAt = resumableAt;
  }
}

/**
 * RFC 3339 in whole seconds, rounded up: not a moment before.
 * @param at milliseconds since the epoch; undefined, or beyond what a date can hold: not known
 */
export function formatResetTime(at: number | undefined): string | undefined {
  if (at === undefined || at >= 8.64e15) return undefined;
  return new Date(Math.ceil(at / 1000) * 1000).toISOString().replace(".000Z", "Z");
}

/**
 * `until`: when the limit allows requests again: milliseconds since the epoch, as `now`; undefined where it
 * is not known.
 */
export function toRunStop(
  by: BudgetStop,
  { until, now = 0, maxRequests }: { until?: number; now?: number; maxRequests?: number },
): RunStop {
  const when = formatMoment(until, now);
  const messages: Record<BudgetStop, string> = {
    hour: `Hourly limit reached${when ? `; it resets ${when}` : ""}`,
    month: `Monthly quota used up${when ? `; it resets ${when}` : ""}`,
    address: `The service blocks this IP address after failed logins${when ? `; it answers again ${when}` : ""}`,
    "max-requests": `Stopped at --max-requests ${maxRequests}`,
    until: `Stopped at the time given with --until${when ? `; the hourly limit resets ${when}` : ""}`,
  };
  return new RunStop(
    by,
    new EcmError("budget", messages[by], undefined, {
      limit: by === "hour" || by === "month" || by === "address" ? by : undefined,
      retryAfterSeconds: until === undefined ? undefined : Math.max(0, Math.ceil((until - now) / 1000)),
      resumableAt: formatResetTime(until),
      retryable: true,
    }),
    until,
  );
}

export function reserveError(reserve: number, limit: number): EcmError {
  return new EcmError(
    "unfit run",
    `--reserve ${reserve} leaves nothing of the hourly limit of ${formatCount(limit)}`,
    "Give a smaller --reserve",
  );
}

/**
 * What follows on a run is not paced: a run that leaves too
 * little for it is not complete, and can be resumed.
 * @param further requests @throws RunStop
 */
export function requireRequestsLeft(
  further: number,
  { sent, maxRequests }: { sent: number; maxRequests: number | undefined },
): void {
  if (further > 0 && maxRequests !== undefined && sent + further > maxRequests) {
    throw toRunStop("max-requests", { maxRequests });
  }
}

/** Whatever ended a run, as its stop. */
export function toErrorStop(error: unknown): RunStop {
  if (error instanceof RunStop) return error;
  const by = isInterruption(error) ? "signal" : isKind(error, "locked") ? "lock" : "error";
  return new RunStop(by, toEcmError(error));
}

function toEcmError(error: unknown): EcmError {
  if (error instanceof EcmError) return error;
  return toSystemError(error) ?? failedError((error as Error).message, undefined, { cause: error });
}
