/** A job over rows or over chosen contacts, ready to be planned and applied. */

import { rm } from "node:fs/promises";
import { createIdentityReader } from "../../tables/index.ts";
import { type Judging, judge } from "../plan/judge.ts";
import type { Lookup } from "../plan/lookup.ts";
import type { PlanEntry } from "../plan/make-plan.ts";
import { type NameBook, toStoredNames } from "../plan/names.ts";
import { countRunRows, countSentRequests, type RunContext, type RunState } from "../plan/session.ts";
import {
  type AccountSnapshot,
  openSnapshot,
  type PagesOptions,
  readAccountIfSmaller,
  readAllPages,
  type SnapshotOptions,
} from "../plan/snapshot.ts";
import { listSelectedItems, readRowEntries, toRowItem } from "./entries.ts";
import type {
  ContactsToPlan,
  OpenedJob,
  Opening,
  PlanDescription,
  PlanSource,
  ResolvedJob,
  RowJob,
} from "./job.ts";
import { openJudging } from "./open-account.ts";
import {
  computeRunFingerprint,
  countSettledByInput,
  describeRun,
  type RowRun,
  readContactPages,
  readInput,
} from "./read-input.ts";
import { planRemovals, readMembers } from "./removals.ts";

/** A job whose contacts come from rows, or are chosen by conditions. */
export function overRows(stated: Omit<RowJob, "open">): RowJob {
  const job: RowJob = { ...stated, open: (context, opening) => openRows(context, job, opening) };
  return job;
}

async function openRows(context: RunContext, stated: RowJob, opening: Opening): Promise<OpenedJob> {
  const rowRun = await readInput(context, stated, opening);
  const { job, names } = rowRun;
  return {
    about: describeRun(rowRun),
    contacts: await openContacts(rowRun),
    // No command names the fields that are still to be created.
    isUnfit: () => (job.names?.fields?.length ?? 0) > 0 && names.requestsToCreate > 0,
  };
}

async function openContacts(rowRun: RowRun): Promise<ContactsToPlan> {
  const { job, account, structure, names } = rowRun;
  const head = await describePlan(rowRun);
  const { _id: structureId, keyType } = structure;
  const opened = await openJudging(rowRun, account, { structureId, keyType }, head);
  return {
    account,
    ...opened,
    input: countSettledByInput(rowRun),
    names,
    after: job.after,
    head,
    source: (state, scratch) => openSource(rowRun, opened, state, scratch),
    created: async (run) => {
      if (job.names?.fields) await run.become(computeRunFingerprint(rowRun));
    },
  };
}

async function describePlan(rowRun: RowRun): Promise<PlanDescription> {
  const { stated, job, account, structure, names, understood } = rowRun;
  const { readsStatus, marksRepeats, leavesOutSuppressed } = job;
  const knownNames = await account.readCachedNames(structure);
  const { columns, delimiter, hasEscapes, form, sha256, bytes } = understood.facts;
  return {
    ...(stated.readsInput && {
      input: { sha256, size: bytes },
      table: { columns, delimiter, hasEscapes, form },
    }),
    ...(job.command && { command: job.command }),
    mapping: job.mapping,
    selection: job.selection?.stored,
    names: toStoredNames(knownNames.structure, knownNames.lists),
    source: job.source,
    listIds: listIdsOf(job, names),
    looks: {
      by: "search",
      readsStatus,
      marksRepeats,
      suppressions: leavesOutSuppressed ? "pass-over" : "include",
    },
  };
}

/** Lists whose members decide what becomes of a contact. */
function listIdsOf(job: ResolvedJob, names: NameBook): string[] {
  return [...new Set([...job.listIds(names), ...(job.selection?.stored?.lists ?? [])])];
}

async function openSource(
  rowRun: RowRun,
  opened: Pick<ContactsToPlan, "judging" | "lookup">,
  state: RunState,
  scratch: string,
): Promise<PlanSource> {
  const { job, stated, survey } = rowRun;
  const snapshot = await takeSnapshot(rowRun, opened.lookup, state, scratch);
  try {
    const close = () => snapshot?.close();
    const lookup = snapshot ? opened.lookup.over(snapshot, !job.members) : opened.lookup;
    if (!stated.readsInput) {
      let count = 0;
      for (const _item of listSelectedItems(snapshot!, rowRun)) count++;
      return {
        entries: [listSelectedItems(snapshot!, rowRun)],
        input: { ...state.input, read: count },
        stableEntries: 0,
        lookup,
        close,
      };
    }
    const isLastUnknown = () => isLastRowUnknown(rowRun, lookup, opened.judging);
    const removals = job.members && (await planRemovals(snapshot!, rowRun, job.members, isLastUnknown));
    async function* entries(): AsyncGenerator<Iterable<PlanEntry>> {
      yield* readRowEntries(rowRun);
      if (removals) yield removals.items();
    }
    return {
      entries: entries(),
      // Members that the input does not name are counted like rows.
      input: { ...state.input, read: survey.read + (removals?.count ?? 0) },
      stableEntries: removals ? survey.read : Number.POSITIVE_INFINITY,
      lookup,
      close,
      removals: removals?.limits,
    };
  } catch (error) {
    snapshot?.close();
    throw error;
  }
}

/**
 * Whether nobody is known by the key of a last row that has no line end, although the rows before have one.
 */
async function isLastRowUnknown(rowRun: RowRun, lookup: Lookup, judging: Judging): Promise<boolean> {
  const { openRow } = rowRun.survey;
  if (!openRow) return false;
  const item = toRowItem(rowRun, openRow, openRow.cells);
  const found = (await lookup.find([item])).get(item.ref)!;
  return judge(item, found, judging).kind === "reject";
}

/** The list's members for a sync; else the account where that is cheaper than asking for blocks of keys. */
async function takeSnapshot(
  rowRun: RowRun,
  lookup: Lookup,
  state: RunState,
  file: string,
): Promise<AccountSnapshot | undefined> {
  const { job, stated, structure } = rowRun;
  const contacts = countRunRows(state).pending;
  if (contacts === 0 && !job.members && stated.readsInput) return undefined;
  const opening = {
    isTemporary: state.run === undefined,
    toIdentity: createIdentityReader(structure.keyType),
  };
  const pages = readContactPages(rowRun, lookup);
  if (!stated.readsInput) return readSelected(rowRun, pages, file, opening);
  const snapshot = await openRecent(file, opening, rowRun.clock.now());
  try {
    if (job.members) await readMembers(snapshot, pages, job.members);
    else if (!(await readAccountIfSmaller(snapshot, contacts, pages, countSentRequests(rowRun)))) {
      snapshot.close();
      return undefined;
    }
    return snapshot;
  } catch (error) {
    snapshot.close();
    throw error;
  }
}

/** Pages that an earlier invocation has read, unless they are old. */
async function openRecent(file: string, options: SnapshotOptions, now: number): Promise<AccountSnapshot> {
  const snapshot = await openSnapshot(file, options);
  if (snapshot.total === undefined || snapshot.isRecent(now)) return snapshot;
  snapshot.close();
  await rm(file, { force: true });
  return openSnapshot(file, options);
}

/** How often the pages are read when contacts come and go meanwhile. */
const maxPasses = 3;

/**
 * Reads every page that the service's filters let through. Contacts that others add or remove meanwhile move
 * the rest from page to page: then all is read again, so that nobody is passed over.
 */
async function readSelected(
  { clock, job, emit }: RowRun,
  allPages: PagesOptions,
  file: string,
  options: SnapshotOptions,
): Promise<AccountSnapshot> {
  const pages = { ...allPages, filters: job.selection!.filters, lists: job.chosenLists };
  let snapshot = await openSnapshot(file, options);
  if (snapshot.isRecent(clock.now()) && snapshot.isWhole()) return snapshot;
  for (let pass = 1; ; pass++) {
    snapshot.close();
    await rm(file, { force: true });
    snapshot = await openSnapshot(file, options);
    try {
      await readAllPages(snapshot, pages);
    } catch (error) {
      snapshot.close();
      throw error;
    }
    if (snapshot.isWhole()) return snapshot;
    if (pass < maxPasses) continue;
    emit({ kind: "remark", remark: { code: "account_changed" } });
    return snapshot;
  }
}
