/** Whether the account is better read page by page than asked for each block of keys, and the reading itself. */
import { readSearch } from "../../service/contacts.ts";
import type { Clock, Filter, IdRef } from "../../wire.ts";
import type { PacedSend } from "../pacing/paced-send.ts";
import { sideBySide } from "../pacing/side-by-side.ts";
import { largestBlock, largestPage, pageRequest } from "./lookup.ts";
import type { Snapshot } from "./snapshot.ts";

export interface PagesOptions {
  send: PacedSend;
  clock: Clock;
  structureId: string;
  source: string[];
  filters?: Filter[];
  /** Pages at once. */
  concurrency: number;
  /** Lists that every contact found is known to be in, should the answer not tell. */
  lists?: IdRef[];
}

/**
 * Reads every contact of the account into the snapshot when that takes fewer requests than looking `contacts` keys up.
 * @returns whether the snapshot can be used
 */
export async function readAccountIfSmaller(
  snapshot: Snapshot,
  contacts: number,
  options: PagesOptions,
): Promise<boolean> {
  const lookUps = Math.ceil(contacts / largestBlock);
  // For one block, asking would cost as much as it can save.
  if (lookUps <= 1 && snapshot.total === undefined) return false;
  if (snapshot.total === undefined && !(await readFirstPage(snapshot, options))) return false;
  const missing = missingPages(snapshot);
  if (missing.length >= Math.max(lookUps, 1)) return false;
  await readPages(snapshot, missing, options);
  return true;
}

/** Reads every page that the snapshot does not hold yet. @returns false when the service refuses every page size */
export async function readAllPages(snapshot: Snapshot, options: PagesOptions): Promise<boolean> {
  if (snapshot.total === undefined && !(await readFirstPage(snapshot, options))) return false;
  await readPages(snapshot, missingPages(snapshot), options);
  return true;
}

function missingPages(snapshot: Snapshot): number[] {
  const last = Math.ceil(snapshot.total! / snapshot.pageSize!);
  const pages: number[] = [];
  for (let page = 1; page <= last; page++) if (!snapshot.has(page)) pages.push(page);
  return pages;
}

/** Halves the page size while the service refuses it. */
async function readFirstPage(snapshot: Snapshot, options: PagesOptions): Promise<boolean> {
  for (let pageSize = largestPage; pageSize >= largestBlock; pageSize = Math.floor(pageSize / 2)) {
    if (await readPage(snapshot, 1, pageSize, options)) return true;
  }
  return false;
}

async function readPages(snapshot: Snapshot, pages: number[], options: PagesOptions): Promise<void> {
  const pageSize = snapshot.pageSize!;
  const next = pages[Symbol.iterator]();
  const readOn = async () => {
    for (const page of next) await readPage(snapshot, page, pageSize, options);
  };
  await sideBySide(options.concurrency, readOn);
}

async function readPage(
  snapshot: Snapshot,
  page: number,
  pageSize: number,
  { send, clock, structureId, source, filters = [], lists }: PagesOptions,
): Promise<boolean> {
  const request = pageRequest({ structureId, filters, page, pageSize, source: ["_id", "key", ...source] });
  const at = clock.now();
  const reply = await send.send(request, "search");
  if (reply.kind !== "answered") return false;
  const answer = readSearch(reply.answer);
  // A service that gives fewer than were asked for has a limit of its own.
  const isCut = page === 1 && answer.contacts.length < Math.min(pageSize, answer.totalRecords);
  const size = isCut ? Math.max(1, answer.contacts.length) : pageSize;
  if (lists) for (const contact of answer.contacts) contact.lists ??= lists;
  snapshot.add({ page, pageSize: size, total: answer.totalRecords, at, contacts: answer.contacts });
  return true;
}
