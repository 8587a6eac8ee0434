/** What a row run works on, opened: the contacts that are known from pages of the account, and what is to be done. */
import { randomBytes } from "node:crypto";
import { access, constants, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EcmError, exitCodes } from "../../errors.ts";
import { createLookup } from "../account/lookup.ts";
import { readAccountIfSmaller } from "../account/read-account.ts";
import { type AccountSnapshot, openSnapshot } from "../account/snapshot.ts";
import { identityReader } from "../input/keys.ts";
import type { Item, Work } from "../items.ts";
import { RunStop } from "../pacing/run-stop.ts";
import { fileOf } from "../runs/files.ts";
import { runsFolder } from "../runs/folder.ts";
import type { RowCounts } from "../runs/report.ts";
import { planRemovals, readMembers } from "./members.ts";
import type { Planning } from "./planning.ts";
import { lookUpAll } from "./pricing.ts";
import type { ResolvedJob } from "./row-job.ts";
import { pagesOf, type RowItem, type RowSession, type RowState, workOf } from "./row-run.ts";
import type { Engine, RunOptions } from "./run-context.ts";
import { readSelected, type Selected, selectedLookup, selectedWork } from "./selected.ts";
import { hasBegun, openSession, type RunState, rowsOf } from "./session.ts";

export interface OpenWork {
  readonly session: RowSession;
  readonly works: readonly Work<Item>[];
  readonly snapshot?: AccountSnapshot;
  /** Present where conditions choose the contacts. */
  readonly chosen?: Selected;
  close(): void;
}

/** Reads the pages that are needed first, if any. @throws RunStop; UsageError when a sync would remove too many */
export async function openWork(state: RowState, planning: Planning | undefined): Promise<OpenWork> {
  const snapshot = await takeSnapshot(state);
  try {
    const { job, input } = state;
    const chosen = job.isWithoutInput ? selectedWork(snapshot!, state) : undefined;
    const rows = watchLast(workOf(state, planning?.passed), state);
    const removals = job.members && (await planRemovals(snapshot!, state, job.members, rows.isLastUnknown));
    const works = [chosen ?? rows, ...(removals ? [removals] : [])];
    // Contacts that are not named by the input are counted like rows.
    const read = input.read + (chosen?.count ?? 0) + (removals?.count ?? 0);
    return opened(openRowSession({ ...state, input: { ...input, read } }, snapshot), {
      works: works.map(({ work }) => work as Work<Item>),
      snapshot,
      chosen,
    });
  } catch (error) {
    snapshot?.close();
    throw error;
  }
}

/** The same work; and whether the account does not hold the contact of the last row, where that may be cut off. */
function watchLast(
  work: Work<RowItem>,
  { survey: { openRow }, ledger }: RowState,
): { work: Work<RowItem>; isLastUnknown: () => boolean } {
  if (!openRow) return { work, isLastUnknown: () => false };
  let isRejected = false;
  return {
    work: {
      ...work,
      decide(item, found) {
        const decision = work.decide(item, found);
        if (item.ref === openRow.line) isRejected = decision.kind === "reject";
        return decision;
      },
    },
    isLastUnknown: () => isRejected || ledger.rejections.has(openRow.line),
  };
}

/** Looks everyone up before the first write, and keeps what was found: what it will cost is then known exactly. */
export async function lookFirst(open: OpenWork): Promise<OpenWork> {
  const { session, works, chosen } = open;
  open.close();
  const file = join(session.run!.folder, fileOf.snapshot);
  await rm(file, { force: true });
  const identityOf = identityReader(session.structure.keyType);
  const snapshot = await openSnapshot(file, { isTemporary: false, identityOf });
  try {
    const refused = await lookUpAll(session, works, snapshot);
    return opened(openRowSession(session, snapshot, refused), { works, snapshot, chosen });
  } catch (error) {
    snapshot.close();
    throw error;
  }
}

function opened(session: RowSession, rest: Pick<OpenWork, "works" | "snapshot" | "chosen">): OpenWork {
  return { session, ...rest, close: () => rest.snapshot?.close() };
}

/** @param refused the snapshot holds everyone whom the run looks up, but for these */
function openRowSession(
  state: RowState,
  snapshot: AccountSnapshot | undefined,
  refused?: ReadonlySet<number>,
): RowSession {
  const isOfAllAsked = refused !== undefined;
  const { job, send, clock, keys, behavior, structure, survey, names, run } = state;
  const lookup = createLookup({
    send,
    keys,
    clock,
    structureId: structure._id,
    keyType: structure.keyType,
    source: job.source(structure, survey),
    snapshot,
    isFromEarlier: run?.isResumed && !isOfAllAsked,
    refused,
    behavior,
    hidden: asksForHidden(job) ? (isOfAllAsked ? "known" : "ask") : undefined,
    isAbsentOutside: isOfAllAsked || (!job.members && snapshot?.isWhole()),
    listIds: job.listIds(names),
  });
  return {
    ...openSession(state, job.isWithoutInput ? selectedLookup(lookup) : lookup, behavior),
    onRejected: () => stopAtRejects(state),
  };
}

/** Whoever names a contact to change it is told why it is not found; an import learns it from the refused create. */
function asksForHidden({ edit, decide, isWithoutInput }: ResolvedJob): boolean {
  return !isWithoutInput && (edit !== undefined || decide.missing === "reject");
}

const defaultMostRejected = 50;

/** Nothing more leaves once too many are rejected. */
export function stopAtRejects(state: RunState): void {
  try {
    requireFewRejects(state.options, rowsOf(state));
  } catch (reason) {
    state.send.stop(reason as RunStop);
  }
}

/** @throws RunStop */
export function requireFewRejects({ maxRejects }: RunOptions, rows: RowCounts): void {
  const { rejected, read, created, updated, deleted, unchanged } = rows;
  if (!maxRejects) {
    if (rejected < defaultMostRejected || created + updated + deleted + unchanged > 0) return;
  } else if ("rows" in maxRejects) {
    if (rejected < Math.max(1, maxRejects.rows)) return;
  } else if (rejected === 0 || rejected * 100 < maxRejects.percent * read) return;
  throw new RunStop(
    "max-rejects",
    new EcmError(exitCodes.rejectedRows, `Stopped: ${rejected} rows were rejected`, {
      type: "TooManyRejectsError",
      hint: "Check the mapping, or allow more with --max-rejects",
    }),
  );
}

/** The list's members for a sync; else the account where that is cheaper than asking for blocks of keys. */
async function takeSnapshot(state: RowState): Promise<AccountSnapshot | undefined> {
  const { engine, job, structure, run } = state;
  const contacts = rowsOf(state).pending;
  if (contacts === 0 && !job.members && !job.isWithoutInput) return undefined;
  const file = join(run?.folder ?? (await scratchFolder(engine)), run ? fileOf.snapshot : scratchName());
  const opening = { isTemporary: run === undefined, identityOf: identityReader(structure.keyType) };
  if (job.isWithoutInput) return readSelected(state, file, opening, hasBegun(state.ledger));
  const snapshot = await openSnapshot(file, opening);
  const pages = pagesOf(state);
  try {
    if (job.members) await readMembers(snapshot, pages, job.members);
    else if (!(await readAccountIfSmaller(snapshot, contacts, pages))) {
      snapshot.close();
      return undefined;
    }
    return snapshot;
  } catch (error) {
    snapshot.close();
    throw error;
  }
}

/** For a dry run, which must also work where nothing can be written. */
async function scratchFolder({ stateFolder }: Engine): Promise<string> {
  const folder = runsFolder(stateFolder);
  const isWritable = await mkdir(folder, { recursive: true, mode: 0o700 })
    .then(() => access(folder, constants.W_OK))
    .then(
      () => true,
      () => false,
    );
  return isWritable ? folder : tmpdir();
}

function scratchName(): string {
  return `.dry-run-${randomBytes(6).toString("hex")}`;
}
