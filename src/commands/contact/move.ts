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
import { isId } from "../../api/names.ts";
import type { Connection, Context } from "../../context.ts";
import { conflictError, EcmError, isGoneError, isKind, isNotOffered, usageError } from "../../errors.ts";
import { advise, ecm, type Hint, joinHints, toOperands } from "../../hint.ts";
import { pickDifferences, wouldChange } from "../../service/contact-changes.ts";
import { deleteContact } from "../../service/erase-contact.ts";
import { findByKey } from "../../service/find-contact.ts";
import { fetchContact, fetchContactIfThere, mutateContact } from "../../service/mutate-contact.ts";
import type { ApiRequest, Contact, CreateContactBody, MutateBody, Send } from "../../wire.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { refuseSuppressed, resolveContact } from "../selection/lookups.ts";
import { type Result, verb } from "../verb.ts";
import { checkContactColumns, toContactResult } from "./view.ts";

export function registerContactMove(parent: Command, context: Context): void {
  const command = parent
    .command("move")
    .description("give a contact a new key: create it under NEW as it is, then unsubscribe the old one")
    .argument("<old>", "the contact's id or key")
    .argument("<new>", "its new key")
    .option("--merge", "where NEW exists, add the values, lists and tags that it lacks")
    .option("--delete-old", "print the old contact, and delete it instead of unsubscribing it");
  verb(context, addDryRunFlag(command), {
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
    run: (from, to, flags) => moveContact(context, from, to, flags),
  });
}

async function moveContact(
  context: Context,
  from: string,
  to: string,
  { merge, deleteOld, dryRun }: { merge?: true; deleteOld?: true; dryRun?: true },
): Promise<Result<Partial<Contact>>> {
  if (!dryRun) context.requireConfirmable();
  const output = context.output();
  const connection = await context.connect();
  const { account, send } = connection;
  const { old, target, key } = await account.withRemembered("write", () => readPair(connection, from, to));
  await refuseSuppressed(context, [old.key, key]);
  const first = target ? planMerge(old, target, merge ?? false) : planCreation(old, key);
  const last = deleteOld ? deleteContactRequest(old._id) : changeStatusRequest(old._id, unsubscribed);
  const what = `${old.key} to ${key}, and ${deleteOld ? "delete" : "unsubscribe"} ${old.key}`;
  const final = deleteOld
    ? `${old.key} is deleted for good, and cannot be made active again.`
    : `${old.key} cannot be made active again: only they can subscribe again.`;
  if (dryRun) return { request: first ? [first, last] : [last], would: `move ${what}. ${final}` };
  await account.withRemembered("write", () => checkContactColumns(account, output));
  // Names are looked up before the first write: a failure between the two would leave both active.
  const shownOld = toContactResult(context, account, old);
  const view = deleteOld && (await shownOld.view(output));
  context.terminal.note(`${final} The new contact has a new id`);
  await context.confirm(`Move ${what}?`);
  const beforeLeaving = await refuseSuppressed(context, [old.key, key]);
  const guarded: Send = (request, options) =>
    send(request, request.effect === "write" ? { ...options, beforeLeaving } : options);
  const moved = await writeFirst({ ...connection, send: guarded }, first, target);
  const tellState = (error: unknown) => {
    throw withState(error, { old, key: moved.key, merge });
  };
  await requireSame(connection, old, moved.key).catch(tellState);
  // What is deleted is shown first.
  if (view) return { ...shownOld, view, last: () => deleteContact(send, old._id).catch(tellState) };
  await send(last).catch(tellState);
  return toContactResult(context, account, moved);
}

/** What failed once the new contact was written, with what is done and the way on. */
function withState(
  error: unknown,
  { old, key, merge }: { old: Contact; key: string; merge: true | undefined },
): unknown {
  // A refusal has said it.
  if (!(error instanceof EcmError) || error.type === refusalType) return error;
  const { details } = error;
  const still = [undefined, "no"].includes(details.applied) ? "is still" : "may still be";
  const state = `${key} exists now, with all that ${old.key} has; ${old.key} ${still} active`;
  const unsubscribe = ecm`contact move ${merge ? ["--merge"] : []} ${toOperands(old.key, key)}`;
  details.hint = isNotOffered(error)
    ? advise`${state}. To unsubscribe it instead: ${unsubscribe}`
    : joinHints(details.hint, `${state}: the same command goes on`);
  return error;
}

/** @throws UsageError, NotFoundError or a conflict: nothing was written */
async function readPair(connection: Connection, from: string, to: string) {
  const { send, account, behaviors } = connection;
  const structure = await account.structure();
  const { keyType } = structure;
  const { createKeyReader } = await import("../../tables/index.ts");
  const read = createKeyReader(keyType)(to);
  const fault = "key" in read ? read.fault : read;
  if (fault) throw usageError(`${JSON.stringify(to)} cannot be the new key: ${fault.message}`);
  const key = normalizeKey(to, keyType);
  const readTarget = async () => {
    const found = await findByKey({ send, behaviors }, structure, key);
    return found && fetchContact(send, found._id);
  };
  const hintAtEnd = advise`Nothing was written. Where a move was cut off at its end, it is complete; see: ${ecm`contact get ${toOperands(key)}`}`;
  const old = await resolveContact(connection, from).catch(async (error: unknown) => {
    if (isKind(error, "no contact") && isActive(await readTarget())) error.details.hint = hintAtEnd;
    throw error;
  });
  if (toKeyIdentity(old.key, keyType) === toKeyIdentity(key, keyType))
    throw usageError(`${to} is the same contact`, "Letter case alone makes no other contact");
  await requireNoId(connection, old, to);
  const target = await readTarget();
  if (!isActive(old)) {
    const status = formatStatus(findStatus(old))?.toLowerCase() ?? "of unknown status";
    throw refusal(`${old.key} is ${status}; only an active contact can be moved`, hintAtEnd);
  }
  if (target && !isActive(target))
    throw refusal(`${target.key} has left`, "Nothing was written: nobody who has left is written to");
  for (const each of target ? [old, target] : [old]) requireWhole(each);
  return { old, target, key };
}

/** An id is accepted wherever a key is: here it would become the key of a new contact. */
async function requireNoId(connection: Connection, old: Contact, to: string): Promise<void> {
  if (!isId(to)) return;
  const named = await resolveContact(connection, to).catch((error: unknown) => {
    if (!isKind(error, "no contact", "not found") && !isGoneError(error)) throw error;
  });
  if (!named) return;
  const words = named._id === old._id ? "the same contact" : "the id of a contact";
  throw usageError(`${to} is ${words}`, "Name the new contact by its key");
}

const refusalType = "MoveRefusedError";

function refusal(message: string, hint: Hint): EcmError {
  return conflictError(message, hint, { type: refusalType });
}

/** What a service does not tell would be lost. */
function requireWhole({ key, fields, lists, tags }: Partial<Contact>): void {
  if (!fields || !lists || !tags)
    throw refusal(`The service does not tell all fields, lists and tags of ${key}`, "Nothing was written");
}

function planCreation(old: Contact, key: string): ApiRequest {
  const parts = Object.entries(toParts(old)).filter(([, elements]) => elements.length > 0);
  const body = { key, contactStructureId: old.contactStructureId, ...Object.fromEntries(parts) };
  return createContactRequest(body as CreateContactBody);
}

/** What gives the new contact what it lacks; undefined where it has all that the old one has. */
function planMerge(old: Contact, target: Contact, merges: boolean): ApiRequest | undefined {
  const { fields, lists, tags } = toParts(old);
  const all = { updateFields: fields, addLists: lists, addTags: tags };
  if (!wouldChange(target, all)) return undefined;
  if (!merges) {
    throw refusal(
      `${target.key} exists, and has not all that ${old.key} has`,
      advise`To give it what it lacks: ${ecm`contact move --merge ${toOperands(old.key, target.key)}`}`,
    );
  }
  const filled = new Set(toParts(target).fields.map(({ _id }) => _id));
  const lacking = { ...all, updateFields: fields.filter(({ _id }) => !filled.has(_id)) };
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
  if (!target) return (await send<Contact>(request)).body;
  return (await mutateContact(send, target._id, request, behaviors(target.contactStructureId))).contact;
}

/** The old contact, read again before it goes: what it got since would be lost. @throws EcmError (exit 6) */
async function requireSame({ send }: Connection, old: Contact, key: string): Promise<void> {
  const now = await fetchContactIfThere(send, old._id);
  const since = "since the move began";
  const moved = toOperands(key);
  if (!now)
    throw refusal(
      `${old.key} is gone ${since}; ${key} stays`,
      advise`If they were erased, erase the new contact too: ${ecm`contact erase ${moved}`}`,
    );
  if (isInactive(now))
    throw refusal(
      `${old.key} has left ${since}; ${key} is active`,
      advise`Unsubscribe the new contact too: ${ecm`contact unsubscribe ${moved}`}`,
    );
  if (JSON.stringify(toParts(now)) !== JSON.stringify(toParts(old)))
    throw refusal(
      `${old.key} was changed ${since}, and stays`,
      advise`Move the rest: ${ecm`contact move --merge ${toOperands(old.key, key)}`}`,
    );
}
