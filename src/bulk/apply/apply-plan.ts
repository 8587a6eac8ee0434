/**
 * The apply step: what the plan says is written, line by line, side by side but never two writes for one
 * contact. Every intent is on the disk before its request leaves, every outcome after it. Nothing else
 * decides what is written.
 */

import { exitCodes } from "../../errors.ts";
import type { Item, Write } from "../items.ts";
import { RunStop, toErrorStop } from "../pace/run-stop.ts";
import { isReadById } from "../plan/judge.ts";
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
import { type Attempt, decided, type Freshness, type Seen, type SentAttempt, type Task } from "./attempt.ts";
import { visibilityPausesMilliseconds } from "./settle.ts";
import { performWrite } from "./write.ts";

/** @param file the closed plan @throws RunStop after everything under way has ended; or what failed */
export async function applyPlan(session: Session, file: string): Promise<void> {
  const { send, options, judging, ledger } = session;
  const pool = createPool((error) => {
    // Whatever failed, nothing more may leave.
    send.stop(toErrorStop(error));
  });
  // Two lines may name one contact.
  const inTurn = createKeyedQueue();
  const unseen = new UnseenCreates(session);
  const begin = async (task: Task, freshness: Freshness, start?: Attempt): Promise<void> => {
    // A write must not use up what the read right before another, or after its refusal, needs.
    const needsRead = isReadById(task.item, judging) || ledger.openIntent(task.item.ref) !== undefined;
    const isAlone = needsRead && isScarce(session);
    await pool.untilFewerThan(isAlone ? 1 : options.concurrency);
    // Nobody who is left may be begun; what is known of an open write is settled when the run is resumed.
    if (send.stopped) throw send.stopped;
    const perform = async () => {
      const sent = await performWrite(task, freshness, start);
      if (sent) unseen.add({ task, sent, freshness });
    };
    pool.add(inTurn(task.item.contactId, perform));
  };
  const settleUnseen = async () => {
    await pool.empty();
    await unseen.settle({ begin, allEnded: pool.empty });
  };
  try {
    for await (const group of readGroups(session, file)) {
      for (const task of group.tasks) {
        await begin(task, group.freshnessFor(task));
        if (unseen.areMany) await settleUnseen();
      }
    }
    await settleUnseen();
  } catch (error) {
    pool.fail(error);
  }
  await pool.empty().catch((stop) => {
    unseen.settleAtStop(stop);
    throw stop;
  });
}

/** Contacts of the plan that are not done, in groups that are looked up together where they have to be. */
async function* readGroups(session: Session, file: string): AsyncGenerator<Group> {
  let tasks: Task[] = [];
  let at = Number.POSITIVE_INFINITY;
  for await (const block of readPlanBlocks(file)) {
    for (const line of block.lines) {
      const task = findTask(session, line);
      if (!task) continue;
      tasks.push(task);
      at = Math.min(at, block.at);
      if (tasks.length < session.lookup.blockSize) continue;
      yield new Group(session, tasks, at);
      tasks = [];
      at = Number.POSITIVE_INFINITY;
    }
  }
  if (tasks.length > 0) yield new Group(session, tasks, at);
}

/**
 * Undefined where nothing is left to be written. Who was erased since the plan was made is noted as skipped.
 */
function findTask(session: Session, line: StoredLine): Task | undefined {
  const { ledger, toIdentity, judging } = session;
  const { apply } = line;
  if (!apply || ledger.isDone(apply.ref)) return undefined;
  if (!isPlanned(apply)) {
    recordInJournal(session, { kind: "done", ref: apply.ref, outcome: "skipped", code: "suppressed" });
    return undefined;
  }
  const wanted = replaceStandIns(apply, ledger.names);
  const item = toPlannedItem(line, { ...apply, ...wanted }, toIdentity);
  const planned = toPlannedWrite(line, { ...apply, ...wanted }, judging.structureId);
  const { before } = wanted;
  const contact = before && { _id: before.id, key: line.key };
  return { session, item, planned, before, seen: { contact, isRemembered: true } };
}

/** Contacts whose second look is one search. */
class Group {
  readonly tasks: readonly Task[];
  private readonly session: Session;
  private readonly at: number;
  private again: { begunAt: number; results: Promise<ReadonlyMap<number, Seen>> } | undefined;

  constructor(session: Session, tasks: readonly Task[], at: number) {
    this.session = session;
    this.tasks = tasks;
    this.at = at;
  }

  freshnessFor({ item, planned, seen: found }: Task): Freshness {
    const { judging, lookup, clock } = this.session;
    if (isReadById(item, judging)) {
      const lookAgain = async (): Promise<Seen> => {
        const contact = await lookup.read(item.contactId!);
        return { found: { contact, isById: true }, at: clock.now() };
      };
      // What the plan saw is never enough.
      return { lastLookUp: { found, at: Number.NEGATIVE_INFINITY }, lookUpAgain: lookAgain };
    }
    const at = alwaysHasSecondLook(planned) ? Number.NEGATIVE_INFINITY : this.at;
    return { lastLookUp: { found, at }, lookUpAgain: () => this.lookUpAgain(item, planned) };
  }

  private async lookUpAgain(item: Item, planned: Write): Promise<Seen> {
    const seen = await this.searchAgain(item);
    const { contact, refused } = seen.found;
    if (contact || refused || !alwaysHasSecondLook(planned)) return seen;
    // A search may hide who is inactive; by the id a contact is there or gone.
    const { lookup, clock } = this.session;
    return { found: { contact: await lookup.read(planned.id), isById: true }, at: clock.now() };
  }

  private async searchAgain(item: Item): Promise<Seen> {
    const results = (await this.lookUpAll()).get(item.ref);
    if (results) return results;
    const { lookup, clock } = this.session;
    const found = (await lookup.findFresh([item])).get(item.ref);
    return { found: found ?? {}, at: clock.now() };
  }

  /** Those who are not written yet are looked up together, once for each time that it is needed. */
  private lookUpAll(): Promise<ReadonlyMap<number, Seen>> {
    const { send, lookup, ledger, clock } = this.session;
    const now = clock.now();
    const begunAt = this.again?.begunAt ?? Number.NEGATIVE_INFINITY;
    const isNewEnough = begunAt >= send.waitEndedAt && now - begunAt < maxContactAgeMilliseconds;
    if (!isNewEnough) {
      // What an earlier invocation has left open is settled with the others.
      const isFirst = this.again === undefined;
      const tasks = this.tasks.filter(
        ({ item: { ref }, planned }) =>
          !ledger.isDone(ref) &&
          (planned.kind !== "create" || (isFirst && ledger.openIntent(ref) !== undefined)),
      );
      const items = tasks.map(({ item }) => item);
      const results = lookup.findFresh(items).then((found) => {
        const at = clock.now();
        return new Map(items.map(({ ref }) => [ref, { found: found.get(ref) ?? {}, at }]));
      });
      this.again = { begunAt: now, results };
    }
    return this.again!.results;
  }
}

/** A second look serves the others of its group for so long. */
const maxContactAgeMilliseconds = 240_000;

/** Promises under way: their first failure ends everything, but only after all have come to an end. */
function createPool(onFailure: (error: unknown) => void) {
  let running = 0;
  let failure: { error: unknown } | undefined;
  const wake: (() => void)[] = [];

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
    /** Resolves when fewer than so many are under way. */
    async untilFewerThan(limit: number): Promise<void> {
      while (!failure && running >= limit) await nextEnd();
      if (failure) throw failure.error;
    },
    async empty(): Promise<void> {
      while (running > 0) await nextEnd();
      if (failure) throw failure.error;
    },
  };
}

/** Does work of one key one after another, and all other work at once. */
function createKeyedQueue() {
  const last = new Map<string, Promise<void>>();
  return async (key: string | undefined, work: () => Promise<void>): Promise<void> => {
    if (key === undefined) return work();
    const before = last.get(key)?.catch(() => undefined);
    const own = before ? before.then(work) : work();
    last.set(key, own);
    await own.finally(() => {
      if (last.get(key) === own) last.delete(key);
    });
  };
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

interface UnseenCreate {
  readonly task: Task;
  /** As it was refused. */
  readonly sent: SentAttempt;
  readonly freshness: Freshness;
}

interface Writing {
  /** Begins to write what was decided of a contact, once there is room. */
  begin(task: Task, freshness: Freshness, start: Attempt): Promise<void>;
  /** Resolves when all that was begun has ended. @throws what failed */
  allEnded(): Promise<void>;
}

/** More are settled before the end: they have to fit into memory. */
const maxUnseen = 10_000;

/**
 * Creates that the service refused as duplicates while no search showed the contact: a search may lag behind
 * the service's own check. They are looked up again at the end of the run, after a wait that the whole run
 * makes once.
 */
class UnseenCreates {
  private readonly creates = new Set<UnseenCreate & { refusedAt: number }>();
  private readonly session: Session;
  /** Contacts that were done when this invocation began. */
  private readonly doneBefore: number;
  private hasWaited = false;

  constructor(session: Session) {
    this.session = session;
    this.doneBefore = countDone(session);
  }

  get areMany(): boolean {
    return this.creates.size >= maxUnseen;
  }

  add(create: UnseenCreate): void {
    this.creates.add({ ...create, refusedAt: this.session.clock.now() });
  }

  /**
   * Looks all of them up again. Those that no search shows are skipped: a create of which nobody knows
   * whether it was applied is not counted as created then, since the contact may have been there before.
   */
  async settle(writing: Writing): Promise<void> {
    const { clock, send } = this.session;
    for (const pause of this.hasWaited ? [0] : visibilityPausesMilliseconds) {
      if (this.creates.size === 0) break;
      if (pause > 0) await clock.sleep(pause, send.ended);
      this.hasWaited = true;
      await this.lookAgain(writing);
      await writing.allEnded();
    }
    this.skipAll();
  }

  /**
   * A run that is stopped tries them again when it is resumed. Where all that this invocation could send was
   * spent on them, the next one would do the same, and the run never get on: then they are skipped now.
   */
  settleAtStop(stop: unknown): void {
    const isBudget = stop instanceof RunStop && stop.failure.exitCode === exitCodes.outOfBudget;
    if (isBudget && countDone(this.session) === this.doneBefore) this.skipAll();
  }

  private skipAll(): void {
    for (const { task } of this.creates) {
      const { ref } = task.item;
      recordInJournal(this.session, { kind: "done", ref, outcome: "skipped", code: "exists_hidden" });
    }
    this.creates.clear();
  }

  private async lookAgain(writing: Writing): Promise<void> {
    const { lookup, clock } = this.session;
    const creates = [...this.creates];
    while (creates.length > 0) {
      const block = creates.splice(0, lookup.blockSize);
      const results = await lookup.findFresh(block.map(({ task }) => task.item));
      for (const create of block) {
        const found = results.get(create.task.item.ref) ?? {};
        const at = clock.now();
        if (!found.contact) continue;
        this.creates.delete(create);
        lookup.behavior.learn("searchLag", Math.max(1, Math.round(at - create.refusedAt)));
        const again = { ...create.sent, conflicts: create.sent.conflicts + 1 };
        await writing.begin(create.task, create.freshness, decided(create.task, again, { found, at }));
      }
    }
  }
}

function countDone({ ledger: { counts } }: Session): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
