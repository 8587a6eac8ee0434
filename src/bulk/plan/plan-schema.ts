/**
 * What the lines of a plan hold, as schemas. The types of a plan are made from them; a plan that somebody
 * brings is held against them, and only then are they loaded.
 */
import * as v from "valibot";
import type { InputFacts } from "../../tables/index.ts";
import { before, desired } from "../desired.ts";
import { maxRef } from "../runs/journal.ts";

const text = v.string();
const texts = v.array(text);
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Names a contact within a plan and its journal. */
const ref = v.pipe(count, v.maxValue(maxRef));

/** Ids of the account → names. */
const namesById = v.record(text, text);
export const names = v.object({ fields: namesById, lists: namesById, tags: namesById });

/** How contacts are looked up again and judged: what a closed plan is carried out by. */
export const looks = v.object({
  /**
   * `id`: each contact is read by its id right before its write, as it is then and with its version: a search
   * may lag behind, and tells no version.
   */
  by: v.picklist(["search", "id"]),
  /** The status decides what becomes of contacts: where no search tells it, they are read by their ids. */
  readsStatus: v.optional(v.boolean()),
  /** One contact may be named twice, by its key and by its id. */
  marksRepeats: v.optional(v.boolean()),
  /**
   * Suppressed contacts are left alone, also where they exist; or are not created; or are like any other, but
   * for those that were erased here.
   */
  suppressions: v.picklist(["pass-over", "hold", "include"]),
});

export const head = v.object({
  version: v.literal(1),
  /** Version of the program that made it. */
  program: text,
  /** What the command does: `import`, `mutate`, …, `undo`. */
  kind: text,
  /** Its words, without values. */
  command: texts,
  account: v.object({ baseUrl: text, structureId: text, keyType: text }),
  /** Null where no file names the contacts. */
  input: v.nullable(v.object({ sha256: text, size: count })),
  /** RFC 3339, UTC. */
  createdAt: text,
  /** What ids of the account are called. */
  names,
  /** Parts of a contact that a second look asks for. */
  source: texts,
  looks,
  /** Conditions that chose the contacts: a contact that no longer matches at a second look is skipped. */
  selection: v.optional(
    v.object({ lists: texts, tags: texts, status: v.optional(text), where: v.optional(text) }),
  ),
  /** The members of a sync's list, against which `--max-remove` is held. */
  removals: v.optional(v.object({ listId: text, members: count })),
  /** How the input is written, for the rejects file; in a run's own plan alone. */
  table: v.optional(
    v.custom<Pick<InputFacts, "columns" | "delimiter" | "hasEscapes"> & Partial<Pick<InputFacts, "form">>>(
      () => true,
    ),
  ),
});

/** A list, a tag or a field that does not exist yet. */
export const creation = v.object({
  what: v.picklist(["list", "tag", "field"]),
  name: text,
});

const writeActions = ["create", "update", "delete"] as const;
const actions = [...writeActions, "unchanged", "skip", "reject"] as const;

/** `before` is null where it is not known. Fields and the status have texts, tags and lists have booleans. */
export const change = v.object({
  what: v.picklist(["field", "tag", "list", "status"]),
  name: text,
  before: v.nullable(v.union([text, v.boolean()])),
  after: v.union([text, v.boolean()]),
});

/** What people read of a contact, as `--plan` writes it. */
export const shown = v.object({
  /** In the input; null where there is none. */
  line: v.nullable(count),
  key: text,
  contactId: v.nullable(text),
  action: v.picklist(actions),
  code: v.nullable(text),
  message: v.nullable(text),
  changes: v.array(change),
});

/** What `apply` needs of a contact besides what people read. */
export const planned = v.pipe(
  v.object({
    ref,
    key: v.object({ written: text, sent: text }),
    /** What is sent follows from this and the next. */
    desired,
    /** What is replaced, where the contact exists. */
    before: v.optional(before),
    /** A member that a sync takes out of its list. */
    isRemoval: v.optional(v.literal(true)),
  }),
  // A contact that is unsubscribed or deleted is known, and one that is deleted is known whole.
  v.check((each) => each.desired.end === undefined || each.before !== undefined),
  v.check((each) => each.desired.end !== "delete" || each.before?.contact?._id === each.before?.id),
);

/** The person was erased: nothing of them is left but their place. */
export const erased = v.object({ ref, isErased: v.literal(true) });

export const line = v.pipe(
  v.object({
    ...shown.entries,
    apply: v.optional(v.union([erased, planned])),
  }),
  v.check(({ action, apply }) => apply !== undefined || !writeActions.some((each) => each === action)),
);

export const end = v.object({
  /** Contacts, by action. */
  counts: v.object(v.entriesFromList(actions, count)),
  /** Requests that applying it takes. */
  requests: count,
  /** `sha256:` and the hexadecimal digest of all bytes before this line. */
  digest: text,
  /** What its guards did not allow: nobody applies it. */
  refused: v.optional(text),
});

/** Whether a value is what the schema says: where it is, it is left as it was. */
export const isA = v.is;
