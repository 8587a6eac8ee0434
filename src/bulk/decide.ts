/**
 * The only judge of a contact: what a run does about it, from what is desired and what the account holds. The
 * plan asks it, and so does each second look right before a write. Pure.
 */
import { findStatus, isInactive, toIdSet } from "../api/contacts.ts";
import type { Contact, ContactStatus, FieldValue } from "../wire.ts";
import type {
  Before,
  Decision,
  Desired,
  DesiredValue,
  Item,
  Operation,
  Remark,
  Settled,
  Whole,
  Write,
  WrittenValue,
} from "./desired.ts";

/** Both stamps of a creation are taken in one go; in milliseconds. */
const creationTolerance = 1000;

const unchanged: Decision = { kind: "leave" };

/**
 * @param key the form that a create sends
 * @param seen the contact that has the key or the id, as the account holds it; its parts that were not told are
 *   absent
 */
export function decide(key: string, desired: Desired, seen: Partial<Contact> | undefined): Decision {
  const { present, end, strict } = desired;
  const found = seen && isMeant(desired, seen) ? seen : undefined;
  if (!found) return decideAbsent(key, desired);
  if (typeof present === "object" && "skip" in present) return fromSettled(present);
  if (end === "unsubscribe" && isInactive(found)) return unchanged;
  const { open, unmet, holds } = compare(desired, found);
  if (end === undefined && open.length + unmet.length === 0) return unchanged;
  if (typeof present === "object") return { kind: "skip", code: present.unlessSo };
  if (strict && !(holds && isAsMeant(desired, found))) return fromSettled(strict);
  if (end !== undefined) return toEnd(end, found);
  if (open.length === 0) return { kind: "reject", ...toRemark(unmet) };
  const values = open.map(({ what, id, to }) => ({
    what,
    id,
    to,
    was: findValue({ what, id }, found) ?? null,
  }));
  return withUnmet(toChange(found._id!, values, found.__v), unmet);
}

export function isSettled(desired: Item["desired"]): desired is Settled {
  return !("values" in desired);
}

export function fromSettled(settled: Settled): Decision {
  return "skip" in settled ? { kind: "skip", code: settled.skip } : { kind: "reject", ...settled.reject };
}

function withUnmet(operation: Operation, unmet: readonly DesiredValue[]): Write {
  return unmet.length === 0 ? operation : { ...operation, remark: toRemark(unmet) };
}

function toRemark(unmet: readonly DesiredValue[]): Remark {
  return { code: "changed_since", unmet };
}

function isMeant({ who }: Desired, { _id }: Partial<Contact>): boolean {
  if (who === undefined) return true;
  return "is" in who ? _id === who.is : _id !== who.not;
}

function decideAbsent(key: string, { values, absent, mayJoinLists }: Desired): Decision {
  if (absent === "leave") return unchanged;
  if (absent !== "create") return fromSettled(absent);
  if (!mayJoinLists) return { kind: "skip", code: "not_subscribed" };
  const unmet = values.filter((each) => each.lost !== undefined && isSet(each));
  return withUnmet(toCreate(key, values), unmet);
}

/** A new contact has no value that would have to be cleared, and is in no list that it would have to leave. */
function isSet({ to }: DesiredValue): boolean {
  return to !== "" && to !== false;
}

function toCreate(key: string, values: readonly DesiredValue[]): Operation {
  const written = values
    .filter((each) => each.lost === undefined && isSet(each))
    .map(({ what, id, to }) => ({ what, id, to, was: what === "field" ? null : false }));
  return { kind: "create", key, values: written };
}

/** Whether the contact has all of these values; a part that was not told is none. */
export function hasAll(
  values: readonly Pick<WrittenValue, "what" | "id" | "to">[],
  found: Partial<Contact>,
): boolean {
  return values.every((each) => findValue(each, found) === each.to);
}

interface Comparison {
  /** What has to be written. */
  open: DesiredValue[];
  /** What is not so, and is not written. */
  unmet: DesiredValue[];
  /** Whether every value is as its `onlyIf` says, or was not told. */
  holds: boolean;
}

function compare({ values, mayJoinLists }: Desired, found: Partial<Contact>): Comparison {
  const open: DesiredValue[] = [];
  const unmet: DesiredValue[] = [];
  let holds = true;
  for (const each of values) {
    const now = findValue(each, found);
    const isAsExpected = each.onlyIf === undefined || now === undefined || now === each.onlyIf;
    holds &&= isAsExpected;
    if (now === each.to || (each.what === "list" && each.to && !mayJoinLists)) continue;
    if (each.lost === undefined && isAsExpected) open.push(each);
    else unmet.push(each);
  }
  return { open, unmet, holds };
}

/** Undefined where the contact's lists or tags were not told. */
function findValue(
  { what, id }: Pick<DesiredValue, "what" | "id">,
  found: Partial<Contact>,
): string | boolean | undefined {
  if (what === "field") return found.fields?.find(({ _id }) => _id === id)?.value ?? "";
  const references = what === "list" ? found.lists : found.tags;
  return references && toIdSet(references).has(id);
}

function toEnd(end: NonNullable<Desired["end"]>, found: Partial<Contact>): Operation {
  const id = found._id!;
  if (end === "delete") return { kind: "delete", id, contact: found };
  const was = findStatus(found);
  return { kind: "unsubscribe", id, ...(was && { was }) };
}

function toChange(id: string, values: readonly WrittenValue[], version: number | undefined): Operation {
  return { kind: "change", id, ...(version !== undefined && { version }), values };
}

/** Whether the conditions on the contact, besides those on its values, hold. */
function isAsMeant({ active, status, whole }: Desired, found: Partial<Contact>): boolean {
  if (active && isInactive(found)) return false;
  if (status && !isSameStatus(status, findStatus(found))) return false;
  return whole === undefined || isAsWhole(whole, found);
}

/** In what both tell, in any letter case. */
function isSameStatus(before: ContactStatus, now: ContactStatus = { primary: "" }): boolean {
  const isSame = (one = "", other = "") =>
    one === "" || other === "" || one.toLowerCase() === other.toLowerCase();
  return isSame(before.primary, now.primary) && isSame(before.secondary, now.secondary);
}

function isAsWhole(whole: Whole, found: Partial<Contact>): boolean {
  if (whole.isUntouched && !isUntouched(found)) return false;
  // What a run has created is known whole: a part that is not told is empty then, not unknown.
  const { fields, lists, tags } = whole.isUntouched ? { lists: [], tags: [], ...found } : found;
  return (
    whole.isInactive === isInactive(found) &&
    isSameMap(toTexts(whole.fields), toTexts(fields)) &&
    isSameSet(whole.lists, lists) &&
    isSameSet(whole.tags, tags)
  );
}

/** Nobody has written the contact since its creation; without stamps its version says so. */
function isUntouched(found: Partial<Contact>): boolean {
  const status = findStatus(found);
  if (status && status.primary.toLowerCase() !== "active") return false;
  const { createdAt, updatedAt, __v = 0 } = found;
  if (createdAt === undefined || updatedAt === undefined) return __v === 0;
  return Date.parse(updatedAt) - Date.parse(createdAt) <= creationTolerance;
}

/** A field without a value and an empty one are the same. */
function toTexts(fields: readonly FieldValue[] = []): Map<string, string> {
  return new Map(fields.filter(({ value }) => value !== "").map(({ _id, value }) => [_id, value]));
}

function isSameMap(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([id, value]) => other.get(id) === value);
}

/** Parts that one of both does not tell are the same. */
function isSameSet(before: readonly string[] | undefined, now: Contact["lists"]): boolean {
  if (!before || !now) return true;
  const [old, held] = [new Set(before), toIdSet(now)];
  return old.size === held.size && [...old].every((id) => held.has(id));
}

/** What a line keeps of the contact, for its undo and for settling a lost answer. */
export function toBefore(operation: Operation, found: Partial<Contact> | undefined): Before | undefined {
  if (operation.kind === "create" || !found) return undefined;
  const replaced = operation.kind === "change" ? operation.values : [];
  const before: Before = {
    id: operation.id,
    ...(found.__v !== undefined && { version: found.__v }),
    ...(isInactive(found) && { isInactive: true }),
    values: replaced.map(({ what, id, was }) => ({ what, id, to: was })),
  };
  if (operation.kind === "unsubscribe" && operation.was) before.status = operation.was;
  if (operation.kind === "delete") before.contact = operation.contact;
  return before;
}

/** The operation that a line stands for. It is kept nowhere else. */
export function toOperation(key: string, desired: Desired, before: Before | undefined): Operation {
  if (!before) return toCreate(key, desired.values);
  const { id, version, status, contact } = before;
  if (desired.end === "delete") return { kind: "delete", id, contact: contact ?? { _id: id } };
  if (desired.end === "unsubscribe") return { kind: "unsubscribe", id, ...(status && { was: status }) };
  return toChange(id, listWritten(desired, before), version);
}

/** The desired values that a line writes. */
function listWritten({ values }: Desired, before: Before): WrittenValue[] {
  const replaced = new Map(before.values.map(({ what, id, to }) => [`${what} ${id}`, to]));
  return values.flatMap(({ what, id, to }) => {
    const was = replaced.get(`${what} ${id}`);
    return was === undefined ? [] : [{ what, id, to, was }];
  });
}

/**
 * For the second look of a run's own plan: a contact that the plan saw and that is gone is not created anew.
 * Where one contact alone is meant, its absence has a reason of its own.
 */
export function seal(desired: Desired, before: Before | undefined): Desired {
  if (before === undefined || desired.who !== undefined || desired.absent === "leave") return desired;
  return { ...desired, absent: { skip: "changed" } };
}

/**
 * What `ecm apply` wants of a contact: the write that was approved, where the contact is as it was, and nothing
 * else. Made from what the line shows, not from a second source beside it.
 */
export function asApproved(desired: Desired, before: Before | undefined): Desired {
  const strict = { skip: "changed" };
  if (!before) {
    const values = desired.values.filter((each) => each.lost === undefined && isSet(each));
    return { values, absent: "create", present: { unlessSo: "changed" }, mayJoinLists: true, strict };
  }
  const { id, isInactive: hadLeft, status, contact } = before;
  const approved: Desired = {
    values: [],
    who: { is: id },
    absent: strict,
    present: "change",
    mayJoinLists: true,
    strict,
  };
  if (desired.end === "delete") {
    return { ...approved, end: "delete", absent: { skip: "missing" }, whole: toWhole(contact ?? {}) };
  }
  const active = hadLeft ? {} : { active: true as const };
  if (desired.end === "unsubscribe") {
    return { ...approved, ...active, end: "unsubscribe", ...(status && { status }) };
  }
  const values = listWritten(desired, before).map(
    ({ was, ...value }) => ({ ...value, ...(was !== null && { onlyIf: was }) }) as DesiredValue,
  );
  return { ...approved, ...active, values };
}

function toWhole({ fields = [], lists, tags, ...contact }: Partial<Contact>): Whole {
  return {
    fields,
    ...(lists && { lists: [...toIdSet(lists)] }),
    ...(tags && { tags: [...toIdSet(tags)] }),
    isInactive: isInactive(contact),
  };
}
