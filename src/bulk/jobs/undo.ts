/**
 * `runs undo`: puts back what a run has changed, from the values in its journal, where the account still holds what the
 * run wrote. A created contact stays: deleting it would lose what others have done with it since. An undo is a job like
 * the others: it makes a plan, and the same step applies it.
 */
import { join } from "node:path";
import { type Lease, takeLease } from "../../disk/lease.ts";
import { DeclinedError, EcmError, ReadOnlyError, UsageError } from "../../errors.ts";
import { type Account, createAccount } from "../../service/account.ts";
import { statusParts } from "../../service/contacts.ts";
import { asRunStop, RunStop } from "../pace/run-stop.ts";
import { idsOf } from "../plan/decide.ts";
import { progressOf, type RunEvent } from "../plan/events.ts";
import { planNames } from "../plan/plan-line.ts";
import { type Engine, openContext, type RunContext, type RunOptions } from "../plan/run-context.ts";
import { readRunNames } from "../plan/run-names.ts";
import { identityReader } from "../read/keys.ts";
import { JournalDamagedError, readRunRecord } from "../runs/damage.ts";
import { isFinished } from "../runs/enter.ts";
import { fileOf } from "../runs/files.ts";
import { fingerprintOf } from "../runs/fingerprint.ts";
import { locksFolder, type Manifest, writeManifest } from "../runs/folder.ts";
import { joinedNames, type KeptNames, namesFrom } from "../runs/names-file.ts";
import { noteReported } from "../runs/reported.ts";
import { type AboutRun, enterJob, leaveRun } from "./enter-job.ts";
import { type Closed, closeUnentered, nothingRead } from "./finish.ts";
import { openLookup } from "./open-lookup.ts";
import { planAndApply } from "./plan-and-apply.ts";
import type { ReadyJob } from "./ready-job.ts";
import { recreation } from "./recreate.ts";
import { keyTable } from "./rejected.ts";
import { type UndoScope, undoItems, undoWork, withoutDeleted } from "./undo-work.ts";
import { writtenBy } from "./written-contacts.ts";

export interface UndoOptions {
  /** Undoes what a damaged journal can still prove. */
  isPartial?: boolean;
  /** Deletes the contacts that the run created and nobody has changed since. */
  deletesCreated?: boolean;
  /** Requests that follow on the undo once it is complete. */
  requestsAfter?: number;
  /** Whether nobody may be created with this key. */
  isSuppressed?: (key: string) => boolean;
}

export interface UndoRunOptions extends RunOptions {
  undo?: UndoOptions;
}

type Source = { manifest: Manifest; folder: string };

/**
 * Undoes a run. The undo is a run of its own, and can stop and be resumed as any other.
 * @throws JournalDamagedError
 */
export async function undoRun(
  engine: Engine,
  source: Source,
  options: UndoRunOptions,
  emit: (event: RunEvent) => void,
): Promise<Closed> {
  const { id, fingerprint } = source.manifest;
  const context = openContext({ kind: "undo", subject: id, engine, options, emit });
  emit({ kind: "phase", progress: () => progressOf(context, "looking", {}) });
  let lease: Lease | undefined;
  try {
    lease = await takeLease(locksFolder(engine.stateFolder), fingerprint, `run ${id}`);
    if (engine.account.isReadOnly && !options.isDryRun) throw ReadOnlyError.forCommand();
    return await undoLocked(context, source, options.undo ?? {});
  } catch (error) {
    const stop = asRunStop(error);
    const isRefusal = [UsageError, DeclinedError, JournalDamagedError].some(
      (kind) => stop.failure instanceof kind,
    );
    if (isRefusal || !(error instanceof RunStop || error instanceof EcmError)) throw error;
    return closeUnentered(context, stop);
  } finally {
    await lease?.release();
  }
}

/** Undoes a run that no other process can work on. */
async function undoLocked(context: RunContext, source: Source, undo: UndoOptions): Promise<Closed> {
  const extent = await surveyJournal(source, undo.isPartial ?? false, context.emit);
  const job = await readyUndo(context, source, extent, undo);
  if (context.options.isDryRun) return planAndApply(context, job, undefined);
  const run = await enterJob(context, aboutUndo(context, source, undo));
  return leaveRun(context, run, async () => {
    // Once it is undone, the same command does not report what it had done.
    if (isFinished(source.manifest)) await noteReported(source.folder);
    else {
      // What was put back must not be written again when it is resumed.
      await writeManifest(source.folder, { ...source.manifest, supersededBy: run.manifest.id });
    }
    return planAndApply(context, job, run);
  });
}

async function readyUndo(
  context: RunContext,
  source: Source,
  { refs, returns }: Extent,
  { isPartial = false, deletesCreated = false, requestsAfter = 0, isSuppressed = () => false }: UndoOptions,
): Promise<ReadyJob> {
  const { send, emit } = context;
  const { account: place } = source.manifest;
  const account = createAccount(send.plain, place.structureId);
  const known = await readForUndo(account, source, { returns, isSuppressed });
  const { keyType, recreate, remaining, names } = known;
  if (recreate) emit({ kind: "remark", text: lostByDeletion, isAside: true });
  const scope: UndoScope = { deletesCreated, recreate, remaining, names: planNames(names) };
  const identityOf = identityReader(keyType);
  // What tells a create of ours from one of others, and whether anybody has changed it since.
  const parts = ["fields", "lists", "tags", "createdAt", "updatedAt", ...statusParts];
  const { structureId } = place;
  const { behavior, lookup: everyone } = openLookup(context, { structureId, keyType, source: parts });
  const lookup = recreate ? withoutDeleted(everyone) : everyone;
  const input = { ...nothingRead, read: refs.length };
  return {
    account,
    keyType,
    behavior,
    work: undoWork(scope, isSuppressed),
    lookup,
    input,
    requestsAfter,
    isLenient: true,
    async head() {
      const { baseUrl } = place;
      return {
        kind: "undo",
        account: { baseUrl, structureId, keyType },
        input: null,
        names,
        source: parts,
        listIds: [],
        table: keyTable,
      };
    },
    async source() {
      const entries = undoItems(source.folder, refs, identityOf, isPartial);
      return { entries, input, stableEntries: refs.length, lookup, close: () => undefined };
    },
  };
}

const lostByDeletion = "Recreated contacts get new ids; their history and date of creation are lost";

/** What would come back: contacts, and lists and tags of those that were changed. */
interface Returns {
  contacts: boolean;
  lists: boolean;
  tags: boolean;
}

interface KnownForUndo extends Pick<UndoScope, "recreate" | "remaining"> {
  keyType: string;
  names: KeptNames;
}

/** An unsubscription cannot be undone: nothing is read for it. */
async function readForUndo(
  account: Account,
  { manifest: { kind }, folder }: Source,
  { returns, isSuppressed }: { returns: Returns; isSuppressed: (key: string) => boolean },
): Promise<KnownForUndo> {
  const kept = await readRunNames(folder);
  if (kind === "unsubscribe") return { keyType: "", names: kept };
  const structure = await account.structure();
  const { keyType } = structure;
  const whole = returns.contacts || returns.tags ? await account.complete(structure) : structure;
  const lists = returns.contacts || returns.lists ? await account.lists(structure) : [];
  const names = joinedNames(kept, namesFrom(whole, lists));
  const remaining = {
    fields: idsOf(whole.fields),
    tags: whole.tags && idsOf(whole.tags),
    lists: returns.contacts || returns.lists ? idsOf(lists) : undefined,
  };
  const recreate = returns.contacts ? recreation(whole, lists, planNames(names), isSuppressed) : undefined;
  return { keyType, names, remaining, recreate };
}

interface Extent {
  /** Of the contacts that the run has written. */
  refs: readonly number[];
  returns: Returns;
}

function aboutUndo(
  { engine: { version } }: RunContext,
  { manifest, folder }: Source,
  { isPartial = false, deletesCreated = false }: UndoOptions,
): AboutRun {
  const { id, account, fingerprint } = manifest;
  return {
    kind: "undo",
    version,
    account,
    input: {
      name: id,
      file: join(folder, fileOf.journal),
      isSpooled: false,
      sha256: fingerprint,
      bytes: 0,
    },
    fingerprint: fingerprintOf({ kind: "undo", run: id, deletesCreated: deletesCreated || undefined }),
    options: { run: id, isPartial, deletesCreated },
  };
}

/**
 * Which contacts the run has written.
 * @throws EcmError when it has left writes that nobody knows the end of; JournalDamagedError
 */
async function surveyJournal(
  { manifest, folder }: Source,
  isPartial: boolean,
  emit: RunContext["emit"],
): Promise<Extent> {
  const { damage } = await readRunRecord({ manifest, folder });
  const isDamaged = damage !== undefined;
  const refs: number[] = [];
  let proven = 0;
  const returns: Returns = { contacts: false, lists: false, tags: false };
  for await (const { ref, isUnproven, operation } of writtenBy(folder, isDamaged)) {
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
    const of = rows ? ` of ${rows.created + rows.updated + rows.deleted}` : "";
    const extent = `${proven}${of} changes can still be read`;
    if (!isPartial) throw cannotUndo(manifest.id, damage, extent);
    emit({
      kind: "remark",
      text: `The journal of run ${manifest.id} is damaged: ${extent}; the rest will not be undone`,
    });
  }
  return { refs, returns };
}

function cannotUndo(id: string, damage: string, extent: string): JournalDamagedError {
  return new JournalDamagedError(
    `The journal of run ${id} is damaged: ${damage}`,
    `${extent}. Undo those with: ecm runs undo ${id} --partial`,
  );
}
