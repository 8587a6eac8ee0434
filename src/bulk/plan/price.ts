/** What a run costs, said before its first write. */
import { formatCount } from "../../counts.ts";
import { EcmError, exitCodes } from "../../errors.ts";
import type { Clock, RateLimits } from "../../wire.ts";
import type { Budget, BudgetOptions } from "../pace/budget.ts";
import type { PacedSend } from "../pace/paced-send.ts";
import { RunStop } from "../pace/run-stop.ts";

/** What has been spent, and what the limits allow. */
export interface Spending {
  send: Pick<PacedSend, "counts">;
  budget: Budget;
  options: BudgetOptions & { concurrency: number };
  clock: Clock;
}

interface Estimate {
  /** Every request of the whole invocation, look-ups and what was sent already included. */
  requests: number;
  /** Under the account's hourly limit. */
  seconds: number;
}

export interface Price {
  estimate: Estimate;
  /** Requests still to be sent. */
  left: number;
  /** Left of the month, less what is reserved; undefined when the service did not say. */
  monthLeft?: number;
  fitsMonth: boolean;
  /** Contacts that would be written; undefined while it is not known. */
  writes?: number;
}

/** Why a run that costs this must not begin; undefined when the month holds it, or the run is limited. */
export function findMonthStop(
  price: Price,
  { maxRequests }: Pick<BudgetOptions, "maxRequests">,
): RunStop | undefined {
  if (price.fitsMonth || maxRequests !== undefined) return undefined;
  return new RunStop(
    "month",
    new EcmError(
      exitCodes.outOfBudget,
      `This needs ${formatCount(price.left)} requests, and ${formatCount(price.monthLeft ?? 0)} are left this month`,
      {
        type: "OutOfBudgetError",
        limit: "month",
        ...(price.monthLeft && { allowedBy: ["--max-requests", `${price.monthLeft}`] }),
        hint: `Do a part of it now with --max-requests ${price.monthLeft ?? 0}, and the rest next month with the same command`,
      },
    ),
  );
}

/** What is left of a plan. */
export interface PlanRest {
  /** Contacts. */
  writes: number;
  /** Requests of the writes, and of the reads right before them. */
  requests: number;
  /** Keys whose look-up is repeated where the run waits before their contact is written. */
  changes: number;
  /** Requests of the second looks that are made in any case. */
  secondLooks?: number;
  /** Searches that repeat the look-ups of an earlier invocation; absent where this one has made them. */
  searches?: number;
}

/**
 * Where a run waits for the hour, those who are still to be
 * changed are looked up again, so many in one search.
 */
export function computePlanPrice(
  { send, budget, options, clock }: Spending,
  { writes, requests, changes, secondLooks = 0, searches }: PlanRest,
  { further, blockSize }: { further: number; blockSize: number },
): Price {
  const hourLeft = budget.limits.hour ? budget.limits.hour.remaining - options.reserve : undefined;
  const later = hourLeft === undefined ? 0 : Math.max(0, requests - Math.max(0, hourLeft));
  const usable = Math.max(1, (budget.limits.hour?.limit ?? 0) - options.reserve);
  const lookedUpAgain =
    secondLooks > 0
      ? secondLooks + Math.ceil(later / usable)
      : Math.ceil(Math.min(changes, later) / blockSize);
  const left = requests + further + (searches ?? lookedUpAgain);
  const price = computePrice({
    spent: send.counts.total,
    left,
    limits: budget.limits,
    reserve: options.reserve,
    concurrency: options.concurrency,
    windowSeconds: budget.windowSeconds,
    now: clock.now() + budget.clockOffset,
  });
  return { ...price, writes };
}

/** Where the limit does not hold a run back, answers do. */
const secondsPerAnswer = 0.2;
const secondsPerHour = 3600;

export interface PriceQuestion {
  spent: number;
  left: number;
  limits: RateLimits;
  reserve: number;
  concurrency: number;
  /** How long a window of the hourly limit is, where it was seen; else an hour. */
  windowSeconds?: number;
  /** Milliseconds, by the service's clock. */
  now: number;
}

export function computePrice(question: PriceQuestion): Price {
  const { spent, left, limits, reserve } = question;
  const monthLeft = limits.month && Math.max(0, limits.month.remaining - reserve);
  return {
    estimate: { requests: spent + left, seconds: Math.ceil(estimateSeconds(question)) },
    left,
    monthLeft,
    fitsMonth: monthLeft === undefined || left <= monthLeft,
  };
}

/** Windows that are used up are waited for; the last one takes as long as its answers do. */
function estimateSeconds({
  left,
  limits,
  reserve,
  concurrency,
  windowSeconds = secondsPerHour,
  now,
}: PriceQuestion): number {
  const toAnswerSeconds = (requests: number) => (requests * secondsPerAnswer) / concurrency;
  const { hour } = limits;
  if (!hour) return toAnswerSeconds(left);
  const usable = Math.max(1, hour.limit - reserve);
  const leftNow = Math.max(0, hour.remaining - reserve);
  if (left <= leftNow) return toAnswerSeconds(left);
  const beyond = left - leftNow;
  const fullWindows = Math.ceil(beyond / usable) - 1;
  const untilReset = hour.reset === undefined ? windowSeconds : Math.max(0, hour.reset - now / 1000);
  return untilReset + fullWindows * windowSeconds + toAnswerSeconds(beyond - fullWindows * usable);
}
