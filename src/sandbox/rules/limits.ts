/** The hourly and the monthly limit (specification, Limits): what is spent of them, and what an answer says of that. */
import type { LimitsView } from "../public-types.ts";
import type { AccountRow } from "../store/account.ts";
import type { Store } from "../store/index.ts";
import { type Refusal, tooMany } from "./refusal.ts";

export interface Limits {
  /** Requests per window. */
  hourly: number;
  windowSeconds: number;
  /** Requests per calendar month, UTC; set for this process, until the owner sets another. */
  monthly?: number;
}

/** The service's own figures. */
export const defaultLimits = { hourly: 3600, windowSeconds: 3600 };
/** 366 days. */
export const maxWindowSeconds = 31_622_400;
/** That of a paid plan of 1,000 contacts. */
export const defaultMonthlyLimit = 100_000;

/** What changes of the limits; `used` is what counts as spent from now on. */
export interface LimitsUpdate extends Partial<Limits> {
  used?: { hour?: number; month?: number };
}

/** The headers of every answer to the key; or the refusal, with the headers it carries. */
export interface Admission {
  headers: Record<string, string>;
  refusal?: Refusal;
}

export interface AccountLimits {
  /** Takes one request from both limits, or none when either is used up. @param now the service's time */
  spend(account: AccountRow, now: number): Admission;
  /** What a used-up hour is told. @param endsAt when it ends; like `now`, the service's time in milliseconds since the epoch */
  hourIsOver(endsAt: number, now: number): Refusal;
  view(now: number): LimitsView;
  /** Changes them for this process, over the owner's monthly limit too; the caller is in a transaction. */
  set(change: LimitsUpdate, now: number): void;
  /** As they were when the process started, and below them the owner's. */
  restore(): void;
}

/** @param store read once for the revision of the monthly limit, so create it when the process starts */
export function accountLimitsOf(store: Store, initial: Limits): AccountLimits {
  let limits = initial;
  let revisionKnown = store.account.read().monthly_limit_revision;

  function monthlyOf(account: AccountRow): number {
    const isOwners = account.monthly_limit !== null && account.monthly_limit_revision !== revisionKnown;
    return (isOwners ? undefined : limits.monthly) ?? account.monthly_limit ?? defaultMonthlyLimit;
  }

  const hourHeaders = (used: number, endsAt: number) => ({
    "X-RateLimit-Limit": String(limits.hourly),
    "X-RateLimit-Remaining": String(Math.max(0, limits.hourly - used)),
    "X-RateLimit-Reset": String(Math.ceil(endsAt / 1000)),
  });
  const hourIsOver = (endsAt: number, now: number) => {
    const seconds = secondsUntil(endsAt, now);
    const message = `Rate limit exceeded. Retry after ${seconds} seconds.`;
    return tooMany(message, seconds, hourHeaders(limits.hourly, endsAt));
  };

  return {
    hourIsOver,
    spend(account, now) {
      const monthly = monthlyOf(account);
      const { hourEndsAt, hourUsed, monthEndsAt, monthUsed } = windowsOf(account, now, limits);
      if (monthUsed >= monthly) {
        return refused(tooMany("Monthly API quota exceeded.", secondsUntil(monthEndsAt, now)));
      }
      if (hourUsed >= limits.hourly) return refused(hourIsOver(hourEndsAt, now));
      store.account.spend(hourEndsAt, hourUsed + 1, monthEndsAt, monthUsed + 1);
      return {
        headers: {
          ...hourHeaders(hourUsed + 1, hourEndsAt),
          "X-Monthly-Limit": String(monthly),
          "X-Monthly-Remaining": String(Math.max(0, monthly - monthUsed - 1)),
        },
      };
    },
    view(now) {
      const account = store.account.read();
      const { hourUsed, monthUsed } = windowsOf(account, now, limits);
      const { hourly, windowSeconds } = limits;
      return {
        hourly,
        windowSeconds,
        monthly: monthlyOf(account),
        used: { hour: hourUsed, month: monthUsed },
      };
    },
    set({ used, ...change }, now) {
      const account = store.account.read();
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      limits = { ...limits, ...Object.fromEntries(given) };
      if (change.monthly !== undefined) revisionKnown = account.monthly_limit_revision;
      const { hourEndsAt, hourUsed, monthEndsAt, monthUsed } = windowsOf(account, now, limits);
      store.account.spend(hourEndsAt, used?.hour ?? hourUsed, monthEndsAt, used?.month ?? monthUsed);
    },
    restore() {
      limits = initial;
      revisionKnown = store.account.read().monthly_limit_revision;
    },
  };
}

/** The window and the month of this moment, and what is spent of them. */
function windowsOf(account: AccountRow, now: number, { windowSeconds }: Limits) {
  const isSameHour = account.hour_ends_at > now && account.hour_ends_at - now <= windowSeconds * 1000;
  const monthEndsAt = endOfMonth(now);
  return {
    hourEndsAt: isSameHour ? account.hour_ends_at : now + windowSeconds * 1000,
    hourUsed: isSameHour ? account.hour_used : 0,
    monthEndsAt,
    monthUsed: account.month_ends_at === monthEndsAt ? account.month_used : 0,
  };
}

export function refused(refusal: Refusal): Admission {
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
