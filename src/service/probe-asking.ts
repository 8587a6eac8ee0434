/** Searches of a probe. */
import { ServiceError } from "../errors.ts";
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

export function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 400;
}
