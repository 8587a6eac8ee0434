/**
 * One page of a search, asked as the service takes it: what is open in its documents is tried, and learned.
 * The open points: the names of `source`, the letter case of a status, whether `LIST_ID` is a column, and in
 * which form several lists are asked for.
 */
import {
  type ContactQuery,
  createEquals,
  createFilter,
  findStatus,
  getContactRequest,
  readSearch,
  searchContactsRequest,
  statusParts,
} from "../api/contacts.ts";
import { capitalize } from "../counts.ts";
import { EcmError, failedError, hasStatus, type ServiceError, unreadableAnswerError } from "../errors.ts";
import type { Contact, Criteria, Filter, SearchAnswer, Send, SendOptions } from "../wire.ts";
import type { Behavior, BehaviorPoints } from "./behavior.ts";
import { isSizeRefusal, maxPageSize, type ReadPage, readComplete } from "./pages.ts";

export interface SeveralKeys {
  values: string[];
  /** Keys of e-mail are one in every letter case. */
  areEmails: boolean;
}

/**
 * A condition that no search of the service can express: it is held against each contact that the service
 * finds.
 */
export interface LocalCondition {
  /** The parts of a contact that it reads, as a search's `source` names them. */
  needs: readonly string[];
  holds(contact: Partial<Contact>): boolean;
}

export interface ContactSearch extends Omit<ContactQuery, "page" | "pageSize"> {
  keys?: SeveralKeys;
  /** What the service cannot decide; held against each contact that it finds. */
  keeps?: LocalCondition;
  /**
   * Where no search tells the status, each contact is read by its id. What `keeps` needs is read in any case.
   */
  readsStatus?: boolean;
}

/**
 * Reads the pages of a search without several keys. What is read holds everything that is wanted, and what is
 * needed to decide. `LIST_ID` is a column that the specification does not show: where the service does not
 * filter by it, what the other criterias find is read, and what the contacts tell of their lists decides.
 */
export function createContactPages(
  send: Send,
  search: ContactSearch,
  behavior?: Behavior,
  options?: SendOptions,
): ReadPage<Partial<Contact>> {
  const { keeps, keys: _keys, readsStatus, ...query } = search;
  const needs = keeps?.needs ?? [];
  const isStatusNeeded = readsStatus || statusParts.some((part) => needs.includes(part));
  const wanted = [
    ...new Set([...search.source, ...needs, ...(isStatusNeeded ? ["_id", ...statusParts] : [])]),
  ];
  const createRead =
    (filters: Filter[], source: string[]): ReadPage<Partial<Contact>> =>
    async (page, pageSize) => {
      const request = { ...query, filters, source, page, pageSize };
      const { contacts, totalRecords } = await askSearch(send, request, behavior, options);
      if (!isStatusNeeded) return { items: contacts, total: totalRecords };
      if (contacts.length > 0 && !contacts.some(findStatus)) behavior?.learn("status", "untold");
      return { items: await addStatuses(send, contacts, options), total: totalRecords };
    };
  const read = createRead(search.filters, wanted);
  if (search.specification || !search.filters.some(hasListCriteria)) return read;
  const readMembers = () => readAllMembers(search.filters, wanted, createRead, behavior);
  let members: Promise<Partial<Contact>[]> | undefined;
  return async (page, size) => {
    if (!members && behavior?.get("listColumn") !== "refused") {
      try {
        return await read(page, size);
      } catch (refusal) {
        if (!isRefusal(refusal)) throw refusal;
        members = readMembers().catch((error) => {
          // The other criterias are not taken either: the first words are about what was asked for.
          throw isRefusal(error) ? refusal : error;
        });
        await members;
        if (namesListColumn(refusal)) behavior?.learn("listColumn", "refused");
      }
    }
    members ??= readMembers();
    const found = await members;
    return { items: found.slice((page - 1) * size, page * size), total: found.length };
  };
}

/** The contact with the parts that were asked for; undefined when a condition does not hold for it. */
export function keepMatching(
  contact: Partial<Contact>,
  { source, keeps }: Pick<ContactSearch, "source" | "keeps">,
): Partial<Contact> | undefined {
  if (!keeps) return contact;
  if (!keeps.holds(contact)) return undefined;
  const extra = keeps.needs.filter((part) => !source.includes(part));
  if (extra.length === 0) return contact;
  return Object.fromEntries(Object.entries(contact).filter(([name]) => !extra.includes(name)));
}

/** Whether the service refused what a search asks for, rather than the size of its page. */
export function isRefusal(error: unknown): error is ServiceError {
  return hasStatus(error, 400) && !isSizeRefusal(error);
}

// The names of `source`. The published reference and the specification name different parts of a contact, and
// a service refuses a search that holds a name it does not know.

type SourceForm = BehaviorPoints["source"];

/** In the order in which they are tried. */
const sourceForms: readonly SourceForm[] = ["published", "specified", "common"];

/** Whether it is known that no search of the service tells this part of a contact. */
export function isLeftOut(form: SourceForm | undefined, part: string): boolean {
  if (part === "updatedAt") return form === "specified" || form === "common";
  return statusParts.includes(part) && form === "common";
}

/** The names in a form. What the form has no name for is left out: the answer does not tell it. */
function toSource(form: SourceForm, source: readonly string[]): string[] {
  if (form === "published") return [...source];
  const names = source.filter((name) => !isOfOneDocument(name));
  if (form === "specified" && source.some((name) => statusParts.includes(name))) names.push("status");
  // `source` must not be empty.
  return names.length > 0 ? names : ["_id"];
}

/**
 * Whether the published reference alone has this name: an answer to it shows which form the service takes.
 */
function isOfOneDocument(name: string): boolean {
  return statusParts.includes(name) || name === "updatedAt";
}

function isSourceRefusal(error: unknown): boolean {
  return hasStatus(error, 400) && /\bsource\b/i.test(error.details.field ?? error.message);
}

/**
 * Sends a search. Where the service refuses the names of `source`, the search is sent again with the names
 * that another document has; what works is learned.
 */
export async function askSearch(
  send: Send,
  query: ContactQuery,
  behavior?: Behavior,
  options?: SendOptions,
): Promise<SearchAnswer> {
  const known = behavior?.get("source") ?? "published";
  const tried = new Set<string>();
  let refusal: unknown;
  for (const form of [known, ...sourceForms]) {
    const source = toSource(form, query.source);
    if (tried.has(source.join())) continue;
    tried.add(source.join());
    try {
      const answer = await askInCase(send, { ...query, source }, behavior, options);
      if (query.source.some(isOfOneDocument)) behavior?.learn("source", form);
      return answer;
    } catch (error) {
      if (!isSourceRefusal(error)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/**
 * The specification writes values of `CONTACT_STATUS` in lower case, a page of the reference with a capital:
 * one that is refused is asked for once in the other letter case.
 */
async function askInCase(
  send: Send,
  query: ContactQuery,
  behavior?: Behavior,
  options?: SendOptions,
): Promise<SearchAnswer> {
  const isCapital = behavior?.get("statusCase") === "capital";
  const capitalized = capitalizeStatuses(query.filters);
  const ask = async (filters: Filter[]) =>
    readSearch(await send(searchContactsRequest({ ...query, filters }), options));
  const [usual, other] = isCapital ? [capitalized, query.filters] : [query.filters, capitalized];
  try {
    return await ask(usual);
  } catch (error) {
    const isSame = query.specification || JSON.stringify(usual) === JSON.stringify(other);
    if (isSame || !isRefusal(error) || isSourceRefusal(error)) throw error;
    const answer = await ask(other).catch(() => {
      // The first refusal speaks of what was asked for.
      throw error;
    });
    behavior?.learn("statusCase", isCapital ? "lower" : "capital");
    return answer;
  }
}

function capitalizeStatuses(filters: Filter[]): Filter[] {
  return filters.map((filter) => ({
    ...filter,
    criterias: filter.criterias?.map((criteria) =>
      criteria.columnToFilter === "CONTACT_STATUS"
        ? { ...criteria, values: criteria.values.map(capitalize) }
        : criteria,
    ),
  }));
}

/** Whether no search tells the status: each contact whose status is needed is read by its id. */
export function isStatusUntold(behavior: Behavior): boolean {
  return behavior.get("source") === "common" || behavior.get("status") === "untold";
}

/** How many statuses are read at the same time. */
const concurrency = 4;

/**
 * The contacts with their status, in one request for each that has none. A contact that is gone by then stays
 * without.
 */
async function addStatuses(
  send: Send,
  contacts: readonly Partial<Contact>[],
  options?: SendOptions,
): Promise<Partial<Contact>[]> {
  const addStatus = async (contact: Partial<Contact>): Promise<Partial<Contact>> => {
    if (findStatus(contact) || contact._id === undefined) return contact;
    try {
      const { body } = await send<Partial<Contact> | null>(getContactRequest(contact._id), options);
      const status = findStatus(body ?? undefined);
      return status ? { ...contact, status } : contact;
    } catch (error) {
      if (hasStatus(error, 404)) return contact;
      throw error;
    }
  };
  const complete: Partial<Contact>[] = [];
  for (let start = 0; start < contacts.length; start += concurrency)
    complete.push(...(await Promise.all(contacts.slice(start, start + concurrency).map(addStatus))));
  return complete;
}

/** All contacts that the criterias without lists find, and that are in one of the lists. */
async function readAllMembers(
  filters: Filter[],
  source: string[],
  createRead: (filters: Filter[], source: string[]) => ReadPage<Partial<Contact>>,
  behavior: Behavior | undefined,
): Promise<Partial<Contact>[]> {
  const found = new Map<string, Partial<Contact>>();
  for (const { criterias = [] } of filters) {
    const others = createFilter(...criterias.filter((criteria) => !isListCriteria(criteria)));
    const read = createRead(others, [...new Set(["_id", ...source, "lists"])]);
    for (const contact of await readComplete(read, { size: maxPageSize, behavior }, ({ _id }) => _id)) {
      if (!criterias.filter(isListCriteria).every((criteria) => isMember(contact, criteria))) continue;
      const { lists: _lists, ...rest } = contact;
      found.set(contact._id ?? "", source.includes("lists") ? contact : rest);
    }
  }
  return [...found.values()];
}

function isMember({ lists }: Partial<Contact>, { values }: Criteria): boolean {
  if (lists) return lists.some(({ _id }) => values.includes(_id));
  throw unreadableAnswerError(
    "The service neither searches by list nor tells the contacts' lists",
    "Select the contacts in another way, such as with --keys FILE",
  );
}

function hasListCriteria({ criterias }: Filter): boolean {
  return Array.isArray(criterias) && criterias.some(isListCriteria);
}

function isListCriteria({ columnToFilter, operator }: Criteria): boolean {
  return columnToFilter?.toUpperCase() === "LIST_ID" && operator?.toUpperCase() === "EQ";
}

/**
 * A refusal may have another reason, such as a list that is gone: then the next search by list is tried
 * again.
 */
function namesListColumn(refusal: ServiceError): boolean {
  return /columnToFilter|LIST_ID/i.test(`${refusal.details.field} ${refusal.message}`);
}

/** The filters that find the members of any of several lists that the further criterias find as well. */
export type ListFilters = (further?: readonly Criteria[]) => Filter[];

/** Others may add and remove members between two counts. */
const maxCounts = 3;

/**
 * Members of any of several lists, in a form of a search that was proven. Whether a criteria with several
 * values, or several filters, mean "any of them" is not documented, and a service that honours only the first
 * would leave people out in silence. Each list after the first costs two requests: its members, and how many
 * of them the search for all lists finds.
 * @throws EcmError where no form of the search finds the members of every list
 */
export async function findProvenListFilters(
  send: Send,
  structureId: string,
  lists: readonly string[],
  behavior: Behavior,
): Promise<ListFilters> {
  const ids = [...new Set(lists)];
  const asValues: ListFilters = (further = []) => createFilter(...further, createEquals("LIST_ID", ids));
  const asFilters: ListFilters = (further = []) =>
    ids.flatMap((id) => createFilter(...further, createEquals("LIST_ID", [id])));
  // Where the service does not filter by list, what its pages tell decides.
  if (ids.length < 2 || behavior.get("listColumn") === "refused") return asValues;
  const count = async (filters: Filter[]): Promise<number> => {
    const query = { structureId, filters, page: 1, pageSize: 1, source: ["_id"] };
    return readSearch(await send(searchContactsRequest(query))).totalRecords;
  };
  const findsMembers = async (form: ListFilters, id: string): Promise<boolean> => {
    const inList = createEquals("LIST_ID", [id]);
    for (let counts = 1; counts <= maxCounts; counts++) {
      if ((await count(form([inList]))) === (await count(createFilter(inList)))) return true;
    }
    return false;
  };
  const isProven = async (form: ListFilters): Promise<boolean> => {
    for (const id of ids.slice(1)) if (!(await findsMembers(form, id))) return false;
    return true;
  };
  let refusal: EcmError | undefined;
  for (const form of [asValues, asFilters]) {
    try {
      if (await isProven(form)) return form;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (namesListColumn(error)) return asValues;
      refusal ??= error;
    }
  }
  const hint = "Name one list at a time";
  if (refusal) throw new EcmError(refusal.kind, refusal.message, hint, refusal.details);
  throw failedError("The service finds only some members when several lists are searched", hint, {
    type: "UnprovenSearchError",
  });
}
