/**
 * What a job wants of one contact, and what it takes to get there. Every job states its wishes in this one
 * shape; a plan's line keeps it beside what stood in the account before, and the operation follows from both.
 * What a plan keeps is a schema, which also checks a plan that somebody brings; the engine takes the types
 * alone from here.
 */
import * as v from "valibot";
import { isObject } from "../json.ts";
import type { Cells, ContactKey } from "../tables/index.ts";
import type { Contact, ContactStatus } from "../wire.ts";

const text = v.string();

/** A word for a reason, such as `changed_since`. The commands say it in a sentence. */
export type Code = string;

/** Why a contact is rejected. `message`: in the words of the input, where a code does not say all of it. */
const reason = v.object({ code: text, message: v.optional(text) });
type Reason = v.InferOutput<typeof reason>;

const skip = v.object({ skip: text });
const reject = v.object({ reject: reason });

const isEachOnce = (values: readonly { what: string; id: string }[]) =>
  new Set(values.map(({ what, id }) => `${what} ${id}`)).size === values.length;

/** An array that nobody changes. */
const list = <T extends v.GenericSchema>(each: T) => v.pipe(v.array(each), v.readonly());

/**
 * One value that the contact should have: the text of a field (empty: cleared), or whether it is in a list or
 * has a tag. Each pair of `what` and `id` appears once in a `Desired`.
 *
 * `onlyIf`: written only where the contact has this value now. `lost`: cannot be written, for this reason.
 */
const desiredValue = v.variant("what", [
  v.object({
    what: v.literal("field"),
    id: text,
    to: text,
    onlyIf: v.optional(text),
    lost: v.optional(text),
  }),
  v.object({
    what: v.picklist(["list", "tag"]),
    id: text,
    to: v.boolean(),
    onlyIf: v.optional(v.boolean()),
    lost: v.optional(text),
  }),
]);
export type DesiredValue = v.InferOutput<typeof desiredValue>;

const fieldValue = v.object({ _id: text, value: text });
const status: v.GenericSchema<ContactStatus> = v.object({ primary: text, secondary: v.optional(text) });

/** A whole contact, in the parts that were told. */
const whole = v.object({
  fields: list(fieldValue),
  lists: v.optional(list(text)),
  tags: v.optional(list(text)),
  isInactive: v.boolean(),
  /** Nobody has written the contact since it was created, and it has not left. */
  isUntouched: v.optional(v.literal(true)),
});
export type Whole = v.InferOutput<typeof whole>;

export const desired = v.pipe(
  v.object({
    /** Empty beside `end`. */
    values: v.pipe(
      list(desiredValue),
      v.check((each) => isEachOnce(each)),
    ),
    end: v.optional(v.picklist(["unsubscribe", "delete"])),
    /** Which contact is meant. Another contact with the key counts as nobody. */
    who: v.optional(v.union([v.object({ is: text }), v.object({ not: text })])),
    /** What becomes of a key that nobody has. */
    absent: v.union([v.picklist(["create", "leave"]), skip, reject]),
    /** What becomes of a contact that exists. `unlessSo`: skipped, unless all values are there already. */
    present: v.union([v.literal("change"), skip, v.object({ unlessSo: text })]),
    /** False where the input marks the person as not subscribed: no contact is created, no list joined. */
    mayJoinLists: v.boolean(),
    /** What becomes of the whole contact where one of its conditions does not hold. */
    strict: v.optional(v.union([skip, reject])),
    /** Condition, beside `strict`: the contact has not left since. */
    active: v.optional(v.literal(true)),
    /** Condition, beside `strict`: the status is still this, as far as it is told. */
    status: v.optional(status),
    /** Condition, beside `strict`: the contact as a whole is still this. */
    whole: v.optional(whole),
  }),
  v.check(({ values, end }) => end === undefined || values.length === 0),
);
export type Desired = v.InferOutput<typeof desired>;

/** A value that a write replaces; null where it was not told. */
const was = v.object({
  what: v.picklist(["field", "list", "tag"]),
  id: text,
  to: v.nullable(v.union([text, v.boolean()])),
});

const references = v.array(v.union([text, v.object({ _id: text })]));
const contact = v.looseObject({
  _id: text,
  fields: v.optional(v.array(fieldValue)),
  lists: v.optional(references),
  tags: v.optional(references),
});

/** What a plan's line keeps of the contact as it was: what the write replaces; of a deletion everything. */
export const before = v.object({
  id: text,
  version: v.optional(v.number()),
  isInactive: v.optional(v.literal(true)),
  status: v.optional(status),
  values: v.pipe(
    list(was),
    v.check((each) => isEachOnce(each)),
  ),
  contact: v.optional(v.custom<Partial<Contact>>((value) => isObject(value) && v.is(contact, value))),
});
export type Before = v.InferOutput<typeof before>;

/** One value that a write sets, and what it replaces: null where that was not told. */
export interface WrittenValue {
  what: DesiredValue["what"];
  id: string;
  to: DesiredValue["to"];
  was: string | boolean | null;
}

/** The one write of a contact. */
export type Operation =
  | { kind: "create"; key: string; values: readonly WrittenValue[] }
  | { kind: "change"; id: string; version?: number; values: readonly WrittenValue[] }
  /** The status, which no mutate can change. */
  | { kind: "unsubscribe"; id: string; was?: ContactStatus }
  /** For good. `contact` as it was. */
  | { kind: "delete"; id: string; contact: Partial<Contact> };

/**
 * Why a contact is not, or not in all, as it was wanted. `message`: in words, as they are kept for people in
 * the plan, the journal and the rejects file. `unmet`: values that the contact does not have, and does not
 * get.
 */
export interface Remark extends Reason {
  unmet?: readonly DesiredValue[];
}

/** `remark`: what is to be said of the contact although it is written. */
export type Write = Operation & { remark?: Remark };

/** What is done about one contact. */
export type Decision =
  | Write
  /** It is as wanted. */
  | { kind: "leave" }
  | { kind: "skip"; code: Code }
  | ({ kind: "reject" } & Remark);

/** What became of it. `removed`: taken out of a list by a sync. */
export type Outcome = "created" | "updated" | "removed" | "deleted" | "unchanged" | "skipped" | "rejected";

/** A reason that its code alone tells, with what a sentence about it needs. */
export interface CodedReason {
  code: Code;
  /** What was not restored; absent where the whole contact was not. */
  parts?: readonly { what: DesiredValue["what"]; id: string; name: string }[];
  /** The line of the input that names the contact as well. */
  line?: number;
}

/** A code in words, as they are kept for people. */
export type DescribeReason = (reason: CodedReason) => string;

/** What is known of a contact without a look at the account. */
export type Settled = { skip: Code } | { reject: Reason };

/** The unit of a bulk run: one contact, and what it should become. */
export interface Item {
  /**
   * Names the contact within the run, its plan and its journal: the
   * line it is on, or its place in a list of its own.
   */
  ref: number;
  /** The line of the input; null where none names the contact. */
  line: number | null;
  key: ContactKey;
  /** The cells of its row, for the rejects file. */
  cells: Cells;
  /** How its input marks the person as not subscribed, for the rejects file. */
  mark?: string;
  /** Settled: it is not looked up, and nothing is written. */
  desired: Desired | Settled;
  /** A member that a sync takes out of its list. */
  isRemoval?: true;
  /** Where the job knows it. */
  contactId?: string;
  /** The contact, where it comes from a page of the account: it is not looked up for the plan then. */
  found?: Partial<Contact>;
}
