/**
 * Whether the values of a plan file are what a plan holds. A digest only tells that a file is as it was
 * written, not who wrote it: what people read of a contact must also be what would be sent. Pure.
 */
import * as v from "valibot";
import { isObject } from "../../is-object.ts";
import { toOperation } from "../decide.ts";
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
  looks: v.object({
    by: v.picklist(["search", "id"]),
    readsStatus: v.optional(v.boolean()),
    marksRepeats: v.optional(v.boolean()),
    suppressions: v.picklist(["pass-over", "hold", "include"]),
  }),
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

const fieldValues = v.array(v.object({ _id: text, value: text }));
const references = v.array(v.union([text, v.object({ _id: text })]));
const contact = v.looseObject({
  _id: text,
  fields: v.optional(fieldValues),
  lists: v.optional(references),
  tags: v.optional(references),
});
const status = v.object({ primary: text, secondary: v.optional(text) });

const skip = v.object({ skip: text });
const reject = v.object({ reject: v.object({ code: text, message: v.optional(text) }) });
const membership = { id: text, to: v.boolean(), onlyIf: v.optional(v.boolean()), lost: v.optional(text) };
const desiredValue = v.variant("what", [
  v.object({
    what: v.literal("field"),
    id: text,
    to: text,
    onlyIf: v.optional(text),
    lost: v.optional(text),
  }),
  v.object({ what: v.literal("list"), ...membership }),
  v.object({ what: v.literal("tag"), ...membership }),
]);
const isEachOnce = (values: { what: string; id: string }[]) =>
  new Set(values.map(({ what, id }) => `${what} ${id}`)).size === values.length;

const desired = v.pipe(
  v.object({
    values: v.pipe(
      v.array(desiredValue),
      v.check((each) => isEachOnce(each)),
    ),
    end: v.optional(v.picklist(["unsubscribe", "delete"])),
    who: v.optional(v.union([v.object({ is: text }), v.object({ not: text })])),
    absent: v.union([v.picklist(["create", "leave"]), skip, reject]),
    present: v.union([v.literal("change"), skip, v.object({ unlessSo: text })]),
    mayJoinLists: v.boolean(),
    strict: v.optional(v.union([skip, reject])),
  }),
  v.check(({ values, end }) => end === undefined || values.length === 0),
);

const before = v.object({
  id: text,
  version: v.optional(v.number()),
  isInactive: v.optional(v.literal(true)),
  status: v.optional(status),
  values: v.pipe(
    v.array(
      v.object({
        what: v.picklist(["field", "list", "tag"]),
        id: text,
        to: v.nullable(v.union([text, v.boolean()])),
      }),
    ),
    v.check((each) => isEachOnce(each)),
  ),
  contact: v.optional(contact),
});

const planned = v.pipe(
  v.object({
    ref: count,
    key: v.object({ written: text, sent: text }),
    desired,
    before: v.optional(before),
    isRemoval: v.optional(v.literal(true)),
  }),
  // Whoever is unsubscribed or deleted is known, and whoever is deleted is known whole.
  v.check((each) => each.desired.end === undefined || each.before !== undefined),
  v.check((each) => each.desired.end !== "delete" || each.before?.contact?._id === each.before?.id),
);

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
export function isLine(value: Fields, { names, account }: PlanHead): value is Fields & StoredLine {
  if (!isReadable(value)) return false;
  const { action, apply } = value;
  if (isObject(apply) && apply.isErased === true) return true;
  if (apply === undefined) return !writeActions.some((each) => each === action);
  return isWellFormed(apply) && isAsShown(value, apply, toPlanNames(names), account.structureId);
}

function isReadable(value: Fields): value is Fields & PlanLine {
  return v.is(readable, value);
}

function isWellFormed(value: unknown): value is Planned {
  return v.is(planned, value);
}

/** Whether what people read is what would be sent. */
function isAsShown(line: PlanLine, planned: Planned, names: PlanNames, structureId: string): boolean {
  const { key, desired, before } = planned;
  const operation = toOperation(key.sent, desired, before, structureId);
  const expectedLine = toPlanLine({ line: line.line, key: line.key }, operation, names);
  // The status that a contact had may have been told by its look-up alone.
  const formatChanges = (changes: PlanLine["changes"]) =>
    changes.map(({ what, name, before, after }) => [what, name, what === "status" ? null : before, after]);
  return (
    (before !== undefined || key.sent === line.key) &&
    line.action === expectedLine.action &&
    (expectedLine.contactId === null || line.contactId === expectedLine.contactId) &&
    JSON.stringify(formatChanges(line.changes)) === JSON.stringify(formatChanges(expectedLine.changes))
  );
}
