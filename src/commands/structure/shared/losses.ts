/** What a removal takes from contacts, for the question that goes before it. */

import type { Connection } from "../../../context.ts";
import { formatCounted } from "../../../counts.ts";
import { hasStatus } from "../../../errors.ts";
import { askSearch } from "../../../service/contact-search.ts";
import type { Part } from "../../../structure/changes.ts";
import type { ContactStructure } from "../../../wire.ts";

interface Removal {
  part: Part;
  label: string;
}

/**
 * A question for all of them; it costs one search. No search is known that finds the contacts that have a
 * value or a tag.
 */
export async function formatRemovalQuestion(
  { send }: Connection,
  structure: ContactStructure,
  removals: readonly Removal[],
): Promise<string> {
  const count = await countContacts(send, structure._id);
  const among = count === undefined ? "" : `; the structure has ${formatContacts(count)}`;
  const [{ part, label }, ...others] = removals as [Removal, ...Removal[]];
  const losses = { field: "Every contact loses its value", tag: "Every contact that has it loses it" };
  if (others.length === 0) return `Remove the ${part} ${JSON.stringify(label)}? ${losses[part]}${among}.`;
  const counted = (["field", "tag"] as const)
    .map((each) => ({ each, count: removals.filter((removal) => removal.part === each).length }))
    .filter(({ count }) => count > 0)
    .map(({ each, count }) => formatCounted(count, each));
  return `Remove ${counted.join(" and ")}? Every contact loses what it has of them${among}.`;
}

/** Undefined when the service refuses such a search: the question can be asked without. */
async function countContacts(send: Connection["send"], structureId: string) {
  const query = { structureId, filters: [], page: 1, pageSize: 1, source: ["_id"] };
  try {
    return (await askSearch(send, query)).totalRecords;
  } catch (error) {
    if (hasStatus(error, 400)) return undefined;
    throw error;
  }
}

function formatContacts(count: number): string {
  return count === 0 ? "no contact" : formatCounted(count, "contact");
}
