/**
 * The gate that every request passes (specification, Authentication and Limits): blocked addresses, the key, the
 * account's standing, the limits, the scope. In this order; what it counts stays counted whatever comes after.
 */

import type { Facts } from "../store/account.ts";
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

/** @returns the key, and the headers of every answer to it; or the refusal, with the headers it carries */
export interface Admission {
  headers: Record<string, string>;
  refusal?: Refusal;
}

export interface Gate {
  admit(address: string, keyValue: string | undefined, scope: Scope | undefined, now: number): Admission;
}

const accountsWithAccess = new Set(["open", "pending_cancel"]);

/** @param store read once for the revision of the monthly limit, so create the gate when the process starts */
export function gateOf(store: Store, limits: Limits): Gate {
  const revisionAtStart = store.account.read().monthly_limit_revision;

  return {
    admit(address, keyValue, scope, now) {
      const hash = keyValue !== undefined && isKeyValue(keyValue) ? hashOf(keyValue) : "";
      const facts = store.account.facts(address, hash);
      const blockedSeconds = secondsUntil(facts.blocked_until ?? 0, now);
      if (blockedSeconds > 0) {
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
    },
  };

  function noteFailure(address: string, now: number): void {
    const milliseconds = limits.blockSeconds * 1000;
    const count = store.account.noteFailure(address, now, now - milliseconds);
    if (count >= limits.blockAfter) store.account.block(address, now + milliseconds);
  }

  /** Takes one request from both limits, or none when either is used up. */
  function spend(account: Facts, now: number): Admission {
    const isOwners = account.monthly_limit !== null && account.monthly_limit_revision !== revisionAtStart;
    const monthly = (isOwners ? undefined : limits.monthly) ?? account.monthly_limit ?? defaultMonthlyLimit;
    const isSameHour =
      account.hour_ends_at > now && account.hour_ends_at - now <= limits.windowSeconds * 1000;
    const hourEndsAt = isSameHour ? account.hour_ends_at : now + limits.windowSeconds * 1000;
    const hourUsed = isSameHour ? account.hour_used : 0;
    const monthEndsAt = endOfMonth(now);
    const monthUsed = account.month_ends_at === monthEndsAt ? account.month_used : 0;

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
