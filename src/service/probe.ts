/**
 * Finds out at once how the service behaves where its documents are silent: a few reads, and with leave one
 * contact of its own that is created, changed and deleted. What is seen is learned; what could not be seen
 * stays open.
 */

import {
  createContactRequest,
  createEquals,
  createFilter,
  deleteContactRequest,
  mutateContactRequest,
  wholeContact,
} from "../api/contacts.ts";
import { listListsRequest, readLists } from "../api/lists.ts";
import { getStructureRequest, listStructuresRequest, readStructures } from "../api/structures.ts";
import { EcmError, exitCodes, ServiceError } from "../errors.ts";
import type {
  Contact,
  ContactList,
  ContactStructure,
  Criteria,
  Filter,
  MutateBody,
  RateLimits,
  Send,
} from "../wire.ts";
import { type Behavior, type BehaviorPoint, createBehavior } from "./behavior.ts";
import { hasReferences, setElementForm } from "./contact-changes.ts";
import { askSearch } from "./contact-search.ts";

export const maxProbeReads = 12;
const maxPageSize = 1000;
/** As many keys as a look-up of a bulk run asks for. */
const manyKeysCount = 100;

/** What was seen, in the words of the sandbox's variants. */
export type DetectedVariants = Record<string, string | number>;

export interface Probe {
  structure: ContactStructure;
  detected: DetectedVariants;
  reads: number;
}

export interface ProbeOptions {
  send: Send;
  behavior: Behavior;
  structure: ContactStructure;
  clock: { now(): number; sleep(milliseconds: number): Promise<void> };
  /** What the answers so far said of the limits. */
  limits(): RateLimits | undefined;
}

/**
 * At most 12 reads; a point that they do not reach stays open.
 * @throws what ends every command: 401, 429, no answer
 */
export async function probeReads(options: ProbeOptions): Promise<Probe> {
  const { behavior, structure, limits } = options;
  const detected: DetectedVariants = {};
  let reads = 0;
  const send: Send = (request, sendOptions) => {
    if (reads >= maxProbeReads) throw new NoReadsLeftError();
    reads++;
    return options.send(request, sendOptions);
  };
  // Asked afresh: what was learned earlier must not decide what is seen now.
  const asking: ProbeState = { send, structureId: structure._id, behavior: createBehavior() };
  const look = async (point: () => Promise<void>) => {
    try {
      await point();
    } catch (error) {
      if (error instanceof NoReadsLeftError || isRefusal(error)) return;
      throw error;
    }
  };
  await look(async () => {
    const listed = readStructures(await send(listStructuresRequest())).find(
      ({ _id }) => _id === structure._id,
    );
    const isWhole =
      listed?.tags !== undefined && listed.fields.every((field) => field.required !== undefined);
    detected.structures = isWhole ? "whole" : "slim";
  });
  let lists: ContactList[] = [];
  await look(async () => {
    lists = await probeLists(asking, detected);
  });
  let contacts: Partial<Contact>[] = [];
  await look(async () => {
    contacts = await probePages(asking, detected);
  });
  const keys = contacts.map(({ key }) => key).filter((key) => key !== undefined);
  await look(() => probeSeveralKeys(asking, keys, detected));
  await look(() => probeManyKeys(asking, keys, detected));
  await look(() => probeLetterCase(asking, keys, detected));
  await look(() => probeInactive(asking, detected));
  await look(() => probeListColumn(asking, lists, detected));
  detected["hourly-headers"] = limits()?.hour ? "sent" : "missing";
  if (structure.tags === undefined) await look(() => probeStructure(asking, detected));
  learnDetected(behavior, detected, asking.behavior);
  return { structure, detected, reads };
}

interface ProbeState {
  send: Send;
  structureId: string;
  behavior: Behavior;
}

/** The reads that a probe may spend are spent. */
class NoReadsLeftError extends EcmError {
  constructor() {
    super(exitCodes.failed, "No reads are left");
  }
}

/** A service need not let a key read one structure. */
async function probeStructure({ send, structureId }: ProbeState, detected: DetectedVariants): Promise<void> {
  try {
    await send(getStructureRequest(structureId));
  } catch (error) {
    if (!(error instanceof ServiceError) || ![403, 404].includes(error.status)) throw error;
    // Nothing else is known to show no structure by itself.
    if (detected.source === "specified") detected.literal = "yes";
  }
}

/** `LIST_ID` is a column of the published reference alone. */
async function probeListColumn(
  asking: ProbeState,
  [list]: ContactList[],
  detected: DetectedVariants,
): Promise<void> {
  if (!list) return;
  const isTaken = await search(asking, createFilter(createEquals("LIST_ID", [list._id])), 1).then(
    () => true,
    (error) => {
      if (isRefusal(error)) return false;
      throw error;
    },
  );
  detected.columns = isTaken ? "published" : "specified";
  asking.behavior.learn("listColumn", isTaken ? "taken" : "refused");
}

async function probeLists(
  { send, structureId }: ProbeState,
  detected: DetectedVariants,
): Promise<ContactList[]> {
  const { total, lists } = readLists(await send(listListsRequest(structureId, 1, manyKeysCount)));
  detected.lists = total === undefined ? "array" : "records";
  return lists;
}

/** Halves the size at most three times: what is refused below is found out by who reads. */
async function probePages(asking: ProbeState, detected: DetectedVariants): Promise<Partial<Contact>[]> {
  for (let size = maxPageSize; ; size = Math.floor(size / 2)) {
    try {
      const { contacts, totalRecords } = await search(asking, [], size, wholeContact);
      if (size < maxPageSize) detected.page = `refuse:${size}`;
      if (contacts.length > 0 && totalRecords >= 2 * contacts.length && contacts.length < size) {
        detected.page = `cap:${contacts.length}`;
      } else if (size === maxPageSize && totalRecords > 0) detected.page ??= `refuse:${maxPageSize}`;
      const [first] = contacts;
      detected.source = asking.behavior.get("source") ?? "published";
      if (first?.contactStatus !== undefined) detected.status = "parts";
      else if (first?.status && detected.source === "published") detected.status = "object";
      return contacts;
    } catch (error) {
      if (!isRefusal(error) || size < maxPageSize / 8) throw error;
    }
  }
}

async function probeSeveralKeys(
  asking: ProbeState,
  keys: string[],
  detected: DetectedVariants,
): Promise<void> {
  const [one, other] = keys;
  if (one === undefined || other === undefined) return;
  try {
    const { contacts } = await search(asking, createFilter(createEquals("KEY", [one, other])), 10);
    detected.keys = contacts.length >= 2 ? "any" : "first";
  } catch (error) {
    if (!isRefusal(error)) throw error;
    detected.keys = "refused";
  }
  if (detected.keys === "any") asking.behavior.learn("keys", "any");
  else {
    const each = [one, other].flatMap((key) => createFilter(createEquals("KEY", [key])));
    const isTaken = await search(asking, each, 10).then(
      ({ contacts }) => contacts.length >= 2,
      (error) => {
        if (isRefusal(error)) return false;
        throw error;
      },
    );
    asking.behavior.learn("keys", isTaken ? "alternatives" : "one");
  }
}

/** A hundred keys, all but the last of nobody. */
async function probeManyKeys(asking: ProbeState, keys: string[], detected: DetectedVariants): Promise<void> {
  const mode = asking.behavior.get("keys");
  const [last] = keys;
  if (last === undefined || mode === undefined || mode === "one") return;
  for (let count = manyKeysCount; count >= 12; count = Math.floor(count / 2)) {
    const nobody = Array.from({ length: count - 1 }, (_, index) => `ecm-probe-${index}@example.com`);
    const asked = [...nobody, last];
    const filters =
      mode === "any"
        ? createFilter(createEquals("KEY", asked))
        : asked.flatMap((key) => createFilter(createEquals("KEY", [key])));
    try {
      await search(asking, filters, Math.min(count, 10));
      if (count < manyKeysCount) {
        detected["max-keys"] = count;
        asking.behavior.learn("maxKeys", count);
      }
      return;
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
}

async function probeLetterCase(
  asking: ProbeState,
  keys: string[],
  detected: DetectedVariants,
): Promise<void> {
  const key = keys.find((each) => each.includes("@") && each !== each.toUpperCase());
  if (key === undefined) return;
  const { contacts } = await search(asking, createFilter(createEquals("KEY", [key.toUpperCase()])), 10);
  const isFolded = contacts.some((contact) => contact.key?.toLowerCase() === key.toLowerCase());
  detected["key-case"] = isFolded ? "fold" : "exact";
}

async function probeInactive(asking: ProbeState, detected: DetectedVariants): Promise<void> {
  const { contacts } = await search(asking, createFilter(createEquals("CONTACT_STATUS", ["inactive"])), 1);
  const key = contacts[0]?.key;
  if (key === undefined) return;
  const answer = await search(asking, createFilter(createEquals("KEY", [key])), 10);
  detected.inactive = answer.contacts.some((contact) => contact.key === key) ? "shown" : "hidden";
}

function search(
  { send, structureId, behavior }: ProbeState,
  filters: Filter[],
  pageSize: number,
  source: string[] = ["_id", "key"],
) {
  return askSearch(send, { structureId, filters, source, page: 1, pageSize }, behavior);
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 400;
}

/** The contact that `--write` makes, in an address space that belongs to nobody. */
export function createProbeContact(structure: ContactStructure, random: string) {
  return { key: `ecm-probe-${random}@example.com`, contactStructureId: structure._id };
}

/** How long a search may take to show a new contact before that is left open, in milliseconds. */
const lagPausesMilliseconds = [250, 750, 1500, 2500];

/**
 * Creates, changes and deletes one contact.
 * @throws with a hint that names the contact when it could not be deleted
 */
export async function probeWrites(
  { send, behavior, structure, clock }: ProbeOptions,
  body: ReturnType<typeof createProbeContact>,
): Promise<DetectedVariants> {
  const detected: DetectedVariants = {};
  const created = await send<Partial<Contact> | undefined>(createContactRequest(body));
  const since = clock.now();
  const asking: ProbeState = { send, structureId: structure._id, behavior: createBehavior(behavior.known) };
  const found = await measureLag(asking, body.key, clock, created.body?._id);
  const id = created.body?._id ?? found;
  if (found !== undefined) detected["search-lag"] = roundLag(clock.now() - since);
  if (id === undefined) {
    throw new EcmError(
      exitCodes.failed,
      "The service created a contact, but neither its answer nor a search says its id",
      {
        hint: `Delete it by hand: ${body.key}`,
        applied: "yes",
      },
    );
  }
  try {
    await probeMutate(send, structure, id, detected);
  } finally {
    await send(deleteContactRequest(id)).catch((error: unknown) => {
      if (error instanceof EcmError)
        error.details.hint = `The probe's test contact was not deleted. Delete it with: ecm contact delete ${id}`;
      throw error;
    });
  }
  learnDetected(behavior, detected);
  return detected;
}

/** What is shown with the first search was shown at once. */
function roundLag(milliseconds: number): number {
  return milliseconds < lagPausesMilliseconds[0]! ? 0 : Math.round(milliseconds);
}

async function measureLag(
  asking: ProbeState,
  key: string,
  clock: ProbeOptions["clock"],
  id: string | undefined,
): Promise<string | undefined> {
  const criteria: Criteria = createEquals("KEY", [key]);
  for (const pause of [0, ...lagPausesMilliseconds]) {
    if (pause > 0) await clock.sleep(pause);
    const { contacts } = await search(asking, createFilter(criteria), 10);
    const found = contacts.find((contact) => contact.key === key);
    if (found) return found._id ?? id;
  }
  return undefined;
}

async function probeMutate(
  send: Send,
  structure: ContactStructure,
  id: string,
  detected: DetectedVariants,
): Promise<void> {
  const [tag] = structure.tags ?? [];
  const [field] = structure.fields.filter(({ dataType }) => dataType === "text");
  const body: MutateBody = tag
    ? { addTags: [{ _id: tag._id }] }
    : { updateFields: field ? [{ _id: field._id, value: "probe" }] : [] };
  let form: "object" | "id" = "object";
  const mutate = () => send<unknown>(mutateContactRequest(id, setElementForm(body, form)));
  const answer = await mutate().catch((error: unknown) => {
    if (!isRefusal(error) || !hasReferences(body)) throw error;
    form = "id";
    return mutate();
  });
  if (hasReferences(body)) detected["mutate-elements"] = form;
  const text = answer.body as Partial<Contact> | null | undefined;
  detected["mutate-answer"] =
    text === undefined || text === null ? "empty" : text._id === id ? "contact" : "other";
  await mutate().then(
    () => undefined,
    (error: unknown) => {
      if (!isRefusal(error)) throw error;
      detected.noop = (error as ServiceError).type;
    },
  );
}

const pointsByVariant: Record<string, BehaviorPoint> = {
  lists: "lists",
  structures: "structures",
  status: "status",
  "key-case": "keyCase",
  inactive: "inactive",
  "hourly-headers": "hourlyHeaders",
  "mutate-elements": "mutateElements",
  "mutate-answer": "mutateAnswer",
  noop: "noop",
};

function learnDetected(
  behavior: Behavior,
  detected: DetectedVariants,
  found: Behavior = createBehavior(),
): void {
  for (const [name, value] of Object.entries(detected)) {
    const point = pointsByVariant[name];
    if (point) behavior.learn(point, value as never);
  }
  for (const point of ["keys", "maxKeys", "statusCase", "source", "listColumn", "status"] as const) {
    const value = found.get(point);
    if (value !== undefined) behavior.learn(point, value as never);
    else if (point === "maxKeys" && found.get("keys") !== undefined) behavior.forget("maxKeys");
  }
  const [beyond, size] = String(detected.page ?? "").split(":");
  if (beyond === "cap") behavior.learn("pageCut", Number(size));
  else if (beyond === "refuse") behavior.learn("maxPage", Number(size));
  const lag = detected["search-lag"];
  if (typeof lag === "number") behavior.learn("searchLag", lag);
}
