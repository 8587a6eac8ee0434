/** `lists sync`: the list's members become exactly the contacts that a file names. */

import { statusParts } from "../../api/contacts.ts";
import { usageError } from "../../errors.ts";
import { type InputFile, openClearInput, requireUnderstood } from "../../tables/index.ts";
import type { RunContext } from "../plan/session.ts";
import { toValues, whereMissing } from "../values.ts";
import type { Job, JobInput, OpenedJob } from "./job.ts";
import { type KeysFileOptions, openReader, type RowWork, toReadOptions } from "./row-work.ts";
import { openRows } from "./rows.ts";

export interface SyncOptions {
  input: JobInput;
  /** Name or id. */
  list: string;
  /** Create contacts that do not exist. */
  create: boolean;
  /** How the file is read; by default as it says itself. */
  read?: KeysFileOptions;
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
  const reading = { ...toReadOptions(options.read), readsConsent: true };
  const opened = await openClearInput("keys", file, reading);
  const reader = await openReader(context);
  const { _id } = await reader.account.list(reader.structure, options.list);
  const understood = await requireUnderstood("keys", opened, reading, reader.structure);
  const survey = await reader.survey(understood);
  if (survey.read <= survey.rejected) {
    throw usageError(
      "The file has no contacts, which would empty the list; nothing was sent",
      "Check that it is the right file",
      { type: "EmptyInputError" },
    );
  }
  return openRows(context, { reader, file, understood, survey, work: toRowWork(options, _id) });
}

function toRowWork(options: SyncOptions, listId: string): RowWork {
  const { list, create, read, includeUnsubscribed, includeSuppressed } = options;
  return {
    options: { list, create, read, includeUnsubscribed, includeSuppressed },
    members: { listId, listName: list },
    duplicates: "first",
    marksRepeats: !create,
    source: ["lists", ...statusParts, "createdAt"],
    listIds: () => [listId],
    notSubscribedAre: includeUnsubscribed ? "added" : create ? "not_added_nor_created" : "not_added",
    leavesOutSuppressed: create && !includeSuppressed,
    toDesired(row) {
      const mayJoinLists = row.notSubscribed === undefined || includeUnsubscribed === true;
      return {
        values: toValues({ addLists: [listId] }),
        absent: create ? "create" : whereMissing(mayJoinLists),
        present: "change",
        mayJoinLists,
      };
    },
  };
}
