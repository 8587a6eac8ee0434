/** `lists sync`: the list's members become exactly the contacts that a file names. */

import { statusParts } from "../../api/contacts.ts";
import { usageError } from "../../errors.ts";
import { openClearInput, requireUnderstood } from "../../tables/index.ts";
import { toValues, whereMissing } from "../values.ts";
import {
  type InputJob,
  type JobInput,
  type KeysFileOptions,
  type ResolvedJob,
  type RowJob,
  toReadOptions,
} from "./job.ts";
import { overRows } from "./rows.ts";

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

export function syncJob(options: SyncOptions): RowJob {
  const { input, list, create, read, includeUnsubscribed, includeSuppressed } = options;
  const reading = { ...toReadOptions(read), readsConsent: true };
  const toResolvedJob = (listId: string): ResolvedJob => ({
    options: {
      list,
      create,
      read,
      includeUnsubscribed,
      includeSuppressed,
    } satisfies Record<Exclude<keyof SyncOptions, "input">, unknown>,
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
  });
  return overRows({
    kind: "sync",
    input,
    readsInput: true,
    openInput: (file) => openClearInput("keys", file, reading),
    async resolve(account): Promise<InputJob> {
      const { _id } = await account.list(await account.structure(), list);
      return {
        understand: (opened, structure) => requireUnderstood("keys", opened, reading, structure),
        async decide({ read: rows, rejected }) {
          if (rows > rejected) return { job: toResolvedJob(_id) };
          throw usageError(
            "The file has no contacts, which would empty the list; nothing was sent",
            "Check that it is the right file",
            { type: "EmptyInputError" },
          );
        },
      };
    },
  });
}
