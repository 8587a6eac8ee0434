/**
 * The hourly and the monthly limit (specification, Limits): how much is used of them, and the headers that
 * say so.
 */
import type { LimitsView } from "../public-types.ts";
import type { AccountRow, Usage } from "../store/account.ts";
import type { Store } from "../store/index.ts";
import { type Refusal, tooMany } from "./refusal.ts";

export interface Limits {
  /** Requests per window. */
  hourly: number;
  windowSeconds: number;
  /** Requests per calendar month, UTC, for every process of the folder. Default: as it was set before. */
  monthly?: number;
}

/** 366 days, in seconds. */
export const maxWindowSeconds = 31_622_400;
/** Requests per month of a paid plan of 1,000 contacts. */
export const defaultMonthlyLimit = 100_000;

/** What changes of the limits; `used` is what counts as used from now on. */
interface LimitsUpdate extends Partial<Limits> {
  used?: { hour?: number; month?: number };
}

/** The headers of every answer to the key; or the refusal, with the headers it carries. */
export interface LimitVerdict {
  headers: Record<string, string>;
  refusal?: Refusal;
}

/** The limits of one account: the hour's as this process applies it, the month's for all of them. */
export class AccountLimits {
  private readonly store: Store;
  private readonly initial: Limits;
  private limits: Limits;

  /** By default the hour is the service's. */
  constructor(store: Store, { hourly = 3600, windowSeconds = 3600, monthly }: Partial<Limits>) {
    this.store = store;
    this.initial = { hourly, windowSeconds, monthly };
    this.limits = this.initial;
    if (monthly !== undefined) store.account.setMonthlyLimit(monthly);
  }

  /** Takes one request from both limits, or none when either is used up. @param now the service's time */
  spend(account: AccountRow, now: number): LimitVerdict {
    const monthly = account.monthly_limit ?? defaultMonthlyLimit;
    const usage = currentUsage(account, now, this.limits);
    if (usage.monthUsed >= monthly) {
      return refused(tooMany("Monthly API quota exceeded.", secondsUntil(usage.monthEndsAt, now)));
    }
    if (usage.hourUsed >= this.limits.hourly) return refused(this.hourlyLimitReached(usage.hourEndsAt, now));
    const hourUsed = usage.hourUsed + 1;
    const monthUsed = usage.monthUsed + 1;
    this.store.account.setUsage({ ...usage, hourUsed, monthUsed });
    return {
      headers: {
        ...this.hourHeaders(hourUsed, usage.hourEndsAt),
        "X-Monthly-Limit": String(monthly),
        "X-Monthly-Remaining": String(Math.max(0, monthly - monthUsed)),
      },
    };
  }

  /**
   * The refusal when the hourly limit is used up.
   * @param endsAt when its window ends; like `now`, the service's time
   */
  hourlyLimitReached(endsAt: number, now: number): Refusal {
    const seconds = secondsUntil(endsAt, now);
    const message = `Rate limit exceeded. Retry after ${seconds} seconds.`;
    return tooMany(message, seconds, this.hourHeaders(this.limits.hourly, endsAt));
  }

  view(now: number): LimitsView {
    const account = this.store.account.read();
    const { hourUsed, monthUsed } = currentUsage(account, now, this.limits);
    const { hourly, windowSeconds } = this.limits;
    return {
      hourly,
      windowSeconds,
      monthly: account.monthly_limit ?? defaultMonthlyLimit,
      used: { hour: hourUsed, month: monthUsed },
    };
  }

  /** The caller is in a transaction. */
  set({ used, monthly, ...change }: LimitsUpdate, now: number): void {
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    this.limits = { ...this.limits, ...Object.fromEntries(given) };
    if (monthly !== undefined) this.store.account.setMonthlyLimit(monthly);
    const usage = currentUsage(this.store.account.read(), now, this.limits);
    const { hour = usage.hourUsed, month = usage.monthUsed } = used ?? {};
    this.store.account.setUsage({ ...usage, hourUsed: hour, monthUsed: month });
  }

  /** Sets the limits back to those of the start of the process. */
  restore(): void {
    this.limits = this.initial;
    this.store.account.setMonthlyLimit(this.initial.monthly ?? null);
  }

  private hourHeaders(used: number, endsAt: number): Record<string, string> {
    const { hourly } = this.limits;
    return {
      "X-RateLimit-Limit": String(hourly),
      "X-RateLimit-Remaining": String(Math.max(0, hourly - used)),
      "X-RateLimit-Reset": String(Math.ceil(endsAt / 1000)),
    };
  }
}

/** The window and the month of this moment, and what is used of them. */
function currentUsage(account: AccountRow, now: number, { windowSeconds }: Limits): Usage {
  const isSameHour = account.hour_ends_at > now && account.hour_ends_at - now <= windowSeconds * 1000;
  const monthEndsAt = endOfMonth(now);
  return {
    hourEndsAt: isSameHour ? account.hour_ends_at : now + windowSeconds * 1000,
    hourUsed: isSameHour ? account.hour_used : 0,
    monthEndsAt,
    monthUsed: account.month_ends_at === monthEndsAt ? account.month_used : 0,
  };
}

export function refused(refusal: Refusal): LimitVerdict {
  return { headers: {}, refusal };
}

export function secondsUntil(end: number, now: number): number {
  return Math.max(0, Math.ceil((end - now) / 1000));
}

/** The billing period is the calendar month, UTC. */
export function endOfMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
