/**
 * Searches by list where the service does not filter by `LIST_ID`, a column that the specification does not
 * show: the contacts that the other criterias find are read, and what they tell of their lists decides.
 */
import { EcmError, exitCodes, hasStatus, type ServiceError } from "../errors.ts";
import type { Contact, Criteria, Filter } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { isSizeRefusal, maxPageSize, type ReadPage, readComplete } from "./pages.ts";
import { isSourceRefusal } from "./search-source.ts";

/** Reads the pages of a search with these filters, and these names in its `source`. */
export type PagesFor = (filters: Filter[], source: string[]) => ReadPage<Partial<Contact>>;

export interface ListSearch {
  filters: Filter[];
  source: readonly string[];
}

/** Whether a search has a criteria that is a list's. */
export function hasListCriteria(filters: Filter[]): boolean {
  return filters.some(({ criterias }) => Array.isArray(criterias) && criterias.some(isListCriteria));
}

/** Reads pages of the members: from the service while it filters by list, else from all that was read. */
export function createLocalListPages(
  { filters, source }: ListSearch,
  pagesFor: PagesFor,
  behavior?: Behavior,
): ReadPage<Partial<Contact>> {
  const read = pagesFor(filters, [...source]);
  let members: Promise<Partial<Contact>[]> | undefined;
  const readMembers = () => readAllMembers({ filters, source }, pagesFor, behavior);
  return async (page, size) => {
    if (!members && behavior?.get("listColumn") !== "refused") {
      try {
        const answer = await read(page, size);
        behavior?.learn("listColumn", "taken");
        return answer;
      } catch (refusal) {
        if (!mayBeAboutColumn(refusal)) throw refusal;
        members = readMembers().then(
          (found) => {
            if (namesListColumn(refusal)) behavior?.learn("listColumn", "refused");
            return found;
          },
          (error) => {
            // The service does not take the other criterias either:
            // its first words are about what was asked for.
            throw mayBeAboutColumn(error) ? refusal : error;
          },
        );
      }
    }
    members ??= readMembers();
    const found = await members;
    return { items: found.slice((page - 1) * size, page * size), total: found.length };
  };
}

/** Filters are alternatives: those that differ in their lists alone are read together. */
async function readAllMembers(
  { filters, source }: ListSearch,
  pagesFor: PagesFor,
  behavior: Behavior | undefined,
): Promise<Partial<Contact>[]> {
  const groups = new Map<string, { others: Criteria[]; lists: Criteria[][] }>();
  for (const { criterias } of filters) {
    const others = criterias.filter((criteria) => !isListCriteria(criteria));
    const group = groups.get(JSON.stringify(others)) ?? { others, lists: [] };
    group.lists.push(criterias.filter(isListCriteria));
    groups.set(JSON.stringify(others), group);
  }
  const found = new Map<string, Partial<Contact>>();
  const sources = [...new Set(["_id", ...source, "lists"])];
  for (const { others, lists } of groups.values()) {
    const read = pagesFor(others.length > 0 ? [{ criterias: others }] : [], sources);
    for (const contact of await readComplete(read, { size: maxPageSize, behavior }, ({ _id }) => _id)) {
      if (lists.some((criterias) => criterias.every((criteria) => isMember(contact, criteria)))) {
        found.set(contact._id ?? "", pickParts(contact, source));
      }
    }
  }
  return [...found.values()];
}

/** The service gives the ids along with what is asked for. */
function pickParts(contact: Partial<Contact>, source: readonly string[]): Partial<Contact> {
  if (source.includes("lists")) return contact;
  const { lists: _lists, ...rest } = contact;
  return rest;
}

function isMember({ lists }: Partial<Contact>, { values }: Criteria): boolean {
  if (lists) return lists.some(({ _id }) => values.includes(_id));
  throw new EcmError(exitCodes.failed, "The service neither searches by list nor tells the contacts' lists", {
    type: "UnreadableAnswerError",
    hint: "Select the contacts in another way, such as with --keys FILE",
  });
}

function isListCriteria({ columnToFilter, operator }: Criteria): boolean {
  return columnToFilter?.toUpperCase() === "LIST_ID" && operator?.toUpperCase() === "EQ";
}

function mayBeAboutColumn(error: unknown): error is ServiceError {
  if (!hasStatus(error, 400)) return false;
  return !isSizeRefusal(error) && !isSourceRefusal(error);
}

/**
 * A refusal may have another reason, such as a list that is
 * gone: then the next search by list is tried again.
 */
export function namesListColumn(refusal: ServiceError): boolean {
  return /columnToFilter|LIST_ID/i.test(`${refusal.details.field} ${refusal.message}`);
}
