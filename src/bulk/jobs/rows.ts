/** A job over rows or over chosen contacts, ready to be planned and applied. */

import { rm } from "node:fs/promises";
import { isErasedKey } from "../../api/key-spelling.ts";
import type { Suppressions } from "../../suppressions/suppressions.ts";
import { createIdentityReader } from "../../tables/index.ts";
import type { Contact } from "../../wire.ts";
import type { Decision, Work } from "../items.ts";
import { type DecideOptions, decide, isMarked } from "../plan/decide.ts";
import { Lookup } from "../plan/lookup.ts";
import type { PlanEntry } from "../plan/make-plan.ts";
import type { NameBook } from "../plan/name-book.ts";
import { toStoredNames } from "../plan/names.ts";
import { readAccountIfSmaller } from "../plan/read-account.ts";
import { countRunRows, countSentRequests, type RunState } from "../plan/session.ts";
import { type AccountSnapshot, openSnapshot, type SnapshotOptions } from "../plan/snapshot.ts";
import { computeRunFingerprint } from "./describe-run.ts";
import {
  countSettledByInput,
  listSelectedItems,
  type RowItem,
  readRowEntries,
  toBatches,
  toRowItem,
} from "./entries.ts";
import type { ResolvedJob } from "./job.ts";
import { type RowRun, readContactPages } from "./prepare.ts";
import type { PlanSource, ReadyJob } from "./ready-job.ts";
import { planRemovals, readMembers } from "./removals.ts";
import { readSelected } from "./selected.ts";

export function prepareRows(rowRun: RowRun): ReadyJob {
  const { job, account, structure, names, understood, survey, suppressions } = rowRun;
  const lookup = createRowLookup(rowRun);
  const work = createWork(job, structure._id, suppressions);
  return {
    account,
    work,
    lookup,
    input: countSettledByInput(rowRun),
    names,
    newList: job.newList,
    after: job.after,
    async head() {
      const { facts } = understood;
      const knownNames = await account.readCachedNames(structure);
      const { columns, delimiter, hasEscapes, form, sha256, bytes } = facts;
      return {
        ...(!job.isWithoutInput && {
          input: { sha256, size: bytes },
          table: { columns, delimiter, hasEscapes, form },
        }),
        ...(job.command && { command: job.command }),
        ...(job.mapping && { mapping: job.mapping }),
        ...(job.selection?.stored && { selection: job.selection.stored }),
        names: toStoredNames(knownNames.structure, knownNames.lists),
        source: job.source(survey),
        listIds: listIdsOf(job, names),
      };
    },
    source: (state, scratch) => openSource(rowRun, work, state, scratch),
    created: async (run) => {
      if (job.newFields) await run.become(computeRunFingerprint(rowRun, undefined));
    },
  };
}

/** What is decided of each contact, when it is planned and when it is looked at again. */
export function createWork(
  job: ResolvedJob,
  structureId: string,
  suppressions: Suppressions | undefined,
): Work<RowItem> {
  const options: DecideOptions = { ...job.decide, structureId };
  const isKept = (key: string) => isErasedKey(key) || (suppressions?.has(key) ?? false);
  const isPassedOver = ({ key }: RowItem) => isKept(key.sent);
  const decideRow = (item: RowItem, found?: Partial<Contact>): Decision => {
    // Also where the account was read whole, and the contact is known without a look-up.
    if (isPassedOver(item)) return { kind: "skip", code: "suppressed" };
    if (found) return decideFound(job, item, found, options);
    if (item.keyFault) return { kind: "reject", ...item.keyFault };
    return job.edit ? job.edit.missing : decide(item.key.sent, item.desired!, undefined, options);
  };
  return {
    isSuppressed: ({ key }) => isErasedKey(key.sent) || (suppressions?.hasNow(key.sent) ?? false),
    needsLookup: (item) => item.isRemoval === true || !(item.isLeftOut || isPassedOver(item)),
    // An unsubscription or a deletion wants nothing of a contact that a mark could stand against.
    ...(job.selection && { isChosen: job.selection.holds }),
    isMarked: job.edit ? undefined : (item, found) => isMarked(item.desired, found),
    decide(item, found) {
      if (item.isLeftOut) return { kind: "skip", code: item.isRemoval ? "truncated" : "not_selected" };
      if (item.isRemoval) return decideRemoval(item, found, structureId);
      return decideRow(item, found);
    },
  };
}

function decideFound(
  { edit }: ResolvedJob,
  { desired, key }: RowItem,
  found: Partial<Contact>,
  options: DecideOptions,
): Decision {
  return edit ? edit.decide(found) : decide(key.sent, desired!, found, options);
}

/** Whoever is gone from the account is gone from the list. */
function decideRemoval(
  { desired, key }: RowItem,
  found: Partial<Contact> | undefined,
  structureId: string,
): Decision {
  return found
    ? decide(key.sent, desired!, found, { structureId, mode: "update", missing: "skip" })
    : { kind: "leave" };
}

/** @param snapshot pages of the account, for the plan */
function createRowLookup(rowRun: RowRun, snapshot?: AccountSnapshot): Lookup {
  const { job, send, keys, behavior, structure, survey, names } = rowRun;
  return new Lookup({
    send,
    keys,
    structureId: structure._id,
    keyType: structure.keyType,
    source: job.source(survey),
    snapshot,
    behavior,
    marksRepeats: mayNameByKeyAndId(job),
    isAbsentOutside: !job.members && snapshot?.isWhole(),
    listIds: listIdsOf(job, names),
  });
}

/** Lists whose members decide what becomes of a contact. */
function listIdsOf(job: ResolvedJob, names: NameBook): string[] {
  return [...new Set([...job.listIds(names), ...(job.selection?.stored?.lists ?? [])])];
}

/** Whether one contact may be named twice, by its key and by its id: an import takes keys alone. */
export function mayNameByKeyAndId({ edit, decide, isWithoutInput }: ResolvedJob): boolean {
  return !isWithoutInput && (edit !== undefined || decide.missing === "reject");
}

async function openSource(
  rowRun: RowRun,
  work: Work<RowItem>,
  state: RunState,
  scratch: string,
): Promise<PlanSource> {
  const { job, survey } = rowRun;
  const snapshot = await takeSnapshot(rowRun, state, scratch);
  try {
    const close = () => snapshot?.close();
    const lookup = createRowLookup(rowRun, snapshot);
    if (job.isWithoutInput) {
      let count = 0;
      for (const _item of listSelectedItems(snapshot!, rowRun)) count++;
      return {
        entries: toBatches(listSelectedItems(snapshot!, rowRun)),
        input: { ...state.input, read: count },
        stableEntries: 0,
        lookup,
        close,
      };
    }
    const isLastUnknown = () => isLastRowUnknown(rowRun, lookup, work);
    const removals = job.members && (await planRemovals(snapshot!, rowRun, job.members, isLastUnknown));
    async function* entries(): AsyncGenerator<Iterable<PlanEntry>> {
      yield* readRowEntries(rowRun);
      if (removals) yield* toBatches(removals.items());
    }
    return {
      entries: entries(),
      // Members that the input does not name are counted like rows.
      input: { ...state.input, read: survey.read + (removals?.count ?? 0) },
      stableEntries: removals ? survey.read : Number.POSITIVE_INFINITY,
      lookup,
      close,
      ...(removals && { removals: removals.limits }),
    };
  } catch (error) {
    snapshot?.close();
    throw error;
  }
}

/**
 * Whether nobody is known by the key of a last row that has no line end, although the rows before have one.
 */
async function isLastRowUnknown(rowRun: RowRun, lookup: Lookup, work: Work<RowItem>): Promise<boolean> {
  const { openRow } = rowRun.survey;
  if (!openRow) return false;
  const item = toRowItem(rowRun, openRow, openRow.cells);
  const found = (await lookup.find([item])).get(item.ref);
  return found?.refused !== undefined || work.decide(item, found?.contact).kind === "reject";
}

/** The list's members for a sync; else the account where that is cheaper than asking for blocks of keys. */
async function takeSnapshot(
  rowRun: RowRun,
  state: RunState,
  file: string,
): Promise<AccountSnapshot | undefined> {
  const { job, structure } = rowRun;
  const contacts = countRunRows(state).pending;
  if (contacts === 0 && !job.members && !job.isWithoutInput) return undefined;
  const opening = {
    isTemporary: state.run === undefined,
    toIdentity: createIdentityReader(structure.keyType),
  };
  if (job.isWithoutInput) return readSelected(rowRun, file, opening);
  const snapshot = await openRecent(file, opening, rowRun.clock.now());
  const pages = readContactPages(rowRun);
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
