/**
 * `runs undo`: puts back what a run has changed, from the values in its journal, where the account still holds what the
 * run wrote. A created contact stays: deleting it would lose what others have done with it since.
 */
import { join, resolve } from "node:path";
import { type Lease, takeLease } from "../../disk/lease.ts";
import { DeclinedError, EcmError, UsageError } from "../../errors.ts";
import { createAccount } from "../../service/account.ts";
import { createBehavior } from "../../service/behavior.ts";
import { createKeySearch } from "../../service/key-search.ts";
import type { Send } from "../../wire.ts";
import { largestBlock } from "../account/block-keys.ts";
import { createLookup } from "../account/lookup.ts";
import { idsOf } from "../engine/decide.ts";
import { type Price, priceOfRest } from "../engine/estimate.ts";
import { progressOf, type RunEvent } from "../engine/events.ts";
import { type Closed, closeCompleted, closeRun, closeUnentered, nothingRead } from "../engine/finish.ts";
import { runWork } from "../engine/loop.ts";
import { stopAtRejects } from "../engine/open-work.ts";
import { planNames } from "../engine/planning.ts";
import { readOnly } from "../engine/row-job.ts";
import { type Engine, openContext, type RunContext, type RunOptions } from "../engine/run-context.ts";
import {
  announceEntered,
  beginPhase,
  openSession,
  type RunState,
  rowsOf,
  type Session,
} from "../engine/session.ts";
import { identityReader } from "../input/keys.ts";
import type { Work } from "../items.ts";
import { asRunStop, RunStop, requireFurther } from "../pacing/run-stop.ts";
import { JournalDamagedError, readRunRecord } from "../runs/damage.ts";
import { type EnteredRun, enterRun, isFinished } from "../runs/enter.ts";
import { fileOf } from "../runs/files.ts";
import { fingerprintOf } from "../runs/fingerprint.ts";
import { locksFolder, type Manifest, writeManifest } from "../runs/folder.ts";
import { createLedger } from "../runs/ledger.ts";
import { joinedNames, type KeptNames, keepNames, namesFrom, readKeptNames } from "../runs/names-file.ts";
import type { SettledByInput } from "../runs/report.ts";
import { noteReported } from "../runs/reported.ts";
import { recreation } from "./recreate.ts";
import { planOfUndo } from "./undo-plan.ts";
import { writeUndoRejects } from "./undo-rejects.ts";
import { type UndoItem, type UndoScope, undoWork, withoutDeleted, writtenBy } from "./undo-work.ts";

export interface UndoOptions {
  /** Undoes what a damaged journal can still prove. */
  isPartial?: boolean;
  /** Deletes the contacts that the run created and nobody has changed since. */
  deletesCreated?: boolean;
  /** Requests that follow on the undo once it is complete. */
  requestsAfter?: number;
  /** Whether nobody may be created with this key. */
  isSuppressed?: (key: string) => boolean;
  /** Before anything is written. @param contacts at most so many are deleted */
  agreeToDelete?(contacts: number): Promise<void>;
  /** The same where none is. @param contacts at most so many are changed, in at most so many requests */
  agree?(contacts: number, requests: number): Promise<void>;
}

type Source = { manifest: Manifest; folder: string };

/**
 * Undoes a run. The undo is a run of its own, and can stop and be resumed as any other.
 * @throws JournalDamagedError; what `agreeToDelete` throws
 */
export async function undoRun(
  engine: Engine,
  source: Source,
  options: RunOptions,
  emit: (event: RunEvent) => void,
  undo: UndoOptions = {},
): Promise<Closed> {
  const { id, fingerprint } = source.manifest;
  const context = openContext({ kind: "undo", subject: id, engine, options, emit });
  emit({ kind: "phase", progress: () => progressOf(context, "looking", {}) });
  let lease: Lease | undefined;
  try {
    lease = await takeLease(locksFolder(engine.stateFolder), fingerprint, `run ${id}`);
    if (engine.account.isReadOnly && !options.isDryRun) throw readOnly();
    return await undoLocked(context, source, undo);
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
  const { engine, options, emit, send } = context;
  const { isPartial = false, deletesCreated = false, isSuppressed = () => false, requestsAfter = 0 } = undo;
  const { input, created, refs, returns } = await surveyJournal(source, isPartial, emit);
  if (!options.isDryRun) {
    try {
      await agreeTo(undo, source.manifest.kind, { read: input.read, created });
    } catch (error) {
      const { summary } = await closeUnentered(context, asRunStop(error), input);
      emit({ kind: "refused", summary });
      throw error;
    }
  }
  const known = await readForUndo(send.plain, source, { returns, isSuppressed });
  const { keyType, recreate, remaining, names } = known;
  if (recreate) emit({ kind: "remark", text: lostByDeletion, isAside: true });
  const scope: UndoScope = { deletesCreated, recreate, remaining, names: planNames(names) };
  const run = options.isDryRun
    ? undefined
    : await enterUndo(engine, source, options, { isPartial, deletesCreated });
  try {
    if (run?.completed) return closeCompleted(context, run.completed);
    // Once it is undone, the same command does not report what it had done.
    if (run && isFinished(source.manifest)) await noteReported(source.folder);
    if (run && !isFinished(source.manifest)) {
      // What was put back must not be written again when it is resumed.
      await writeManifest(source.folder, { ...source.manifest, supersededBy: run.manifest.id });
    }
    const state = { ...context, input, ledger: run?.ledger ?? createLedger(), run };
    const session = openUndoSession(state, source.manifest.account.structureId, keyType, scope);
    const contacts = undoWork(source.folder, identityReader(keyType), isPartial, scope);
    return await work(session, source, contacts, { refs, names, requestsAfter });
  } finally {
    await run?.leave();
  }
}

async function agreeTo(
  { deletesCreated, agree, agreeToDelete }: UndoOptions,
  kind: Manifest["kind"],
  { read, created }: { read: number; created: number },
): Promise<void> {
  const changed = read - created;
  if (deletesCreated && created > 0) await agreeToDelete?.(created);
  else if (changed > 0 && kind !== "unsubscribe") await agree?.(changed, pendingRequests(kind, read));
}

function openUndoSession(
  state: RunState,
  structureId: string,
  keyType: string,
  { recreate }: UndoScope,
): Session {
  const { engine, send, clock, options } = state;
  const behavior = engine.behaviors?.(structureId) ?? createBehavior();
  const plainLookup = createLookup({
    send,
    behavior,
    keys: createKeySearch({
      send: send.searches,
      behavior,
      structureId,
      identityOf: identityReader(keyType),
    }),
    clock,
    structureId,
    keyType,
    // What tells a create of ours from one of others.
    source: recreate ? ["fields", "lists", "tags", "createdAt"] : [],
  });
  const lookup = recreate ? withoutDeleted(plainLookup) : plainLookup;
  // Whatever a run created is rejected without a flag: only a limit that was given stops an undo.
  if (!options.maxRejects) return openSession(state, lookup, behavior);
  return { ...openSession(state, lookup, behavior), onRejected: () => stopAtRejects(state) };
}

const lostByDeletion = "Recreated contacts get new ids; their history and date of creation are lost";

/** Whether contacts would get lists or tags back. */
interface Returns {
  lists: boolean;
  tags: boolean;
}

interface KnownForUndo extends Pick<UndoScope, "recreate" | "remaining"> {
  keyType: string;
  names: KeptNames;
}

/** An unsubscription cannot be undone: nothing is read for it. */
async function readForUndo(
  send: Send,
  { manifest: { kind, account: of }, folder }: Source,
  { returns, isSuppressed }: { returns: Returns; isSuppressed: (key: string) => boolean },
): Promise<KnownForUndo> {
  const kept = await readKeptNames(folder);
  if (kind === "unsubscribe") return { keyType: "", names: kept };
  const account = createAccount(send, of.structureId);
  const structure = await account.structure();
  const { keyType } = structure;
  const isDeletion = kind === "delete";
  const whole = isDeletion || returns.tags ? await account.complete(structure) : structure;
  const lists = isDeletion || returns.lists ? await account.lists(structure) : [];
  const names = joinedNames(kept, namesFrom(whole, lists));
  if (isDeletion) {
    return { keyType, names, recreate: recreation(whole, lists, planNames(names), isSuppressed) };
  }
  const remaining = {
    fields: idsOf(whole.fields),
    tags: whole.tags && idsOf(whole.tags),
    lists: returns.lists ? idsOf(lists) : undefined,
  };
  return { keyType, names, remaining };
}

interface UndoExtent {
  /** Of the contacts that the run has written. */
  refs: readonly number[];
  names: KeptNames;
  requestsAfter: number;
}

async function work(
  session: Session,
  source: Source,
  undo: Work<UndoItem>,
  { refs, names, requestsAfter }: UndoExtent,
): Promise<Closed> {
  const { options, emit, run, ledger } = session;
  const left = refs.filter((ref) => !ledger.isDone(ref));
  const plan = options.plan && planOfUndo(options.plan, left, names);
  let stop: RunStop | undefined;
  let price: Price | undefined;
  try {
    announceEntered(session);
    if (run) {
      const left = pendingRequests(source.manifest.kind, rowsOf(session).pending) + requestsAfter;
      price = priceOfRest(session, { left, isExact: false });
      emit({ kind: "priced", price });
      await keepNames(run.folder, names);
    }
    beginPhase(session, "working", price);
    await runWork({ ...session, plan }, undo, run === undefined).finally(plan?.end);
    const { total: sent } = session.send.counts;
    if (run) requireFurther(requestsAfter, { sent, maxRequests: options.maxRequests });
  } catch (error) {
    stop = asRunStop(error);
  }
  beginPhase(session, "reporting", price);
  const rejects = await writeUndoRejects(source.folder, session);
  return closeRun(session, { stop, price, rejects, furtherRequests: requestsAfter });
}

/**
 * Each contact is read by itself, and written; deleted ones are looked up together, and for an unsubscription nothing
 * can be done.
 */
function pendingRequests(kind: Manifest["kind"], pending: number): number {
  if (kind === "unsubscribe") return 0;
  return kind === "delete" ? pending + Math.ceil(pending / largestBlock) : 2 * pending;
}

async function enterUndo(
  engine: Engine,
  { manifest, folder }: Source,
  options: RunOptions,
  { isPartial, deletesCreated }: { isPartial: boolean; deletesCreated: boolean },
): Promise<EnteredRun> {
  return enterRun({
    stateFolder: engine.stateFolder,
    now: engine.clock.now(),
    isFresh: options.isFresh,
    openJournalFile: engine.openJournalFile,
    about: {
      kind: "undo",
      version: engine.version,
      account: manifest.account,
      input: {
        name: manifest.id,
        file: join(folder, fileOf.journal),
        isSpooled: false,
        sha256: manifest.fingerprint,
        bytes: 0,
      },
      fingerprint: fingerprintOf({
        kind: "undo",
        run: manifest.id,
        deletesCreated: deletesCreated || undefined,
      }),
      options: { run: manifest.id, isPartial, deletesCreated },
      rejects: options.rejects === undefined ? undefined : resolve(options.rejects),
      plan: options.planFile === undefined ? undefined : resolve(options.planFile),
    },
  });
}

/**
 * Which contacts the run has written.
 * @throws EcmError when it has left writes that nobody knows the end of; JournalDamagedError
 */
async function surveyJournal(
  { manifest, folder }: Source,
  isPartial: boolean,
  emit: RunContext["emit"],
): Promise<{ input: SettledByInput; created: number; refs: number[]; returns: Returns }> {
  const { damage } = await readRunRecord({ manifest, folder });
  const isDamaged = damage !== undefined;
  const refs: number[] = [];
  let proven = 0;
  let created = 0;
  const returns: Returns = { lists: false, tags: false };
  for await (const { ref, isUnproven, operation } of writtenBy(folder, undefined, isDamaged)) {
    refs.push(ref);
    if (isUnproven) continue;
    proven++;
    if (operation.kind === "create") created++;
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
  return { input: { ...nothingRead, read: refs.length }, created, refs, returns };
}

function cannotUndo(id: string, damage: string, extent: string): JournalDamagedError {
  return new JournalDamagedError(
    `The journal of run ${id} is damaged: ${damage}`,
    `${extent}. Undo those with: ecm runs undo ${id} --partial`,
  );
}
