/**
 * The apply step: what the plan says is written, line by line and side by side. Every intent is on the disk
 * before its request leaves, every outcome after it. Nothing else decides what is written.
 */
import { sumCounts } from "../../counts.ts";
import { exitCodes } from "../../errors.ts";
import type { Item, Write } from "../desired.ts";
import { RunStop, toErrorStop } from "../pace/run-stop.ts";
import { isReadById } from "../plan/judge.ts";
import type { Found } from "../plan/lookup.ts";
import { alwaysHasSecondLook } from "../plan/numbers.ts";
import { readPlanBlocks } from "../plan/plan-file.ts";
import {
  isPlanned,
  type Planned,
  type StoredLine,
  toPlannedItem,
  toPlannedWrite,
} from "../plan/plan-line.ts";
import { isScarce, recordInJournal, type Session } from "../plan/session.ts";
import { ContactWrite, type Task } from "./write.ts";

/** @param file the closed plan @throws RunStop after everything under way has ended; or what failed */
export async function applyPlan(session: Session, file: string): Promise<void> {
  const { send, options, judging, ledger } = session;
  const pool = new Pool((error) => {
    // Whatever failed, nothing more may leave.
    send.stop(toErrorStop(error));
  });
  const unseen = new UnseenCreates(session);
  const begin = async (write: ContactWrite): Promise<void> => {
    const { item } = write;
    // A write must not use up what the read right before another, or after its refusal, needs.
    const needsRead = isReadById(item, judging) || ledger.openIntent(item.ref) !== undefined;
    await pool.untilFewerThan(needsRead && isScarce(session) ? 1 : options.concurrency);
    // No other contact may be begun; an open write is settled when the run is resumed.
    if (send.stopped) throw send.stopped;
    const perform = async () => {
      if ((await write.perform()) === "unseen") unseen.add(write);
    };
    pool.add(perform());
  };
  const settleUnseen = async () => {
    await pool.untilFewerThan(1);
    await unseen.settle(begin, () => pool.untilFewerThan(1));
  };
  try {
    for await (const task of readTasks(session, file)) {
      await begin(new ContactWrite(session, task));
      if (unseen.areMany) await settleUnseen();
    }
    await settleUnseen();
  } catch (error) {
    pool.fail(error);
  }
  await pool.end().catch((stop) => {
    unseen.settleAtStop(stop);
    throw stop;
  });
}

/** Contacts of the plan that are not done, in groups that are looked up together where they have to be. */
async function* readTasks(session: Session, file: string): AsyncGenerator<Task> {
  let group = new Group(session);
  for await (const block of readPlanBlocks(file)) {
    for (const line of block.lines) {
      group.add(line, block.at);
      if (group.tasks.length < session.lookup.blockSize) continue;
      yield* group.tasks;
      group = new Group(session);
    }
  }
  yield* group.tasks;
}

/** A second look serves the others of its group for so long. */
const maxContactAgeMilliseconds = 240_000;

/** Contacts whose second look is one search. */
class Group {
  readonly tasks: Task[] = [];
  private readonly session: Session;
  private again: { begunAt: number; found: Promise<ReadonlyMap<number, Found>> } | undefined;

  constructor(session: Session) {
    this.session = session;
  }

  /**
   * Passes over a contact that is done, and notes one that was erased since the plan was made as skipped.
   * @param at when the contact was looked up for the plan
   */
  add(line: StoredLine, at: number): void {
    const { ledger, lookup, judging } = this.session;
    const { apply } = line;
    if (!apply || ledger.isDone(apply.ref)) return;
    if (!isPlanned(apply)) {
      const { ref } = apply;
      recordInJournal(this.session, { kind: "done", ref, outcome: "skipped", code: "suppressed" });
      return;
    }
    const named = { ...apply, ...replaceStandIns(apply, ledger.names) };
    const item = toPlannedItem(line, named, lookup.toIdentity);
    const planned = toPlannedWrite(line, named);
    const { before } = named;
    // Where a contact is read by its id, or leaves, what the plan saw is never enough.
    const isOld = isReadById(item, judging) || alwaysHasSecondLook(planned);
    const seen: Found = {
      contact: before && { _id: before.id, key: line.key },
      at: isOld ? Number.NEGATIVE_INFINITY : at,
    };
    this.tasks.push({ item, planned, before, seen, lookAgain: () => this.lookAgain(item, planned) });
  }

  private async lookAgain(item: Item, planned: Write): Promise<Found> {
    const { judging, lookup } = this.session;
    if (isReadById(item, judging)) return lookup.read(item.contactId!);
    const found = (await this.lookUpAll()).get(item.ref) ?? (await lookup.findOne(item));
    if (found.contact || found.refused || !alwaysHasSecondLook(planned)) return found;
    // A search may hide who is inactive; by the id a contact is there or gone.
    return lookup.read(planned.id);
  }

  /** Contacts that are not written yet are looked up together, once for each time that it is needed. */
  private lookUpAll(): Promise<ReadonlyMap<number, Found>> {
    const { send, lookup, ledger, clock } = this.session;
    const now = clock.now();
    const begunAt = this.again?.begunAt ?? Number.NEGATIVE_INFINITY;
    if (begunAt < send.waitEndedAt || now - begunAt >= maxContactAgeMilliseconds) {
      // What an earlier invocation has left open is settled with the others.
      const isFirst = this.again === undefined;
      const items = this.tasks
        .filter(
          ({ item: { ref }, planned }) =>
            !ledger.isDone(ref) &&
            (planned.kind !== "create" || (isFirst && ledger.openIntent(ref) !== undefined)),
        )
        .map(({ item }) => item);
      this.again = { begunAt: now, found: lookup.findFresh(items) };
    }
    return this.again!.found;
  }
}

/** Work under way: its first failure ends everything, but only after all has come to an end. */
class Pool {
  private readonly running = new Set<Promise<void>>();
  private readonly onFailure: (error: unknown) => void;
  private failure: { error: unknown } | undefined;

  constructor(onFailure: (error: unknown) => void) {
    this.onFailure = onFailure;
  }

  fail(error: unknown): void {
    // A failure that is not a stop says more than the stops that follow from it.
    if (!this.failure || (this.failure.error instanceof RunStop && !(error instanceof RunStop)))
      this.failure = { error };
    this.onFailure(error);
  }

  add(work: Promise<void>): void {
    const ended = work
      .catch((error: unknown) => this.fail(error))
      .finally(() => {
        this.running.delete(ended);
      });
    this.running.add(ended);
  }

  /** Resolves when fewer than so many are under way. @throws what failed */
  async untilFewerThan(limit: number): Promise<void> {
    while (!this.failure && this.running.size >= limit) await Promise.race(this.running);
    if (this.failure) throw this.failure.error;
  }

  /** Resolves when nothing is under way any more. @throws what failed */
  async end(): Promise<void> {
    await Promise.all(this.running);
    if (this.failure) throw this.failure.error;
  }
}

type Wanted = Pick<Planned, "desired" | "before">;

/**
 * What did not exist when the plan was made is named by a stand-in there, and by its id once it was created.
 * Replaces ids alone: a value may read like a stand-in. Pure.
 * @param ids stand-in → id
 */
export function replaceStandIns({ desired, before }: Wanted, ids: ReadonlyMap<string, string>): Wanted {
  if (ids.size === 0) return { desired, before };
  const toRealId = <T extends { id: string }>(value: T): T => ({
    ...value,
    id: ids.get(value.id) ?? value.id,
  });
  return {
    desired: { ...desired, values: desired.values.map(toRealId) },
    before: before && { ...before, values: before.values.map(toRealId) },
  };
}

/** More are settled before the end: they have to fit into memory. */
const maxUnseen = 10_000;
/** A search may lag behind a create: look again after these, in milliseconds. */
const visibilityPausesMilliseconds = [1000, 3000, 10_000];

/**
 * Creates that the service refused as duplicates, and lost ones of people who were suppressed since, while no
 * search showed the contact: a search may lag behind. They are looked up again at the end of the run, after a
 * wait that the whole run makes once.
 */
class UnseenCreates {
  /** Since when each is not seen. */
  private readonly writes = new Map<ContactWrite, number>();
  private readonly session: Session;
  /** Contacts that were done when this invocation began. */
  private readonly doneBefore: number;
  private hasWaited = false;

  constructor(session: Session) {
    this.session = session;
    this.doneBefore = sumCounts(session.ledger.counts);
  }

  get areMany(): boolean {
    return this.writes.size >= maxUnseen;
  }

  add(write: ContactWrite): void {
    this.writes.set(write, this.session.clock.now());
  }

  /**
   * Looks all of them up again. Those that no search shows are skipped: a create of which nobody knows
   * whether it was applied is not counted as created then, since the contact may have been there before.
   */
  async settle(begin: (write: ContactWrite) => Promise<void>, allEnded: () => Promise<void>): Promise<void> {
    const { clock, send } = this.session;
    for (const pause of this.hasWaited ? [0] : visibilityPausesMilliseconds) {
      if (this.writes.size === 0) break;
      if (pause > 0) await clock.sleep(pause, send.ended);
      this.hasWaited = true;
      await this.lookAgain(begin);
      await allEnded();
    }
    this.skipAll();
  }

  /**
   * A run that is stopped tries them again when it is resumed. Where all that this invocation could send was
   * spent on them, the next one would do the same, and the run never get on: then they are skipped now.
   */
  settleAtStop(stop: unknown): void {
    const isBudget = stop instanceof RunStop && stop.failure.exitCode === exitCodes.outOfBudget;
    if (isBudget && sumCounts(this.session.ledger.counts) === this.doneBefore) this.skipAll();
  }

  private skipAll(): void {
    for (const { item, codeUnseen: code } of this.writes.keys())
      recordInJournal(this.session, { kind: "done", ref: item.ref, outcome: "skipped", code });
    this.writes.clear();
  }

  private async lookAgain(begin: (write: ContactWrite) => Promise<void>): Promise<void> {
    const { lookup } = this.session;
    const writes = [...this.writes];
    while (writes.length > 0) {
      const block = writes.splice(0, lookup.blockSize);
      const results = await lookup.findFresh(block.map(([{ item }]) => item));
      for (const [write, refusedAt] of block) {
        const found = results.get(write.item.ref)!;
        if (!found.contact) continue;
        this.writes.delete(write);
        lookup.behavior.learn("searchLag", Math.max(1, Math.round(found.at - refusedAt)));
        write.decideAfterConflict(found);
        await begin(write);
      }
    }
  }
}
