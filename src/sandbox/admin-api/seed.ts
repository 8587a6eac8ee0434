/** Fills the account by names: what is missing is created, a contact that exists is updated. */
import * as v from "valibot";
import type { SeedData, SeedReport } from "../public-types.ts";
import { isEmail } from "../rules/contacts.ts";
import { joinPlace } from "../rules/refusal.ts";
import { text } from "../rules/requests.ts";
import { foldKey, type StoredContact } from "../store/contacts.ts";
import type { StoredStructure } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import { type CheckedSeed, invalidAt, name, parseBody, type SeedContact, seedBody } from "./bodies.ts";

/**
 * The caller is in a transaction, and undoes it when this throws.
 * @throws Refusal that names the place of what is wrong
 */
export function applySeed(store: Store, data: SeedData, now: number): SeedReport {
  const seed = parseBody(seedBody, data);
  const structure = structuredClone(store.structures.all()[0]!);
  const before = structure.fields.length + structure.tags.length;
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
    store.lists.all(structure._id).map(({ _id, name }) => [name, _id]),
    creating((_id, name) => store.lists.add(structure._id, { _id, name, now })),
  );
  for (const [part, index] of Object.entries({ fields, tags, lists })) {
    const names = seed[part as "fields" | "tags" | "lists"];
    for (const [at, name] of names.entries()) index.resolve(name, joinPlace(part, at));
  }

  const contacts = seedContacts(store, seed.contacts, { structure, now, fields, lists, tags });
  if (structure.fields.length + structure.tags.length > before) {
    store.structures.put({ ...structure, __v: structure.__v + 1 });
  }
  seedMail(store, seed, now);
  return { contacts };
}

interface ContactContext {
  structure: StoredStructure;
  now: number;
  fields: NameIndex;
  lists: NameIndex;
  tags: NameIndex;
}

function seedContacts(
  store: Store,
  contacts: SeedContact[],
  context: ContactContext,
): SeedReport["contacts"] {
  const { fields, lists, tags } = context;
  const report = { created: 0, updated: 0 };
  const seen = new Map<string, number>();
  for (const [index, contact] of contacts.entries()) {
    const place = joinPlace("contacts", index);
    refuseContact(contact, place, seen, index);
    const wanted = {
      fields: fieldValues(contact, `${place}.fields`, fields),
      lists: contact.lists.map((name, at) => lists.resolve(name, joinPlace(`${place}.lists`, at))),
      tags: contact.tags.map((name, at) => tags.resolve(name, joinPlace(`${place}.tags`, at))),
      status: contact.status === undefined ? undefined : parseStatus(contact.status, `${place}.status`),
    };
    report[putContact(store, context, contact.key, wanted) ? "created" : "updated"] += 1;
  }
  return report;
}

function fieldValues(contact: SeedContact, place: string, fields: NameIndex): StoredContact["fields"] {
  const labels = new Map<string, string>();
  return Object.entries(contact.fields).map(([label, value]) => {
    const at = joinPlace(place, label);
    if (!v.is(name, label)) throw invalidAt(place, "has a label that is empty, or cannot be stored");
    if (!v.is(text, value)) throw invalidAt(at, "must be a string that can be stored");
    const _id = fields.resolve(label, at);
    const other = labels.get(_id);
    if (other !== undefined) throw invalidAt(at, `is the same field as ${other}`);
    labels.set(_id, label);
    return { _id, value };
  });
}

type WantedContact = Pick<StoredContact, "fields" | "lists" | "tags"> & { status?: StoredContact["status"] };

/** Creates the contact, or adds lists, tags and values to it. Returns whether it is new. */
function putContact(
  store: Store,
  { structure, now }: ContactContext,
  key: string,
  wanted: WantedContact,
): boolean {
  const knownId = store.contacts.findIdByKey(structure._id, key);
  if (knownId === undefined) {
    store.contacts.add({
      id: store.newIds(now, 1)[0]!,
      structureId: structure._id,
      key,
      fields: wanted.fields,
      lists: [...new Set(wanted.lists)],
      tags: [...new Set(wanted.tags)],
      status: wanted.status ?? { primary: "active", secondary: "confirmed" },
      createdAt: now,
      updatedAt: now,
      version: 0,
    });
    return true;
  }
  const before = store.contacts.get(knownId)!;
  const values = new Map(before.fields.map((field) => [field._id, field.value]));
  for (const { _id, value } of wanted.fields) values.set(_id, value);
  store.contacts.replace(before, {
    ...before,
    key,
    fields: Array.from(values, ([_id, value]) => ({ _id, value })),
    lists: [...new Set([...before.lists, ...wanted.lists])],
    tags: [...new Set([...before.tags, ...wanted.tags])],
    status: wanted.status ?? before.status,
    updatedAt: now,
    version: before.version + 1,
  });
  return false;
}

function refuseContact({ key }: SeedContact, place: string, seen: Map<string, number>, index: number): void {
  if (!isEmail(key)) throw invalidAt(`${place}.key`, "must be an email address");
  const folded = foldKey(key);
  const first = seen.get(folded);
  if (first !== undefined) throw invalidAt(`${place}.key`, `is the key of contacts[${first}] too`);
  seen.set(folded, index);
}

/** Names → ids of one kind of thing; a name is matched exactly, else without regard to letter case. */
class NameIndex {
  private readonly exact = new Map<string, string[]>();
  private readonly folded = new Map<string, string[]>();
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
    const ids = this.exact.get(name) ?? this.folded.get(name.toLowerCase()) ?? [];
    if (ids.length > 1) throw invalidAt(place, `is the name of several: ${ids.join(", ")}`);
    if (ids.length === 1) return ids[0]!;
    const id = this.create(name);
    this.add(name, id);
    return id;
  }

  private add(name: string, id: string): void {
    const folded = name.toLowerCase();
    this.exact.set(name, [...(this.exact.get(name) ?? []), id]);
    this.folded.set(folded, [...(this.folded.get(folded) ?? []), id]);
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
      const known = { createdAt: time, updatedAt: time, ...(kind === "campaigns" && { status: "draft" }) };
      store[kind].put({ _id, report, given: { ...known, ...content, _id } });
    }
  }
  for (const [name, given] of Object.entries(seed.reports ?? {})) {
    if (given !== undefined) store.reports.put({ _id: name, given });
  }
}
