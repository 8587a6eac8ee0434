/** A person who moves from one key to another: two contacts, written one after the other. */
import { isInactive } from "../../api/contacts.ts";
import { advise, ecm, formatHint, toOperands } from "../../hint.ts";
import type { Decision, Item } from "../items.ts";
import type { Found } from "../plan/found.ts";
import { joinFormers, listUnknown } from "../plan/planned-moves.ts";
import { recordInJournal, type Session } from "../plan/session.ts";
import type { Task } from "./outcomes.ts";
import { findOne } from "./read-back.ts";

/**
 * Writes a contact that moves only after the one that takes its place was
 * written, by this invocation or an earlier one.
 */
export function createMoveOrder({ ledger, send }: Session) {
  const underWay = new Map<number, Promise<void>>();
  return async (task: Task, work: () => Promise<void>): Promise<void> => {
    const { session, item } = task;
    if (item.follows === undefined) {
      const written = work();
      if (item.movesFrom === undefined) return written;
      underWay.set(item.ref, written);
      return written.finally(() => underWay.delete(item.ref));
    }
    await underWay.get(item.follows);
    if (send.stopped) throw send.stopped;
    if (ledger.isWritten(item.follows)) return work();
    recordInJournal(session, { kind: "done", ref: item.ref, outcome: "skipped", code: "not_moved" });
  };
}

/** Whether somebody who moves has left between the two writes: they meant to leave, under whatever key. */
export function hasLeftMeanwhile({ follows }: Item, { contact }: Found): boolean {
  return follows !== undefined && isInactive(contact);
}

/** Of them. */
export function refuseLeftMeanwhile({ movesTo }: Item): Decision {
  const again = movesTo === undefined ? "unsubscribe the new contact too" : nameUnsubscription(movesTo);
  return {
    kind: "reject",
    code: "left_meanwhile",
    message: `left under the old key while moving to the new one; ${again}`,
  };
}

function nameUnsubscription(key: string): string {
  return formatHint(advise`unsubscribe the new contact too: ${ecm`contact unsubscribe ${toOperands(key)}`}`);
}

/**
 * All contacts of a person as they are now: those that are known by their ids, since a search may lag behind an
 * unsubscription.
 * @param findUnknown who has a key under which nobody was known, by its ref; none while that is fresh
 */
export async function readPerson(
  session: Session,
  item: Item,
  findUnknown: () => Promise<ReadonlyMap<number, Found>>,
): Promise<Found> {
  const { lookup } = session;
  const { movesFrom, others = [] } = item;
  const old = movesFrom && { contact: await lookup.read(movesFrom.contactId) };
  const unknown = listUnknown(item).length > 0 ? await findUnknown() : new Map<number, Found>();
  const found = new Map([...unknown, [item.ref, await readNew(session, item)]]);
  for (const { ref, contactId } of others) {
    if (contactId === undefined) continue;
    found.set(ref, { contact: await lookup.read(contactId) });
  }
  await joinFormers([item], found, lookup);
  const joined = found.get(item.ref)!;
  return { others: [], ...joined, ...(old && !joined.old && { old }) };
}

async function readNew(session: Session, item: Item): Promise<Found> {
  const { lookup, ledger } = session;
  if (item.contactId !== undefined) return { contact: await lookup.read(item.contactId) };
  // Only a create that may have been applied is looked for: the service refuses a second one.
  return ledger.openIntent(item.ref) ? findOne(session, item) : {};
}
