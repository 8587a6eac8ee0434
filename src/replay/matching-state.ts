/**
 * What an account held before a recording began, as far as its answers show it: what they show and no step
 * before had made. Pure.
 */
import type { FieldDefinition, FieldValue, TagDefinition } from "../wire.ts";
import { FoundStatuses } from "./found-statuses.ts";
import { IdOrder } from "./id-order.ts";
import {
  type Members,
  putFirst,
  type Ref,
  readFilters,
  readStatus,
  toArray,
  toIds,
  toMembers,
  toRefs,
  toText,
} from "./members.ts";
import { isDone, type Step } from "./steps.ts";

export interface KnownContact {
  structureId?: string;
  key?: string;
  fields?: FieldValue[];
  lists?: string[];
  tags?: string[];
  status?: { primary: string; secondary?: string };
  version?: number;
}

export interface KnownStructure {
  label?: string;
  keyName?: string;
  keyType?: string;
  fields: Map<string, Partial<FieldDefinition>>;
  tags: Map<string, Partial<TagDefinition>>;
  version?: number;
}

interface KnownList {
  structureId: string;
  name: string;
  version: number;
}

/** By the ids of the recording. */
export interface MatchingState {
  structures: Map<string, KnownStructure>;
  lists: Map<string, KnownList>;
  contacts: Map<string, KnownContact>;
  order: IdOrder;
  /** Keys that were refused because somebody has them, and nobody was shown to. */
  takenKeys: { key: string; structureId: string }[];
  /** Contacts of the account that no answer shows, at least. */
  unseen: number;
  /** Theirs, and of those with a taken key; undefined where no search tells. */
  unseenStatus?: KnownContact["status"];
}

interface Write {
  endpoint: string;
  body: Members;
}

/** Of a structure whose id no step has told yet. */
const untoldId = "0".repeat(24);
/** More are not needed to see how pages are cut. */
const maxUnseen = 2500;

export function findMatchingState(steps: Step[]): MatchingState {
  const reader = new StateReader();
  for (const step of steps) if (step.leftOut === undefined) reader.read(step);
  return reader.finish();
}

class StateReader {
  private readonly state: MatchingState = {
    structures: new Map(),
    lists: new Map(),
    contacts: new Map(),
    order: new IdOrder(),
    takenKeys: [],
    unseen: 0,
  };
  private readonly made = new Set<string>();
  private readonly madeKeys = new Set<string>();
  private readonly writes = new Map<string, Write[]>();
  private readonly statuses = new FoundStatuses();
  /** Greatest total of a search for everyone, less who was made before it. */
  private total = 0;
  private madeContacts = 0;

  read(step: Step): void {
    const { endpoint, exchange, parameters } = step;
    const body = toMembers(exchange.body);
    const id = endpoint?.id ?? "";
    const contactId = parameters.contactId;
    if (!isDone(step)) {
      this.readRefusal(id, body, exchange.answer);
      return;
    }
    const answer = exchange.answer;
    this.noteMade(id, body, answer);
    const structureId = parameters.contactStructureId ?? toText(body.contactStructureId);
    if (structureId !== undefined) this.requireStructure(structureId);
    if (contactId !== undefined) this.readContactStep(id, contactId, body);
    if (id.startsWith("createContact") || contactId !== undefined) this.requireReferences(structureId, body);
    for (const ref of toRefs(body.lists)) this.requireList(ref._id, structureId);
    this.readAnswer(id, structureId, exchange);
    if (id === "searchContacts") this.readSearch(body, answer);
  }

  finish(): MatchingState {
    const { state } = this;
    for (const [id, contact] of state.contacts) {
      for (const member of ["lists", "tags"] as const) contact[member] ??= this.undo(id, member, []);
      contact.fields ??= [];
      contact.status ??= this.statuses.get(id, this.writes.has(id));
    }
    state.unseenStatus = this.statuses.unseen;
    const taken = new Set([...state.contacts.values()].map(({ key }) => key?.toLowerCase()));
    state.takenKeys = state.takenKeys.filter(({ key }) => !taken.has(key.toLowerCase()));
    state.unseen = Math.min(maxUnseen, Math.max(0, this.total - state.contacts.size));
    return state;
  }

  /** A refusal shows somebody, too: a key that is taken, a field that is required. */
  private readRefusal(endpoint: string, body: Members, answer: unknown): void {
    const [error] = toArray(toMembers(answer).errors).map(toMembers);
    // What changes nothing names what exists.
    const isNoop = error && error.field === undefined && error.errorType !== "RecordNotFound";
    if (endpoint === "mutateContact" && isNoop) this.requireReferences(undefined, body);
    const [key, structureId] = [toText(body.key), toText(body.contactStructureId)];
    if (endpoint !== "createContact" || !error || key === undefined || structureId === undefined) return;
    if (error.errorType === "DuplicateFieldError" && !this.madeKeys.has(key.toLowerCase())) {
      this.requireStructure(structureId);
      this.state.takenKeys.push({ key, structureId });
    }
    const fieldId = toText(error.fieldId);
    const isGiven = toRefs(body.fields).some(({ _id }) => _id === fieldId);
    if (error.field === "fields" && fieldId !== undefined && !isGiven) {
      const structure = this.requireStructure(structureId);
      structure.fields.set(fieldId, { ...structure.fields.get(fieldId), _id: fieldId, required: true });
    }
  }

  private noteMade(endpoint: string, body: Members, answer: unknown): void {
    const { _id, fields, tags } = toMembers(answer);
    if (["createContact", "createList", "mergeLists", "duplicateList"].includes(endpoint)) {
      if (typeof _id === "string") this.made.add(_id);
      if (endpoint === "createContact") {
        this.madeContacts++;
        this.madeKeys.add(String(body.key).toLowerCase());
      }
    }
    if (endpoint !== "updateStructure") return;
    const before = new Set([...toRefs(body.fields), ...toRefs(body.tags)].map((ref) => ref._id));
    for (const ref of [...toRefs(fields), ...toRefs(tags)]) if (!before.has(ref._id)) this.made.add(ref._id);
  }

  private readContactStep(endpoint: string, id: string, body: Members): void {
    if (!this.made.has(id) && !this.state.contacts.has(id)) this.state.contacts.set(id, {});
    if (!["mutateContact", "setContactStatus", "replaceContact"].includes(endpoint)) return;
    this.writes.set(id, [...(this.writes.get(id) ?? []), { endpoint, body }]);
  }

  private readAnswer(endpoint: string, structureId: string | undefined, exchange: Step["exchange"]): void {
    const { answer, query = [] } = exchange;
    const members = toMembers(answer);
    const records = Array.isArray(answer) ? answer : toArray(members.contacts ?? members.records);
    const shown = (records.length > 0 ? records : [answer]).map(toMembers);
    const isById = !query.some(([name]) => name === "sort");
    const ids = toIds(records).filter((id) => !this.made.has(id));
    if (isById) this.state.order.read(exchange, ids);
    if (/Structures?$/.test(endpoint)) {
      for (const each of shown) this.readStructure(each);
    } else if (endpoint.includes("List") && structureId !== undefined) {
      for (const each of shown) this.readList(structureId, each);
    } else if (/Contacts?$/.test(endpoint) || endpoint === "setContactStatus") {
      for (const each of shown) this.readContact(each, structureId);
    }
  }

  private readStructure({ _id, label, keyName, keyType, fields, tags, __v }: Members): void {
    if (typeof _id !== "string") return;
    const known = this.requireStructure(_id);
    if (known.label === undefined) {
      // In the order that it tells first: what contacts have named so far has no place of its own.
      known.fields = putFirst(this.listOlder(fields), known.fields);
      known.tags = putFirst(this.listOlder(tags), known.tags);
    }
    known.label ??= toText(label);
    known.keyName ??= toText(keyName);
    known.keyType ??= toText(keyType);
    if (typeof __v === "number") known.version ??= __v;
    for (const field of this.listOlder(fields)) {
      known.fields.set(field._id, { ...field, ...known.fields.get(field._id) });
    }
    for (const tag of this.listOlder(tags)) known.tags.set(tag._id, { ...tag, ...known.tags.get(tag._id) });
  }

  /** Without those that were made during the recording. */
  private listOlder(value: unknown): (Ref & Members)[] {
    return toRefs(value).filter(({ _id }) => !this.made.has(_id));
  }

  private readList(structureId: string, { _id, name, __v }: Members): void {
    if (typeof _id !== "string" || this.made.has(_id)) return;
    const known = this.state.lists.get(_id);
    if (known && known.name !== "") return;
    this.state.lists.set(_id, {
      structureId,
      name: toText(name) ?? "",
      version: typeof __v === "number" ? __v : 0,
    });
  }

  private readContact(shown: Members, givenStructure: string | undefined): void {
    const { _id, key, fields, lists, tags, __v } = shown;
    if (typeof _id !== "string") return;
    const structureId = toText(shown.contactStructureId) ?? givenStructure;
    this.requireReferences(structureId, shown);
    if (this.made.has(_id)) return;
    const known = this.state.contacts.get(_id) ?? {};
    this.state.contacts.set(_id, known);
    known.structureId ??= structureId;
    known.key ??= toText(key);
    const status = readStatus(shown);
    const writes = this.writes.get(_id) ?? [];
    const hasSetStatus = writes.some(({ endpoint }) => endpoint === "setContactStatus");
    if (status) known.status ??= hasSetStatus ? undefined : status;
    if (typeof __v === "number") known.version ??= Math.max(0, __v - writes.length);
    if (Array.isArray(fields)) known.fields ??= undoFields(writes, toRefs(fields));
    if (Array.isArray(lists)) known.lists ??= this.undo(_id, "lists", toIds(lists));
    if (Array.isArray(tags)) known.tags ??= this.undo(_id, "tags", toIds(tags));
  }

  /** The lists or tags before the changes that the recording has so far. */
  private undo(id: string, member: "lists" | "tags", ids: string[]): string[] {
    const name = member === "lists" ? "Lists" : "Tags";
    return (this.writes.get(id) ?? []).reduceRight((after, { endpoint, body }) => {
      if (endpoint === "replaceContact") return [];
      const added = new Set(toIds(body[`add${name}`]));
      const removed = toIds(body[`remove${name}`]);
      return [...new Set([...after.filter((each) => !added.has(each)), ...removed])];
    }, ids);
  }

  /** Fields, lists and tags that a contact or a change names exist. */
  private requireReferences(structureId: string | undefined, named: Members): void {
    const structure = this.requireStructure(structureId);
    for (const { _id } of [...toRefs(named.fields), ...toRefs(named.updateFields)]) {
      if (!this.made.has(_id) && !structure.fields.has(_id)) structure.fields.set(_id, { _id });
    }
    for (const _id of [named.tags, named.addTags, named.removeTags].flatMap(toIds)) {
      if (!this.made.has(_id) && !structure.tags.has(_id)) structure.tags.set(_id, { _id });
    }
    for (const _id of [named.lists, named.addLists, named.removeLists].flatMap(toIds)) {
      this.requireList(_id, structureId);
    }
  }

  /** @param id undefined where a step does not tell it: then the first, which gets its id from a later step */
  private requireStructure(id?: string): KnownStructure {
    const { structures, lists } = this.state;
    const wanted = id ?? [...structures.keys()][0] ?? untoldId;
    const known = structures.get(wanted);
    if (known) return known;
    const made = structures.get(untoldId) ?? { fields: new Map(), tags: new Map() };
    structures.delete(untoldId);
    structures.set(wanted, made);
    for (const list of lists.values()) if (list.structureId === untoldId) list.structureId = wanted;
    return made;
  }

  private requireList(id: string, structureId: string | undefined): void {
    if (this.made.has(id) || this.state.lists.has(id)) return;
    this.requireStructure(structureId);
    const [first] = this.state.structures.keys();
    this.state.lists.set(id, { structureId: structureId ?? first!, name: "", version: 0 });
  }

  /** Its total says how many there are. */
  private readSearch(body: Members, answer: unknown): void {
    this.statuses.read(body, answer, (id) => this.writes.has(id));
    if (readFilters(body).flat().length > 0) return;
    const total = Number(toMembers(answer).totalRecords ?? 0);
    this.total = Math.max(this.total, total - this.madeContacts);
  }
}

/** What a change set was something else before; which is not known. */
function undoFields(writes: Write[], fields: Ref[]): FieldValue[] {
  const changed = new Set(writes.flatMap(({ body }) => [...toIds(body.updateFields), ...toIds(body.fields)]));
  return fields.filter(({ _id }) => !changed.has(_id)) as FieldValue[];
}
