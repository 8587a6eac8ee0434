/**
 * `runs undo`: puts back what a run has changed, from the values in its journal, where the account still holds what the
 * run wrote. A created contact stays: deleting it would lose what others have done with it since.
 */
import { join } from "node:path";
import { type Lease, takeLease } from "../../disk/lease.ts";
import { DeclinedError, EcmError, UsageError } from "../../errors.ts";
import { createAccount } from "../../service/account.ts";
import { createBehavior } from "../../service/behavior.ts";
import { createKeySearch } from "../../service/key-search.ts";
import type { Send } from "../../wire.ts";
import { createLookup, identityReader, largestBlock } from "../account/lookup.ts";
import { priceOf } from "../engine/estimate.ts";
import { type Closed, closeRun } from "../engine/finish.ts";
import { runWork } from "../engine/loop.ts";
import { type Engine, type RunEvent, type RunOptions, type RunStatus, readOnly } from "../engine/row-job.ts";
import { note, type Session } from "../engine/session.ts";
import { createBudget } from "../pacing/budget.ts";
import { createPacedSend } from "../pacing/paced-send.ts";
import { asRunStop, RunStop } from "../pacing/run-stop.ts";
import { JournalDamagedError, readRunRecord } from "../runs/damage.ts";
import { type EnteredRun, enterRun, isFinished } from "../runs/enter.ts";
import { fileOf } from "../runs/files.ts";
import { fingerprintOf } from "../runs/fingerprint.ts";
import { locksFolder, type Manifest, writeManifest } from "../runs/folder.ts";
import { createLedger, type Ledger } from "../runs/ledger.ts";
import { countRows, type SettledByInput } from "../runs/report.ts";
import { recreation } from "./recreate.ts";
import { writeUndoRejects } from "./undo-rejects.ts";
import { type UndoScope, undoWork, writtenBy } from "./undo-work.ts";

export interface UndoOptions {
  /** Undoes what a damaged journal can still prove. */
  isPartial?: boolean;
  /** Deletes the contacts that the run created and nobody has changed since. */
  deletesCreated?: boolean;
  /** Whether nobody may be created with this key. */
  isSuppressed?: (key: string) => boolean;
  /** Before anything is written. @param contacts at most so many are deleted */
  agreeToDelete?(contacts: number): Promise<void>;
}

/**
 * Undoes a run. The undo is a run of its own, and can stop and be resumed as any other.
 * @throws JournalDamagedError; what `agreeToDelete` throws
 */
export async function undoRun(
  engine: Engine,
  source: { manifest: Manifest; folder: string },
  options: RunOptions,
  on: (event: RunEvent) => void,
  { isPartial = false, deletesCreated = false, isSuppressed = () => false, agreeToDelete }: UndoOptions = {},
): Promise<Closed> {
  const budget = createBudget(options);
  if (engine.limits) budget.seed(engine.limits);
  const send = createPacedSend({ ...engine, budget, concurrency: options.concurrency });
  const status: RunStatus = { phase: "looking", send, budget };
  on({ kind: "status", status });
  const { structureId } = source.manifest.account;
  const { id, fingerprint } = source.manifest;
  let lease: Lease | undefined;
  try {
    lease = await takeLease(locksFolder(engine.stateFolder), fingerprint, `run ${id}`);
    if (engine.account.isReadOnly && !options.isDryRun) throw readOnly();
    const behavior = engine.behaviors?.(structureId) ?? createBehavior();
    const { input, created } = await surveyJournal(source, isPartial, on);
    if (deletesCreated && created > 0 && !options.isDryRun) await agreeToDelete?.(created);
    const { keyType, recreate } = await readForUndo(send.plain, source.manifest, isSuppressed);
    if (recreate) on({ kind: "remark", text: lostByDeletion, isAside: true });
    const scope: UndoScope = { deletesCreated, recreate };
    const record = { isPartial, deletesCreated };
    const run = options.isDryRun ? undefined : await enterUndo(engine, source, options, record);
    if (run && !isFinished(source.manifest)) {
      // What was put back must not be written again when it is resumed.
      await writeManifest(source.folder, { ...source.manifest, supersededBy: run.manifest.id });
    }
    const ledger = run?.ledger ?? createLedger();
    status.rows = () => countRows(input, ledger);
    const session: Session = {
      send,
      budget,
      lookup: createLookup({
        send,
        behavior,
        keys: createKeySearch({
          send: send.searches,
          behavior,
          structureId,
          identityOf: identityReader(keyType),
        }),
        clock: engine.clock,
        structureId,
        keyType,
        // What tells a create of ours from one of others.
        source: recreate ? ["fields", "lists", "tags", "createdAt"] : [],
      }),
      behavior,
      visibility: { missed: 0, isVain: false },
      ledger,
      journal: run?.journal,
      clock: engine.clock,
      concurrency: options.concurrency,
    };
    try {
      return await work({
        engine,
        source,
        options,
        on,
        session,
        run,
        input,
        isPartial,
        status,
        keyType,
        scope,
      });
    } finally {
      await run?.leave();
    }
  } catch (error) {
    const stop = asRunStop(error);
    const isRefusal = [UsageError, DeclinedError, JournalDamagedError].some(
      (kind) => stop.failure instanceof kind,
    );
    if (isRefusal || !(error instanceof RunStop || error instanceof EcmError)) throw error;
    return closeUnentered(engine, source, options, { send, budget }, stop);
  } finally {
    await lease?.release();
  }
}

/** Nothing was undone: another process is at work, or the service refused or failed. */
function closeUnentered(
  engine: Engine,
  source: Undoing["source"],
  { reserve, concurrency }: RunOptions,
  paced: Pick<Session, "send" | "budget">,
  stop: RunStop,
): Promise<Closed> {
  return closeRun({
    kind: "undo",
    file: source.manifest.id,
    input: { read: 0, rejectedCodes: new Map(), passedOver: 0, passedOverAre: "skipped" },
    ledger: createLedger(),
    stop,
    ...paced,
    clock: engine.clock,
    reserve,
    concurrency,
    requestsToCreate: 0,
    rejects: null,
    isSync: false,
  });
}

interface Undoing {
  engine: Engine;
  source: { manifest: Manifest; folder: string };
  options: RunOptions;
  on: (event: RunEvent) => void;
  session: Session;
  run: EnteredRun | undefined;
  input: SettledByInput;
  isPartial: boolean;
  status: RunStatus;
  keyType: string;
  scope: UndoScope;
}

const lostByDeletion = "Recreated contacts get new ids; their history and date of creation are lost";

/** An unsubscription cannot be undone: nothing is read for it. */
async function readForUndo(
  send: Send,
  { kind, account: { structureId } }: Manifest,
  isSuppressed: (key: string) => boolean,
): Promise<{ keyType: string; recreate?: UndoScope["recreate"] }> {
  if (kind === "unsubscribe") return { keyType: "" };
  const account = createAccount(send, structureId);
  const structure = await account.structure();
  const { keyType } = structure;
  if (kind !== "delete") return { keyType };
  const [whole, lists] = [await account.complete(structure), await account.lists(structure)];
  return { keyType, recreate: recreation(whole, lists, isSuppressed) };
}

async function work(undoing: Undoing): Promise<Closed> {
  const { engine, source, options, on, session, run, input, status } = undoing;
  const { ledger, send, budget } = session;
  let stop: RunStop | undefined;
  try {
    if (run) {
      on({ kind: "entered", run: run.manifest.id, isResumed: run.isResumed, rows: status.rows!() });
      note(session, { kind: "start", at: engine.clock.now(), version: engine.version });
      status.price = priceOf({
        spent: send.counts.total,
        left: pendingRequests(source.manifest.kind, input, ledger),
        isExact: false,
        limits: budget.limits,
        reserve: options.reserve,
        concurrency: options.concurrency,
        windowSeconds: budget.windowSeconds,
        now: engine.clock.now() + budget.clockOffset,
      });
      on({ kind: "priced", price: status.price });
    }
    status.phase = "working";
    const work = undoWork(source.folder, identityReader(undoing.keyType), undoing.isPartial, undoing.scope);
    await runWork(session, work, run === undefined);
  } catch (error) {
    stop = asRunStop(error);
  }
  status.phase = "reporting";
  return closeRun({
    kind: "undo",
    file: source.manifest.id,
    input,
    ledger,
    run,
    stop,
    send,
    budget,
    clock: engine.clock,
    reserve: options.reserve,
    concurrency: options.concurrency,
    maxRequests: options.maxRequests,
    price: status.price,
    requestsToCreate: 0,
    rejects: await writeUndoRejects(source.folder, run?.folder, options.rejects, ledger),
    isSync: false,
  });
}

/**
 * Each contact is read by itself, and written; deleted ones are looked up together, and for an unsubscription nothing
 * can be done.
 */
function pendingRequests(kind: Manifest["kind"], input: SettledByInput, ledger: Ledger): number {
  const { pending } = countRows(input, ledger);
  if (kind === "unsubscribe") return 0;
  return kind === "delete" ? pending + Math.ceil(pending / largestBlock) : 2 * pending;
}

async function enterUndo(
  engine: Engine,
  { manifest, folder }: Undoing["source"],
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
    },
  });
}

/**
 * How many contacts the run has written.
 * @throws EcmError when it has left writes that nobody knows the end of; JournalDamagedError
 */
async function surveyJournal(
  { manifest, folder }: Undoing["source"],
  isPartial: boolean,
  on: Undoing["on"],
): Promise<{ input: SettledByInput; created: number }> {
  const { damage } = await readRunRecord({ manifest, folder });
  const isDamaged = damage !== undefined;
  let read = 0;
  let proven = 0;
  let created = 0;
  for await (const { isUnproven, operation } of writtenBy(folder, undefined, isDamaged)) {
    read++;
    if (isUnproven) continue;
    proven++;
    if (operation.kind === "create") created++;
  }
  if (isDamaged) {
    const { rows } = manifest.summary ?? {};
    const of = rows ? ` of ${rows.created + rows.updated + rows.deleted}` : "";
    const extent = `${proven}${of} changes can still be read`;
    if (!isPartial) throw cannotUndo(manifest.id, damage, extent);
    on({
      kind: "remark",
      text: `The journal of run ${manifest.id} is damaged: ${extent}; the rest will not be undone`,
    });
  }
  return { input: { read, rejectedCodes: new Map(), passedOver: 0, passedOverAre: "skipped" }, created };
}

function cannotUndo(id: string, damage: string, extent: string): JournalDamagedError {
  return new JournalDamagedError(
    `The journal of run ${id} is damaged: ${damage}`,
    `${extent}. Undo those with: ecm runs undo ${id} --partial`,
  );
}
