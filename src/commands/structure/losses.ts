/** What a removal takes from contacts, for the question that goes before it. */
import type { Connection } from "../../context.ts";
import { ServiceError } from "../../errors.ts";
import { readSearch, searchContactsRequest } from "../../service/contacts.ts";
import type { Part } from "../../service/structure-plan.ts";
import type { ContactStructure, Filter } from "../../wire.ts";

/** One sentence; it costs a search. */
export async function lossOf(
  { send }: Connection,
  structure: ContactStructure,
  { part, _id }: { part: Part; _id: string },
): Promise<string> {
  const has: Filter = { criterias: [{ columnToFilter: "TAG_ID", operator: "EQ", values: [_id] }] };
  // Which contacts have a value, no search is known to tell.
  const count = await countContacts(send, structure._id, part === "tag" ? [has] : []);
  if (part === "field") {
    const among = count === undefined ? "" : `; the structure has ${inWords(count)}`;
    return `Every contact loses its value${among}.`;
  }
  if (count === undefined) return "Every contact loses it.";
  return `${inWords(count)} ${count === 1 ? "loses" : "lose"} it.`;
}

/** Undefined when the service refuses such a search: the question can be asked without. */
async function countContacts(send: Connection["send"], structureId: string, filters: Filter[]) {
  const request = searchContactsRequest({ structureId, filters, page: 1, pageSize: 1, source: ["_id"] });
  try {
    return readSearch(await send(request)).totalRecords;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 400) return undefined;
    throw error;
  }
}

function inWords(count: number): string {
  return count === 0 ? "no contact" : `${count.toLocaleString("en-US")} contact${count === 1 ? "" : "s"}`;
}
