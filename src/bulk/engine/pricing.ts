/** What the rest of a row run will cost, and whether the month holds it. */

import { isInactive } from "../../service/contacts.ts";
import { largestBlock } from "../account/block-keys.ts";
import type { Found } from "../account/lookup.ts";
import type { AccountSnapshot } from "../account/snapshot.ts";
import type { Item, Work } from "../items.ts";
import { sideBySide } from "../pacing/side-by-side.ts";
import { requestsFor } from "./apply.ts";
import { decideOne } from "./decide-block.ts";
import { monthStop, type Price, priceOfRest } from "./estimate.ts";
import { openBlocks } from "./open-blocks.ts";
import { conclude, isWrite } from "./outcomes.ts";
import type { PlanLine } from "./plan.ts";
import { needsStatus } from "./row-job.ts";
import type { RowRun } from "./row-run.ts";
import type { RunOptions } from "./run-context.ts";
import type { Session } from "./session.ts";
import { collectDecided } from "./without-request.ts";

/** Contacts that one line of the journal settles. */
const refsInRecord = 1000;
/** Lines of a plan that are put in order together. */
const linesAtOnce = 500;

/** What is known of the contacts that are left. */
export interface Known {
  /** Requests for the writes that are decided on already. */
  writes: number;
  /** Contacts that have to be looked up. */
  unknown: number;
}

/** With everything at hand the price is exact; else it is the most that can be needed. */
export function priceWork(rowRun: RowRun & Pick<Session, "lookup">, { writes, unknown }: Known): Price {
  const { lookup, names, job, survey, behavior } = rowRun;
  // Whom the file marks may need a write of the status and one of the fields.
  const further = unknown > 0 && job.unsubscribesMarked ? Math.min(unknown, survey.consent.marked) : 0;
  const isReadById = needsStatus(job) && behavior.get("source") === "common";
  const lookUps = Math.ceil(unknown / lookup.blockSize) + (isReadById ? unknown : 0);
  const left = lookUps + unknown + further + writes + names.requestsToCreate + (job.requestsAfter ?? 0);
  const price = priceOfRest(rowRun, { left, isExact: unknown === 0 });
  return unknown === 0 ? { ...price, writes } : price;
}

/**
 * Whether the most that can be needed is too much for the month although the look-ups alone are not: then looking
 * first tells what is needed, and costs nothing that would not be spent anyway.
 */
export function isWorthLookingFirst({ options, job }: RowRun, price: Price): boolean {
  if (price.fitsMonth || price.estimate.isExact || options.maxRequests !== undefined) return false;
  if (job.members || job.isWithoutInput) return false;
  return Math.ceil(price.left / (largestBlock + 1)) <= (price.monthLeft ?? 0);
}

/**
 * Looks every contact up that is not done, side by side, and keeps what is found in the snapshot.
 * @returns the refs of those whose look-up is refused
 */
export async function lookUpAll<T extends Item>(
  session: Session,
  works: readonly Work<T>[],
  snapshot: AccountSnapshot,
): Promise<ReadonlySet<number>> {
  const { lookup, options, clock } = session;
  let page = 0;
  const refused = new Set<number>();
  const blocks = openBlocks(session, works, (work, item) => work.needsLookup?.(item) ?? true);
  const lookOn = async () => {
    for (let next = await blocks.next(); !next.done; next = await blocks.next()) {
      const found = await lookup.findFresh(next.value);
      const contacts = [...found.values()].flatMap(({ contact }) => (contact ? [contact] : []));
      for (const [ref, each] of found) if (each.refused) refused.add(ref);
      // No total: a snapshot of these keys alone must never pass for one of the account.
      snapshot.add({ page: ++page, pageSize: largestBlock, total: -1, at: clock.now(), contacts });
    }
  };
  await sideBySide(options.concurrency, lookOn);
  return refused;
}

/** @throws RunStop */
export function requireMonth(options: Pick<RunOptions, "maxRequests">, price: Price): void {
  const stop = monthStop(price, options);
  if (stop) throw stop;
}

/**
 * Decides on what the snapshot knows. What needs no write is settled here and now, while the snapshot is fresh: the
 * writes may take days, and notice by themselves when a contact has changed.
 * @param contacts that are left
 */
export async function decideKnown<T extends Item>(
  session: Session,
  works: readonly Work<T>[],
  contacts: number,
): Promise<Known> {
  const { ledger, lookup, send, plan } = session;
  // Without a snapshot, every contact may need a look-up and a write.
  if (!lookup.hasSnapshot) return { writes: 0, unknown: contacts };
  const isOutdated = lookup.isOutdated();
  const decided = collectDecided();
  let writes = 0;
  let unknown = 0;
  let planned: PlanLine[] = [];
  const flushPlan = async () => {
    const lines = planned;
    planned = [];
    await plan?.recorder.seal().fill(lines);
  };

  /** @returns whether enough was decided or planned to be written down */
  const take = (work: Work<T>, item: T): boolean => {
    const found = ledger.openIntent(item.ref) ? undefined : knownOf(lookup, work, item);
    if (!found) {
      unknown++;
      return false;
    }
    const { decision } = decideOne(work, item, found);
    if (plan) planned.push(plan.lineOf(item, decision, found));
    let count = 0;
    if (isWrite(decision)) writes += requestsFor(work, item, decision, found.contact);
    // The first of two writes was applied before a crash: the second was not needed after all.
    else if (isOutdated || ledger.isBegun(item.ref)) unknown++;
    else if (decision.kind === "reject") conclude({ session, work, item }, decision, found.contact);
    else {
      count = decided.add(item.ref, decision, {
        isInactive: isInactive(found.contact),
        isMarked: work.isMarked?.(item, found.contact) ?? false,
      });
    }
    return count >= refsInRecord || planned.length >= linesAtOnce;
  };

  for (const work of works) {
    for await (const items of work.batches()) {
      for (const item of items) {
        if (ledger.isDone(item.ref) || !take(work, item)) continue;
        if (send.stopped) throw send.stopped;
        decided.note(session);
        await flushPlan();
      }
    }
  }
  decided.note(session);
  await flushPlan();
  return { writes, unknown };
}

/** What is known without a request; of someone who is decided without a look-up, everything. */
function knownOf<T extends Item>(lookup: Session["lookup"], work: Work<T>, item: T): Found | undefined {
  return work.needsLookup?.(item) === false ? { isKept: true } : lookup.known(item);
}
