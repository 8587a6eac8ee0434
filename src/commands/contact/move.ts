import type { Command } from "@commander-js/extra-typings";
import {
  changeStatusRequest,
  createContactRequest,
  deleteContactRequest,
  findStatus,
  formatStatus,
  isActive,
  isInactive,
  mutateContactRequest,
  unsubscribed,
} from "../../api/contacts.ts";
import { normalizeKey, toKeyIdentity } from "../../api/key-spelling.ts";
import type { Connection, Context } from "../../context.ts";
import { conflictError, type EcmError, hasStatus, isKind, usageError } from "../../errors.ts";
import { advise, ecm, type Hint, toOperands } from "../../hint.ts";
import { pickDifferences, wouldChange } from "../../service/contact-changes.ts";
import { deleteContact } from "../../service/erase-contact.ts";
import { fetchContact, mutateContact } from "../../service/mutate-contact.ts";
import type { ApiRequest, Contact, CreateContactBody, MutateBody } from "../../wire.ts";
import { addDryRunFlag, type OptionsOf } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents, type Result } from "../output/presents.ts";
import { openSuppressionList, resolveContact } from "../selection/lookups.ts";
import { checkContactColumns, toContactResult } from "./view.ts";

type MoveFlags = OptionsOf<typeof declareMove>;

function declareMove(parent: Command) {
  const command = parent
    .command("move")
    .description("give a contact a new key: create it under NEW as it is, then unsubscribe the old one")
    .argument("<old>", "the contact's id or key")
    .argument("<new>", "its new key")
    .option("--merge", "where NEW exists, add the values, lists and tags that it lacks")
    .option("--delete-old", "print the old contact, and delete it instead of unsubscribing it");
  return addDryRunFlag(command);
}

export function registerContactMove(parent: Command, context: Context): void {
  const moving = describeCommand(declareMove(parent), {
    examples: [
      "ecm contact move ada@old.example ada@new.example --dry-run",
      "ecm contact move ada@old.example ada@new.example --yes",
      "ecm contact move ada@old.example ada@new.example --merge --delete-old",
    ],
    output:
      "The new contact; with --delete-old the old one as it was. Only an active contact can be moved. The new contact has a new id; history and date of creation stay with the old one. After a failure the same command completes the move. It cannot be undone.",
    writes: true,
    asks: true,
    exitCodes: {
      5: "no contact has the old key",
      6: "the old contact is not active, NEW is inactive or suppressed, or NEW exists and lacks something (without --merge)",
    },
  });
  moving.action(presents(context, {}, (from, to, flags) => moveContact(context, from, to, flags)));
}

async function moveContact(
  context: Context,
  from: string,
  to: string,
  flags: MoveFlags,
): Promise<Result<Partial<Contact>>> {
  if (!flags.dryRun) context.requireConfirmable();
  const output = context.output();
  const connection = await context.connect();
  const { account, send } = connection;
  const { old, target, key } = await account.withRemembered("write", () => readPair(connection, from, to));
  await refuseSuppressed(context, old.key, key);
  const first = planFirst(old, target, { key, merges: flags.merge ?? false });
  const last = flags.deleteOld ? deleteContactRequest(old._id) : changeStatusRequest(old._id, unsubscribed);
  const end = flags.deleteOld ? "delete" : "unsubscribe";
  if (flags.dryRun) {
    const would = `move ${old.key} to ${key}, and ${end} ${old.key}. ${lastWords(old.key)}`;
    return { request: first ? [first, last] : [last], would };
  }
  await account.withRemembered("write", () => checkContactColumns(account, output));
  context.terminal.note(`${lastWords(old.key)} The new contact has a new id`);
  await context.confirm(`Move ${old.key} to ${key}, and ${end} ${old.key}?`);
  await refuseSuppressed(context, old.key, key);
  const moved = await writeFirst(connection, first, target);
  await requireSame(connection, old, moved.key);
  if (flags.deleteOld) {
    // What is deleted is shown first.
    return { ...toContactResult(context, account, old), last: () => deleteContact(send, old._id) };
  }
  await send(last);
  return toContactResult(context, account, moved);
}

function lastWords(key: string): string {
  return `${key} cannot be made active again: only they can subscribe again.`;
}

interface Pair {
  old: Contact;
  /** Absent where nobody has the new key. */
  target: Contact | undefined;
  /** The new key as it is sent. */
  key: string;
}

/** @throws UsageError, NotFoundError or a conflict: nothing was written */
async function readPair(connection: Connection, from: string, to: string): Promise<Pair> {
  const { keyType } = await connection.account.structure();
  const { createKeyReader } = await import("../../tables/index.ts");
  const read = createKeyReader(keyType)(to);
  const fault = "key" in read ? read.fault : read;
  if (fault) throw usageError(`${JSON.stringify(to)} cannot be the new key: ${fault.message}`);
  const key = normalizeKey(to, keyType);
  const isSame = (other: string) => toKeyIdentity(other, keyType) === toKeyIdentity(key, keyType);
  if (isSame(from)) throw sameContactError(to);
  const old = await resolveContact(connection, from);
  if (isSame(old.key) || old._id === to) throw sameContactError(to);
  const target = await resolveContact(connection, key).catch(findNobody);
  if (!isActive(old)) throw inactiveError(old, target);
  requireWhole(old);
  if (target && !isSame(target.key))
    throw usageError(`${to} is the id of a contact`, "Name the new contact by its key");
  if (target && !isActive(target))
    throw refusal(`${target.key} has left`, "Nothing was written: nobody who has left is written to");
  if (target) requireWhole(target);
  return { old, target, key };
}

/** The last step of a move leaves the same behind, and a command that is stopped then has not said so. */
function inactiveError(old: Contact, target: Contact | undefined): EcmError {
  const status = formatStatus(findStatus(old))?.toLowerCase() ?? "of unknown status";
  const { fields, lists, tags } = toParts(old);
  const isMoved =
    target &&
    isActive(target) &&
    !wouldChange(target, { updateFields: fields, addLists: lists, addTags: tags });
  const hint = isMoved
    ? `Nothing was written. ${target.key} is active and has all of it: if a move was stopped at its end, it is complete`
    : "Nothing was written";
  return refusal(`${old.key} is ${status}; only an active contact can be moved`, hint);
}

function findNobody(error: unknown): undefined {
  if (!isKind(error, "no contact")) throw error;
}

function sameContactError(to: string): EcmError {
  return usageError(`${to} is the same contact`, "Letter case alone makes no other contact");
}

function refusal(message: string, hint: string | Hint): EcmError {
  return conflictError(message, hint, { type: "MoveRefusedError" });
}

/** What a service does not tell would be lost. */
function requireWhole({ key, fields, lists, tags }: Partial<Contact>): void {
  if (!fields || !lists || !tags)
    throw refusal(`The service does not tell all fields, lists and tags of ${key}`, "Nothing was written");
}

/** @throws EcmError (exit 6) for somebody who asked not to be contacted, or was erased */
async function refuseSuppressed(context: Context, ...keys: string[]): Promise<void> {
  const list = await openSuppressionList(context);
  const suppressed = keys.find((key) => list.hasNow(key));
  if (suppressed === undefined) return;
  throw refusal(
    `${suppressed} is on the suppression list; nothing was written`,
    "This person asked not to be contacted, or was erased",
  );
}

/** What gives the new contact what the old one has; undefined where it has that already. */
function planFirst(
  old: Contact,
  target: Contact | undefined,
  { key, merges }: { key: string; merges: boolean },
): ApiRequest | undefined {
  const { fields, lists, tags } = toParts(old);
  if (!target) {
    const parts = Object.entries({ fields, lists, tags }).filter(([, elements]) => elements.length > 0);
    const { contactStructureId } = old;
    return createContactRequest({
      key,
      contactStructureId,
      ...Object.fromEntries(parts),
    } as CreateContactBody);
  }
  const all = { updateFields: fields, addLists: lists, addTags: tags };
  if (!wouldChange(target, all)) return undefined;
  if (!merges) {
    throw refusal(
      `${target.key} exists, and has not all that ${old.key} has`,
      advise`To give it what it lacks: ${ecm`contact move --merge ${toOperands(old.key, target.key)}`}`,
    );
  }
  const held = new Set(toParts(target).fields.map(({ _id }) => _id));
  const lacking = { ...all, updateFields: fields.filter(({ _id }) => !held.has(_id)) };
  const body = Object.entries(pickDifferences(target, lacking)).filter(([, elements]) => elements?.length);
  return body.length > 0
    ? mutateContactRequest(target._id, Object.fromEntries(body) as MutateBody)
    : undefined;
}

function toParts({ fields = [], lists = [], tags = [] }: Partial<Contact>) {
  const toRefs = (references: readonly { _id: string }[]) => references.map(({ _id }) => ({ _id }));
  return {
    fields: fields.filter(({ value }) => value !== "").map(({ _id, value }) => ({ _id, value })),
    lists: toRefs(lists),
    tags: toRefs(tags),
  };
}

/** @returns the new contact as it is now */
async function writeFirst(
  { send, behaviors }: Connection,
  request: ApiRequest | undefined,
  target: Contact | undefined,
): Promise<Contact> {
  if (!request) return target!;
  if (target) {
    const behavior = behaviors(target.contactStructureId);
    return (await mutateContact(send, target._id, request, behavior)).contact;
  }
  return (await send<Contact>(request)).body;
}

/** The old contact, read again before it goes: what it got since would be lost. @throws EcmError (exit 6) */
async function requireSame({ send }: Connection, old: Contact, key: string): Promise<void> {
  const now = await fetchContact(send, old._id).catch((error: unknown) => {
    if (!hasStatus(error, 404)) throw error;
  });
  const moved = toOperands(key);
  if (!now) {
    const hint = advise`If they were erased, erase the new contact too: ${ecm`contact erase ${moved}`}`;
    throw refusal(`${old.key} is gone since the move began; ${key} stays`, hint);
  }
  if (isInactive(now)) {
    const hint = advise`Unsubscribe the new contact too: ${ecm`contact unsubscribe ${moved}`}`;
    throw refusal(`${old.key} has left since the move began; ${key} is active`, hint);
  }
  if (JSON.stringify(toParts(now)) === JSON.stringify(toParts(old))) return;
  const again = ecm`contact move --merge ${toOperands(old.key, key)}`;
  throw refusal(`${old.key} was changed since the move began, and stays`, advise`Move the rest: ${again}`);
}
