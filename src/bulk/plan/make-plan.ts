/**
 * The plan step: contacts are looked up block by block and decided, and what was decided is added to the
 * plan. Nothing is written to the account.
 */

import type { Decision, Item } from "../desired.ts";
import { toErrorStop } from "../pace/run-stop.ts";
import { isReadById, judge, needsLookup } from "./judge.ts";
import type { Found } from "./lookup.ts";
import type { StoredNames } from "./name-book.ts";
import { addToTally, isWrite } from "./numbers.ts";
import type { PlanWriter } from "./plan-file.ts";
import { type StoredLine, toStoredLine } from "./plan-line.ts";
import { countRequestsLeft, isScarce, type Session, stopAtMaxRejects } from "./session.ts";

/**
 * What a job puts into a plan, in order: contacts, and the lines of rows that stand for none of their own
 * (what is wrong, or another row of the contact stands for).
 */
export type PlanEntry = Item | StoredLine;
/** Made as they are taken: few of them are in memory at once. */
export type PlanEntries = AsyncIterable<Iterable<PlanEntry>> | Iterable<Iterable<PlanEntry>>;

/** Entries that are added to the plan together where nothing has to be looked up. */
const maxBlockEntries = 100;

interface PlanStep {
  session: Session;
  /** All entries of the job, from the first on. */
  entries: PlanEntries;
  writer: PlanWriter;
  names: StoredNames;
  /** Whether contacts that stay as they are, or are skipped, get a line too. */
  isComplete: boolean;
}

interface Decided {
  found: Found;
  decision: Decision;
}

interface DecidedBlock {
  entries: readonly PlanEntry[];
  decided: ReadonlyMap<Item, Decided>;
  /** The oldest look-up that it rests on. */
  at: number;
}

/** @throws RunStop; then the plan holds the blocks up to there */
export async function makePlan(step: PlanStep): Promise<void> {
  const { session } = step;
  const running: Promise<DecidedBlock>[] = [];
  const addOldest = async () => addBlock(step, await running.shift()!);
  try {
    for await (const block of readBlocks(step)) {
      if (session.send.stopped) throw session.send.stopped;
      const decided = decideBlock(session, block);
      // Its failure is thrown once the blocks before it are added.
      decided.catch(() => undefined);
      running.push(decided);
      if (running.length >= chooseConcurrency(session)) await addOldest();
    }
    while (running.length > 0) await addOldest();
  } catch (error) {
    session.send.stop(toErrorStop(error));
    throw error;
  } finally {
    await Promise.allSettled(running);
  }
}

/** How many blocks wait for their look-ups at once: without look-ups they would only be in memory. */
function chooseConcurrency(session: Session): number {
  return isScarce(session) || session.lookup.coversAccount ? 1 : session.options.concurrency;
}

/** The entries that are not planned yet, in blocks that are looked up together. */
async function* readBlocks({ session, entries, writer }: PlanStep): AsyncGenerator<PlanEntry[]> {
  let skip = writer.taken;
  let block: PlanEntry[] = [];
  for await (const batch of entries) {
    for (const entry of batch) {
      if (skip-- > 0) continue;
      block.push(entry);
      if (block.length < chooseBlockSize(session, entry)) continue;
      yield block;
      block = [];
    }
  }
  if (block.length > 0) yield block;
}

/** Where contacts may be read one by one as well, a block is as large as this invocation can complete. */
function chooseBlockSize(session: Session, entry: PlanEntry): number {
  const { judging, lookup } = session;
  if (lookup.coversAccount) return maxBlockEntries;
  const mayBeAlone = isItem(entry) && isReadById(entry, judging);
  return mayBeAlone
    ? Math.max(1, Math.min(lookup.blockSize, countRequestsLeft(session) - 1))
    : lookup.blockSize;
}

function isItem(entry: PlanEntry): entry is Item {
  return "desired" in entry;
}

async function decideBlock(session: Session, entries: readonly PlanEntry[]): Promise<DecidedBlock> {
  const { judging, clock } = session;
  const items = entries.filter(isItem);
  const found = await lookUp(session, items);
  const decided = new Map<Item, Decided>();
  for (const item of items) {
    const seen = found.get(item.ref) ?? { at: clock.now() };
    decided.set(item, { found: seen, decision: judge(item, seen, judging) });
  }
  await lookCloser(session, decided);
  return {
    entries,
    decided,
    at: Math.min(clock.now(), ...[...decided.values()].map(({ found }) => found.at)),
  };
}

async function lookUp(session: Session, items: readonly Item[]): Promise<Map<number, Found>> {
  const { judging, lookup } = session;
  const sought = items.filter((item) => item.found !== undefined || needsLookup(item, judging));
  const [first] = sought;
  if (first && sought.length === 1 && isReadById(first, judging))
    return new Map([[first.ref, await lookup.read(first.contactId!)]]);
  return lookup.find(sought);
}

/** Contacts that a search does not settle are read by their ids, and decided again. */
async function lookCloser({ judging, lookup }: Session, decided: Map<Item, Decided>): Promise<void> {
  const unsettled = [...decided].filter(([item, { found, decision }]) => {
    // A search may lag behind: it is believed where it shows what an undone run wrote.
    const isCertain = found.isById || (isWrite(decision) && decision.remark === undefined);
    return !isCertain && isReadById(item, judging);
  });
  await Promise.all(
    unsettled.map(async ([item]) => {
      const found = await lookup.read(item.contactId!);
      decided.set(item, { found, decision: judge(item, found, judging) });
    }),
  );
}

/** Counts the block and writes its lines. */
function addBlock({ session, writer, names, isComplete }: PlanStep, block: DecidedBlock): void {
  const { entries, decided, at } = block;
  for (const [item, { found, decision }] of decided) {
    const counted = { item, decision, contact: found.contact };
    addToTally(session.tally, counted, isReadById(item, session.judging) ? 1 : 0);
  }
  const toLines = (entry: PlanEntry): StoredLine[] => {
    if (!isItem(entry)) return [entry];
    const { found, decision } = decided.get(entry)!;
    const isNamed = isComplete || isWrite(decision) || decision.kind === "reject";
    return isNamed ? [toStoredLine(entry, found.contact, decision, names)] : [];
  };
  writer.addBlock(writer.isOnDisk ? entries.flatMap(toLines) : [], at, entries.length);
  if ([...decided.values()].some(({ decision }) => decision.kind === "reject")) stopAtMaxRejects(session);
}
