/**
 * The loop of a bulk run: blocks of contacts are looked up and decided, writes go out side by side, never two for one
 * contact, and every outcome is written down.
 */

import { isInactive } from "../../service/contacts.ts";
import type { Contact } from "../../wire.ts";
import type { Found } from "../account/lookup.ts";
import type { Decision, Item, Remark, Work } from "../items.ts";
import { asRunStop, RunStop } from "../pacing/run-stop.ts";
import { carryOut, requestsFor } from "./apply.ts";
import { withStatus } from "./decide.ts";
import { conclude, isWrite, outcomeOfWrite, reject } from "./outcomes.ts";
import type { PlanBlock } from "./plan-recorder.ts";
import { readWritten } from "./read-back.ts";
import { note, type Session } from "./session.ts";

interface Pending<T> {
  item: T;
  found: Found;
  decision: Decision;
}

/**
 * Applies the work to every contact that the ledger does not know as done.
 * @param isDryRun decides and counts, and writes nothing
 * @returns in a dry run, the requests that the contacts would need beyond one each
 * @throws RunStop after everything under way has come back; or what failed
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
    for await (const item of work.items()) {
      if (ledger.isDone(item.ref)) continue;
      block.push(item);
      if (block.length < lookup.blockSize) continue;
      // What is known from a snapshot is decided without a request: nothing else would notice the end.
      if (send.stopped) throw send.stopped;
      await startBlock(block, session.plan?.recorder.seal());
      block = [];
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

/** Looks a block up and decides it. What needs no request is written down; the rest is returned. */
async function decideBlock<T extends Item>(
  session: Session,
  work: Work<T>,
  block: readonly T[],
  planned?: PlanBlock,
): Promise<Pending<T>[]> {
  const { ledger, lookup } = session;
  const wanted = block.filter((item) => ledger.openIntent(item.ref) || (work.needsLookup?.(item) ?? true));
  const byKey = wanted.filter((item) => work.contactId?.(item) === undefined);
  const open = byKey.filter((item) => ledger.openIntent(item.ref));
  const found = await lookup.find(byKey.filter((item) => !ledger.openIntent(item.ref)));
  await Promise.all(
    wanted.map(async (item) => {
      const id = work.contactId?.(item);
      if (id !== undefined) found.set(item.ref, { contact: await lookup.read(id), isKept: false });
    }),
  );
  // What may have been written since the snapshot was taken cannot be told from it.
  for (const [ref, each] of await findOpen(session, open)) found.set(ref, each);

  let decided = block.map((item) => decideOne(work, item, found.get(item.ref) ?? { isKept: false }));
  // A create notices by itself that the contact exists; a change is decided on what is not older than minutes,
  // and a deletion or a status, which undo from the journal alone, on what is not older than an hour.
  const unguarded = decided.filter(({ found, decision }) => {
    if (!found.isKept || !decision) return false;
    if (decision.kind === "create") return false;
    if (decision.kind === "change") return lookup.isAging() || changesUnknownLists(decision);
    return lookup.isOutdated();
  });
  if (unguarded.length > 0) {
    const fresh = await lookup.findFresh(unguarded.map(({ item }) => item));
    decided = decided.map((each) => {
      const now = unguarded.includes(each) ? fresh.get(each.item.ref) : undefined;
      return now ? decideOne(work, each.item, now) : each;
    });
  }

  if (planned) {
    await planned.fill(
      decided.map(({ item, found, decision }) =>
        planLine(session, work, {
          item,
          found,
          decision: decision ?? { kind: "reject", ...refusalOf(found) },
        }),
      ),
    );
  }

  const writes: Pending<T>[] = [];
  const unchanged: number[] = [];
  const skipped: Record<string, number[]> = {};
  const marked: number[] = [];
  let inactive = 0;
  for (const { item, found, decision } of decided) {
    if (!decision) {
      reject(session, item, refusalOf(found));
    } else if (isWrite(decision) || ledger.openIntent(item.ref) || ledger.isBegun(item.ref)) {
      writes.push({ item, found, decision });
    } else if (decision.kind === "reject") {
      conclude({ session, work, item }, decision, found.contact);
    } else {
      if (decision.kind === "leave") unchanged.push(item.ref);
      else skipped[decision.code] = [...(skipped[decision.code] ?? []), item.ref];
      if (isInactive(found.contact)) inactive++;
      if (work.isMarked?.(item, found.contact)) marked.push(item.ref);
    }
  }
  if (unchanged.length > 0 || Object.keys(skipped).length > 0) {
    note(session, { kind: "decided", unchanged, skipped, inactive, ...(marked.length > 0 && { marked }) });
  }
  return writes;
}

/** One line for the contact, although a status and a change of fields are two writes. */
function planLine<T extends Item>(session: Session, work: Work<T>, { item, found, decision }: Pending<T>) {
  const { lineOf } = session.plan!;
  const line = lineOf(item, decision, found);
  if (decision.kind !== "status" || !found.contact) return line;
  const next = work.decide(item, withStatus(found.contact, decision.status));
  return isWrite(next) ? { ...line, changes: [...line.changes, ...lineOf(item, next, found).changes] } : line;
}

/** The contacts of writes that may have been applied: created ones by their keys, all others by their ids. */
async function findOpen<T extends Item>(session: Session, items: readonly T[]): Promise<Map<number, Found>> {
  const byKey: T[] = [];
  const found = new Map<number, Found>();
  for (const item of items) {
    const { operation } = session.ledger.openIntent(item.ref)!;
    if (operation.kind === "create" || operation.kind === "change") byKey.push(item);
    else found.set(item.ref, await readWritten(session, item, operation));
  }
  if (byKey.length > 0) {
    for (const [ref, each] of await session.lookup.findFresh(byKey)) found.set(ref, each);
  }
  return found;
}

/** A page of everybody may leave the lists out; a look-up by keys can ask for them list by list. */
function changesUnknownLists({ body, before }: Extract<Decision, { kind: "change" }>): boolean {
  return !before.knewLists && (body.addLists !== undefined || body.removeLists !== undefined);
}

/** Why what the service refuses to look up is rejected. */
function refusalOf({ refused }: Found): Remark {
  return { code: refused!.type, message: refused!.message };
}

function decideOne<T extends Item>(work: Work<T>, item: T, found: Found) {
  const contact: Partial<Contact> | undefined = found.contact;
  return { item, found, decision: found.refused ? undefined : work.decide(item, contact) };
}

/** Promises under way: their first failure ends everything, but only after all have come to an end. */
function createPool(onFailure: (error: unknown) => void) {
  let running = 0;
  let failure: { error: unknown } | undefined;
  let wake: (() => void)[] = [];

  function fail(error: unknown): void {
    // A failure that is not a stop says more than the stops that follow from it.
    if (!failure || (failure.error instanceof RunStop && !(error instanceof RunStop))) failure = { error };
    onFailure(error);
  }

  function nextEnd(): Promise<void> {
    return new Promise((resolve) => wake.push(resolve));
  }

  return {
    fail,
    add(work: Promise<void>): void {
      running++;
      void work.catch(fail).then(() => {
        running--;
        for (const each of wake.splice(0)) each();
      });
    },
    async until(isRoom: () => boolean): Promise<void> {
      while (!failure && !isRoom() && running > 0) await nextEnd();
      if (failure) throw failure.error;
    },
    async empty(): Promise<void> {
      while (running > 0) await nextEnd();
      wake = [];
      if (failure) throw failure.error;
    },
  };
}
