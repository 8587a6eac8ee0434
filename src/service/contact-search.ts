/** One page of a search, asked as the service takes it: what is open in its documents is tried, and learned. */
import { ServiceError } from "../errors.ts";
import type { Contact, Filter, SearchAnswer, Send, SendOptions } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import type { LocalCondition, SeveralKeys } from "./contact-filters.ts";
import { type ContactQuery, readSearch, searchContactsRequest } from "./contacts.ts";
import { isSizeRefusal, type Page, type ReadPage } from "./pages.ts";

export interface ContactSearch extends Omit<ContactQuery, "page" | "pageSize"> {
  keys?: SeveralKeys;
  /** What the service cannot decide; held against each contact that it finds. */
  keeps?: LocalCondition;
}

/** Reads the pages of a search without several keys. What is read holds everything that is wanted, and what is needed to decide. */
export function contactPages(
  send: Send,
  search: ContactSearch,
  behavior?: Behavior,
  options?: SendOptions,
): ReadPage<Partial<Contact>> {
  const { keeps, keys: _keys, ...query } = search;
  const source = [...new Set([...search.source, ...(keeps?.needs ?? [])])];
  return async (page, pageSize): Promise<Page<Partial<Contact>>> => {
    const answer = await askSearch(send, { ...query, source, page, pageSize }, behavior, options);
    return { items: answer.contacts, total: answer.totalRecords };
  };
}

/**
 * Sends a search. The specification writes values of `CONTACT_STATUS` in lower case, a page of the reference with a
 * capital: one that is refused is asked for once in the other form.
 */
export async function askSearch(
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
  if (!(error instanceof ServiceError) || error.status !== 400 || isSizeRefusal(error)) return false;
  return !["source", "contactStructureId", "page"].includes(error.details.field ?? "");
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
