/** What is left of a plan to be written, and what that costs. */
import type { Lookup } from "../plan/lookup.ts";
import { computePlanPrice, countPlannedWrites, type PlanRest, type Price } from "../plan/numbers.ts";
import type { ClosedPlan } from "../plan/plan-file.ts";
import { isPlanned } from "../plan/plan-line.ts";
import type { RunState } from "../plan/session.ts";
import { countRequestsAfter } from "../runs/folder.ts";
import type { Ledger } from "../runs/ledger.ts";
import type { Contacts } from "./job.ts";

/** What the plan still writes. */
export function subtractSettled({ tally, ledger: { counts } }: RunState): RunState["tally"] {
  const { created, updated, removed, deleted } = tally;
  return {
    ...tally,
    created: Math.max(0, created - counts.created),
    updated: Math.max(0, updated - counts.updated),
    removed: Math.max(0, removed - counts.removed),
    deleted: Math.max(0, deleted - counts.deleted),
  };
}

/** Of a plan that was not applied yet. */
function toPlanRest(tally: RunState["tally"], { behavior, blockSize }: Lookup): PlanRest {
  const { requests, updated, removed, deleted, unsubscribed } = tally;
  const changes = updated + removed + deleted;
  const writes = countPlannedWrites(tally);
  const leaving = unsubscribed + deleted;
  // Where no search tells the status, each is read by its id as well.
  const readById = behavior.get("source") === "common" ? leaving : 0;
  const secondLooks = leaving === 0 ? 0 : Math.ceil(writes / blockSize) + readById;
  return { writes, requests, changes, secondLooks };
}

/** With everything decided the price is exact. */
export async function findPlanPrice(
  state: RunState,
  job: Contacts,
  plan: ClosedPlan | undefined,
  areOld: boolean,
): Promise<Price> {
  const rest =
    areOld && plan
      ? await computeRestOfOldPlan(plan, state.ledger, job)
      : toPlanRest(state.tally, job.lookup);
  const creations = state.ledger.names.size > 0 ? 0 : (job.names?.requestsToCreate ?? 0);
  const statuses = job.lookup.readsStatusById ? (rest.secondLooks ?? 0) : 0;
  const further = creations + statuses + countRequestsAfter(job.after);
  // Who is read by the id is read right before the write in any case.
  const lookedUpTogether = job.judging.looks.by === "id" ? { ...rest, changes: 0, secondLooks: 0 } : rest;
  return computePlanPrice(state, lookedUpTogether, { further, blockSize: job.lookup.blockSize });
}

async function computeRestOfOldPlan({ lines }: ClosedPlan, ledger: Ledger, job: Contacts): Promise<PlanRest> {
  const isReadById = job.judging.looks.by === "id";
  const rest = { writes: 0, requests: 0, changes: 0, searches: 0 };
  const group = new SearchCount(job.lookup);
  for await (const { apply } of lines()) {
    if (!isPlanned(apply) || ledger.isDone(apply.ref)) continue;
    const isExisting = apply.before !== undefined;
    rest.writes++;
    rest.requests += 1 + (isExisting && isReadById ? 1 : 0);
    rest.searches += group.add(isExisting && !isReadById);
  }
  return { ...rest, searches: rest.searches + group.end() };
}

/** Contacts are looked up again in groups of so many lines of the plan, whoever of them has to be. */
class SearchCount {
  private readonly blockSize: number;
  private lines = 0;
  private keys = 0;

  constructor({ blockSize }: Lookup) {
    this.blockSize = blockSize;
  }

  /** @returns the searches of the group that this line ends */
  add(isLookedUp: boolean): number {
    if (isLookedUp) this.keys++;
    return ++this.lines === this.blockSize ? this.end() : 0;
  }

  end(): number {
    const searches = Math.ceil(this.keys / this.blockSize);
    this.lines = 0;
    this.keys = 0;
    return searches;
  }
}
