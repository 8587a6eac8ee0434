/** Searches of a probe. */
import { hasStatus } from "../errors.ts";
import type { Filter, Send } from "../wire.ts";
import type { Behavior } from "./behavior.ts";
import { askSearch } from "./contact-search.ts";

export interface ProbeState {
  send: Send;
  structureId: string;
  behavior: Behavior;
}

export function search(
  { send, structureId, behavior }: ProbeState,
  filters: Filter[],
  pageSize: number,
  source: string[] = ["_id", "key"],
) {
  return askSearch(send, { structureId, filters, source, page: 1, pageSize }, behavior);
}

/** The same; undefined where the service refuses it. */
export async function searchUnlessRefused(...request: Parameters<typeof search>) {
  return search(...request).catch((error) => {
    if (!hasStatus(error, 400)) throw error;
    return undefined;
  });
}
