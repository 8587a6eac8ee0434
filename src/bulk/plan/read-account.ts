/**
 * Whether the account is better read page by page than asked for each block of keys, and the reading itself.
 */

import { EcmError, exitCodes, ServiceError } from "../../errors.ts";
import type { Behavior } from "../../service/behavior.ts";
import { createContactPages } from "../../service/contact-search.ts";
import type { KeySearch } from "../../service/key-search.ts";
import { maxPageSize, openPages } from "../../service/pages.ts";
import type { Clock, Contact, Filter, IdRef } from "../../wire.ts";
import type { PacedSend } from "../pace/paced-send.ts";
import { runConcurrently } from "../pace/run-concurrently.ts";
import { maxBlockSize } from "./lookup.ts";
import type { AccountSnapshot } from "./snapshot.ts";

export interface PagesOptions {
  send: PacedSend;
  behavior: Behavior;
  keys: KeySearch;
  clock: Clock;
  structureId: string;
  source: string[];
  /** As for a search of `contact-search.ts`. */
  readsStatus?: boolean;
  filters?: Filter[];
  /** Pages at once. */
  concurrency: number;
  /** Lists that every contact found is known to be in, should the answer not tell. */
  lists?: IdRef[];
}

/**
 * Reads every contact of the account into the snapshot when that takes
 * fewer requests than looking `contacts` keys up.
 * @param maxRequests pages that may be read now; where there are more,
 *   looking keys up gets on and reading pages does not
 * @returns whether the snapshot can be used
 */
export async function readAccountIfSmaller(
  snapshot: AccountSnapshot,
  contacts: number,
  { readsStatus, ...options }: PagesOptions,
  maxRequests: number,
): Promise<boolean> {
  const lookUps = Math.ceil(contacts / Math.min(maxBlockSize, options.keys.limit));
  // For one block, asking would cost as much as it can save; unless it has to be found out first how to ask.
  const mayAsk = contacts <= 1 || options.behavior.get("keys") !== undefined;
  if (lookUps <= 1 && mayAsk && snapshot.total === undefined) return false;
  if (snapshot.total === undefined && !(await tryReadFirstPage(snapshot, options))) return false;
  // The status of everybody would take a request for each.
  if (readsStatus && options.behavior.get("source") === "common") return false;
  const missing = findMissingPages(snapshot);
  if (missing.length >= Math.max(lookUps, 1) || missing.length > maxRequests) return false;
  await readPages(snapshot, missing, options);
  return true;
}

/** Reads every page that the snapshot does not hold yet. */
export async function readAllPages(snapshot: AccountSnapshot, options: PagesOptions): Promise<void> {
  if (snapshot.total === undefined) await readFirstPage(snapshot, options);
  await readPages(snapshot, findMissingPages(snapshot), options);
}

/** A service may refuse a search without a condition: then the keys are looked up. */
async function tryReadFirstPage(snapshot: AccountSnapshot, options: PagesOptions): Promise<boolean> {
  try {
    await readFirstPage(snapshot, options);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 400) return false;
    throw error;
  }
}

function findMissingPages(snapshot: AccountSnapshot): number[] {
  const last = Math.ceil(snapshot.total! / snapshot.pageSize!);
  const pages: number[] = [];
  for (let page = 1; page <= last; page++) if (!snapshot.has(page)) pages.push(page);
  return pages;
}

async function readFirstPage(snapshot: AccountSnapshot, options: PagesOptions): Promise<void> {
  const at = options.clock.now();
  const { size, first } = await openPages(createPageReader(options), {
    size: maxPageSize,
    behavior: options.behavior,
  });
  storePage(snapshot, { page: 1, pageSize: size, at, ...first }, options);
}

async function readPages(snapshot: AccountSnapshot, pages: number[], options: PagesOptions): Promise<void> {
  const pageSize = snapshot.pageSize!;
  const read = createPageReader(options);
  const next = pages[Symbol.iterator]();
  const readNextPage = async () => {
    for (const page of next) {
      const at = options.clock.now();
      storePage(snapshot, { page, pageSize, at, ...(await read(page, pageSize)) }, options);
    }
  };
  await runConcurrently(options.concurrency, readNextPage);
}

function createPageReader({ send, behavior, structureId, source, readsStatus, filters = [] }: PagesOptions) {
  const search = { structureId, filters, source: ["_id", "key", ...source], readsStatus };
  return createContactPages(send.searches, search, behavior);
}

interface ReadAccountPage {
  page: number;
  pageSize: number;
  at: number;
  items: Partial<Contact>[];
  total?: number;
}

function storePage(
  snapshot: AccountSnapshot,
  { items, total, ...place }: ReadAccountPage,
  options: PagesOptions,
): void {
  if (total === undefined) {
    throw new EcmError(exitCodes.failed, "The answer to a search has no totalRecords", {
      type: "UnreadableAnswerError",
    });
  }
  const { lists } = options;
  if (lists) for (const contact of items) contact.lists ??= lists;
  options.keys.note(items[0]);
  snapshot.add({ ...place, total, contacts: items });
}
