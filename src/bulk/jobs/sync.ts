/** `lists sync`: the list's members become exactly the contacts that a file names. */

import { statusParts } from "../../api/contacts.ts";
import { usageError } from "../../errors.ts";
import { type InputFile, openClearInput, type ReadOptions, requireUnderstood } from "../../tables/index.ts";
import { nameOf } from "../plan/names.ts";
import type { PlanHead } from "../plan/plan-file.ts";
import { hold, type RunContext } from "../plan/session.ts";
import { toValues, whereMissing } from "../values.ts";
import type { Job, JobInput, OpenedJob } from "./job.ts";
import { openReader, openRows, type RowWork } from "./rows.ts";

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
  const rows = await openRows(context, { reader, understood, survey, work: toRowWork(options, listId) });
  await holdList(context, rows.about.account, { listId, name: options.list });
  return rows;
}

function toRowWork(options: SyncOptions, listId: string): RowWork {
  const { list, create, read, includeUnsubscribed, includeSuppressed } = options;
  return {
    record: { list, create, read, includeUnsubscribed, includeSuppressed },
    listId,
    duplicates: "first",
    source: ["lists", ...statusParts, "createdAt"],
    looks: {
      marksRepeats: !create,
      suppressions: create && !includeSuppressed ? "pass-over" : "include",
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
  };
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

/** The same for a plan: a sync's alone removes members of a list that its input does not name. */
export async function holdPlannedList(
  context: RunContext,
  { account, removals, names }: PlanHead,
): Promise<void> {
  if (!removals) return;
  const { listId } = removals;
  await holdList(context, account, { listId, name: nameOf(names, "list", listId) });
}
