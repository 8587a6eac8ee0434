/** A job over the rows of an input, or over contacts that conditions choose, ready to be planned. */

import { rm } from "node:fs/promises";
import { createEquals, createFilter } from "../../api/contacts.ts";
import { createIdentityReader, describeReading, joinRows } from "../../tables/index.ts";
import type { Lookup } from "../plan/lookup.ts";
import type { PlanEntry } from "../plan/make-plan.ts";
import { NameBook, toStoredNames } from "../plan/names.ts";
import { countRunRows, countSentRequests, type RunContext, type RunState } from "../plan/session.ts";
import {
  type AccountSnapshot,
  openSnapshot,
  type PagesOptions,
  readAccountIfSmaller,
  readAllPages,
} from "../plan/snapshot.ts";
import { computeFingerprint } from "../runs/folder.ts";
import type { SettledByInput } from "../runs/report.ts";
import { listSelectedItems, planRemovals, readRowEntries } from "./entries.ts";
import { type OpenedJob, openJudging, type PlanDescription, type PlanSource } from "./job.ts";
import type { RowRun, RowsToPlan, WantedNames } from "./row-work.ts";

/** @throws EcmError for a name that does not exist; SuppressionsError */
export async function openRows(context: RunContext, rows: RowsToPlan): Promise<OpenedJob> {
  const { survey, work, reader } = rows;
  const { emit } = context;
  const joined = await joinRows(survey.batches(), survey.identities, work.duplicates);
  const { notSubscribedAre, unclearAre } = work;
  emit({ kind: "surveyed", survey, joined, notSubscribedAre, unclearAre });
  const names = await openNames(context, rows);
  emit({ kind: "names-missing", missing: names.creations });
  const rowRun = { ...context, ...rows, joined, names };
  const head = await describePlan(rowRun);
  const { account, structure } = reader;
  const place = { structureId: structure._id, keyType: structure.keyType };
  const opened = await openJudging(context, account, place, head);
  return {
    about: describeRun(rowRun),
    contacts: {
      account,
      ...opened,
      input: countSettledByInput(rowRun),
      names,
      after: work.after,
      head,
      source: (state, scratch) => openSource(rowRun, opened.lookup, state, scratch),
      created: async (run) => {
        if (work.names?.fields) await run.become(computeRunFingerprint(rowRun));
      },
    },
    // No command names the fields that are still to be created.
    isUnfit: () => (work.names?.fields?.length ?? 0) > 0 && names.requestsToCreate > 0,
  };
}

/** Looks up the names in the input and in the flags. */
function openNames({ engine, send }: RunContext, { reader, survey, work }: RowsToPlan): Promise<NameBook> {
  const { createMissing = false, ...named }: Partial<WantedNames> = work.names ?? {};
  const { account, structure } = reader;
  return NameBook.open({
    ...named,
    send: send.plain,
    account,
    structure,
    lists: [...(named.lists ?? []), ...survey.lists],
    tags: [...(named.tags ?? []), ...survey.tags],
    async createMissing(missing) {
      if (createMissing === true) return;
      const failure = engine.missingNamesError(missing);
      if (!createMissing) throw failure;
      await createMissing(failure);
    },
  });
}

const hasInput = ({ file }: RowsToPlan): boolean => file.path !== "";

/** Rows that stand for no contact: those that are wrong, and those of which another row of the contact is taken. */
function countSettledByInput({ survey, joined, work }: RowRun): SettledByInput {
  const { read } = survey;
  const rejected = Object.fromEntries(survey.rejectedCodes);
  const passedOver: Record<string, number> = joined.passedOver > 0 ? { duplicate: joined.passedOver } : {};
  return work.duplicates === "reject"
    ? { read, skipped: {}, rejected: { ...rejected, ...passedOver } }
    : { read, skipped: passedOver, rejected };
}

/** What the run keeps of what it is. */
function describeRun(rowRun: RowRun): OpenedJob["about"] {
  const { engine, file, understood, reader, work, subject } = rowRun;
  const { baseUrl, profile } = engine.account;
  const { sha256, bytes } = understood.facts;
  return {
    account: { baseUrl, profile, structureId: reader.structure._id },
    input: { name: subject, file: file.path, sha256, bytes },
    fingerprint: computeRunFingerprint(rowRun),
    options: work.options,
    after: work.after,
  };
}

/**
 * Of what makes two invocations one run: account, input, how it is read, and what
 * decides a contact's outcome. Another one once the fields exist that the run creates:
 * then it is that of the command that names them.
 */
function computeRunFingerprint(rowRun: RowRun): string {
  const { kind, engine, work, reader, understood, names } = rowRun;
  const { facts, reading } = understood;
  return computeFingerprint({
    kind,
    baseUrl: engine.account.baseUrl,
    structureId: reader.structure._id,
    sha256: facts.sha256,
    columns: facts.columns.map(({ name, target }) => ({
      name,
      target: target.kind === "field" ? { ...target, fieldId: names.fieldId(target.fieldId) } : target,
    })),
    reading: hasInput(rowRun) ? describeReading(reading) : {},
    options: work.options,
    after: work.after,
  });
}

async function describePlan(rowRun: RowRun): Promise<PlanDescription> {
  const { work, reader, understood } = rowRun;
  const { readsStatus, marksRepeats, leavesOutSuppressed, selection } = work;
  const knownNames = await reader.account.readCachedNames(reader.structure);
  const { columns, delimiter, hasEscapes, form, sha256, bytes } = understood.facts;
  return {
    ...(hasInput(rowRun) && {
      input: { sha256, size: bytes },
      table: { columns, delimiter, hasEscapes, form },
    }),
    ...(work.command && { command: work.command }),
    selection: selection?.stored,
    names: toStoredNames(knownNames.structure, knownNames.lists),
    source: work.source,
    looks: {
      by: "search",
      readsStatus,
      marksRepeats,
      suppressions: leavesOutSuppressed ? "pass-over" : "include",
    },
  };
}

async function openSource(
  rowRun: RowRun,
  lookup: Lookup,
  state: RunState,
  scratch: string,
): Promise<PlanSource> {
  const snapshot = await takeSnapshot(rowRun, lookup, state, scratch);
  try {
    const { work, survey } = rowRun;
    const shared = {
      lookup: snapshot ? lookup.over(snapshot, !work.members) : lookup,
      close: () => snapshot?.close(),
    };
    if (!hasInput(rowRun)) {
      let read = 0;
      for (const _item of listSelectedItems(snapshot!, rowRun)) read++;
      const entries = [listSelectedItems(snapshot!, rowRun)];
      return { ...shared, entries, input: { ...state.input, read }, stableEntries: 0 };
    }
    const removals = work.members && (await planRemovals(snapshot!, rowRun, shared.lookup));
    async function* entries(): AsyncGenerator<Iterable<PlanEntry>> {
      yield* readRowEntries(rowRun);
      if (removals) yield removals.items();
    }
    return {
      ...shared,
      entries: entries(),
      // Members that the input does not name are counted like rows.
      input: { ...state.input, read: survey.read + (removals?.count ?? 0) },
      stableEntries: removals ? survey.read : Number.POSITIVE_INFINITY,
      removals: removals?.limits,
    };
  } catch (error) {
    snapshot?.close();
    throw error;
  }
}

/** How often the pages are read when contacts come and go meanwhile. */
const maxPasses = 3;

/**
 * Pages of the account: whom the conditions choose, a list's members for a sync, else everybody where that is
 * cheaper than asking for blocks of keys. Pages that an earlier invocation has read are kept, unless they are old.
 * Contacts that others add or remove meanwhile move the rest from page to page: then all whom conditions choose
 * are read again, so that nobody is passed over.
 */
async function takeSnapshot(
  rowRun: RowRun,
  lookup: Lookup,
  state: RunState,
  file: string,
): Promise<AccountSnapshot | undefined> {
  const { work, reader, emit } = rowRun;
  const contacts = countRunRows(state).pending;
  if (hasInput(rowRun) && !work.members && contacts === 0) return undefined;
  const options = {
    isTemporary: state.run === undefined,
    toIdentity: createIdentityReader(reader.structure.keyType),
  };
  for (let pass = 1; ; pass++) {
    const snapshot = await openSnapshot(file, options);
    const pages = describePages(rowRun, lookup);
    const filled = await fillSnapshot(snapshot, rowRun, pages, contacts).catch((error: unknown) => {
      snapshot.close();
      throw error;
    });
    if (filled === "moved" && pass >= maxPasses)
      emit({ kind: "remark", remark: { code: "account_changed" } });
    else if (filled !== "whole") {
      snapshot.close();
      if (filled === "unread") return undefined;
      await rm(file, { force: true });
      continue;
    }
    return snapshot;
  }
}

/**
 * @param contacts whose keys could be asked for instead
 * @returns `unread`: keys are cheaper; `old`: it was read too long ago; `moved`: contacts came and went meanwhile
 */
async function fillSnapshot(
  snapshot: AccountSnapshot,
  rowRun: RowRun,
  pages: PagesOptions,
  contacts: number,
): Promise<"whole" | "unread" | "old" | "moved"> {
  if (snapshot.total !== undefined && !snapshot.isRecent(rowRun.clock.now())) return "old";
  if (hasInput(rowRun) && !rowRun.work.members) {
    const isRead = await readAccountIfSmaller(snapshot, contacts, pages, countSentRequests(rowRun));
    return isRead ? "whole" : "unread";
  }
  await readAllPages(snapshot, pages);
  return hasInput(rowRun) || snapshot.isWhole() ? "whole" : "moved";
}

/** Which pages of the account are read for this run, and how. */
function describePages(rowRun: RowRun, { behavior, keys }: Lookup): PagesOptions {
  const { send, clock, work, reader, options } = rowRun;
  const { source, readsStatus, members } = work;
  const { _id: structureId } = reader.structure;
  const { concurrency } = options;
  const all = { send, behavior, keys, clock, structureId, source, readsStatus, concurrency };
  if (members) {
    const filters = createFilter(createEquals("LIST_ID", [members.listId]));
    return { ...all, filters, lists: [{ _id: members.listId }] };
  }
  return hasInput(rowRun) ? all : { ...all, filters: work.selection!.filters, lists: work.chosenLists };
}
