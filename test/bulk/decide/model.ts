/**
 * What should become of a contact, said a second time and as plainly as possible: one function for each kind of
 * work, which looks at the contact part by part. It shares no code with what it is compared with.
 */
import type { Contact } from "../../../src/wire.ts";
import { fieldIds, listIds, tagIds, type Wish } from "./cases.ts";

/** Parts are named `field f1`, `list l1`, `tag t1`. */
export type Parts = Record<string, string | boolean>;
export type Expected =
  | "unchanged"
  | `skip ${string}`
  | `reject ${string}`
  | { create: Parts; unmet: string[] }
  | { change: string; set: Parts; version?: number; unmet: string[] }
  | { unsubscribe: string }
  | { delete: string };

const allParts = [
  ...fieldIds.map((id) => `field ${id}`),
  ...listIds.map((id) => `list ${id}`),
  ...tagIds.map((id) => `tag ${id}`),
];

/** The value of each part; undefined where the answer did not tell it. */
export function readParts(contact: Partial<Contact>): Record<string, string | boolean | undefined> {
  const parts: Record<string, string | boolean | undefined> = {};
  for (const id of fieldIds) parts[`field ${id}`] = "";
  for (const { _id, value } of contact.fields ?? []) parts[`field ${_id}`] = value;
  for (const id of listIds) parts[`list ${id}`] = contact.lists?.some(({ _id }) => _id === id);
  for (const id of tagIds) parts[`tag ${id}`] = contact.tags?.some(({ _id }) => _id === id);
  return parts;
}

function wishedParts(wish: Wish): Parts {
  const parts: Parts = {};
  for (const [id, value] of Object.entries(wish.fields)) parts[`field ${id}`] = value;
  for (const id of wish.addLists) parts[`list ${id}`] = true;
  for (const id of wish.removeLists) parts[`list ${id}`] = false;
  for (const id of wish.addTags) parts[`tag ${id}`] = true;
  for (const id of wish.removeTags) parts[`tag ${id}`] = false;
  return parts;
}

function primary(contact: Partial<Contact>): "active" | "inactive" | undefined {
  const word = contact.status?.primary ?? contact.contactStatus;
  return word?.toLowerCase() as "active" | "inactive" | undefined;
}

const hasLeft = (contact: Partial<Contact>) => primary(contact) === "inactive";

/** Only what holds something is sent with a create. */
function createOf(parts: Parts, unmet: string[] = []): Expected {
  const create: Parts = {};
  for (const [part, value] of Object.entries(parts))
    if (value !== "" && value !== false) create[part] = value;
  return { create, unmet };
}

/** What differs, or was not told, is sent. */
function changeOf(contact: Partial<Contact>, wanted: Parts): Expected {
  const now = readParts(contact);
  const set: Parts = {};
  for (const [part, value] of Object.entries(wanted)) if (now[part] !== value) set[part] = value;
  return toChange(contact, set);
}

function toChange(contact: Partial<Contact>, set: Parts, unmet: string[] = []): Expected {
  if (Object.keys(set).length === 0) return unmet.length === 0 ? "unchanged" : "reject changed_since";
  const version = contact.__v === undefined ? {} : { version: contact.__v };
  return { change: contact._id!, set, ...version, unmet };
}

/** A row that its file marks puts nobody into a list. */
const withoutLists = (parts: Parts): Parts =>
  Object.fromEntries(Object.entries(parts).filter(([part, value]) => !(part.startsWith("list ") && value)));

export interface ImportCase {
  mode: "upsert" | "create" | "update";
  isMarked: boolean;
  wish: Wish;
}

export function expectImport(
  { mode, isMarked, wish }: ImportCase,
  now: Partial<Contact> | undefined,
): Expected {
  const wanted = wishedParts(wish);
  if (now) return mode === "create" ? "skip exists" : changeOf(now, isMarked ? withoutLists(wanted) : wanted);
  if (mode === "update") return "skip missing";
  return isMarked ? "skip not_subscribed" : createOf(wanted);
}

/** Contacts that a file or the command line names. */
export function expectMutate(
  { isMarked, wish }: Pick<ImportCase, "isMarked" | "wish">,
  now: Partial<Contact> | undefined,
): Expected {
  if (!now) return isMarked ? "skip not_subscribed" : "reject not_found";
  const wanted = wishedParts(wish);
  return changeOf(now, isMarked ? withoutLists(wanted) : wanted);
}

export function expectUnsubscription(now: Partial<Contact> | undefined): Expected {
  if (!now) return "reject not_found";
  return hasLeft(now) ? "unchanged" : { unsubscribe: now._id! };
}

export function expectDeletion(now: Partial<Contact> | undefined): Expected {
  return now ? { delete: now._id! } : "skip missing";
}

/** Of a sync: a member leaves the list; one that is gone has left it. */
export function expectRemoval(list: string, now: Partial<Contact> | undefined): Expected {
  return now ? changeOf(now, { [`list ${list}`]: false }) : "unchanged";
}

/** An approved write: carried out where the contact is as it was when the write was planned. */
export function expectApproved(
  approved: Expected,
  was: Partial<Contact> | undefined,
  now: Partial<Contact> | undefined,
): Expected {
  if (typeof approved === "string") throw new Error("nothing was approved");
  if ("create" in approved) {
    if (!now) return { ...approved, unmet: [] };
    const parts = readParts(now);
    return Object.entries(approved.create).every(([part, value]) => parts[part] === value)
      ? "unchanged"
      : "skip changed";
  }
  const isSame = now !== undefined && now._id === was!._id;
  if ("delete" in approved) {
    if (!isSame) return "skip missing";
    return isSameContact(was!, now) ? { delete: now._id! } : "skip changed";
  }
  if (!isSame) return "skip changed";
  if ("unsubscribe" in approved) {
    if (hasLeft(now)) return "unchanged";
    return hasSameStatus(was!, now) ? { unsubscribe: now._id! } : "skip changed";
  }
  const [before, parts] = [readParts(was!), readParts(now)];
  const names = Object.keys(approved.set);
  if (names.every((part) => parts[part] === approved.set[part])) return "unchanged";
  const isAsBefore = (part: string) =>
    before[part] === undefined || parts[part] === undefined || parts[part] === before[part];
  if (hasLeft(now) && !hasLeft(was!)) return "skip changed";
  if (!names.every(isAsBefore)) return "skip changed";
  return changeOf(now, approved.set);
}

function hasSameStatus(was: Partial<Contact>, now: Partial<Contact>): boolean {
  const words = ({ status, contactStatus, contactSubStatus }: Partial<Contact>) =>
    [status?.primary ?? contactStatus, status ? status.secondary : contactSubStatus].map((word) =>
      word?.toLowerCase(),
    );
  const [before, after] = [words(was), words(now)];
  return before.every((word, at) => !word || !after[at] || word === after[at]);
}

function isSameContact(was: Partial<Contact>, now: Partial<Contact>): boolean {
  const [before, parts] = [readParts(was), readParts(now)];
  return (
    hasLeft(was) === hasLeft(now) &&
    allParts.every(
      (part) => before[part] === undefined || parts[part] === undefined || before[part] === parts[part],
    )
  );
}

/** Lists and tags that the account does not have any more, and fields; as parts. */
export type Gone = ReadonlySet<string>;

/** A run has set these parts of this contact. */
export function expectUndoneChange(
  run: { was: Partial<Contact>; set: Parts; gone: Gone },
  now: Partial<Contact> | undefined,
): Expected {
  if (now?._id !== run.was._id) return "reject gone";
  const [before, parts] = [readParts(run.was), readParts(now!)];
  const set: Parts = {};
  const unmet: string[] = [];
  for (const [part, written] of Object.entries(run.set)) {
    const isTold = before[part] !== undefined;
    const back = before[part] ?? !written;
    if (parts[part] === back) continue;
    const isOurs = parts[part] === undefined || parts[part] === written;
    const isGone = run.gone.has(part) && back !== false;
    if (isTold && isOurs && !isGone) set[part] = back;
    else unmet.push(part);
  }
  return toChange(now!, set, unmet);
}

/** With `--delete-created`. */
export function expectUndoneCreation(
  run: { create: Parts; id: string },
  now: Partial<Contact> | undefined,
): Expected {
  if (now?._id !== run.id) return "unchanged";
  const { createdAt, updatedAt, __v = 0 } = now!;
  const isStamped = createdAt !== undefined && updatedAt !== undefined;
  const age = isStamped ? Date.parse(updatedAt) - Date.parse(createdAt) : __v;
  const isUntouched = !hasLeft(now!) && age <= (isStamped ? 1000 : 0);
  const parts = readParts(now!);
  const isAsMade = allParts.every((part) => {
    const made = run.create[part] ?? (part.startsWith("field") ? "" : false);
    return (parts[part] ?? false) === made;
  });
  return isUntouched && isAsMade ? { delete: run.id } : "reject changed_since";
}

export function expectUndoneDeletion(
  run: { was: Partial<Contact>; gone: Gone },
  now: Partial<Contact> | undefined,
): Expected {
  // A search may still show the contact that is deleted.
  if (now && now._id !== run.was._id) return "skip exists";
  if (primary(run.was) !== "active") return "reject not_active";
  const parts: Parts = {};
  const unmet: string[] = [];
  for (const [part, value] of Object.entries(readParts(run.was))) {
    if (value === undefined || value === "" || value === false) continue;
    if (run.gone.has(part)) unmet.push(part);
    else parts[part] = value;
  }
  return createOf(parts, unmet);
}

/** A second look of the run's own plan: nobody whom the plan saw is created anew. */
export function expectSecondLook(
  was: Partial<Contact> | undefined,
  now: Partial<Contact> | undefined,
  decided: Expected,
): Expected {
  const isMadeAnew = was !== undefined && now === undefined && decided !== "unchanged";
  return isMadeAnew ? "skip changed" : decided;
}
