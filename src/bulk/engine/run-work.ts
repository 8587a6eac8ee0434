/** A row run that was prepared: priced, worked through, stopped or finished, and reported. */
import type { Contact } from "../../wire.ts";
import type { Item, Work } from "../items.ts";
import { asRunStop, type RunStop, requireFurther } from "../pacing/run-stop.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { createLedger } from "../runs/ledger.ts";
import { keepNames, namesFrom } from "../runs/names-file.ts";
import { fingerprintIn } from "./about-run.ts";
import { decideOne } from "./decide-block.ts";
import type { Price } from "./estimate.ts";
import { type Closed, closeRun } from "./finish.ts";
import { runWork } from "./loop.ts";
import { lookFirst, type OpenWork, openWork, requireFewRejects } from "./open-work.ts";
import { type Planning, planningOf } from "./planning.ts";
import { decideKnown, isWorthLookingFirst, priceWork, requireMonth } from "./pricing.ts";
import { writeRowRejects } from "./row-rejects.ts";
import { type RowItem, type RowRun, type RowState, settledByInput, workOf } from "./row-run.ts";
import { announceEntered, beginPhase, hasBegun, rowsOf, type Session } from "./session.ts";

/** @param run absent in a dry run */
export async function workThrough(rowRun: RowRun, run: EnteredRun | undefined): Promise<Closed> {
  const { options, names, emit, job } = rowRun;
  const ledger = run?.ledger ?? createLedger();
  let state: RowState = { ...rowRun, input: settledByInput(rowRun), ledger, run };
  const planning = options.plan && planningOf(rowRun, options.plan);
  let open: OpenWork | undefined;
  let price: Price | undefined;
  let backup: string | undefined;
  let furtherRequests = names.requestsToCreate + (job.requestsAfter ?? 0);
  let stop: RunStop | undefined;
  announceEntered(state);
  try {
    if (options.maxRejects) requireFewRejects(options, rowsOf(state));
    beginPhase(state, "looking");
    open = await openWork(state, planning);
    state = open.session;
    beginPhase(state, "looking");
    if (run) {
      ({ open, price } = await priceFirst(open, planning));
      emit({ kind: "priced", price });
      requireMonth(options, price);
      if (price.left > 0) await options.agree?.(price, names.missing);
      if (!hasBegun(ledger) && price.left > 0) backup = await backUp(open, run);
      await createNames(rowRun, run);
    }
    beginPhase(state, "working", price);
    const { session, works } = open;
    if (run) {
      await runEach(session, works, false);
      const { total: sent } = session.send.counts;
      requireFurther(job.requestsAfter ?? 0, { sent, maxRequests: options.maxRequests });
    } else if (!planning) furtherRequests += await runEach(session, works, true);
    else furtherRequests += await planning.during(session, (planned) => runEach(planned, works, true));
  } catch (error) {
    stop = asRunStop(error);
  }
  beginPhase(state, "reporting", price);
  const rejects = await writeRowRejects(state, stop, open?.chosen).finally(() => open?.close());
  await nameMarked(state, stop);
  return closeRun(state, { stop, price, furtherRequests, rejects, backup });
}

/** Everyone is looked up first where the plan, a person or the month needs to know exactly what will be written. */
async function priceFirst(
  opened: OpenWork,
  planning: Planning | undefined,
): Promise<{ open: OpenWork; price: Price }> {
  let open = opened;
  const { job, options, ledger } = open.session;
  const isAllKnown = job.isWithoutInput || job.members || open.snapshot?.isWhole();
  const looksFirst = job.edit?.looksFirst || options.looksFirst || planning;
  if (!isAllKnown && looksFirst && !hasBegun(ledger)) open = await lookFirst(open);
  // The input of a sync is looked up twice for its plan: its snapshot holds the list's members alone.
  if (planning && job.members) {
    const { session, works } = open;
    const rehearsal = { ...session, ledger: createLedger(), run: undefined };
    await planning.during(rehearsal, (planned) => runEach(planned, works, true));
  }
  const priceNow = async (session: Session) =>
    priceWork(open.session, await decideKnown(session, open.works, rowsOf(open.session).pending));
  const price = await (planning && !job.members
    ? planning.during(open.session, priceNow)
    : priceNow(open.session));
  if (!isWorthLookingFirst(open.session, price)) return { open, price };
  open = await lookFirst(open);
  return { open, price: await priceNow(open.session) };
}

/** @returns the backup's path; undefined where nothing is backed up */
async function backUp({ session, works }: OpenWork, { folder }: EnteredRun): Promise<string | undefined> {
  const { options, account } = session;
  return options.backUp?.write(contactsToDelete(session, works), { folder, account });
}

/** Creates what is missing in the account, and keeps the names with the run. */
async function createNames(rowRun: RowRun, run: EnteredRun): Promise<void> {
  const { names, account, structure, job } = rowRun;
  await names.create();
  if (job.newFields) await run.become(fingerprintIn(rowRun, undefined));
  const known = await account.known(structure);
  await keepNames(run.folder, namesFrom(known.structure, known.lists), names.resolved());
}

const mostMarkedNamed = 100;

/**
 * Names the contacts that the file marks as not subscribed and the account held as active. Of those that are to be unsubscribed, the ones
 * whose cells are not understood are named apart: they stay as they are.
 */
async function nameMarked(state: RowState, stop: RunStop | undefined): Promise<void> {
  const { marked } = state.ledger;
  const unsubscribes = state.job.unsubscribesMarked ?? false;
  if (marked.size === 0) return;
  const clear: { line: number; key: string }[] = [];
  const doubtful: typeof clear = [];
  let doubtfulCount = 0;
  if (stop?.by !== "signal") {
    const wanted = Math.min(mostMarkedNamed, marked.size);
    for await (const { ref, key, row } of eachItem(workOf(state))) {
      if (!marked.has(ref)) continue;
      const isDoubtful = unsubscribes && !row.isMarkClear;
      if (isDoubtful) doubtfulCount++;
      const named = isDoubtful ? doubtful : clear;
      if (named.length < mostMarkedNamed) named.push({ line: ref, key: key.sent });
      if (!unsubscribes && clear.length >= wanted) break;
    }
  }
  const groups = [
    { contacts: clear, total: marked.size - doubtfulCount, isUnsubscribed: unsubscribes, isDoubtful: false },
    { contacts: doubtful, total: doubtfulCount, isUnsubscribed: false, isDoubtful: true },
  ];
  for (const group of groups) if (group.total > 0) state.emit({ kind: "marked", ...group });
}

async function* eachItem({ batches }: Work<RowItem>): AsyncGenerator<RowItem> {
  for await (const items of batches()) yield* items;
}

/** @param isDryRun decides and counts, and writes nothing @returns the requests beyond one for each contact */
async function runEach(session: Session, works: readonly Work<Item>[], isDryRun: boolean): Promise<number> {
  let furtherRequests = 0;
  for (const work of works) furtherRequests += await runWork(session, work, isDryRun);
  return furtherRequests;
}

/** As they are known before the first of them is deleted. */
async function* contactsToDelete(
  { lookup, ledger }: Session,
  works: readonly Work<Item>[],
): AsyncGenerator<Partial<Contact>> {
  for (const work of works) {
    for await (const items of work.batches()) {
      for (const item of items) {
        if (ledger.isDone(item.ref)) continue;
        const found = lookup.known(item);
        const decision = found && decideOne(work, item, found).decision;
        if (decision?.kind === "delete") yield decision.contact;
      }
    }
  }
}
