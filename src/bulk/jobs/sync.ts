/** `lists sync`: the list's members become exactly the contacts that a file names. */

import { createEquals, createFilter, statusParts } from "../../api/contacts.ts";
import { usageError } from "../../errors.ts";
import {
  type InputFile,
  listPossibleKeys,
  openClearInput,
  type ReadOptions,
  requireUnderstood,
  type Survey,
} from "../../tables/index.ts";
import { TextIndex } from "../../text-index.ts";
import type { Contact } from "../../wire.ts";
import type { Desired, Item } from "../desired.ts";
import type { Lookup } from "../plan/lookup.ts";
import { nameOf } from "../plan/name-book.ts";
import type { PlanHead } from "../plan/plan-file.ts";
import { hold, type RunContext } from "../plan/session.ts";
import type { AccountSnapshot } from "../plan/snapshot.ts";
import { toValues, whereMissing } from "../values.ts";
import type { Job, JobInput, OpenedJob } from "./job.ts";
import {
  type OtherContacts,
  openReader,
  openRows,
  type RowRun,
  type RowWork,
  toPageItem,
  toRowItem,
} from "./rows.ts";

export interface SyncOptions {
  input: JobInput;
  /** Name or id. */
  list: string;
  /** Create contacts that do not exist. */
  create: boolean;
  /** How the file is read; by default as it says itself. */
  read?: ReadOptions;
  includeUnsubscribed?: boolean;
  includeSuppressed?: boolean;
}

export function syncJob(options: SyncOptions): Job {
  return {
    kind: "sync",
    input: options.input,
    readsInput: true,
    open: (context, file) => openSync(context, file, options),
  };
}

async function openSync(context: RunContext, file: InputFile, options: SyncOptions): Promise<OpenedJob> {
  const reading = { map: [], ...options.read, readsConsent: true };
  const opened = await openClearInput("keys", file, reading);
  const reader = await openReader(context);
  const { _id: listId } = await reader.account.list(reader.structure, options.list);
  const understood = await requireUnderstood("keys", opened, reading, reader.structure);
  const survey = await reader.survey(understood);
  if (survey.read <= survey.rejected) {
    throw usageError(
      "The file has no contacts, which would empty the list; nothing was sent",
      "Check that it is the right file",
      { type: "EmptyInputError" },
    );
  }
  const rows = await openRows(context, reader, { understood, survey, ...toRowWork(options, listId) });
  await holdList(context, rows.about.account, { listId, name: options.list });
  return rows;
}

function toRowWork(options: SyncOptions, listId: string): Omit<RowWork, "survey"> {
  const { list, create, read, includeUnsubscribed, includeSuppressed } = options;
  return {
    record: () => ({ list, create, read, includeUnsubscribed, includeSuppressed }),
    duplicates: "first",
    source: ["lists", ...statusParts, "createdAt"],
    looks: {
      marksRepeats: !create,
      suppressions: includeSuppressed ? "include" : "pass-over",
    },
    notSubscribedAre: includeUnsubscribed ? "added" : create ? "not_added_nor_created" : "not_added",
    toDesired({ mark }) {
      const mayJoinLists = mark === undefined || includeUnsubscribed === true;
      return {
        values: toValues({ addLists: [listId] }),
        absent: create ? "create" : whereMissing(mayJoinLists),
        present: "change",
        mayJoinLists,
      };
    },
    others: {
      pages: { filters: createFilter(createEquals("LIST_ID", [listId])), lists: [{ _id: listId }] },
      areReadOnce: true,
      list: (snapshot, run, lookup) => planRemovals(snapshot, run, { listId, lookup }),
    },
  };
}

/**
 * Members that the input does not name, not even in a row that is rejected; all are skipped where the input
 * is cut off. Their places on the pages name them in the journal, after the input's lines.
 */
async function planRemovals(
  snapshot: AccountSnapshot,
  run: RowRun,
  { listId, lookup }: { listId: string; lookup: Lookup },
): Promise<OtherContacts> {
  const { survey, context } = run;
  const { toIdentity } = lookup;
  const rejected = await collectRejectedIdentities(survey, lookup);
  const isNamed = ({ _id = "", key = "" }: Partial<Contact>) => {
    const identity = toIdentity(key);
    return survey.identities.has(identity) || rejected.has(identity) || rejected.has(_id.toLowerCase());
  };
  const openKey = survey.openRow?.key.identity;
  let [members, count, isStart] = [0, 0, false];
  for (const contact of snapshot.all()) {
    members++;
    if (isNamed(contact)) continue;
    count++;
    isStart ||= openKey !== undefined && toIdentity(contact.key ?? "").startsWith(openKey);
  }
  const isCut =
    survey.rejectedCodes.has("truncated") || (count > 0 && (await isLastRowCut(run, lookup, isStart)));
  if (isCut) context.emit({ kind: "remark", remark: { code: "cut_off" } });
  const removal: Desired = {
    values: toValues({ removeLists: [listId] }),
    // A contact that is gone from the account is gone from the list.
    absent: "leave",
    present: "change",
    mayJoinLists: true,
  };
  const desired = isCut ? { skip: "truncated" } : removal;
  function* items(): Generator<Item> {
    let ref = survey.lastLine;
    for (const contact of snapshot.all()) {
      ref++;
      if (!isNamed(contact)) yield { ...toPageItem(ref, contact, lookup), desired, isRemoval: true };
    }
  }
  return { count, items, removals: { listId, members } };
}

/**
 * Whether a last row without a line end, with which nothing else is wrong, is taken as cut off: nobody has
 * its key, and either no contact is created with it, or a member's key that the input does not name begins
 * so.
 */
async function isLastRowCut(run: RowRun, lookup: Lookup, isStartOfMember: boolean): Promise<boolean> {
  const { openRow } = run.survey;
  if (!openRow) return false;
  const item = toRowItem(run, openRow, openRow.cells);
  const isCreated = "absent" in item.desired && item.desired.absent === "create";
  if (isCreated && !isStartOfMember) return false;
  return (await lookup.find([item])).get(item.ref)?.contact === undefined;
}

/** A row that is wrong takes nobody out of the list: all contacts that it may mean stay. */
async function collectRejectedIdentities(
  survey: Survey,
  { toIdentity }: Pick<Lookup, "toIdentity">,
): Promise<TextIndex> {
  const rejected = new TextIndex();
  if (survey.rejected === 0) return rejected;
  for await (const rows of survey.batches()) {
    for (const row of rows) {
      if (row.kind !== "rejected") continue;
      for (const meant of listPossibleKeys(row.cells)) rejected.add(toIdentity(meant));
    }
  }
  return rejected;
}

/**
 * Two syncs of one list at once would leave one that is like neither file: the second is refused.
 * @throws EcmError while another process makes the list the same as an input
 */
async function holdList(
  context: RunContext,
  { baseUrl, structureId }: Pick<PlanHead["account"], "baseUrl" | "structureId">,
  { listId, name }: { listId: string; name: string },
): Promise<void> {
  if (context.options.isDryRun) return;
  const what = `a sync of the list ${JSON.stringify(name)}`;
  await hold(context, `sync ${baseUrl} ${structureId} ${listId}`, what);
}

/** `holdList` for a closed plan: only a sync's removes members that its input does not name. */
export async function holdPlannedList(
  context: RunContext,
  { account, removals, names }: PlanHead,
): Promise<void> {
  if (!removals) return;
  const { listId } = removals;
  await holdList(context, account, { listId, name: nameOf(names, "list", listId) });
}
