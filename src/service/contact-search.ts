/** One page of a search, asked as the service takes it: what is open in its documents is tried, and learned. */
import { ServiceError } from "../errors.ts";
import type { Contact, Filter, SearchAnswer, Send, SendOptions } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import type { LocalCondition, SeveralKeys } from "./conditions.ts";
import { type ContactQuery, readSearch, searchContactsRequest, statusParts } from "./contacts.ts";
import { listPages, searchesLists } from "./local-list-filter.ts";
import { isSizeRefusal, type Page, type ReadPage } from "./pages.ts";
import { isSourceRefusal, otherForms, provesForm, type SourceForm, sourceIn } from "./search-source.ts";
import { withStatuses } from "./status-by-id.ts";

export interface ContactSearch extends Omit<ContactQuery, "page" | "pageSize"> {
  keys?: SeveralKeys;
  /** What the service cannot decide; held against each contact that it finds. */
  keeps?: LocalCondition;
  /** Where no search tells the status, each contact is read by its id. What `keeps` needs is read in any case. */
  readsStatus?: boolean;
}

/** Reads the pages of a search without several keys. What is read holds everything that is wanted, and what is needed to decide. */
export function contactPages(
  send: Send,
  search: ContactSearch,
  behavior?: Behavior,
  options?: SendOptions,
): ReadPage<Partial<Contact>> {
  const { keeps, keys: _keys, readsStatus, ...query } = search;
  const needs = keeps?.needs ?? [];
  const isStatusNeeded = readsStatus || statusParts.some((part) => needs.includes(part));
  const source = [...new Set([...search.source, ...needs, ...(isStatusNeeded ? ["_id"] : [])])];
  const pagesFor =
    (filters: Filter[], names: string[]) =>
    async (page: number, pageSize: number): Promise<Page<Partial<Contact>>> => {
      const asked = { ...query, filters, source: names, page, pageSize };
      const answer = await askSearch(send, asked, behavior, options);
      const items =
        isStatusNeeded && behavior?.get("source") === "common"
          ? await withStatuses(send, answer.contacts, options)
          : answer.contacts;
      return { items, total: answer.totalRecords };
    };
  const { filters, specification } = search;
  if (specification || !searchesLists(filters)) return pagesFor(filters, source);
  return listPages({ filters, source }, pagesFor, behavior);
}

/**
 * Sends a search. Where the service refuses the names of `source`, the search is sent again with the names that another
 * document has; what works is learned.
 */
export async function askSearch(
  send: Send,
  query: ContactQuery,
  behavior?: Behavior,
  options?: SendOptions,
): Promise<SearchAnswer> {
  const form = behavior?.get("source") ?? "published";
  const askIn = async (each: SourceForm) => {
    const named = { ...query, source: sourceIn(each, query.source) };
    const answer = await askInCase(send, named, behavior, options);
    if (provesForm(query.source)) behavior?.learn("source", each);
    return answer;
  };
  try {
    return await askIn(form);
  } catch (refusal) {
    if (!isSourceRefusal(refusal)) throw refusal;
    for (const other of otherForms(form, query.source)) {
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
 * The specification writes values of `CONTACT_STATUS` in lower case, a page of the reference with a capital: one that is
 * refused is asked for once in the other form.
 */
async function askInCase(
  send: Send,
  query: ContactQuery,
  behavior?: Behavior,
  options?: SendOptions,
): Promise<SearchAnswer> {
  const known = behavior?.get("statusCase");
  const usual = known === undefined ? query : { ...query, filters: inCase(query.filters, known) };
  try {
    return noted(readSearch(await send(searchContactsRequest(usual), options)), behavior);
  } catch (error) {
    const other = known === undefined ? inCase(query.filters, "capital") : query.filters;
    const isOther = JSON.stringify(other) !== JSON.stringify(usual.filters);
    if (query.specification || !isOther || !mayBeAboutValues(error)) throw error;
    const again = searchContactsRequest({ ...query, filters: other });
    const answer = readSearch(
      await send(again, options).catch(() => {
        // The first refusal speaks of what was asked for.
        throw error;
      }),
    );
    if (known === undefined) behavior?.learn("statusCase", "capital");
    else behavior?.forget("statusCase");
    return noted(answer, behavior);
  }
}

/** The contact as it was wanted; undefined when a condition does not hold for it. */
export function keptOf(
  contact: Partial<Contact>,
  { source, keeps }: Pick<ContactSearch, "source" | "keeps">,
): Partial<Contact> | undefined {
  if (!keeps) return contact;
  if (!keeps.holds(contact)) return undefined;
  const extra = keeps.needs.filter((part) => !source.includes(part));
  if (extra.length === 0) return contact;
  return Object.fromEntries(Object.entries(contact).filter(([name]) => !extra.includes(name)));
}

function noted(answer: SearchAnswer, behavior?: Behavior): SearchAnswer {
  const [contact] = answer.contacts;
  if (contact?.status !== undefined) behavior?.learn("status", "object");
  else if (contact?.contactStatus !== undefined) behavior?.learn("status", "parts");
  return answer;
}

function mayBeAboutValues(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.status !== 400) return false;
  if (isSizeRefusal(error) || isSourceRefusal(error)) return false;
  return !["contactStructureId", "page"].includes(error.details.field ?? "");
}

function inCase(filters: Filter[], form: "lower" | "capital"): Filter[] {
  return filters.map((filter) => ({
    ...filter,
    criterias: filter.criterias?.map((criteria) =>
      criteria.columnToFilter === "CONTACT_STATUS"
        ? { ...criteria, values: criteria.values.map((value) => cased(value, form)) }
        : criteria,
    ),
  }));
}

function cased(value: string, form: "lower" | "capital"): string {
  const first = value.slice(0, 1);
  return (form === "lower" ? first.toLowerCase() : first.toUpperCase()) + value.slice(1);
}
