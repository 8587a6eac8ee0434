/** Fills the account by names: what is missing is created, a contact that exists is updated. */
import * as v from "valibot";
import type { SeedData, SeedReport } from "../public-types.ts";
import { isEmail } from "../rules/contacts.ts";
import { joinPlace } from "../rules/refusal.ts";
import { text } from "../rules/requests.ts";
import { foldKey, type StoredContact } from "../store/contacts.ts";
import type { Dated, DocumentStore, StoredStructure } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import {
  type CheckedSeed,
  invalidAt,
  name,
  parseBody,
  parseTime,
  type SeedCampaign,
  type SeedContact,
  seedBody,
} from "./bodies.ts";

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
  return { contacts, ...seedMail(store, seed, lists, now) };
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
const otherNames: Record<string, string> = {
  confirmed: "active",
  inactive: "unsubscribe",
  unsubscribed: "unsubscribe",
  bounced: "bounce",
  complaint: "complaint-fbl",
  complained: "complaint-fbl",
};

/** A seed may say what no request may: that an inactive contact is active again. */
function parseStatus(given: NonNullable<SeedContact["status"]>, place: string): StoredContact["status"] {
  const text =
    typeof given === "string" ? given : [given.primary, given.secondary].filter(Boolean).join(", ");
  const [, primary = "", secondary = ""] = /^(active|inactive)?(?:\s*,\s*)?(.*)$/i.exec(text.trim()) ?? [];
  const name = (secondary || primary).toLowerCase();
  const status = statuses[otherNames[name] ?? name];
  const isContradiction = primary !== "" && primary.toLowerCase() !== status?.primary.toLowerCase();
  if (!status || isContradiction)
    throw invalidAt(place, "must be Active, Unsubscribe, Bounce or Complaint-FBL");
  return status;
}

/** Campaigns, templates and domains by names, and the figures of reports as they are given. */
function seedMail(
  store: Store,
  { templates, domains, campaigns, reports = {} }: CheckedSeed,
  lists: NameIndex,
  now: number,
): Omit<SeedReport, "contacts"> {
  for (const [name, figures] of Object.entries(reports)) {
    if (figures !== undefined) store.reports.put({ _id: name, figures });
  }
  const report: Omit<SeedReport, "contacts"> = {};
  if (templates) {
    const documents = new NamedDocuments(store, store.templates, now);
    for (const [index, { name, subject = name }] of templates.entries())
      documents.put(joinPlace("templates", index), { name, subject });
    report.templates = documents.report;
  }
  if (domains) {
    const documents = new NamedDocuments(store, store.domains, now);
    for (const [index, { domain, provider = "custom", missing = [] }] of domains.entries())
      documents.put(joinPlace("domains", index), { name: domain, provider, missing });
    report.domains = documents.report;
  }
  if (campaigns) {
    const documents = new NamedDocuments(store, store.campaigns, now);
    for (const [index, campaign] of campaigns.entries()) {
      const place = joinPlace("campaigns", index);
      const { name, subject = name, from = "news@example.com", previewText = "", report: figures } = campaign;
      const listIds = campaign.lists?.map((list, at) => lists.resolve(list, joinPlace(`${place}.lists`, at)));
      const sentAt = sendingTime(campaign, place, now);
      const content = { name, subject, from, previewText, listIds, report: figures };
      documents.put(place, { ...content, ...(sentAt !== undefined && { sentAt }) });
    }
    report.campaigns = documents.report;
  }
  return report;
}

/** Undefined: it stays as it is. @throws Refusal that names the place of what is wrong */
function sendingTime({ status, sentAt }: SeedCampaign, campaign: string, now: number): number | undefined {
  const place = `${campaign}.sentAt`;
  const at = sentAt === undefined ? undefined : parseTime(sentAt, place);
  if (at === undefined) {
    if (status === "scheduled") throw invalidAt(place, "is required with the status scheduled");
    return status === "sent" ? now : undefined;
  }
  if (status === "draft") throw invalidAt(place, "cannot be given with the status draft");
  if (status === "scheduled" && at <= now) throw invalidAt(place, "must be in the future");
  if (status === "sent" && at > now) throw invalidAt(place, "must not be in the future");
  return at;
}

/**
 * Creates one thing after the other, or changes the one of its name that was there before the seed: within a
 * seed, two may have one name.
 */
class NamedDocuments<T extends Dated & { sentAt?: number }> {
  readonly report = { created: 0, updated: 0 };
  private readonly store: Store;
  private readonly documents: DocumentStore<T>;
  private readonly now: number;
  private readonly before: T[];

  constructor(store: Store, documents: DocumentStore<T>, now: number) {
    this.store = store;
    this.documents = documents;
    this.now = now;
    this.before = documents.all();
  }

  /** @throws Refusal that names the place, where several have the name */
  put(place: string, content: Omit<T, "_id" | "createdAt" | "updatedAt">): void {
    const name = content.name.toLowerCase();
    const [before, ...others] = this.before.filter((each) => each.name.toLowerCase() === name);
    if (others.length > 0) throw invalidAt(place, `has the name of several: ${JSON.stringify(content.name)}`);
    this.report[before ? "updated" : "created"] += 1;
    const changedAt = Math.min(this.now, content.sentAt ?? this.now);
    this.documents.put({
      sentAt: before?.sentAt,
      ...content,
      _id: before?._id ?? this.store.newIds(this.now, 1)[0]!,
      createdAt: before?.createdAt ?? changedAt,
      updatedAt: changedAt,
    } as T);
  }
}
