/** Fills the account by names: what is missing is created, a contact that exists is updated. */
import * as v from "valibot";
import type { SeedData, SeedReport } from "../public-types.ts";
import { isEmail } from "../rules/contacts.ts";
import { joinPlace } from "../rules/refusal.ts";
import { text } from "../rules/requests.ts";
import type { StoredContact } from "../store/contacts.ts";
import type { StoredStructure } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import { type CheckedSeed, invalidAt, name, parseBody, type SeedContact, seedBody } from "./bodies.ts";

interface Seeding {
  store: Store;
  structure: StoredStructure;
  now: number;
  fields: NameIndex;
  lists: NameIndex;
  tags: NameIndex;
}

/**
 * The caller is in a transaction, and undoes it when this throws.
 * @throws Refusal that names the place of what is wrong
 */
export function applySeed(store: Store, data: SeedData, now: number): SeedReport {
  const seed = parseBody(seedBody, data);
  const structure = structuredClone(store.structures.all()[0]!);
  const creating = (add: (_id: string, name: string) => void) => (name: string) => {
    const [_id] = store.newIds(now, 1) as [string];
    add(_id, name);
    return _id;
  };
  const fields = new NameIndex(
    structure.fields.map(({ _id, label }) => [label, _id]),
    creating((_id, label) => structure.fields.push({ _id, label, dataType: "text", required: false })),
  );
  const tags = new NameIndex(
    structure.tags.map(({ _id, label }) => [label, _id]),
    creating((_id, label) => structure.tags.push({ _id, label })),
  );
  const lists = new NameIndex(
    store.lists.all(structure._id).map((list) => [list.name, list._id]),
    creating((_id, listName) => store.lists.add(structure._id, { _id, name: listName, now })),
  );
  fields.resolveAll(seed.fields, "fields");
  tags.resolveAll(seed.tags, "tags");
  lists.resolveAll(seed.lists, "lists");
  const contacts = { created: 0, updated: 0 };
  for (const [index, contact] of seed.contacts.entries()) {
    const place = joinPlace("contacts", index);
    const isNew = putContact({ store, structure, now, fields, lists, tags }, contact, place);
    contacts[isNew ? "created" : "updated"] += 1;
  }
  const before = store.structures.get(structure._id)!;
  if (structure.fields.length + structure.tags.length > before.fields.length + before.tags.length) {
    store.structures.put({ ...structure, __v: structure.__v + 1 });
  }
  seedMail(store, seed, now);
  return { contacts };
}

/** Creates the contact, or adds lists, tags and values to it. Returns whether it is new. */
function putContact(seeding: Seeding, contact: SeedContact, place: string): boolean {
  const { store, structure, now, lists, tags } = seeding;
  const { key, status } = contact;
  if (!isEmail(key)) throw invalidAt(`${place}.key`, "must be an email address");
  const knownId = store.contacts.findIdByKey(structure._id, key);
  const before = knownId === undefined ? undefined : store.contacts.get(knownId)!;
  const base = before ?? newContact(seeding);
  const values = new Map(base.fields.map((field) => [field._id, field.value]));
  for (const { _id, value } of fieldValues(seeding, contact, `${place}.fields`)) values.set(_id, value);
  const after = {
    ...base,
    key,
    fields: Array.from(values, ([_id, value]) => ({ _id, value })),
    lists: [...new Set([...base.lists, ...lists.resolveAll(contact.lists, `${place}.lists`)])],
    tags: [...new Set([...base.tags, ...tags.resolveAll(contact.tags, `${place}.tags`)])],
    status: status === undefined ? base.status : parseStatus(status, `${place}.status`),
    updatedAt: now,
    version: before ? before.version + 1 : 0,
  };
  if (before) store.contacts.replace(before, after);
  else store.contacts.add(after);
  return before === undefined;
}

function newContact({ store, structure, now }: Seeding): Omit<StoredContact, "key"> {
  return {
    id: store.newIds(now, 1)[0]!,
    structureId: structure._id,
    fields: [],
    lists: [],
    tags: [],
    status: statuses.active!,
    createdAt: now,
    updatedAt: now,
    version: 0,
  };
}

function fieldValues({ fields }: Seeding, contact: SeedContact, place: string): StoredContact["fields"] {
  return Object.entries(contact.fields).map(([label, value]) => {
    const at = joinPlace(place, label);
    if (!v.is(name, label)) throw invalidAt(place, "has a label that is empty, or cannot be stored");
    if (!v.is(text, value)) throw invalidAt(at, "must be a string that can be stored");
    return { _id: fields.resolve(label, at), value };
  });
}

/** Names → ids of one kind of thing, without regard to letter case. */
class NameIndex {
  private readonly ids = new Map<string, string[]>();
  private readonly create: (name: string) => string;

  /**
   * @param known names may repeat: then only an id would tell them apart, and the name is refused
   * @param create creates a missing thing, and returns its id
   */
  constructor(known: [name: string, id: string][], create: (name: string) => string) {
    this.create = create;
    for (const [name, id] of known) this.add(name, id);
  }

  /** @param place of the name, for the refusal */
  resolve(name: string, place: string): string {
    const ids = this.ids.get(name.toLowerCase()) ?? this.add(name, this.create(name));
    if (ids.length > 1) throw invalidAt(place, `is the name of several: ${ids.join(", ")}`);
    return ids[0]!;
  }

  resolveAll(names: string[], place: string): string[] {
    return names.map((name, index) => this.resolve(name, joinPlace(place, index)));
  }

  private add(name: string, id: string): string[] {
    const ids = [...(this.ids.get(name.toLowerCase()) ?? []), id];
    this.ids.set(name.toLowerCase(), ids);
    return ids;
  }
}

const statuses: Record<string, StoredContact["status"]> = {
  active: { primary: "active", secondary: "confirmed" },
  unsubscribe: { primary: "Inactive", secondary: "Unsubscribe" },
  bounce: { primary: "Inactive", secondary: "Bounce" },
  "complaint-fbl": { primary: "Inactive", secondary: "Complaint-FBL" },
};

/** A seed may say what no request may: that an inactive contact is active again. */
function parseStatus(given: NonNullable<SeedContact["status"]>, place: string): StoredContact["status"] {
  const name = typeof given === "string" ? given : (given.secondary ?? given.primary);
  const status = statuses[name.toLowerCase()];
  if (!status) throw invalidAt(place, "must be Active, Unsubscribe, Bounce or Complaint-FBL");
  return status;
}

/** Campaigns, templates and domains in place of those that were there, and the figures of reports. */
function seedMail(store: Store, seed: CheckedSeed, now: number): void {
  const time = new Date(now).toISOString();
  for (const kind of ["campaigns", "templates", "domains"] as const) {
    if (seed[kind]) store[kind].clear();
    for (const { report, ...content } of seed[kind] ?? []) {
      const [_id] = store.newIds(now, 1) as [string];
      const times = { createdAt: time, updatedAt: time, ...(kind === "domains" && { lastCheckedAt: time }) };
      const known = { ...times, ...(kind === "campaigns" && { status: "draft" }) };
      store[kind].put({ _id, report, given: { ...known, ...content, _id } });
    }
  }
  for (const [name, given] of Object.entries(seed.reports ?? {})) {
    if (given !== undefined) store.reports.put({ _id: name, given });
  }
}
