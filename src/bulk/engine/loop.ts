/**
 * The loop of a bulk run: blocks of contacts are looked up and decided, writes go out side by side, never two for one
 * contact, and every outcome is written down.
 */
import { isInactive } from "../../service/contacts.ts";
import type { Item, Work } from "../items.ts";
import { asRunStop } from "../pacing/run-stop.ts";
import { carryOut, requestsFor } from "./apply.ts";
import { decideBlock, type Pending } from "./decide-block.ts";
import { isReadAlone, openBlocks } from "./open-blocks.ts";
import { isWrite, outcomeOfWrite } from "./outcomes.ts";
import type { PlanBlock } from "./plan-recorder.ts";
import { createKeyedQueue, createPool, type Pool } from "./pool.ts";
import { note, type Session } from "./session.ts";

/**
 * Applies the work to every contact that the ledger does not know as done.
 * @param isDryRun decides and counts, and writes nothing
 * @returns in a dry run, the requests that the contacts would need beyond one each
 * @throws RunStop after everything under way has ended; or what failed
 */
export async function runWork<T extends Item>(
  session: Session,
  work: Work<T>,
  isDryRun: boolean,
): Promise<number> {
  const { lookup, send } = session;
  const { concurrency } = session.options;
  const pool = createPool((error) => {
    // Whatever failed, nothing more may leave.
    send.stop(asRunStop(error));
  });
  const writer = createWriter(session, work, pool);
  let looking = 0;
  let furtherRequests = 0;

  async function lookUpAndDecide(block: T[], planned?: PlanBlock): Promise<void> {
    const writes = await decideBlock(session, work, block, planned);
    if (isDryRun) furtherRequests += noteUnsent(session, work, writes);
    else writer.add(writes);
  }

  try {
    for await (const block of openBlocks(session, [work])) {
      // What is known from a snapshot is decided without a request: nothing else would notice the end.
      // The last ones, fewer than a block, are finished all the same.
      const isAlone = isReadAlone(work, block[0]!);
      if (send.stopped && (isAlone || block.length >= lookup.blockSize)) throw send.stopped;
      const planned = session.plan?.recorder.seal();
      // Not before there is room: what is looked up should be acted on while it is fresh.
      const mostUnfinished = isAlone ? concurrency : lookup.blockSize;
      await pool.until(() => looking < concurrency && writer.unfinished < mostUnfinished);
      looking++;
      pool.add(
        lookUpAndDecide(block, planned).finally(() => {
          looking--;
        }),
      );
    }
  } catch (error) {
    pool.fail(error);
  }
  await pool.empty();
  return furtherRequests;
}

/** Counts the writes of a dry run. @returns the requests that they would need beyond one each */
function noteUnsent<T extends Item>(session: Session, work: Work<T>, writes: readonly Pending<T>[]): number {
  let furtherRequests = 0;
  for (const { item, decision, found } of writes) {
    if (!isWrite(decision)) continue;
    furtherRequests += requestsFor(work, item, decision, found.contact) - 1;
    note(session, {
      kind: "done",
      ref: item.ref,
      outcome: outcomeOfWrite(decision.kind, work),
      inactive: isInactive(found.contact) || undefined,
      marked: work.isMarked?.(item, found.contact) || undefined,
    });
  }
  return furtherRequests;
}

/** The writes of a run: side by side, never two for one contact. */
function createWriter<T extends Item>(session: Session, work: Work<T>, pool: Pool) {
  // Two names for one contact must not be written at the same time.
  const inTurn = createKeyedQueue();
  let unfinished = 0;
  let writing = 0;

  /** No more at once than may leave: what earlier writes have shown of the service decides about the later ones. */
  async function writeEach(writes: Pending<T>[]): Promise<void> {
    for (const { item, found, decision } of writes) {
      await pool.until(() => writing < session.options.concurrency);
      writing++;
      const contactId = "contactId" in decision ? decision.contactId : undefined;
      const written = inTurn(contactId, () => carryOut({ session, work, item }, { found, decision }));
      pool.add(
        written.finally(() => {
          writing--;
          unfinished--;
        }),
      );
    }
  }

  return {
    add(writes: Pending<T>[]): void {
      unfinished += writes.length;
      pool.add(writeEach(writes));
    },
    /** Writes that wait or are under way. */
    get unfinished() {
      return unfinished;
    },
  };
}
