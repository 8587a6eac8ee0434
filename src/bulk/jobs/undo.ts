/**
 * `runs undo`: puts back what a run has changed, from the values in its journal, where the account still
 * holds what the run wrote. A created contact stays: deleting it would lose what others have done with it
 * since. An undo is a job like the others: it makes a plan, and the same step applies it.
 */

import { join } from "node:path";
import { statusParts, toIdSet } from "../../api/contacts.ts";
import type { Account } from "../../service/account.ts";
import { createIdentityReader } from "../../tables/index.ts";
import type { Item } from "../desired.ts";
import { createProgress } from "../plan/events.ts";
import { mergeNames, type StoredNames, toStoredNames } from "../plan/name-book.ts";
import { hold, noInput, type RunContext } from "../plan/session.ts";
import { computeFingerprint, fileNames, type Run } from "../runs/folder.ts";
import { damagedJournalError, readRunRecord } from "../runs/ledger.ts";
import { findRun } from "../runs/stored-runs.ts";
import { type Remaining, toRecreated, toRemoved, toRestored } from "../values.ts";
import { readRunNames, readWritten, type WrittenContact } from "./changes.ts";
import { type ContactsToPlan, type Job, type OpenedJob, openAccount, openContacts, toHead } from "./job.ts";

/** Which run is undone, and how. */
interface UndoOptions {
  /** The id of the run. */
  run: string;
  /** Deletes the contacts that the run created and nobody has changed since. */
  deletesCreated: boolean;
}

/** The undo is a run of its own, and can stop and be resumed as any other. */
export function undoJob({ run, deletesCreated }: UndoOptions): Job {
  return {
    kind: "undo",
    input: { name: run },
    readsInput: false,
    open: (context) => openUndo(context, { run, deletesCreated }),
  };
}

/** @throws JournalDamagedError */
async function openUndo(context: RunContext, undo: UndoOptions): Promise<OpenedJob> {
  const { stateFolder } = context.engine;
  const source = await findRun(stateFolder, undo.run);
  const { manifest, folder } = source;
  const { id, account, fingerprint } = manifest;
  context.emit({ kind: "phase", progress: () => createProgress(context, "looking", {}) });
  await hold(context, fingerprint, `run ${id}`);
  return {
    about: {
      account,
      input: { name: id, file: join(folder, fileNames.journal), sha256: fingerprint, bytes: 0 },
      fingerprint: computeFingerprint({
        kind: "undo",
        run: id,
        deletesCreated: undo.deletesCreated || undefined,
      }),
      options: { ...undo },
    },
    contacts: await openUndone(context, source, undo.deletesCreated),
    // What was put back must not be written again when it is resumed.
    supersedes: source.isFinished ? undefined : source,
  };
}

async function openUndone(
  context: RunContext,
  source: Run,
  deletesCreated: boolean,
): Promise<ContactsToPlan> {
  const { count, returns } = await surveyJournal(source);
  const { account: place } = source.manifest;
  const account = openAccount(context, place.structureId);
  const { keyType, remaining, names } = await readAccount(account, source, returns);
  if (returns.has("contact")) context.emit({ kind: "remark", remark: { code: "recreates" } });
  const toIdentity = createIdentityReader(keyType);
  async function* entries(): AsyncGenerator<Item[]> {
    for await (const written of readWritten(source.folder)) {
      const { ref, key } = written;
      const keys = { written: key, sent: key, identity: toIdentity(key) };
      yield [{ ref, line: null, key: keys, cells: [key], ...toUndone(written, deletesCreated, remaining) }];
    }
  }
  const head = toHead(
    context,
    { ...place, keyType },
    {
      names,
      // What tells a create of ours from one of others, and whether anybody has changed it since.
      source: ["fields", "lists", "tags", "createdAt", "updatedAt", ...statusParts],
      // Only the undo of a deletion creates anybody.
      looks: { by: "id", suppressions: returns.has("contact") ? "hold" : "include" },
    },
  );
  return {
    ...(await openContacts(context, account, head)),
    input: { ...noInput, read: count },
    head,
    source: async () => ({ entries: entries(), stableEntries: count }),
  };
}

/** What would come back: contacts, and lists and tags of those that were changed. */
type Returns = ReadonlySet<"contact" | "list" | "tag">;

/**
 * How many contacts the run has written, and what would come back.
 * @throws EcmError when it has left writes that nobody knows the end of; JournalDamagedError
 */
async function surveyJournal(run: Run): Promise<{ count: number; returns: Returns }> {
  const { damage } = await readRunRecord(run);
  if (damage !== undefined) throw damagedJournalError(run.manifest.id, damage);
  let count = 0;
  const returns = new Set<"contact" | "list" | "tag">();
  for await (const { operation } of readWritten(run.folder)) {
    count++;
    if (operation.kind === "delete") returns.add("contact");
    if (operation.kind !== "change") continue;
    for (const { what, to } of operation.values) if (what !== "field" && !to) returns.add(what);
  }
  return { count, returns };
}

/** What the account still has of what contacts held before. Nothing is read for an unsubscription. */
async function readAccount(
  account: Account,
  { manifest: { kind }, folder }: Run,
  returns: Returns,
): Promise<{ keyType: string; remaining: Remaining; names: StoredNames }> {
  const storedNames = await readRunNames(folder);
  if (kind === "unsubscribe") return { keyType: "", names: storedNames, remaining: {} };
  const structure = await account.structure();
  const whole = returns.has("contact") || returns.has("tag") ? await account.complete(structure) : structure;
  const lists = returns.has("contact") || returns.has("list") ? await account.lists(structure) : undefined;
  return {
    keyType: structure.keyType,
    names: mergeNames(storedNames, toStoredNames(whole, lists ?? [])),
    remaining: {
      field: toIdSet(whole.fields),
      tag: whole.tags && toIdSet(whole.tags),
      list: lists && toIdSet(lists),
    },
  };
}

/** What is wanted of a contact that the run wrote, and which one it is: a deleted one has lost its id. */
function toUndone(
  { operation, createdId }: WrittenContact,
  deletesCreated: boolean,
  remaining: Remaining,
): Pick<Item, "desired" | "contactId"> {
  switch (operation.kind) {
    case "create": {
      const isDeleted = deletesCreated && createdId !== undefined;
      const desired = isDeleted ? toRemoved(operation, createdId) : { reject: { code: "created" } };
      return { contactId: createdId, desired };
    }
    case "change":
      return { contactId: operation.id, desired: toRestored(operation, remaining) };
    case "unsubscribe":
      return { contactId: operation.id, desired: { reject: { code: "unsubscribed" } } };
    case "delete":
      return { desired: toRecreated(operation, remaining) };
  }
}
