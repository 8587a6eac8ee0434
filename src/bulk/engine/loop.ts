/**
 * The loop of a bulk run: blocks of contacts are looked up and decided, writes go out side by side, never two for one
 * contact, and every outcome is written down.
 */

import { isInactive } from "../../service/contacts.ts";
import type { Item, Work } from "../items.ts";
import { asRunStop } from "../pacing/run-stop.ts";
import { carryOut, requestsFor } from "./apply.ts";
import { decideBlock, type Pending } from "./decide-block.ts";
import { isWrite, outcomeOfWrite } from "./outcomes.ts";
import type { PlanBlock } from "./plan-recorder.ts";
import { createPool } from "./pool.ts";
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
  const { ledger, lookup, send } = session;
  const { concurrency } = session.options;
  const pool = createPool((error) => {
    // Whatever failed, nothing more may leave.
    send.stop(asRunStop(error));
  });
  const busy = new Map<string, Promise<void>>();
  let looking = 0;
  let waitingWrites = 0;
  let writing = 0;
  let furtherRequests = 0;

  try {
    let block: T[] = [];
    for await (const items of work.batches()) {
      for (const item of items) {
        if (ledger.isDone(item.ref)) continue;
        block.push(item);
        if (block.length < lookup.blockSize) continue;
        // What is known from a snapshot is decided without a request: nothing else would notice the end.
        if (send.stopped) throw send.stopped;
        await startBlock(block, session.plan?.recorder.seal());
        block = [];
      }
    }
    if (block.length > 0) await startBlock(block, session.plan?.recorder.seal());
  } catch (error) {
    pool.fail(error);
  }
  await pool.empty();
  return furtherRequests;

  /** Not before there is room: what is looked up should be acted on while it is fresh. */
  async function startBlock(block: T[], planned?: PlanBlock): Promise<void> {
    await pool.until(() => looking < concurrency && waitingWrites < lookup.blockSize);
    looking++;
    pool.add(
      lookUpAndDecide(block, planned).finally(() => {
        looking--;
      }),
    );
  }

  async function lookUpAndDecide(block: T[], planned?: PlanBlock): Promise<void> {
    const writes = await decideBlock(session, work, block, planned);
    if (isDryRun) {
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
      return;
    }
    waitingWrites += writes.length;
    pool.add(writeEach(writes));
  }

  /** No more at once than may leave: what earlier writes have shown of the service decides about the later ones. */
  async function writeEach(writes: Pending<T>[]): Promise<void> {
    for (const pending of writes) {
      await pool.until(() => writing < concurrency);
      writing++;
      pool.add(
        writeAlone(pending).finally(() => {
          writing--;
          waitingWrites--;
        }),
      );
    }
  }

  /** Two names for one contact must not be written at the same time. */
  async function writeAlone({ item, found, decision }: Pending<T>): Promise<void> {
    const id = "contactId" in decision ? decision.contactId : undefined;
    const before = id === undefined ? undefined : busy.get(id);
    const own = (async () => {
      await before?.catch(() => undefined);
      await carryOut({ session, work, item }, { found, decision });
    })();
    if (id === undefined) return own;
    busy.set(id, own);
    await own.finally(() => {
      if (busy.get(id) === own) busy.delete(id);
    });
  }
}
