/** The plans of this session: each a file among the runs until it is applied once, within ten minutes. */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { makePlanFolder } from "../../bulk/index.ts";
import { UsageError } from "../../errors.ts";
import type { Clock } from "../../wire.ts";

const maxPlanAgeMilliseconds = 10 * 60_000;
const maxPlans = 100;

/** A plan file for this process alone. */
export interface PrivatePlan {
  file: string;
  /** Of the plan that was shown. */
  digest: string;
  /** Contacts that it writes; of these, those that go for good. */
  writes: number;
  deletions: number;
  /** Removes the file. What cannot be removed is swept later. */
  remove(): Promise<void>;
}

export interface Plans {
  /** Makes a private place for a plan file. @throws UsageError where none can be made */
  open(): Promise<Pick<PrivatePlan, "file" | "remove">>;
  /** @returns the token, and when it expires (RFC 3339) */
  keep(plan: PrivatePlan): { token: string; expiresAt: string };
  /** What the token stands for; it stays good. @throws as `take` */
  look(token: string): Promise<PrivatePlan>;
  /** Those that can be applied. */
  list(): Promise<ListedPlan[]>;
  /**
   * Uses the token up: the caller removes the plan.
   * @throws UsageError for one that is unknown, used, or too old
   */
  take(token: string): Promise<PrivatePlan>;
  /** Removes the plans that were not applied. */
  close(): Promise<void>;
}

interface ListedPlan extends Pick<PrivatePlan, "writes" | "deletions" | "digest"> {
  token: string;
  expiresAt: string;
}

interface OpenPlan {
  /** Undefined once it was taken or removed. */
  plan: PrivatePlan | undefined;
  expires: number;
  isUsed: boolean;
}

export function createPlans(clock: Clock, stateFolder: string): Plans {
  const plans = new Map<string, OpenPlan>();
  const closing = new AbortController();

  async function removeWhere(isOver: (openPlan: OpenPlan) => boolean): Promise<void> {
    for (const openPlan of [...plans.values()].filter(isOver)) {
      const { plan } = openPlan;
      openPlan.plan = undefined;
      await plan?.remove();
    }
  }

  /** What is too old is gone. */
  const removeOld = () => removeWhere(({ expires }) => clock.now() > expires);

  function find(token: string): OpenPlan & { plan: PrivatePlan } {
    const openPlan = plans.get(token);
    if (!openPlan) throw planRefusedError("No plan of this session has this token");
    if (openPlan.isUsed) throw planRefusedError("This token has already been used");
    const { plan } = openPlan;
    if (!plan) throw planRefusedError("This plan is older than 10 minutes");
    return Object.assign(openPlan, { plan });
  }

  return {
    async open() {
      const folder = await makePlanFolder(stateFolder);
      const remove = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
      return { file: join(folder, "plan.ndjson"), remove };
    },
    keep(plan) {
      const token = randomBytes(16).toString("hex");
      const expires = clock.now() + maxPlanAgeMilliseconds;
      plans.set(token, { plan, expires, isUsed: false });
      for (const [oldest, { plan: left }] of plans) {
        if (plans.size <= maxPlans) break;
        plans.delete(oldest);
        void left?.remove();
      }
      // People's data is not kept for longer than it can be used.
      clock
        .sleep(maxPlanAgeMilliseconds + 1, closing.signal)
        .then(removeOld)
        .catch(() => undefined);
      return { token, expiresAt: new Date(expires).toISOString() };
    },
    async look(token) {
      await removeOld();
      return find(token).plan;
    },
    async list() {
      await removeOld();
      return [...plans].flatMap(([token, { plan, expires }]) => {
        if (!plan) return [];
        const { writes, deletions, digest } = plan;
        return [{ token, expiresAt: new Date(expires).toISOString(), writes, deletions, digest }];
      });
    },
    async take(token) {
      await removeOld();
      const openPlan = find(token);
      const { plan } = openPlan;
      Object.assign(openPlan, { plan: undefined, isUsed: true });
      return plan;
    },
    close() {
      closing.abort();
      return removeWhere(() => true);
    },
  };
}

/** Nothing was written. */
export function planRefusedError(message: string): UsageError {
  return new UsageError(message, "Plan again, and apply the new plan", {
    type: "PlanRefusedError",
    applied: "no",
  });
}
