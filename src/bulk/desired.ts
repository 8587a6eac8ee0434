/**
 * What a job wants of one contact, and what it takes to get there. Every job states its wishes in this one shape;
 * a plan's line keeps it beside what stood in the account before, and the operation follows from both. Types only.
 */
import type { Contact, ContactStatus, CreateContactBody, FieldValue, MutateBody } from "../wire.ts";

/** A word for a reason, such as `changed_since`. The commands say it in a sentence. */
export type Code = string;

/** Why a contact is rejected. `message`: in the words of the input, where a code does not say all of it. */
export interface Reason {
  code: Code;
  message?: string;
}

/**
 * One value that the contact should have: the text of a field (empty: cleared), or whether it is in a list or
 * has a tag. Each pair of `what` and `id` appears once in a `Desired`.
 *
 * `onlyIf`: written only where the contact has this value now. `lost`: cannot be written, for this reason.
 */
export type DesiredValue =
  | { what: "field"; id: string; to: string; onlyIf?: string; lost?: Code }
  | { what: "list" | "tag"; id: string; to: boolean; onlyIf?: boolean; lost?: Code };

/** A whole contact, in the parts that were told. */
export interface Whole {
  fields: readonly FieldValue[];
  lists?: readonly string[];
  tags?: readonly string[];
  isInactive: boolean;
  /** Nobody has written the contact since it was created, and it has not left. */
  isUntouched?: true;
}

export interface Desired {
  /** Empty beside `end`. */
  values: readonly DesiredValue[];
  end?: "unsubscribe" | "delete";
  /** Which contact is meant. Another contact with the key counts as nobody. */
  who?: { is: string } | { not: string };
  /** What becomes of a key that nobody has. */
  absent: "create" | "leave" | { skip: Code } | { reject: Reason };
  /** What becomes of a contact that exists. `unlessSo`: skipped, unless all values are there already. */
  present: "change" | { skip: Code } | { unlessSo: Code };
  /** False where the input marks the person as not subscribed: then nothing is created, and no list gets a member. */
  mayJoinLists: boolean;
  /** What becomes of the whole contact where one of its conditions does not hold. */
  strict?: { skip: Code } | { reject: Reason };
  /** Condition, beside `strict`: the contact has not left since. */
  active?: true;
  /** Condition, beside `strict`: the status is still this, as far as it is told. */
  status?: ContactStatus;
  /** Condition, beside `strict`: the contact as a whole is still this. */
  whole?: Whole;
}

/** A value that a write replaces; null where it was not told. */
export interface Was {
  what: DesiredValue["what"];
  id: string;
  to: string | boolean | null;
}

/** The one write of a contact. */
export type Operation =
  | { kind: "create"; body: CreateContactBody }
  | { kind: "change"; id: string; body: MutateBody; was: readonly Was[] }
  /** The status, which no mutate can change. */
  | { kind: "unsubscribe"; id: string; was?: ContactStatus }
  /** For good. `contact` as it was. */
  | { kind: "delete"; id: string; contact: Partial<Contact> };

/**
 * `unmet`: values that the contact does not have, and does not get. Neither an operation nor unmet values: the
 * contact is unchanged. Unmet values alone: it is rejected, code `changed_since`.
 */
export type Verdict =
  | { do?: Operation; unmet: readonly DesiredValue[] }
  | { skip: Code }
  | { reject: Reason };

/** What a plan's line keeps of the contact as it was: what the write replaces, and of a deletion everything. */
export interface Before {
  id: string;
  version?: number;
  isInactive?: true;
  status?: ContactStatus;
  values: readonly Was[];
  contact?: Partial<Contact>;
}
