/**
 * `ecm contact move`: a person whose key changed. A new contact is created as the old one is, then the old
 * one is unsubscribed or deleted. It is a run like any other, of two contacts.
 */

import { wholeContact } from "../../api/contacts.ts";
import { exitCodes, UsageError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import type { ContactStructure } from "../../wire.ts";
import type { ContactKey } from "../items.ts";
import type { RunEvent } from "../plan/events.ts";
import type { Lookup } from "../plan/lookup.ts";
import { toStoredNames } from "../plan/names.ts";
import { type Engine, openContext, type RunContext, type RunOptions } from "../plan/run-context.ts";
import { acceptIds, createKeyReader } from "../read/keys.ts";
import { computeFingerprint } from "../runs/fingerprint.ts";
import type { Manifest } from "../runs/folder.ts";
import { type RunDescription, runPrepared } from "./enter-job.ts";
import { type Closed, noInput } from "./finish.ts";
import {
  type MovePair,
  MoveRefusedError,
  moveItems,
  moveWork,
  namedItems,
  readNewKey,
  requireUnsuppressed,
  requireWhole,
} from "./move-pair.ts";
import { openAccount, openLookup } from "./open-account.ts";
import type { ReadyJob } from "./ready-job.ts";

export interface MoveOptions {
  /** Key or id. */
  from: string;
  to: string;
  /** A contact that has the new key already takes over what it lacks. */
  merges: boolean;
  deletesOld: boolean;
}

interface Move extends MoveOptions {
  account: Account;
  structure: ContactStructure;
  oldKey: ContactKey;
  newKey: ContactKey;
}

export interface MoveRunOptions extends RunOptions {
  /** The run that must be resumed. */
  resumes?: Manifest;
}

/** @throws UsageError for keys that cannot be meant; MoveRefusedError before anything was written */
export async function moveContact(
  engine: Engine,
  move: MoveOptions,
  options: MoveRunOptions,
  emit: (event: RunEvent) => void,
): Promise<Closed> {
  const context = openContext({ kind: "move", subject: "1 contact", engine, options, emit });
  return runPrepared(context, async () => {
    const read = await readMove(context, move);
    return { job: await readyMove(context, read), about: aboutMove(context, read, options.resumes) };
  });
}

/** From a manifest, for `runs resume`. */
export function restoreMoveOptions(record: Record<string, unknown>): MoveOptions {
  return record as Partial<MoveOptions> as MoveOptions;
}

async function readMove(context: RunContext, move: MoveOptions): Promise<Move> {
  const account = openAccount(context);
  const structure = await account.structure();
  const newKey = readNewKey(move.to, structure.keyType);
  const old = acceptIds(createKeyReader(structure.keyType))(move.from);
  const oldKey = "key" in old ? old.key : { written: move.from, sent: move.from, identity: move.from };
  if (oldKey.identity === newKey.identity) throw sameKeyError(move);
  return { ...move, account, structure, oldKey, newKey };
}

function sameKeyError({ to }: MoveOptions): UsageError {
  return new UsageError(`${to} is the same key as before`, "Letter case alone makes no other contact");
}

function aboutMove({ engine }: RunContext, move: Move, resumes: Manifest | undefined): RunDescription {
  const { structure, oldKey, newKey, from, to, merges, deletesOld } = move;
  const { baseUrl, profile } = engine.account;
  const structureId = structure._id;
  const names = { from: oldKey.identity, to: newKey.identity };
  return {
    account: { baseUrl, profile, structureId },
    input: { name: "1 contact", file: "", isSpooled: false, sha256: "", bytes: 0 },
    // What the manifest says of the keys may be masked by an erasure.
    fingerprint:
      resumes?.fingerprint ??
      computeFingerprint({ kind: "move", baseUrl, structureId, ...names, merges, deletesOld }),
    options: { from, to, merges, deletesOld },
  };
}

const parts = wholeContact.filter((part) => part !== "_id" && part !== "key");

async function readyMove(context: RunContext, move: Move): Promise<ReadyJob> {
  const { account, structure, deletesOld } = move;
  const { _id: structureId, keyType } = structure;
  const lookup = openLookup(context, {
    structureId,
    keyType,
    source: parts,
    readsStatus: true,
    asksHidden: true,
  });
  const suppressions = await context.engine.openSuppressions();
  // Read now, so that the price counts what the backup needs.
  if (deletesOld) await Promise.all([account.lists(structure), account.complete(structure)]);
  return {
    account,
    work: moveWork({ structureId, deletesOld, suppressions }),
    lookup,
    input: { ...noInput, read: 2 },
    async head() {
      const known = await account.readCachedNames(structure);
      return { names: toStoredNames(known.structure, known.lists), source: parts };
    },
    async source() {
      const named = namedItems(move.oldKey, move.newKey);
      const pair = await readPair(lookup, named, move);
      requireUnsuppressed([pair.old.key, move.newKey.sent], suppressions);
      return { entries: [moveItems(pair, named)], stableEntries: 0 };
    },
  };
}

/** Both contacts, whole and by their ids. @throws MoveRefusedError */
async function readPair(
  lookup: Lookup,
  { old, target }: ReturnType<typeof namedItems>,
  { from, merges }: Move,
): Promise<MovePair> {
  const found = await lookup.find([target, old]);
  const [oldFound, newFound] = [found.get(old.ref), found.get(target.ref)];
  const refused = oldFound?.refused ?? newFound?.refused;
  if (refused) throw refused;
  if (!oldFound?.contact) throw noContactError(from);
  requireWholeIfHidden(oldFound.contact, "moved");
  const whole = await lookup.read(oldFound.contact._id!);
  if (!whole) throw noContactError(from);
  requireWhole(whole, "moved");
  if (!newFound?.contact) return { old: whole, existing: undefined };
  if (newFound.contact._id === whole._id) throw new UsageError("Both names are the same contact");
  if (!merges) throw existsError(newFound.contact.key ?? target.key.sent, from);
  const existing = await lookup.read(newFound.contact._id!);
  if (!existing) throw noContactError(target.key.sent);
  requireWhole(existing, "merged into");
  return { old: whole, existing };
}

/** Whom only a search for inactive contacts shows is inactive: nothing more has to be read. */
function requireWholeIfHidden(contact: Parameters<typeof requireWhole>[0], verb: string): void {
  if ("isHidden" in contact) requireWhole(contact, verb);
}

function noContactError(name: string): MoveRefusedError {
  return new MoveRefusedError(
    `No contact has the key or id ${JSON.stringify(name)}`,
    "Nothing was written",
    exitCodes.notFound,
  );
}

function existsError(key: string, from: string): MoveRefusedError {
  return new MoveRefusedError(
    `A contact with the key ${key} already exists`,
    `To give it what it lacks of ${from}, pass --merge; what it has stays`,
  );
}
