/** A partial result: rows, with their total and how to get the rest. */
import type { Offer } from "./arguments.ts";
import type { Invoke } from "./invoke.ts";
import { defaultRows, limitInput, pageInput } from "./tool.ts";

interface ShownPage {
  total?: number;
  hasMore: boolean;
}

export interface Paged {
  limit?: number;
  page?: number;
}

/** How many rows, by a flag of the command. */
export function limitBy(flag: string): Offer {
  return { flag, name: "limit", schema: limitInput };
}

/** Which page, and how many rows it has. */
export function pagedBy(flag: string): Offer[] {
  return [limitBy(flag), { flag: "--page", name: "page", schema: pageInput }];
}

/** One page as the service gives it. @param words of a command that shows this page */
export async function readPage(
  invoke: Invoke,
  name: string,
  { words, page = 1 }: { words: string[] } & Paged,
  signal: AbortSignal,
) {
  const observedPage: ShownPage = { hasMore: false };
  const { value } = await invoke(words, {
    signal,
    observer: { page: (seen) => Object.assign(observedPage, seen) },
  });
  return {
    [name]: value as unknown[],
    // Conditions that are decided here have no total before everything is read.
    total: observedPage.total ?? null,
    hasMore: observedPage.hasMore,
    ...(observedPage.hasMore ? { nextPage: page + 1 } : {}),
  };
}

/** A page of rows that are all in memory. */
export function part(name: string, rows: readonly unknown[], { limit = defaultRows, page = 1 }: Paged) {
  const hasMore = page * limit < rows.length;
  return {
    [name]: rows.slice((page - 1) * limit, page * limit),
    total: rows.length,
    hasMore,
    ...(hasMore ? { nextPage: page + 1 } : {}),
  };
}
