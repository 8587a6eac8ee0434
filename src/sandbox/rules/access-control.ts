/**
 * What every request is checked for first (specification, Authentication and Limits): blocked addresses, the
 * key, the account's standing, the limits, the scope. In this order; a request that was counted stays
 * counted, also when a later check refuses it.
 */
import type { AccessFacts } from "../store/account.ts";
import type { Store } from "../store/index.ts";
import { hashKey, isKeyValue, type Scope } from "../store/keys.ts";
import { type AccountLimits, type LimitVerdict, refused, secondsUntil } from "./limits.ts";
import { forbidden, type Refusal, tooMany, unauthorized } from "./refusal.ts";

interface Blocking {
  /** Failed authentications of one address that block it. */
  blockAfter: number;
  /** How long failures are counted together, and how long the block lasts. */
  blockSeconds: number;
}

const accountsWithAccess = new Set(["open", "pending_cancel"]);

export class AccessControl {
  private readonly store: Store;
  private readonly limits: AccountLimits;
  private readonly blocking: Blocking;

  constructor(
    store: Store,
    limits: AccountLimits,
    { blockAfter = 20, blockSeconds = 60 }: Partial<Blocking>,
  ) {
    this.store = store;
    this.limits = limits;
    this.blocking = { blockAfter, blockSeconds };
  }

  /**
   * @param realNow milliseconds since the epoch; the service's own time may be another
   * @returns `now`: the service's time
   */
  admit(
    address: string,
    keyValue: string | undefined,
    scope: Scope | undefined,
    realNow: number,
  ): LimitVerdict & { now: number } {
    const keyHash = keyValue !== undefined && isKeyValue(keyValue) ? hashKey(keyValue) : "";
    const facts = this.store.account.accessFacts(address, keyHash);
    const now = realNow + facts.clock_offset;
    return { ...this.decide(facts, address, scope, now), now };
  }

  private decide(facts: AccessFacts, address: string, scope: Scope | undefined, now: number): LimitVerdict {
    const blockedSeconds = secondsUntil(facts.blocked_until ?? 0, now);
    // A block of longer than a block lasts was made before the clock was set back.
    if (blockedSeconds > 0 && blockedSeconds <= this.blocking.blockSeconds) {
      return refused(
        tooMany("Too many failed authentication attempts. Please try again later.", blockedSeconds),
      );
    }
    const invalidKey = refuseKey(facts, now);
    if (invalidKey) {
      this.noteFailure(address, now);
      return refused(invalidKey);
    }
    const admission = this.limits.spend(facts, now);
    if (!accountsWithAccess.has(facts.status)) {
      return { ...admission, refusal: forbidden("Account does not have API access") };
    }
    if (admission.refusal) return admission;
    if (scope && !grants(JSON.parse(facts.scopes!), scope)) {
      return { ...admission, refusal: forbidden(`API key missing required scope: ${scope}`) };
    }
    return admission;
  }

  private noteFailure(address: string, now: number): void {
    const { blockAfter, blockSeconds } = this.blocking;
    const milliseconds = blockSeconds * 1000;
    const count = this.store.account.noteFailure(address, now, now - milliseconds);
    if (count >= blockAfter) this.store.account.block(address, now + milliseconds);
  }
}

/**
 * Malformed, unknown, deleted and inactive keys get the same refusal; an inactive key that has expired is
 * inactive.
 */
function refuseKey(facts: AccessFacts, now: number): Refusal | undefined {
  if (facts.is_active !== 1) return unauthorized("Invalid API key");
  if (facts.expires_at !== null && facts.expires_at <= now) return unauthorized("API key expired");
  return undefined;
}

/** Write implies read for the same resource (specification, Authentication, 5). */
function grants(held: Scope[], needed: Scope): boolean {
  const [resource, access] = needed.split(":");
  return held.includes(needed) || (access === "read" && held.some((scope) => scope === `${resource}:write`));
}
