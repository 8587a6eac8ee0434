/** The unit of a bulk run: one contact, and what it should become. Everything else of the engine speaks of these. */
import type { Contact, ContactStatus, CreateContactBody, FieldValue, MutateBody } from "../wire.ts";

/** A contact's key in the forms the engine needs. */
export interface ContactKey {
  /** As the file has it, edges trimmed: looked up first, since an account may hold it in this form. */
  written: string;
  /** Normalised: what a create sends. */
  sent: string;
  /** What makes two keys one contact: `sent` without regard to case for e-mail keys. */
  identity: string;
}

export interface Item {
  /** Names the contact within the run and its journal: the line it is on, or its place in a list of its own. */
  ref: number;
  key: ContactKey;
}

/** What a command wants done, for each contact that it names. */
export interface Work<T extends Item = Item> {
  /** In a fixed order, the same each time the run is resumed; in batches of any size. */
  batches(): AsyncIterable<readonly T[]> | Iterable<readonly T[]>;
  decide(item: T, found: Partial<Contact> | undefined): Decision;
  /** False for a contact that is decided without looking it up. Default: every one is looked up. */
  needsLookup?(item: T): boolean;
  /**
   * The id of a contact that has to be read by itself, as it is now and with its version: a search may lag behind, and
   * tells no version. Costs a request for each.
   */
  contactId?(item: T): string | undefined;
  /** What a change that was carried out counts as. Default: `updated`. */
  changed?: Outcome;
  /** Whether the input marks this contact as not subscribed although the account holds it as active. */
  isMarked?(item: T, found: Partial<Contact> | undefined): boolean;
}

const itemsInBatch = 100;

/** The batches of a `Work` whose items come one by one. */
export async function* inBatches<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    if (batch.push(item) < itemsInBatch) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
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
  /** Then whoever is active in the account is unsubscribed there. */
  unsubscribes?: boolean;
}

/** The touched parts of a contact as they were, for undo. */
export interface Before {
  /** Values of the fields that were set; blank where there was none. */
  fields: FieldValue[];
  /** Whether the answer told the contact's lists and tags; only then is it known that what was added was not there. */
  knewLists: boolean;
  knewTags: boolean;
}

/**
 * `exists_hidden`: the service refuses a second contact with this key, and no search shows the first. `duplicate`: another
 * item names the same contact. `truncated`: the input is cut off, and may have named the contact.
 */
export type SkipCode =
  | "exists"
  | "missing"
  | "not_subscribed"
  | "not_selected"
  | "suppressed"
  | "duplicate"
  | "truncated"
  | "exists_hidden";

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

/** A write that is about to be sent. `remark`: what is to be said of the contact although it is written. */
export type Operation = (
  | { kind: "create"; body: CreateContactBody }
  | { kind: "change"; contactId: string; body: MutateBody; before: Before }
  /** `PATCH` of the status, which no mutate can change. `before` as the account told it, if it did. */
  | { kind: "status"; contactId: string; status: ContactStatus; before?: ContactStatus }
  /** For good. `contact` as it was, for undo. */
  | { kind: "delete"; contactId: string; contact: Partial<Contact> }
) & { remark?: Remark };

/** `removed`: taken out of a list by a sync. */
export type Outcome = "created" | "updated" | "removed" | "deleted" | "unchanged" | "skipped" | "rejected";
