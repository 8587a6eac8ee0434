/**
 * Whether the values of a plan file are what a plan holds. A digest only tells that a file is as it was
 * written, not who wrote it: what people read of a contact must also be what would be sent. Pure.
 */
import * as v from "valibot";
import { isObject } from "../../is-object.ts";
import type { Creation } from "./names.ts";
import type { PlanEnd, PlanHead, Planned, StoredLine } from "./plan-file.ts";
import { type PlanLine, type PlanNames, toPlanLine, toPlanNames } from "./plan-line.ts";

type Fields = Readonly<Record<string, unknown>>;

const text = v.string();
const texts = v.array(text);
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const object = v.custom<Fields>(isObject);
const namesById = v.record(text, text);
const limit = v.union([v.object({ rows: v.number() }), v.object({ percent: v.number() })]);

const head = v.object({
  program: text,
  kind: text,
  createdAt: text,
  account: v.object({ baseUrl: text, structureId: text, keyType: text }),
  names: v.object({ fields: namesById, lists: namesById, tags: namesById }),
  command: texts,
  source: texts,
  listIds: texts,
  selection: v.optional(
    v.object({ lists: texts, tags: texts, status: v.optional(text), where: v.optional(text) }),
  ),
  removals: v.optional(v.object({ members: count, allowed: v.optional(limit) })),
});

const creation = v.object({
  what: v.picklist(["list", "tag", "field"]),
  name: text,
  dataType: v.optional(text),
});

const writeActions = ["create", "update", "delete"] as const;
const actions = [...writeActions, "unchanged", "skip", "reject"] as const;

const end = v.object({
  digest: text,
  requests: count,
  counts: v.object(v.entriesFromList(actions, count)),
});

/** What people read of what becomes of the contact. */
const readable = v.object({
  line: v.nullable(count),
  key: text,
  contactId: v.nullable(text),
  action: v.picklist(actions),
  changes: v.array(object),
});

const values = v.optional(v.array(v.object({ _id: text, value: text })));
const references = v.optional(v.array(v.union([text, v.object({ _id: text })])));
const body = v.object({
  fields: values,
  updateFields: values,
  ...v.entriesFromList(["lists", "tags", "addLists", "removeLists", "addTags", "removeTags"], references),
});

const before = v.object({ fields: v.nonOptional(values), knewLists: v.boolean(), knewTags: v.boolean() });
const change = v.object({ kind: v.literal("change"), contactId: text, body, before });
const status = v.object({
  kind: v.literal("status"),
  contactId: text,
  status: v.object({ primary: text }),
  next: v.optional(change),
});
const operation = v.variant("kind", [
  v.object({
    kind: v.literal("create"),
    body: v.object({ ...body.entries, key: text, contactStructureId: text }),
  }),
  change,
  v.pipe(
    status,
    v.check(({ contactId, next }) => next === undefined || next.contactId === contactId),
  ),
  v.object({ kind: v.literal("delete"), contactId: text, contact: object }),
]);

const planned = v.object({ ref: count, key: v.object({ written: text, sent: text }), operation });

export function isHead(value: unknown): value is PlanHead {
  return v.is(head, value);
}

export function isCreation(value: unknown): value is Creation {
  return v.is(creation, value);
}

export function isEnd(value: unknown): value is Pick<PlanEnd, "counts" | "requests" | "digest"> {
  return v.is(end, value);
}

/** Also holds what is read against what would be sent. */
export function isLine(value: Fields, { names }: PlanHead): value is Fields & StoredLine {
  if (!isReadable(value)) return false;
  const { action, apply } = value;
  if (isObject(apply) && apply.isErased === true) return true;
  if (apply === undefined) return !writeActions.some((each) => each === action);
  return isPlanned(apply) && matchesOperation(value, apply, toPlanNames(names));
}

function isReadable(value: Fields): value is Fields & PlanLine {
  return v.is(readable, value);
}

function isPlanned(value: unknown): value is Planned {
  return v.is(planned, value);
}

function matchesOperation(line: PlanLine, { operation, key }: Planned, names: PlanNames): boolean {
  const contact = { line: line.line, key: line.key };
  const expectedLine: PlanLine = toPlanLine(contact, operation, names);
  // The status that a contact had may have been told by its look-up alone.
  const formatChanges = (changes: PlanLine["changes"]) =>
    changes.map(({ what, name, before, after }) => [what, name, what === "status" ? null : before, after]);
  const isSameKey =
    operation.kind !== "create" || [key.sent, operation.body.key].every((each) => each === line.key);
  return (
    isSameKey &&
    line.action === expectedLine.action &&
    (expectedLine.contactId === null || line.contactId === expectedLine.contactId) &&
    JSON.stringify(formatChanges(line.changes)) === JSON.stringify(formatChanges(expectedLine.changes))
  );
}
