/**
 * One page of a search, asked as the service takes it: what is open in its documents is tried, and learned.
 */

import { type ContactQuery, readSearch, searchContactsRequest, statusParts } from "../api/contacts.ts";
import { hasStatus } from "../errors.ts";
import type { LocalCondition, SeveralKeys } from "../select/conditions.ts";
import type { Contact, Filter, SearchAnswer, Send, SendOptions } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { createLocalListPages, hasListCriteria } from "./local-list-filter.ts";
import { isSizeRefusal, type Page, type ReadPage } from "./pages.ts";
import {
  isSourceRefusal,
  listOtherForms,
  provesForm,
  type SourceSpelling,
  toSource,
} from "./search-source.ts";
import { addStatuses } from "./status-by-id.ts";

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
 * needed to decide.
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
  const source = [...new Set([...search.source, ...needs, ...(isStatusNeeded ? ["_id"] : [])])];
  const createPages =
    (filters: Filter[], names: string[]) =>
    async (page: number, pageSize: number): Promise<Page<Partial<Contact>>> => {
      const request = { ...query, filters, source: names, page, pageSize };
      const answer = await askSearch(send, request, behavior, options);
      const items =
        isStatusNeeded && behavior?.get("source") === "common"
          ? await addStatuses(send, answer.contacts, options)
          : answer.contacts;
      return { items, total: answer.totalRecords };
    };
  const { filters, specification } = search;
  if (specification || !hasListCriteria(filters)) return createPages(filters, source);
  return createLocalListPages({ filters, source }, createPages, behavior);
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
  const form = behavior?.get("source") ?? "published";
  const askIn = async (each: SourceSpelling) => {
    const namedQuery = { ...query, source: toSource(each, query.source) };
    const answer = await askInCase(send, namedQuery, behavior, options);
    if (provesForm(query.source)) behavior?.learn("source", each);
    return answer;
  };
  try {
    return await askIn(form);
  } catch (refusal) {
    if (!isSourceRefusal(refusal)) throw refusal;
    for (const other of listOtherForms(form, query.source)) {
      try {
        return await askIn(other);
      } catch (error) {
        if (!isSourceRefusal(error)) throw error;
      }
    }
    throw refusal;
  }
}

/**
 * The specification writes values of `CONTACT_STATUS` in lower case, a page of the reference with a capital:
 * one that is refused is asked for once in the other form.
 */
async function askInCase(
  send: Send,
  query: ContactQuery,
  behavior?: Behavior,
  options?: SendOptions,
): Promise<SearchAnswer> {
  const knownCase = behavior?.get("statusCase");
  const defaultQuery =
    knownCase === undefined ? query : { ...query, filters: toCase(query.filters, knownCase) };
  try {
    return noteStatus(readSearch(await send(searchContactsRequest(defaultQuery), options)), behavior);
  } catch (error) {
    const other = knownCase === undefined ? toCase(query.filters, "capital") : query.filters;
    const isOther = JSON.stringify(other) !== JSON.stringify(defaultQuery.filters);
    if (query.specification || !isOther || !mayBeAboutValues(error)) throw error;
    const again = searchContactsRequest({ ...query, filters: other });
    const answer = readSearch(
      await send(again, options).catch(() => {
        // The first refusal speaks of what was asked for.
        throw error;
      }),
    );
    if (knownCase === undefined) behavior?.learn("statusCase", "capital");
    else behavior?.forget("statusCase");
    return noteStatus(answer, behavior);
  }
}

/** The contact as it was wanted; undefined when a condition does not hold for it. */
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

function noteStatus(answer: SearchAnswer, behavior?: Behavior): SearchAnswer {
  const [contact] = answer.contacts;
  if (contact?.status !== undefined) behavior?.learn("status", "object");
  else if (contact?.contactStatus !== undefined) behavior?.learn("status", "parts");
  return answer;
}

function mayBeAboutValues(error: unknown): boolean {
  if (!hasStatus(error, 400)) return false;
  if (isSizeRefusal(error) || isSourceRefusal(error)) return false;
  return !["contactStructureId", "page"].includes(error.details.field ?? "");
}

function toCase(filters: Filter[], form: "lower" | "capital"): Filter[] {
  return filters.map((filter) => ({
    ...filter,
    criterias: filter.criterias?.map((criteria) =>
      criteria.columnToFilter === "CONTACT_STATUS"
        ? { ...criteria, values: criteria.values.map((value) => changeCase(value, form)) }
        : criteria,
    ),
  }));
}

function changeCase(value: string, form: "lower" | "capital"): string {
  const first = value.slice(0, 1);
  return (form === "lower" ? first.toLowerCase() : first.toUpperCase()) + value.slice(1);
}
