/** The plans of this session: each can be applied once, within ten minutes, while the account is as it was. */
import { createHash, randomBytes } from "node:crypto";
import type { PlanLine } from "../../bulk/plan/plan-line.ts";
import type { Observer } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import type { Clock } from "../../wire.ts";
import { isChange } from "../bulk/difference.ts";

const lifeMilliseconds = 10 * 60_000;
const mostPlans = 100;

/** What a plan said, whatever the order of its lines; compared before the first write. */
export interface Fingerprint {
  account: string;
  lines: string;
}

export interface StoredPlan {
  what: string;
  fingerprint: Fingerprint;
  /** The command line, built again: if a file has moved, the plan is refused. */
  command(): Promise<PlannedCommand>;
}

/** A bulk write without the flags that say whether it is a rehearsal. */
export interface PlannedCommand {
  path: string[];
  flags: string[];
  args?: string[];
  stdin?: string;
}

export interface Plans {
  /** @returns the token, and when it expires (RFC 3339) */
  keep(plan: StoredPlan): { token: string; expiresAt: string };
  /** Uses the token up. @throws UsageError for one that is unknown, used, or too old */
  take(token: string): StoredPlan;
}

export function createPlans(clock: Clock): Plans {
  const plans = new Map<string, { plan: StoredPlan | undefined; expires: number }>();
  return {
    keep(plan) {
      const token = randomBytes(16).toString("hex");
      const expires = clock.now() + lifeMilliseconds;
      plans.set(token, { plan, expires });
      for (const oldest of plans.keys()) {
        if (plans.size <= mostPlans) break;
        plans.delete(oldest);
      }
      return { token, expiresAt: new Date(expires).toISOString() };
    },
    take(token) {
      const kept = plans.get(token);
      if (!kept) throw refused("No plan of this session has this token");
      const { plan, expires } = kept;
      plans.set(token, { plan: undefined, expires });
      if (!plan) throw refused("This token has already been used");
      if (clock.now() > expires) throw refused("This plan is older than 10 minutes");
      return plan;
    },
  };
}

/** Nothing was written. */
export function refused(message: string): UsageError {
  return new UsageError(message, "Plan again, and apply the new plan", {
    type: "PlanRefusedError",
    applied: "no",
  });
}

export interface PlanRecord {
  observer: Observer;
  fingerprint(): Fingerprint;
  /** Lines by their action. */
  counts: Record<string, number>;
  /** The first lines that change something, then the first that are skipped or rejected. */
  sample(): PlanLine[];
  changes(): number;
}

/** Follows a plan without keeping more of it than a sample. @param most lines of the sample */
export function recordPlan(most: number): PlanRecord {
  const counts: Record<string, number> = {};
  const changing: PlanLine[] = [];
  const others: PlanLine[] = [];
  let account = "";
  let changes = 0;
  let sum = 0n;
  return {
    counts,
    observer: {
      opened(name) {
        account = name;
      },
      planned(object) {
        const line = object as PlanLine;
        counts[line.action] = (counts[line.action] ?? 0) + 1;
        // Pages that are read side by side may come in another order.
        const digest = createHash("sha256").update(JSON.stringify(line)).digest("hex");
        sum = (sum + BigInt(`0x${digest}`)) % (1n << 256n);
        const isChanging = isChange(line);
        if (isChanging) changes += 1;
        const shown = isChanging ? changing : others;
        if (line.action !== "unchanged" && shown.length < most) shown.push(line);
      },
    },
    fingerprint: () => ({ account, lines: sum.toString(16) }),
    sample: () => [...changing, ...others].slice(0, most),
    changes: () => changes,
  };
}
