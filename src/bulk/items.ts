/**
 * The unit of a bulk run: one contact, and what it should become.
 * Everything else of the engine speaks of these.
 */

import type { Cells, ContactKey } from "../tables/index.ts";
import type { Contact, ContactStatus, CreateContactBody, FieldValue, MutateBody } from "../wire.ts";

/** So many contacts, or such a share of them. */
export type Limit = { rows: number } | { percent: number };

/** One contact of a run. */
export interface Item {
  kind: "contact";
  /**
   * Names the contact within the run, its plan and its journal: the
   * line it is on, or its place in a list of its own.
   */
  ref: number;
  /** Of the input; null where no line names the contact. */
  line: number | null;
  key: ContactKey;
  /** The cells of its row, for the rejects file. */
  cells: Cells;
  /** How its input marks the person as not subscribed, for the rejects file. */
  mark?: string;
  /** What its row, or the change that is made to everyone, wants of it; once it was needed. */
  desired?: DesiredContact;
  /** Where the job knows it. */
  contactId?: string;
  /**
   * As a page of the account had it, where that is where the contact
   * comes from: it is not looked up for the plan.
   */
  found?: Partial<Contact>;
}

/**
 * A row of the input that stands for no contact of its own: it is
 * wrong, or another row of the contact stands for it.
 */
export interface PassedRow {
  kind: "passed";
  line: number;
  /** The cell of the key, as it is written. */
  key: string;
  action: "skip" | "reject";
  code: string;
  message: string;
  cells: Cells;
  /** How its input marks the person as not subscribed, where its cells alone may not say so. */
  mark?: string;
  /** The contact that another row stands for, where a rejection of it takes this row too. */
  of?: number;
}

/**
 * What a job decides about its contacts. The same functions serve the
 * plan and, right before a write, its second look.
 */
export interface Work<T extends Item = Item> {
  decide(item: T, found: Partial<Contact> | undefined): Decision;
  /** Whether the conditions of the run hold for a contact. Default: there are none. */
  isChosen?(found: Partial<Contact>): boolean;
  /** Whether the contact has to be looked up before it can be planned. Default: every one is. */
  needsLookup?(item: T): boolean;
  /**
   * Whether the contact is read by its id right before its write, as it is then and with its version: a
   * search may lag behind, and tells no version. Default: none is.
   */
  readsAlone?(item: T): boolean;
  /**
   * Whether what a search told is enough to plan this; otherwise
   * the contact is read by its id. Default: it is.
   */
  isCertain?(item: T, decision: Decision): boolean;
  /** Whether the input marks this contact as not subscribed although the account holds it as active. */
  isMarked?(item: T, found: Partial<Contact> | undefined): boolean;
  /** Whether nobody may be created with this key. Asked again when a write may leave. */
  isSuppressed?(item: T): boolean;
}

/** What one contact should become. Absent facets stay as they are. */
export interface DesiredContact {
  /** Field id → value; an empty string clears. */
  fields: ReadonlyMap<string, string>;
  /** Ids. */
  addLists: readonly string[];
  removeLists: readonly string[];
  addTags: readonly string[];
  removeTags: readonly string[];
  /** The file says that this person is not subscribed: never created, never added to a list. */
  isNotSubscribed?: boolean;
}

/** The touched parts of a contact as they were, for undo. */
export interface Before {
  /** Values of the fields that were set; blank where there was none. */
  fields: FieldValue[];
  /**
   * Whether the answer told the contact's lists and tags; only then
   * is it known that what was added was not there.
   */
  knewLists: boolean;
  knewTags: boolean;
  /** The contact was inactive. */
  inactive?: true;
}

/**
 * `exists_hidden`: the service refuses a second contact with this key, and no search shows the first.
 * `duplicate`: another item names the same contact. `truncated`: the input is cut off, and may have named the
 * contact.
 */
type SkipCode =
  | "exists"
  | "missing"
  | "not_subscribed"
  | "not_selected"
  | "suppressed"
  | "exists_hidden"
  | "duplicate"
  | "truncated"
  | "changed";

export type Decision =
  | Operation
  | { kind: "leave" }
  | { kind: "skip"; code: SkipCode }
  | ({ kind: "reject" } & Remark);

/** Why a contact is not as it was wanted, in a code and in words. */
export interface Remark {
  code: string;
  message: string;
}

/** A mutate, with what it replaces. */
export interface Change {
  kind: "change";
  contactId: string;
  body: MutateBody;
  before: Before;
}

/** A write that is about to be sent. `remark`: what is to be said of the contact although it is written. */
export type Operation = (
  | { kind: "create"; contactId?: undefined; body: CreateContactBody }
  | Change
  /** `PATCH` of the status, which no mutate can change. `before` as the account told it, if it did. */
  | {
      kind: "status";
      contactId: string;
      status: ContactStatus;
      before?: ContactStatus;
    }
  /** For good. `contact` as it was, for undo. */
  | { kind: "delete"; contactId: string; contact: Partial<Contact> }
) & { remark?: Remark };

/** `removed`: taken out of a list by a sync. */
export type Outcome = "created" | "updated" | "removed" | "deleted" | "unchanged" | "skipped" | "rejected";
