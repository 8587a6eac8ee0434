/**
 * `runs undo`: puts back what a run has changed, from the values in its journal, where the account still
 * holds what the run wrote. A created contact stays: deleting it would lose what others have done with it
 * since. An undo is a job like the others: it makes a plan, and the same step applies it.
 */

import { join } from "node:path";
import { statusParts, toIdSet } from "../../api/contacts.ts";
import { takeLease } from "../../disk/lease.ts";
import { EcmError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Account } from "../../service/account.ts";
import { createIdentityReader } from "../../tables/index.ts";
import type { Item } from "../items.ts";
import { createProgress, type Proven } from "../plan/events.ts";
import { mergeNames, type StoredNames, toStoredNames } from "../plan/names.ts";
import type { Looks } from "../plan/plan-file.ts";
import type { RunContext } from "../plan/session.ts";
import {
  computeFingerprint,
  fileNames,
  isFinished,
  type Manifest,
  type Run,
  toLocksFolder,
  toStepsAfterUndo,
  writeManifest,
} from "../runs/folder.ts";
import { readRunRecord } from "../runs/ledger.ts";
import { findRun } from "../runs/stored-runs.ts";
import { type Remaining, toRecreated, toRemoved, toRestored } from "../values.ts";
import { readRunNames, readWrittenContacts, type WrittenContact } from "./changes.ts";
import { noInput } from "./finish.ts";
import type { ContactsToPlan, Job, OpenedJob, RunAbout } from "./job.ts";
import { openAccount, openJudging } from "./open-account.ts";

/** Which run is undone, and how. */
export interface UndoOptions {
  /** Its id. */
  run: string;
  /** Undoes what a damaged journal can still prove. */
  isPartial: boolean;
  /** Deletes the contacts that the run created and nobody has changed since. */
  deletesCreated: boolean;
}

/** The undo is a run of its own, and can stop and be resumed as any other. */
export function undoJob({ run, isPartial, deletesCreated }: UndoOptions): Job {
  const undo = { run, isPartial, deletesCreated };
  return {
    kind: "undo",
    input: { name: run },
    readsInput: false,
    open: (context) => openUndo(context, undo),
  };
}

/** @throws JournalDamagedError */
async function openUndo(context: RunContext, undo: UndoOptions): Promise<OpenedJob> {
  const { stateFolder } = context.engine;
  const source = await findRun(stateFolder, undo.run);
  const { id, fingerprint } = source.manifest;
  context.emit({ kind: "phase", progress: () => createProgress(context, "looking", {}) });
  // No other process can work on it meanwhile.
  const lease = await takeLease(toLocksFolder(stateFolder), fingerprint, `run ${id}`);
  try {
    const extent = await surveyJournal(source, undo.isPartial, context.emit);
    const contacts = await openContacts(context, source, extent, undo);
    return {
      about: { ...describeUndoRun(source, undo), after: contacts.after },
      contacts,
      async entered({ manifest }) {
        if (isFinished(source.manifest)) return;
        // What was put back must not be written again when it is resumed.
        await writeManifest(source.folder, { ...source.manifest, supersededBy: manifest.id });
      },
      release: () => lease.release(),
    };
  } catch (error) {
    await lease.release();
    throw error;
  }
}

async function openContacts(
  context: RunContext,
  source: Run,
  { refs, returns }: Extent,
  { isPartial, deletesCreated }: UndoOptions,
): Promise<ContactsToPlan> {
  const { structureId } = source.manifest.account;
  const account = openAccount(context, structureId);
  // Only the undo of a deletion creates anybody.
  const mayCreate = !kindsWithoutDeletion.has(source.manifest.kind);
  const looks: Looks = { by: "id", suppressions: mayCreate ? "hold" : "include" };
  const { keyType, remaining, names } = await readUndoData(account, source, returns);
  if (returns.contacts) context.emit({ kind: "remark", remark: { code: "recreates" } });
  const scope = { deletesCreated, remaining, isPartial, toIdentity: createIdentityReader(keyType) };
  // What tells a create of ours from one of others, and whether anybody has changed it since.
  const parts = ["fields", "lists", "tags", "createdAt", "updatedAt", ...statusParts];
  const head = { names, source: parts, looks };
  return {
    account,
    ...(await openJudging(context, account, { structureId, keyType }, head)),
    input: { ...noInput, read: refs.length },
    after: toStepsAfterUndo(source.manifest.after, names.lists, deletesCreated),
    head,
    async source() {
      const entries = readUndoItems(source.folder, refs, scope);
      return { entries, stableEntries: refs.length };
    },
  };
}

/** An undo deletes whom a run created, and `apply` whom its plan says. */
const kindsWithoutDeletion = new Set<Manifest["kind"]>(["import", "mutate", "unsubscribe", "sync"]);

/** What would come back: contacts, and lists and tags of those that were changed. */
interface ReturnedParts {
  contacts: boolean;
  lists: boolean;
  tags: boolean;
}

interface UndoData {
  keyType: string;
  remaining: Remaining;
  names: StoredNames;
}

/** An unsubscription cannot be undone: nothing is read for it. */
async function readUndoData(
  account: Account,
  { manifest: { kind }, folder }: Run,
  returns: ReturnedParts,
): Promise<UndoData> {
  const storedNames = await readRunNames(folder);
  if (kind === "unsubscribe") return { keyType: "", names: storedNames, remaining: {} };
  const structure = await account.structure();
  const { keyType } = structure;
  const whole = returns.contacts || returns.tags ? await account.complete(structure) : structure;
  const lists = returns.contacts || returns.lists ? await account.lists(structure) : [];
  const names = mergeNames(storedNames, toStoredNames(whole, lists));
  const remaining = {
    field: toIdSet(whole.fields),
    tag: whole.tags && toIdSet(whole.tags),
    list: returns.contacts || returns.lists ? toIdSet(lists) : undefined,
  };
  return { keyType, names, remaining };
}

interface Extent {
  /** Of the contacts that the run has written. */
  refs: readonly number[];
  returns: ReturnedParts;
}

function describeUndoRun({ manifest, folder }: Run, undo: UndoOptions): RunAbout {
  const { id, account, fingerprint } = manifest;
  const { deletesCreated } = undo;
  return {
    account,
    input: { name: id, file: join(folder, fileNames.journal), sha256: fingerprint, bytes: 0 },
    fingerprint: computeFingerprint({ kind: "undo", run: id, deletesCreated: deletesCreated || undefined }),
    options: { ...undo },
  };
}

/**
 * Which contacts the run has written.
 * @throws EcmError when it has left writes that nobody knows the end of; JournalDamagedError
 */
async function surveyJournal(
  { manifest, folder }: Run,
  isPartial: boolean,
  emit: RunContext["emit"],
): Promise<Extent> {
  const { damage } = await readRunRecord({ manifest, folder });
  const isDamaged = damage !== undefined;
  const refs: number[] = [];
  let proven = 0;
  const returns: ReturnedParts = { contacts: false, lists: false, tags: false };
  for await (const { ref, isUnproven, operation } of readWrittenContacts(folder, isDamaged)) {
    refs.push(ref);
    if (isUnproven) continue;
    proven++;
    returns.contacts ||= operation.kind === "delete";
    if (operation.kind !== "change") continue;
    returns.lists ||= operation.body.removeLists !== undefined;
    returns.tags ||= operation.body.removeTags !== undefined;
  }
  if (isDamaged) {
    const { rows } = manifest.summary ?? {};
    const of = rows && rows.created + rows.updated + rows.deleted;
    if (!isPartial) throw cannotUndoError(manifest.id, damage, { proven, of });
    emit({ kind: "remark", remark: { code: "partly_proven", run: manifest.id, proven, of } });
  }
  return { refs, returns };
}

function cannotUndoError(id: string, damage: string, { proven, of }: Proven): EcmError {
  const extent = `${proven}${of === undefined ? "" : ` of ${of}`} changes can still be read`;
  return new EcmError(
    "damaged journal",
    `The journal of run ${id} is damaged: ${damage}`,
    advise`${extent}. Undo those with: ${ecm`runs undo ${id} --partial`}`,
  );
}

/** What an undo may do besides putting back what was changed. */
interface UndoScope {
  /** Deletes what the run created and nobody has changed since. */
  deletesCreated: boolean;
  /** What the account still has of what contacts held before. */
  remaining: Remaining;
  toIdentity: (key: string) => string;
  isPartial: boolean;
}

/**
 * One item for each contact that the run wrote, in the order of the run. The journal has them in the order of
 * their outcomes.
 * @param refs of all of them
 */
async function* readUndoItems(
  folder: string,
  refs: readonly number[],
  scope: UndoScope,
): AsyncGenerator<Item[]> {
  const order = [...new Set(refs)].sort((one, other) => one - other);
  const waiting = new Map<number, Item>();
  let next = 0;
  for await (const undone of readWrittenContacts(folder, scope.isPartial)) {
    waiting.set(undone.ref, toUndoItem(undone, scope));
    const ready: Item[] = [];
    for (let item = waiting.get(order[next]!); item; item = waiting.get(order[next]!)) {
      ready.push(item);
      waiting.delete(order[next++]!);
    }
    if (ready.length > 0) yield ready;
  }
  yield [...waiting.values()].sort((one, other) => one.ref - other.ref);
}

function toUndoItem(undone: WrittenContact, scope: UndoScope): Item {
  const { ref, key, operation, createdId } = undone;
  // A deleted contact's id is gone with it.
  const contactId =
    operation.kind === "create" ? createdId : operation.kind === "delete" ? undefined : operation.id;
  return {
    ref,
    line: null,
    key: { written: key, sent: key, identity: scope.toIdentity(key) },
    cells: [key],
    contactId,
    desired: toDesired(undone, scope),
  };
}

function toDesired(
  { operation, isUnproven, createdId }: WrittenContact,
  { deletesCreated, remaining }: UndoScope,
): Item["desired"] {
  if (isUnproven) return { reject: { code: "unproven" } };
  switch (operation.kind) {
    case "create":
      if (!deletesCreated || createdId === undefined) return { reject: { code: "created" } };
      return toRemoved(operation, createdId);
    case "change":
      return toRestored(operation, remaining);
    case "unsubscribe":
      return { reject: { code: "unsubscribed" } };
    case "delete":
      return toRecreated(operation, remaining);
  }
}
