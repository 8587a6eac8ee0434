/**
 * What every request is checked for first (specification, Authentication and Limits): blocked addresses, the key, the
 * account's standing, the limits, the scope. In this order; what it counts stays counted whatever comes after.
 */
import type { Facts } from "../store/account.ts";
import type { Store } from "../store/index.ts";
import { hashOf, isKeyValue, type Scope } from "../store/keys.ts";
import { timeBy } from "../store/settings.ts";
import { type AccountLimits, type Admission, refused, secondsUntil } from "./limits.ts";
import { forbidden, type Refusal, tooMany, unauthorized } from "./refusal.ts";

export interface Blocking {
  /** Failed authentications of one address that block it. */
  blockAfter: number;
  /** How long failures are counted together, and how long the block lasts. */
  blockSeconds: number;
}

export const defaultBlocking: Blocking = { blockAfter: 20, blockSeconds: 60 };

export interface AccessControl {
  /**
   * @param realNow milliseconds since the epoch; the service's own time may be another
   * @returns `now`: the service's time; `isEventDue`: something that follows from a mail has happened by now
   */
  admit(
    address: string,
    keyValue: string | undefined,
    scope: Scope | undefined,
    realNow: number,
  ): Admission & { now: number; isEventDue: boolean };
}

const accountsWithAccess = new Set(["open", "pending_cancel"]);

export function accessControlOf(
  store: Store,
  limits: AccountLimits,
  { blockAfter, blockSeconds }: Blocking,
): AccessControl {
  let hashed = { value: "", hash: "" };

  function decide(facts: Facts, address: string, scope: Scope | undefined, now: number): Admission {
    const blockedSeconds = secondsUntil(facts.blocked_until ?? 0, now);
    // A block of longer than a block lasts was made before the clock was set back.
    if (blockedSeconds > 0 && blockedSeconds <= blockSeconds) {
      return refused(
        tooMany("Too many failed authentication attempts. Please try again later.", blockedSeconds),
      );
    }
    const unknown = refuseKey(facts, now);
    if (unknown) {
      noteFailure(address, now);
      return refused(unknown);
    }
    const spent = limits.spend(facts, now);
    if (!accountsWithAccess.has(facts.status)) {
      return { ...spent, refusal: forbidden("Account does not have API access") };
    }
    if (spent.refusal) return spent;
    if (scope && !grants(JSON.parse(facts.scopes!), scope)) {
      return { ...spent, refusal: forbidden(`API key missing required scope: ${scope}`) };
    }
    return spent;
  }

  function noteFailure(address: string, now: number): void {
    const milliseconds = blockSeconds * 1000;
    const count = store.account.noteFailure(address, now, now - milliseconds);
    if (count >= blockAfter) store.account.block(address, now + milliseconds);
  }

  return {
    admit(address, keyValue, scope, realNow) {
      if (keyValue !== hashed.value) {
        hashed = { value: keyValue ?? "", hash: isKeyValue(keyValue ?? "") ? hashOf(keyValue!) : "" };
      }
      const facts = store.account.facts(address, hashed.hash);
      const now = timeBy(facts, realNow);
      const isEventDue = facts.next_event_at !== null && facts.next_event_at <= now;
      return { ...decide(facts, address, scope, now), now, isEventDue };
    },
  };
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
