/**
 * What every request is checked for first (specification, Authentication and Limits): blocked addresses, the key, the
 * account's standing, the limits, the scope. In this order; what it counts stays counted whatever comes after.
 */

import type { LimitsView } from "../public-types.ts";
import type { AccountRow, Facts } from "../store/account.ts";
import type { Store } from "../store/index.ts";
import { hashOf, isKeyValue, type Scope } from "../store/keys.ts";
import { forbidden, type Refusal, tooMany, unauthorized } from "./refusal.ts";

export interface Limits {
  /** Requests per window. */
  hourly: number;
  windowSeconds: number;
  /** Requests per calendar month, UTC; set for this process, until the owner sets another. */
  monthly?: number;
  /** Failed authentications of one address that block it. */
  blockAfter: number;
  /** How long failures are counted together, and how long the block lasts. */
  blockSeconds: number;
}

/** The service's own figures; the month is that of a paid plan of 1,000 contacts. */
export const defaultLimits: Limits = { hourly: 3600, windowSeconds: 3600, blockAfter: 20, blockSeconds: 60 };
export const defaultMonthlyLimit = 100_000;

/** The headers of every answer to the key; or the refusal, with the headers it carries. */
export interface Admission {
  headers: Record<string, string>;
  refusal?: Refusal;
}

/** What changes of the limits; `used` is what counts as spent from now on. */
export interface LimitsUpdate {
  hourly?: number;
  windowSeconds?: number;
  monthly?: number;
  used?: { hour?: number; month?: number };
}

export interface AccessControl {
  /**
   * @param realNow milliseconds since the epoch; the service's own time may be another
   * @returns `now`: the service's time
   */
  admit(
    address: string,
    keyValue: string | undefined,
    scope: Scope | undefined,
    realNow: number,
  ): Admission & { now: number };
  limits(now: number): LimitsView;
  /** Changes them for this process, over the owner's monthly limit too; the caller is in a transaction. */
  setLimits(change: LimitsUpdate, now: number): void;
}

const accountsWithAccess = new Set(["open", "pending_cancel"]);

/** @param store read once for the revision of the monthly limit, so create it when the process starts */
export function accessControlOf(store: Store, initial: Limits): AccessControl {
  let limits = initial;
  let hashed = { value: "", hash: "" };
  let revisionKnown = store.account.read().monthly_limit_revision;

  return {
    admit(address, keyValue, scope, realNow) {
      if (keyValue !== hashed.value) {
        hashed = { value: keyValue ?? "", hash: isKeyValue(keyValue ?? "") ? hashOf(keyValue!) : "" };
      }
      const facts = store.account.facts(address, hashed.hash);
      const now = realNow + facts.clock_offset;
      return { ...decide(facts, address, scope, now), now };
    },
    limits(now) {
      const account = store.account.read();
      const { hourUsed, monthUsed } = windowsOf(account, now);
      const { hourly, windowSeconds } = limits;
      return {
        hourly,
        windowSeconds,
        monthly: monthlyOf(account),
        used: { hour: hourUsed, month: monthUsed },
      };
    },
    setLimits({ used, ...change }, now) {
      const account = store.account.read();
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      limits = { ...limits, ...Object.fromEntries(given) };
      if (change.monthly !== undefined) revisionKnown = account.monthly_limit_revision;
      const { hourEndsAt, hourUsed, monthEndsAt, monthUsed } = windowsOf(account, now);
      store.account.spend(hourEndsAt, used?.hour ?? hourUsed, monthEndsAt, used?.month ?? monthUsed);
    },
  };

  function decide(facts: Facts, address: string, scope: Scope | undefined, now: number): Admission {
    const blockedSeconds = secondsUntil(facts.blocked_until ?? 0, now);
    // A block of longer than a block lasts was made before the clock was set back.
    if (blockedSeconds > 0 && blockedSeconds <= limits.blockSeconds) {
      return refused(
        tooMany("Too many failed authentication attempts. Please try again later.", blockedSeconds),
      );
    }
    const unknown = refuseKey(facts, now);
    if (unknown) {
      noteFailure(address, now);
      return refused(unknown);
    }
    const spent = spend(facts, now);
    if (!accountsWithAccess.has(facts.status)) {
      return { ...spent, refusal: forbidden("Account does not have API access") };
    }
    if (spent.refusal) return spent;
    if (scope && !grants(JSON.parse(facts.scopes!), scope)) {
      return { ...spent, refusal: forbidden(`API key missing required scope: ${scope}`) };
    }
    return spent;
  }

  function monthlyOf(account: AccountRow): number {
    const isOwners = account.monthly_limit !== null && account.monthly_limit_revision !== revisionKnown;
    return (isOwners ? undefined : limits.monthly) ?? account.monthly_limit ?? defaultMonthlyLimit;
  }

  /** The window and the month of this moment, and what is spent of them. */
  function windowsOf(account: AccountRow, now: number) {
    const isSameHour =
      account.hour_ends_at > now && account.hour_ends_at - now <= limits.windowSeconds * 1000;
    const monthEndsAt = endOfMonth(now);
    return {
      hourEndsAt: isSameHour ? account.hour_ends_at : now + limits.windowSeconds * 1000,
      hourUsed: isSameHour ? account.hour_used : 0,
      monthEndsAt,
      monthUsed: account.month_ends_at === monthEndsAt ? account.month_used : 0,
    };
  }

  function noteFailure(address: string, now: number): void {
    const milliseconds = limits.blockSeconds * 1000;
    const count = store.account.noteFailure(address, now, now - milliseconds);
    if (count >= limits.blockAfter) store.account.block(address, now + milliseconds);
  }

  /** Takes one request from both limits, or none when either is used up. */
  function spend(account: Facts, now: number): Admission {
    const monthly = monthlyOf(account);
    const { hourEndsAt, hourUsed, monthEndsAt, monthUsed } = windowsOf(account, now);
    if (monthUsed >= monthly) {
      return refused(tooMany("Monthly API quota exceeded.", secondsUntil(monthEndsAt, now)));
    }
    const hourHeaders = (used: number) => ({
      "X-RateLimit-Limit": String(limits.hourly),
      "X-RateLimit-Remaining": String(Math.max(0, limits.hourly - used)),
      "X-RateLimit-Reset": String(Math.ceil(hourEndsAt / 1000)),
    });
    if (hourUsed >= limits.hourly) {
      const seconds = secondsUntil(hourEndsAt, now);
      return refused(
        tooMany(`Rate limit exceeded. Retry after ${seconds} seconds.`, seconds, hourHeaders(limits.hourly)),
      );
    }
    store.account.spend(hourEndsAt, hourUsed + 1, monthEndsAt, monthUsed + 1);
    return {
      headers: {
        ...hourHeaders(hourUsed + 1),
        "X-Monthly-Limit": String(monthly),
        "X-Monthly-Remaining": String(Math.max(0, monthly - monthUsed - 1)),
      },
    };
  }
}

/** Malformed, unknown, deleted and inactive keys are not told apart; an inactive key that has expired is inactive. */
function refuseKey(facts: Facts, now: number): Refusal | undefined {
  if (facts.is_active !== 1) return unauthorized("Invalid API key");
  if (facts.expires_at !== null && facts.expires_at <= now) return unauthorized("API key expired");
  return undefined;
}

/** Write implies read for the same resource (specification, Authentication, 5). */
function grants(held: Scope[], needed: Scope): boolean {
  const [resource, access] = needed.split(":");
  return held.includes(needed) || (access === "read" && held.some((scope) => scope === `${resource}:write`));
}

function refused(refusal: Refusal): Admission {
  return { headers: {}, refusal };
}

function secondsUntil(end: number, now: number): number {
  return Math.max(0, Math.ceil((end - now) / 1000));
}

/** The billing period is the calendar month, UTC. */
export function endOfMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
