/**
 * Members of any of several lists, in a form of a search that was proven. Whether a criteria with several
 * values, or several filters, mean "any of them" is not documented, and a service that honours only the first
 * would leave people out in silence.
 */

import { createEquals, createFilter, readSearch, searchContactsRequest } from "../api/contacts.ts";
import { EcmError, exitCodes } from "../errors.ts";
import type { Criteria, Filter, Send } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { isRefusal } from "./checked-search.ts";
import { namesListColumn } from "./local-list-filter.ts";

/** The filters that find members of any of the lists, of whom the further criterias hold as well. */
export type ListFilters = (further?: readonly Criteria[]) => Filter[];

/** Others may add and remove members between two counts. */
const maxCounts = 3;

/**
 * Each list after the first costs two requests: its members, and
 * how many of them the search for all lists finds.
 * @throws EcmError where no form of the search finds the members of every list
 */
export async function findProvenListFilters(
  send: Send,
  structureId: string,
  lists: readonly string[],
  behavior: Behavior,
): Promise<ListFilters> {
  const ids = [...new Set(lists)];
  const [asValues, asFilters] = formsFor(ids);
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
  if (refusal) throw new EcmError(refusal.exitCode, refusal.message, { ...refusal.details, hint });
  throw new EcmError(
    exitCodes.failed,
    "The service finds only some members when several lists are searched",
    { type: "UnprovenSearchError", hint },
  );
}

/** One criteria with all lists as its values, and a filter for each list. */
function formsFor(ids: readonly string[]): [ListFilters, ListFilters] {
  return [
    (further = []) => createFilter(...further, createEquals("LIST_ID", [...ids])),
    (further = []) => ids.flatMap((id) => createFilter(...further, createEquals("LIST_ID", [id]))),
  ];
}
