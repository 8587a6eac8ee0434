/** Fills the account by names: what is missing is made, a contact that exists is updated. */
import type { SeedReport } from "../public-types.ts";
import { isEmail } from "../rules/contacts.ts";
import { foldKey, type StoredContact } from "../store/contacts.ts";
import type { Store } from "../store/index.ts";
import type { StoredStructure } from "../store/structures.ts";
import { type CheckedSeed, type SeedContact, within, wrong } from "./bodies.ts";
import { applyMailSeed, sendingTimes } from "./seed-mail.ts";

/** Names → ids of one kind of thing; a name is matched exactly, else without regard to letter case. */
interface Names {
  idOf(name: string, place: string): string;
}

/**
 * The caller is in a transaction, and undoes it when this throws.
 * @throws Refusal that names the place of what is wrong
 */
export function applySeed(store: Store, seed: CheckedSeed, now: number): SeedReport {
  const structure = structuredClone(store.structures.all()[0]!);
  const before = structure.fields.length + structure.tags.length;
  const fields = namesOf(
    structure.fields.map(({ _id, label }) => [label, _id]),
    (label) => {
      const [_id] = store.newIds(now, 1) as [string];
      structure.fields.push({ _id, label, dataType: "text", required: false });
      return _id;
    },
  );
  const tags = namesOf(
    structure.tags.map(({ _id, label }) => [label, _id]),
    (label) => {
      const [_id] = store.newIds(now, 1) as [string];
      structure.tags.push({ _id, label });
      return _id;
    },
  );
  const lists = namesOf(
    store.lists.all(structure._id).map(({ _id, name }) => [name, _id]),
    (name) => {
      const [_id] = store.newIds(now, 1) as [string];
      store.lists.add(structure._id, { _id, name, now });
      return _id;
    },
  );
  for (const [index, label] of seed.fields.entries()) fields.idOf(label, within("fields", index));
  for (const [index, label] of seed.tags.entries()) tags.idOf(label, within("tags", index));
  for (const [index, name] of seed.lists.entries()) lists.idOf(name, within("lists", index));

  const report: SeedReport = { contacts: { created: 0, updated: 0 } };
  const seen = new Map<string, number>();
  const times = sendingTimes(seed, now);
  // Contacts of the seed are there when its first campaign is sent.
  const createdAt = times.reduce<number>((first, at) => Math.min(first, at ?? now), now);
  for (const [index, contact] of seed.contacts.entries()) {
    const place = within("contacts", index);
    refuseContact(contact, place, seen, index);
    const wanted = {
      fields: valuesOf(contact, `${place}.fields`, fields),
      lists: contact.lists.map((name, at) => lists.idOf(name, within(`${place}.lists`, at))),
      tags: contact.tags.map((name, at) => tags.idOf(name, within(`${place}.tags`, at))),
      status: contact.status === undefined ? undefined : statusOf(contact.status, `${place}.status`),
    };
    const isNew = put(store, structure, contact.key, { ...wanted, createdAt }, now);
    report.contacts[isNew ? "created" : "updated"] += 1;
  }
  if (structure.fields.length + structure.tags.length > before) {
    store.structures.put({ ...structure, __v: structure.__v + 1 });
  }
  return { ...report, ...applyMailSeed(store, seed, times, { now, idOfList: lists.idOf }) };
}

function valuesOf(contact: SeedContact, place: string, fields: Names): StoredContact["fields"] {
  const labels = new Map<string, string>();
  return Object.entries(contact.fields).map(([label, value]) => {
    const at = within(place, label);
    const _id = fields.idOf(label, at);
    const other = labels.get(_id);
    if (other !== undefined) throw wrong(at, `is the same field as ${other}`);
    labels.set(_id, label);
    return { _id, value };
  });
}

type Wanted = Pick<StoredContact, "fields" | "lists" | "tags"> & {
  status?: StoredContact["status"];
  /** Of a new one, in milliseconds since the epoch. */
  createdAt: number;
};

/** Creates the contact, or adds to it what is wanted. Returns whether it is new. */
function put(store: Store, structure: StoredStructure, key: string, wanted: Wanted, now: number): boolean {
  const knownId = store.contacts.idOfKey(structure._id, key);
  if (knownId === undefined) {
    store.contacts.add({
      id: store.newIds(now, 1)[0]!,
      structureId: structure._id,
      key,
      fields: wanted.fields,
      lists: [...new Set(wanted.lists)],
      tags: [...new Set(wanted.tags)],
      status: wanted.status ?? { primary: "active", secondary: "confirmed" },
      createdAt: wanted.createdAt,
      updatedAt: wanted.createdAt,
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
  if (!isEmail(key)) throw wrong(`${place}.key`, "must be an email address");
  const folded = foldKey(key);
  const first = seen.get(folded);
  if (first !== undefined) throw wrong(`${place}.key`, `is the key of contacts[${first}] too`);
  seen.set(folded, index);
}

/** @param known names may repeat: then only an id would tell them apart, and the name is refused */
function namesOf(known: [name: string, id: string][], make: (name: string) => string): Names {
  const exact = new Map<string, string[]>();
  const folded = new Map<string, string[]>();
  const note = (name: string, id: string) => {
    exact.set(name, [...(exact.get(name) ?? []), id]);
    folded.set(name.toLowerCase(), [...(folded.get(name.toLowerCase()) ?? []), id]);
  };
  for (const [name, id] of known) note(name, id);
  return {
    idOf(name, place) {
      const ids = exact.get(name) ?? folded.get(name.toLowerCase()) ?? [];
      if (ids.length > 1) throw wrong(place, `is the name of several: ${ids.join(", ")}`);
      if (ids.length === 1) return ids[0]!;
      const id = make(name);
      note(name, id);
      return id;
    },
  };
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
function statusOf(given: NonNullable<SeedContact["status"]>, place: string): StoredContact["status"] {
  const text =
    typeof given === "string" ? given : [given.primary, given.secondary].filter(Boolean).join(", ");
  const [, primary = "", secondary = ""] = /^(active|inactive)?(?:\s*,\s*)?(.*)$/i.exec(text.trim()) ?? [];
  const name = (secondary || primary).toLowerCase();
  const status = statuses[otherNames[name] ?? name];
  const isContradiction = primary !== "" && primary.toLowerCase() !== status?.primary.toLowerCase();
  if (!status || isContradiction) throw wrong(place, "must be Active, Unsubscribe, Bounce or Complaint-FBL");
  return status;
}
