/** What the rest of a row run will cost, and whether the month holds it. */

import { EcmError, exitCodes } from "../errors.ts";
import { isWrite } from "./carry-out.ts";
import { type Price, priceOf } from "./estimate.ts";
import type { Item, Work } from "./items.ts";
import { largestBlock } from "./lookup.ts";
import { RunStop } from "./paced-send.ts";
import type { Prepared } from "./row-run.ts";
import type { Session } from "./session.ts";

/**
 * With everything at hand the price is exact; else it is the most that can be needed.
 * @throws RunStop for what the month cannot hold, unless the run is limited
 */
export async function priceWork<T extends Item>(
  { budget, send, options, engine, names }: Prepared,
  session: Session,
  works: Work<T>[],
  contacts: number,
): Promise<Price> {
  // Without a snapshot, every contact may need a look-up and a write.
  const { writes, unknown } = session.lookup.hasSnapshot
    ? await countKnown(session, works)
    : { writes: 0, unknown: contacts };
  const price = priceOf({
    spent: send.counts.total,
    left: Math.ceil(unknown / largestBlock) + unknown + writes + names.requestsToCreate,
    isExact: unknown === 0,
    limits: budget.limits,
    reserve: options.reserve,
    concurrency: options.concurrency,
    now: engine.clock.now() + budget.clockOffset,
  });
  return price;
}

/** @throws RunStop */
export function requireMonth({ options }: Prepared, price: Price): void {
  if (price.fitsMonth || options.maxRequests !== undefined) return;
  throw new RunStop(
    "month",
    new EcmError(
      exitCodes.outOfBudget,
      `this needs ${price.estimate.isExact ? "" : "up to "}${price.left} requests, and the month has ${price.monthLeft} left`,
      {
        type: "OutOfBudgetError",
        hint: "limit the run with --max-requests, and go on when the month is over",
      },
    ),
  );
}

/** Decides on what the snapshot knows; nothing is sent for it. */
async function countKnown<T extends Item>(session: Session, works: Work<T>[]) {
  const { ledger, lookup } = session;
  let writes = 0;
  let unknown = 0;
  for (const work of works) {
    for await (const item of work.items()) {
      if (ledger.isDone(item.ref)) continue;
      const found = lookup.known(item);
      if (!found) unknown++;
      else if (isWrite(work.decide(item, found.contact))) writes++;
    }
  }
  return { writes, unknown };
}
